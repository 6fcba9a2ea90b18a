"""Files made by someone who knows the format: valid, but with hostile numbers, names, floods and nesting; and places
that are no files. The same seed gives the same file.
"""

from __future__ import annotations

import io
import json
import os
import random
import re
import shutil
import struct
import zipfile
from pathlib import Path
from typing import Any

from helpers.json_parts import Mutator, glb, places

NUMBERS: list[Any] = [
    0, -0.0, 1, -1, 2, 3, 255, 65535, 2**31 - 1, 2**32 - 1, 2**53, -(2**31), 0.5, 1e-7, 1e-45, 1e-310, 5e-324, 1e7,
    1e20, 1e30, -1e30, 1e38, 3e38, -3e38, 1e155, 1e300, -1e300, 1.7e308,
]  # fmt: skip
NAMES = [
    "\ud800", "\udfff name", "a" * 100_000, "two\nlines", "\x00", "\x1b[31mred", "\N{RIGHT-TO-LEFT OVERRIDE}x", "",
    " ", "../../etc/passwd", "C:\\x", "rig.glb", "\N{GRINNING FACE}" * 9, "é", "{0} %s", "-o", "__proto__",
]  # fmt: skip
FLOOD = 600_000
"""Bytes that a flood grows a file by, about."""
SPARSE = 3_000_000_000
"""Bytes of a file that takes no room on the disk."""


def json_numbers(rng: random.Random, content: bytes) -> bytes:
    """Some, or all, numbers of a JSON text replaced."""
    value = json.loads(content)
    numbers = [(holder, key) for holder, key in places(value) if type(holder[key]) in (int, float)]
    for holder, key in _some(rng, numbers):
        holder[key] = rng.choice(NUMBERS)
    return json.dumps(value).encode()


def json_names(rng: random.Random, content: bytes) -> bytes:
    """Some strings and keys of a JSON text replaced."""
    value = json.loads(content)
    for holder, key in _some(rng, [place for place in places(value) if isinstance(place[0][place[1]], str)]):
        holder[key] = rng.choice(NAMES)
    for holder, key in _some(rng, [place for place in places(value) if isinstance(place[1], str)])[:2]:
        if rng.random() < 0.3 and key in holder:
            holder[rng.choice(NAMES)] = holder.pop(key)
    return json.dumps(value).encode()


def json_flood(rng: random.Random, content: bytes) -> bytes:
    """A list, or an object, with very many entries, all like one it has."""
    value = json.loads(content)
    holders = [value, *(holder[key] for holder, key in _inner(value))]
    holder = rng.choice([each for each in holders if isinstance(each, list | dict) and each])
    key = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    entry = rng.choice([holder[key], holder[key], {}, [], 0, ""])
    times = min(200_000, FLOOD // (len(json.dumps(entry)) + 8))
    if isinstance(holder, list):
        holder.extend([entry] * times)
    else:
        holder |= {f"{key}{k}": entry for k in range(times)}
    return json.dumps(value).encode()


def json_nest(rng: random.Random, content: bytes) -> bytes:
    """A value inside many lists or objects."""
    value = json.loads(content)
    holder, key = rng.choice(_inner(value))
    mark = "here it goes"
    holder[key] = mark
    deep = rng.choice([20, 500, 100_000])
    opening, closing = rng.choice([("[", "]"), ('{"children":', "}"), ('{"a":', "}")])
    return json.dumps(value).replace(f'"{mark}"', opening * deep + "1" + closing * deep).encode()


def glb_floats(rng: random.Random, content: bytes) -> bytes:
    """Some numbers of the binary part of a GLB replaced."""
    start = 28 + struct.unpack("<I", content[12:16])[0]
    return content[:start] + floats(rng, content[start:])


def floats(rng: random.Random, content: bytes) -> bytes:
    """Some 32-bit numbers of a binary part replaced by others that are finite."""
    changed = bytearray(content)
    for place in _some(rng, range(0, len(content) - 3, 4)):
        changed[place : place + 4] = struct.pack("<f", max(-3.4e38, min(3.4e38, float(rng.choice(NUMBERS)))))
    return bytes(changed)


def text_numbers(rng: random.Random, content: bytes) -> bytes:
    """Some, or all, numbers of a text replaced."""
    found = _some(rng, list(re.finditer(rb"(?<![\w.])[-+]?\d[\d.e+-]*", content)))
    for match in sorted(found, key=lambda each: -each.start()):
        content = content[: match.start()] + repr(rng.choice(NUMBERS)).encode() + content[match.end() :]
    return content


def text_flood(rng: random.Random, content: bytes) -> bytes:
    """Very many lines like one of the file's, or blank, or comments; or very many words, or braces, in one."""
    lines = content.split(b"\n")
    at = rng.randrange(len(lines))
    line = rng.choice([lines[at], lines[at], b"", b"# x", b"{", b"}", lines[at] + b"\r"])
    times = FLOOD // (len(line) + 1)
    if rng.random() < 0.3:
        lines[at] = b" ".join([line] * times)
    else:
        lines[at:at] = [line] * times
    return b"\n".join(lines)


def text_blocks(rng: random.Random, content: bytes) -> bytes:
    """A stretch of lines, such as a joint or a prim, repeated very many times or nested in itself."""
    lines = content.split(b"\n")
    a, b = sorted(rng.randrange(len(lines) + 1) for _ in range(2))
    block = lines[a:b]
    times = min(5000, FLOOD // (len(b"\n".join(block)) + 1))
    if rng.random() < 0.5:
        return b"\n".join([*lines[:b], *(block * times), *lines[b:]])
    middle = (a + b) // 2
    return b"\n".join([*lines[:a], *(lines[a:middle] * times), *(lines[middle:b] * times), *lines[b:]])


def saved_otherwise(rng: random.Random, content: bytes) -> bytes:
    """The same text with another encoding, byte-order mark or kind of line ends."""
    text = content.decode("utf-8", "replace")
    ends = text.replace("\n", rng.choice(["\n", "\r\n", "\r", "\n\r", "\u2028"]))
    encodings = ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "cp037"]
    return ends.encode(rng.choice(encodings), "replace")


def npy_header(rng: random.Random, content: bytes) -> bytes:
    """A .npy file whose header says something else of the same numbers, or is no header."""
    body = content[10 + struct.unpack("<H", content[8:10])[0] :]
    shape = rng.choice(
        ["(4, 42, 3)", "(1000000000, 0, 3)", "(0, 42, 3)", "(4, 42, 3,)", "(-4, 42, 3)", "(2**62, 4, 3)", "(4., 42, 3)",
         "(4611686018427387904, 4, 3)", "(168, 1, 3)", "(504,)", "()", "(True, 42, 3)", "((((", "'a'", "4", "-" * 5000,
         "(" * 5000 + ")" * 5000, "[" * 90 + "]" * 90, "(4, 42, 3) + (1,)", "__import__('os').abort()"]
    )  # fmt: skip
    kind = rng.choice(["<f4", "<f4", "<f8", ">f4", "<f2", "|O", "|V12", "<c8", "<U3", "<i4", "", "f" * 300, "<M8[s]"])
    order = rng.choice(["False", "True", "0", "None"])
    header = f"{{'descr': {kind!r}, 'fortran_order': {order}, 'shape': {shape}, }}".encode() + b"\n"
    version = rng.choice([b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x00"])
    length = rng.choice([len(header), len(header), len(header), 0, 65535]) % 65536
    width = "<H" if version == b"\x01\x00" else "<I"
    return b"\x93NUMPY" + version + struct.pack(width, length) + header + body


def npz_member(rng: random.Random, content: bytes) -> bytes:
    """An archive whose array says something else, is packed to very little, is there often, or has an odd name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        array = archive.read(archive.namelist()[0])
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        names = rng.choice([["a"], ["../a"], [""], ["names", "a"], ["a", "b"], [str(k) for k in range(3000)]])
        for name in names:
            body = npy_header(rng, array) if rng.random() < 0.7 else array
            archive.writestr(f"{name}.npy", body + rng.choice([b"", b"", b"\0" * FLOOD if len(names) == 1 else b""]))
    data = made.getvalue()
    return floats(rng, data) if rng.random() < 0.3 else data


def c3d_header(rng: random.Random, content: bytes) -> bytes:
    """A C3D file whose counts and places, in its header or its parameters, are others; the rest may flood."""
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.choice([0, 1, 515, *range(2, 24), *range(512, min(900, len(content) - 2))])
        changed[at : at + 2] = struct.pack("<H", rng.choice([0, 1, 2, 3, 4, 255, 256, 32767, 32768, 65535]))
    return bytes(changed) + rng.choice([b"", b"", b"\xff" * FLOOD, b"\0" * FLOOD, content * (FLOOD // len(content))])


def place(rng: random.Random, target: Path, outside: Path) -> None:
    """Put something at `target` that is not an ordinary file of ordinary size, or that leads elsewhere."""
    kind = rng.choice(["zero", "null", "pipe", "loop", "nowhere", "folder", "elsewhere", "sparse", "empty"])
    if kind == "pipe":
        os.mkfifo(target)
    elif kind == "folder":
        target.mkdir()
    elif kind in ("sparse", "empty"):
        target.touch()
        os.truncate(target, SPARSE if kind == "sparse" else 0)
    else:
        ends = {"zero": "/dev/zero", "null": "/dev/null", "loop": target, "nowhere": target.with_name("nothing")}
        target.symlink_to(ends.get(kind, outside))


def write_store(rng: random.Random, sample: Path, target: Path) -> None:
    """Write a copy of a store in which something is hostile: its JSON, its numbers, a place, or how much there is."""
    # Linked, not copied, so that a store is there at once; what is changed is written anew.
    shutil.copytree(sample, target, copy_function=os.link)
    paths = sorted(target.rglob("*"))
    kind = rng.choice(["place", "place", "json", "json", "floats", "floats", "more"])
    if kind == "place":
        path = rng.choice(paths)
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
        place(rng, path, sample / path.relative_to(target))
    elif kind == "json":
        path = rng.choice([path for path in paths if path.name == "zarr.json"])
        change = rng.choice([json_numbers, json_names, json_nest] * 5 + [json_flood])
        _rewrite(path, change(rng, path.read_bytes()))
    elif kind == "floats":
        path = rng.choice([path for path in paths if path.is_file() and path.name != "zarr.json"])
        _rewrite(path, floats(rng, path.read_bytes()))
    else:
        folder = target / rng.choice(["rig", "motion", "marks/c", "failures", "shapes/c"])
        folder.mkdir(exist_ok=True)
        for number in range(rng.choice([3, 3, 3, 130])):
            (folder / f"{number}.txt").write_bytes(rng.choice([b"", b"x" * 9, b"\xff\x00\n" * 5000]))


def _rewrite(path: Path, content: bytes) -> None:
    path.unlink()
    path.write_bytes(content)


def _some(rng: random.Random, places: Any) -> list[Any]:
    """One of the places, a few, or all."""
    count = rng.choice([1, 1, 2, 5, len(places)])
    return rng.sample(list(places), min(count, len(places)))


def _inner(value: Any) -> list[tuple[Any, Any]]:
    """The places of the lists and objects inside a JSON tree."""
    return [(holder, key) for holder, key in places(value) if isinstance(holder[key], list | dict)]


_JSON = [json_numbers] * 6 + [json_names] * 4 + [json_nest] * 2 + [json_flood]
_TEXT = [text_numbers] * 8 + [saved_otherwise] * 4 + [text_flood, text_blocks]
KINDS: dict[str, list[Mutator]] = {
    ".gltf": [*_JSON, saved_otherwise],
    ".glb": [*map(glb, _JSON), *[glb_floats] * 4],
    ".obj": _TEXT,
    ".ply": _TEXT,
    ".bvh": _TEXT,
    ".tsv": _TEXT,
    ".trc": _TEXT,
    ".c3d": [c3d_header] * 3 + [floats],
    ".json": [*_JSON, saved_otherwise],
    ".usda": _TEXT,
    ".npy": [npy_header] * 3 + [floats],
    ".npz": [npz_member] * 3 + [floats],
}


def write(rng: random.Random, sample: Path, target: Path) -> None:
    """Write a hostile copy of `sample`, or put something else in its place."""
    if sample.is_dir():
        write_store(rng, sample, target)
    elif rng.random() < 0.05:
        place(rng, target, sample)
    else:
        kinds = KINDS[sample.suffix]
        target.write_bytes(rng.choice(kinds)(rng, sample.read_bytes()))
