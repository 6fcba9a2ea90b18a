"""The errors a user can cause. Each message is one line that says what was expected, what came and the remedy."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType


class InputError(ValueError):
    """Something the user gave is wrong: an array, a setting or a name."""


class FileError(InputError):
    """A file cannot be used; the message starts with its path."""

    def __init__(self, path: str | Path, problem: str) -> None:
        self.path = Path(path)
        self.problem = problem
        super().__init__(f"{path}: {problem}")


class MissingExtraError(InputError):
    """Optional parts of posespace are not installed."""

    def __init__(self, extras: Sequence[str], purpose: str) -> None:
        self.extras = tuple(extras)
        named = f"the extra{'s' if len(extras) > 1 else ''} {' and '.join(repr(extra) for extra in extras)}"
        checkout = "uv sync " + " ".join(f"--extra {extra}" for extra in extras)
        super().__init__(
            f"{purpose} needs {named}: pip install 'posespace[{','.join(extras)}]', or {checkout} in a checkout"
        )


def closest_name(name: str, known: Sequence[str]) -> str:
    """Return the known name that a wrong one is most like, quoted for a message; "" where none is known."""
    found = difflib.get_close_matches(name[:80], known, n=1, cutoff=0.0)
    return repr(found[0]) if found else ""


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional module at the moment it is needed, or raise one line that names its extra."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError([extra], purpose) from error
