"""The errors a user can cause. Each message is one line that says what was expected, what came and the remedy."""

from __future__ import annotations

import heapq
import importlib
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any


class InputError(ValueError):
    """An input is wrong: an array, a setting or a name."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without `__init__`, whose arguments differ: errors of other processes arrive pickled."""
        return _without_init, (type(self), self.args), self.__dict__


def _without_init(kind: type[InputError], arguments: tuple[Any, ...]) -> InputError:
    """Return an error of a kind without calling `__init__`; unpickling then restores its attributes."""
    return kind.__new__(kind, *arguments)


class FileError(InputError):
    """A file cannot be used; the message starts with its path."""

    def __init__(self, path: str | Path, problem: str) -> None:
        self.path = Path(path)
        self.problem = problem
        super().__init__(f"{path}: {problem}")


class SettingError(InputError):
    """A setting does not suit the data, which may be sound: no file's name is put before the setting's."""


class StoreChangedError(FileError):
    """Another process changed a store since it was opened."""


class MissingExtraError(InputError):
    """Optional parts of posespace are not installed."""

    def __init__(self, extras: Sequence[str], purpose: str) -> None:
        self.extras = tuple(extras)
        named = f"the extra{'s' if len(extras) > 1 else ''} {' and '.join(repr(extra) for extra in extras)}"
        checkout = "uv sync " + " ".join(f"--extra {extra}" for extra in extras)
        super().__init__(
            f"{purpose} needs {named}: pip install 'posespace[{','.join(extras)}]', or {checkout} in a checkout"
        )


def one_line(text: str) -> str:
    """Return a text with line ends and other unprintable characters written as escapes.

    Names come from files, and may hold anything: a line end would make two lines of one message.
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )


_SHOWN = 200
"""Letters of a name that a message shows whole."""


def quoted(name: str) -> str:
    """Return a name in quotes for a message: whole, or where it is very long its ends, by which names differ."""
    if len(name) <= _SHOWN:
        return repr(name)
    half = _SHOWN // 2
    return f"{name[:half]!r}...{name[-half:]!r} ({len(name)} letters)"


_LIKELY = 24
"""Names whose edits are counted, those with the most letters in common."""

_LONGEST = 80
"""Letters of a name that are compared: counting edits takes the square of the length."""

_SIMILAR = 0.5
"""Largest number of edits between similar names, as a fraction of their length."""

_CONTAINED = 3
"""Letters from which on a name is similar to any name that contains it."""

_SHORT = 2
"""Letters up to which a name is similar only to names that begin with it: of units, most differ in one letter."""

_NAMED = 4
"""Known names that are listed where none is similar."""


def closest_name(name: str, known: Sequence[str]) -> str:
    """Return the known name that takes the fewest edits, quoted for a message; "" where none is known.

    What all known names begin with, and a namespace such as ``mixamorig:``, may be missing from the wrong name: the
    part that differs decides. Case does not matter.
    """
    return quoted(_closest(name, known)) if known else ""


def _closest(name: str, known: Sequence[str]) -> str:
    shared = len(os.path.commonprefix(known)) if len(known) > 1 else 0  # noqa: RUF071 - letters, not folders
    wanted_forms = _forms(name, 0)

    def distances(entry: str, distance: Callable[[str, str], int]) -> tuple[float, int]:
        """The distance between the most similar forms, as a fraction of their length; then that of the whole names."""
        forms = _forms(entry, shared)
        least = min(distance(a, b) / max(len(a), len(b), 1) for a in wanted_forms for b in forms)
        return least, distance(wanted_forms[0], forms[0])

    # A file may have thousands of names, and counting letters is quick.
    likely = heapq.nsmallest(_LIKELY, known, key=lambda entry: distances(entry, _letters_apart))
    return min(likely, key=lambda entry: distances(entry, _edits))


def suggestion(name: str, known: Sequence[str], listed: bool = False) -> str:
    """Return the end of a message about an unknown name: "; the closest is 'arm'", or a few of the known names.

    Where no known name is similar, none is suggested. With `listed` the message names all of them already, and nothing
    is added.
    """
    if not known:
        return ""
    close = _closest(name, known)
    if _is_similar(name, close) and (len(name) > _SHORT or close.startswith(name)):
        return f"; the closest is {quoted(close)}"
    if listed:
        return ""
    more = f" and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
    return f"; known are {', '.join(map(quoted, known[:_NAMED]))}{more}"


def _is_similar(name: str, other: str) -> bool:
    """Whether two names are similar: half of the letters agree, or one contains the other."""
    for a, b in product(_forms(name, 0), _forms(other, 0)):
        if _edits(a, b) <= _SIMILAR * max(len(a), len(b)):
            return True
        if len(min(a, b, key=len)) >= _CONTAINED and (a in b or b in a):
            return True
    return False


def _forms(name: str, shared: int) -> list[str]:
    """A name in its forms: whole, without the first letters that all names share, without its namespace."""
    forms = (name, name[shared:], re.split(r"[:|/]", name)[-1])
    return [form[:_LONGEST].casefold() for form in dict.fromkeys(forms) if form or not name]


def _letters_apart(a: str, b: str) -> int:
    """How many letters must be added or changed to have the letters of the other name, in any order."""
    more, less = Counter(a), Counter(b)
    return max((more - less).total(), (less - more).total())


def _edits(a: str, b: str) -> int:
    """The Damerau-Levenshtein distance: letters to insert, delete, change or swap with the next."""
    before: list[int] = []
    above: list[int] = []
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        before, above, row = above, row, [i]
        for j, other in enumerate(b, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and other == a[i - 2]:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
    return row[-1]


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional module at the moment it is needed, or raise one line that names its extra."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError([extra], purpose) from error
