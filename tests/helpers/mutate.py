"""Damage to files: cut short, flipped, absurd numbers, missing entries. The same seed gives the same damage."""

from __future__ import annotations

import copy
import json
import random
import re
import struct
from pathlib import Path
from typing import Any

from helpers.json_parts import A_FEW, Mutator, glb, places

ABSURD: list[Any] = [
    None, True, -1, 0, 1, 255, 65536, 2**31 - 1, 2**31, 2**32, 2**63, 10**30, -(2**31), 0.5, -1.5, 1e308, 1e-320,
    float("nan"), float("inf"), float("-inf"), "", "x", "../../etc/passwd", "file:///etc/passwd", "\n\x00", [], {},
    [[]], [0], [1, 2, 3], ["a"], {"a": 1}, [0] * 1000,
]  # fmt: skip
WORDS = [
    "nan",
    "inf",
    "-1",
    "0",
    "99999999999",
    "2147483648",
    "4294967296",
    "1e999",
    "x",
    "",
    "-",
    "1/1/1",
    "{",
    "}",
    "#",
]


def cut(rng: random.Random, content: bytes) -> bytes:
    return content[: rng.randrange(len(content) or 1)]


def flip(rng: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8, 64])):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def overwrite(rng: random.Random, content: bytes) -> bytes:
    """A stretch of zeros, of ones, of NaNs, of the largest 32-bit numbers, or of noise."""
    start, length = rng.randrange(len(content) or 1), rng.choice([1, 4, 8, 16, 256])
    fill = rng.choice([b"\x00", b"\xff", struct.pack("<f", float("nan")), struct.pack("<I", 2**31), rng.randbytes(7)])
    return content[:start] + (fill * length)[:length] + content[start + length :]


def splice(rng: random.Random, content: bytes) -> bytes:
    """A piece of the file repeated somewhere else, or taken out."""
    a, b, c = sorted(rng.randrange(len(content) + 1) for _ in range(3))
    return rng.choice([content[:b] + content[a:b] + content[b:], content[:a] + content[b:], content[:c] + content[a:]])


def word(rng: random.Random, content: bytes) -> bytes:
    """A number or word of a text file made absurd."""
    found = list(re.finditer(rb"[^\s,:\[\]{}]+", content))
    if not found:
        return content
    for match in sorted(rng.sample(found, min(len(found), rng.choice([1, 1, 3]))), key=lambda m: -m.start()):
        content = content[: match.start()] + rng.choice(WORDS).encode() + content[match.end() :]
    return content


def lines(rng: random.Random, content: bytes) -> bytes:
    """Lines of a text file taken out, repeated or swapped."""
    rows = content.split(b"\n")
    a, b = rng.randrange(len(rows)), rng.randrange(len(rows))
    kind = rng.randrange(3)
    if kind == 0:
        del rows[a : a + rng.choice([1, 1, 5])]
    elif kind == 1:
        rows[a:a] = [rows[b]] * rng.choice([1, 2, 50])
    else:
        rows[a], rows[b] = rows[b], rows[a]
    return b"\n".join(rows)


def tree(rng: random.Random, content: bytes) -> bytes:
    """Some values of a JSON text replaced by absurd ones, taken out or swapped with others."""
    value = json.loads(content)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        value = _replaced(rng, value)
    return json.dumps(value).encode()


def _replaced(rng: random.Random, value: Any) -> Any:
    found = places(value, A_FEW)
    if not found:
        return copy.deepcopy(rng.choice(ABSURD))
    holder, key = rng.choice(found)
    kind = rng.randrange(4)
    if kind == 0:
        del holder[key]
    elif kind == 1:
        other, source = rng.choice(found)
        holder[key] = copy.deepcopy(other[source])
    else:
        holder[key] = copy.deepcopy(rng.choice(ABSURD))
    return value


def head(rng: random.Random, content: bytes) -> bytes:
    """Bytes at the beginning of a file, where it says what it holds, replaced by noise."""
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 3])):
        changed[rng.randrange(min(24, len(content) or 1))] = rng.randrange(256)
    return bytes(changed)


BYTES: list[Mutator] = [cut, flip, overwrite, splice]
TEXT: list[Mutator] = [*BYTES, word, word, word, lines, lines]


def skin_tree(rng: random.Random, content: bytes) -> bytes:
    """The header of a skin file damaged, or the description inside it, its length made right again."""
    length = struct.unpack("<Q", content[:8])[0]
    header, data = content[8 : 8 + length], content[8 + length :]
    if rng.random() < 0.5:
        header = tree(rng, header)
    else:
        outer = json.loads(header)
        outer["__metadata__"]["posespace"] = tree(rng, outer["__metadata__"]["posespace"].encode()).decode()
        header = json.dumps(outer).encode()
    return struct.pack("<Q", len(header)) + header + data


def folder(rng: random.Random, files: dict[Path, bytes]) -> dict[Path, bytes]:
    """One file of a store damaged or taken out."""
    path = rng.choice(sorted(files))
    if rng.random() < 0.1:
        return {key: content for key, content in files.items() if key != path}
    damage = rng.choice([tree, tree, *BYTES] if path.name == "zarr.json" else BYTES)
    return files | {path: damage(rng, files[path])}


KINDS: dict[str, list[Mutator]] = {
    ".gltf": [tree, tree, tree, *BYTES, word],
    ".glb": [*[glb(tree)] * 3, *BYTES],
    ".obj": TEXT,
    ".ply": TEXT,
    ".bvh": TEXT,
    ".tsv": TEXT,
    ".trc": TEXT,
    ".c3d": [head, head, head, *BYTES],
    ".json": [tree, tree, *TEXT],
    ".skin": [skin_tree, skin_tree, *BYTES],
    ".usda": TEXT,
}


def write(rng: random.Random, sample: Path, target: Path) -> None:
    """Write a damaged copy of `sample`, a file or a store."""
    if sample.is_dir():
        files = {path.relative_to(sample): path.read_bytes() for path in sample.rglob("*") if path.is_file()}
        for path, content in folder(rng, files).items():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            (target / path).write_bytes(content)
    else:
        target.write_bytes(rng.choice(KINDS[sample.suffix])(rng, sample.read_bytes()))
