"""Names that other programs keep as they are: short enough, and each once."""

from __future__ import annotations

from collections.abc import Iterable

MOST_BYTES = 63
"""What Blender keeps of a name."""


def short_names(names: Iterable[str]) -> list[str]:
    """Return the names cut to 63 bytes of UTF-8 and made distinct: the second "arm" becomes "arm#2"."""
    found: dict[str, None] = {}
    repeats: dict[str, int] = {}
    for name in names:
        candidate = base = _cut(name, MOST_BYTES) or "target"
        while candidate in found:
            repeats[base] = repeats.get(base, 1) + 1
            mark = f"#{repeats[base]}"
            candidate = _cut(base, MOST_BYTES - len(mark)) + mark
        found[candidate] = None
    return list(found)


def with_ending(stem: str, ending: str) -> str:
    """Return a name of at most 63 bytes that keeps its ending."""
    return _cut(stem, MOST_BYTES - len(ending.encode())) + ending


def _cut(name: str, most: int) -> str:
    return name.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")
