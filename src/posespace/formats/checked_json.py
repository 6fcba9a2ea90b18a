"""JSON objects of a file whose values are checked as they are taken; errors name the object and the key in one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from posespace.errors import InputError

_LARGEST = 3.4e38
"""Numbers beyond single precision are a sign of damage, and their squares overflow."""
_MOST_AXES = 8
_MOST_DEPTH = 50


class Fields:
    """One JSON object. A value without a default must be there.

    Parameters
    ----------
    value : what the JSON holds, of any type
    where : what the object is called in messages: "accessor 5"
    """

    __slots__ = ("values", "where")

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise InputError(f"{where}: expected an object, got {shown(value)}")
        self.values: dict[str, object] = value
        self.where = where

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def integer(self, key: str, default: int | None = None, below: int = 2**53) -> int:
        """Return a whole number from 0 to `below` - 1."""
        return self._whole(key, self._get(key, default), below)

    def reference(self, key: str, below: int) -> int | None:
        """Return the number of another object of the file; None where the key is missing."""
        return self.integer(key, below=below) if key in self.values else None

    def integers(self, key: str, below: int, default: Sequence[int] | None = None, least: int = 0) -> list[int]:
        """Return a list of whole numbers from `least` to `below` - 1."""
        return [self._whole(key, entry, below, least) for entry in self._list(key, default)]

    def shape(self, key: str) -> tuple[int, ...]:
        """Return the shape of an array."""
        lengths = tuple(self.integers(key, 2**53))
        if len(lengths) > _MOST_AXES:
            raise InputError(f"{self._name(key)}: expected at most {_MOST_AXES} axes, got {len(lengths)}")
        return lengths

    def number(self, key: str) -> float:
        """Return a finite number."""
        return self._number(key, self._get(key, None), "a finite number")

    def numbers(self, key: str, count: int | None = None, default: Sequence[float] | None = None) -> list[float]:
        """Return a list of finite numbers, `count` of them."""
        entries = self._list(key, default)
        if count is not None and len(entries) != count:
            raise InputError(f"{self._name(key)}: expected {count} numbers, got {len(entries)}")
        return [self._number(key, entry, "finite numbers") for entry in entries]

    def text(self, key: str, default: str | None = None) -> str:
        """Return a string."""
        return self._string(key, self._get(key, default))

    def texts(self, key: str, default: Sequence[str] | None = None) -> list[str]:
        """Return a list of strings."""
        return [self._string(key, entry) for entry in self._list(key, default)]

    def flag(self, key: str, default: bool | None = None) -> bool:
        """Return true or false."""
        value = self._get(key, default)
        if not isinstance(value, bool):
            raise InputError(f"{self._name(key)}: expected true or false, got {shown(value)}")
        return value

    def part(self, key: str, default: dict[str, object] | None = None, where: str | None = None) -> Fields:
        """Return the object under `key`, called `where` in messages."""
        return Fields(self._get(key, default), self._name(key) if where is None else where)

    def parts(self, key: str, what: str, default: Sequence[object] | None = None) -> list[Fields]:
        """Return a list of objects, called `what` 0, `what` 1, ... in messages."""
        return [Fields(entry, f"{what} {k}") for k, entry in enumerate(self._list(key, default))]

    def part_of(self, key: str, number: int, what: str) -> Fields:
        """Return one of a list of objects, as `parts` would."""
        return Fields(self._list(key, None)[number], f"{what} {number}")

    def length(self, key: str) -> int:
        """Return how long the list under `key` is; 0 where it is missing."""
        return len(self._list(key, ()))

    def _get(self, key: str, default: object) -> object:
        if key in self.values:
            return self.values[key]
        if default is None:
            raise InputError(f"{self._name(key)} is missing")
        return default

    def _name(self, key: str) -> str:
        # Some keys are names that the file chose: of any length, on any number of lines.
        return f"{self.where}: {key if key.isidentifier() and len(key) <= 60 else shown(key)}"

    def _list(self, key: str, default: Sequence[object] | None) -> Sequence[object]:
        if default is not None and key not in self.values:
            return default
        value = self._get(key, None)
        if not isinstance(value, list):
            raise InputError(f"{self._name(key)}: expected a list, got {shown(value)}")
        return value

    def _whole(self, key: str, value: object, below: int, least: int = 0) -> int:
        # JSON has one kind of number: 5.0 is as good as 5.
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError(f"{self._name(key)}: expected a whole number, got {shown(value)}")
        if not least <= value < below:
            allowed = f"from {least} to {below - 1}" if below > least else "of something in the file, which has none"
            raise InputError(f"{self._name(key)}: expected a number {allowed}, got {shown(value)}")
        return value

    def _number(self, key: str, value: object, what: str) -> float:
        # Written so that NaN fails too; huge integers compare without overflow.
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _LARGEST:
            raise InputError(f"{self._name(key)}: expected {what} of ordinary size, got {shown(value)}")
        return float(value)

    def _string(self, key: str, value: object) -> str:
        if not isinstance(value, str):
            raise InputError(f"{self._name(key)}: expected a string, got {shown(value)}")
        return printable(value)


def printable(text: str) -> str:
    """Return a string without halves of surrogate pairs: JSON can spell them, but no terminal can print them."""
    return text.encode("utf-8", "replace").decode()


def plain(value: object, where: str, depth: int = _MOST_DEPTH) -> object:
    """Return JSON of any kind with every string printable; raise where it is nested too deep to be written again."""
    if not depth:
        raise InputError(f"{where}: expected at most {_MOST_DEPTH} levels, got more")
    if isinstance(value, dict):
        return {printable(key): plain(entry, where, depth - 1) for key, entry in value.items()}
    if isinstance(value, list):
        return [plain(entry, where, depth - 1) for entry in value]
    return printable(value) if isinstance(value, str) else value


def shown(value: object) -> str:
    """Return a value as a message can show it: short and on one line."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    # Python refuses to print an integer of very many digits.
    text = "a huge number" if isinstance(value, int) and abs(value) >= 2**200 else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
