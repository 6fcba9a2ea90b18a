"""Where values lie in JSON, and the JSON part of a GLB: what all makers of bad files share."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from typing import Any

Mutator = Callable[[random.Random, bytes], bytes]

A_FEW = 12
"""Entries of a long list that stand for all, so that structure is hit as often as numbers."""


def places(value: Any, most: int | None = None) -> list[tuple[Any, Any]]:
    """Return the list or object that holds each value of a JSON tree, with its key; of each, the first `most` alone."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        for key in keys[:most]:
            found.append((holder, key))
            waiting.append(holder[key])
    return found


def glb(inner: Mutator) -> Mutator:
    """Return what does to the JSON part of a GLB what `inner` does to a JSON text, its lengths made right again."""

    def mutate(rng: random.Random, content: bytes) -> bytes:
        length = struct.unpack("<I", content[12:16])[0]
        text = inner(rng, content[20 : 20 + length])
        text += b" " * (-len(text) % 4)
        rest = content[20 + length :]
        return struct.pack("<4sIIII", b"glTF", 2, 20 + len(text) + len(rest), len(text), 0x4E4F534A) + text + rest

    return mutate
