"""Names that other programs keep as they are: short enough, each once, and no code."""

from __future__ import annotations

import re
from collections.abc import Iterable

MOST_BYTES = 63
"""What Blender keeps of a name."""

_MOST_LETTERS = 256
_UNSAFE_IN_SHADERS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\\]|/\*")
"""What ends or continues a line of a shader, or opens a comment that nothing closes."""


def shader_name(name: str) -> str:
    """Return the name of a material without what would be code in a shader: three.js copies it there.

    The player does the same with files from elsewhere (`player/three/shader_words.ts`).
    """
    return _UNSAFE_IN_SHADERS.sub("_", name)[:_MOST_LETTERS]


def short_names(names: Iterable[str]) -> list[str]:
    """Return the names cut to 63 bytes of UTF-8 and made distinct: the second "arm" becomes "arm#2"."""
    distinct: dict[str, None] = {}
    repeats: dict[str, int] = {}
    for name in names:
        candidate = base = _cut(name, MOST_BYTES) or "target"
        while candidate in distinct:
            repeats[base] = repeats.get(base, 1) + 1
            mark = f"#{repeats[base]}"
            candidate = _cut(base, MOST_BYTES - len(mark)) + mark
        distinct[candidate] = None
    return list(distinct)


def with_ending(stem: str, ending: str) -> str:
    """Return a name of at most 63 bytes that keeps its ending."""
    return _cut(stem, MOST_BYTES - len(ending.encode())) + ending


def _cut(name: str, most: int) -> str:
    return name.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")
