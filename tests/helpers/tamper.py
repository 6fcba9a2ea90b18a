"""Skin files tampered with by someone who knows their structure: valid safetensors, valid JSON, hostile content.

The same seed gives the same file.
"""

from __future__ import annotations

import copy
import json
import random
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from helpers.json_parts import A_FEW, places
from numpy.typing import NDArray

NUMBERS = [
    0.0, -1.0, 1e-310, 1e-45, 1e-30, 1e-12, 1e5, 3e9, 9e9, 1.1e10, 1e30, 3e38, -3e38, 1e154, 1e300, -1.7e308,
    float("nan"), float("inf"), float("-inf"),
]  # fmt: skip
WHOLES = [-(2**63), -(2**31), -2, -1, 0, 1, 2, 127, 255, 65535, 65536, 2**31 - 1, 2**31, 2**53, 2**63 - 1]
SURROGATE = "\ud800"
NAMES = ["", SURROGATE, f"a{SURROGATE}b", "\n", "\x00", "x" * 100_000, "smile", "joint0", "joint0.x", "joint9.tz", "é°"]
VALUES: list[Any] = [*NUMBERS, *WHOLES, 10**400, *NAMES, None, True, [], {}, [[]], [0], ["a"], {"a": 1}]
CODES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U32": "<u4", "U8": "u1"}


@dataclass
class Parts:
    """A skin file taken apart: its arrays by name and its description; `header` changes the header as it is written."""

    arrays: dict[str, NDArray[Any]]
    description: Any
    header: Callable[[dict[str, Any]], str] = json.dumps

    @classmethod
    def of(cls, content: bytes) -> Parts:
        length = struct.unpack("<Q", content[:8])[0]
        header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
        description = json.loads(header.pop("__metadata__")["posespace"])
        arrays = {}
        for name, entry in header.items():
            start, end = entry["data_offsets"]
            arrays[name] = np.frombuffer(data[start:end], _dtype(entry["dtype"])).reshape(entry["shape"]).copy()
        return cls(arrays, description)

    def written(self) -> bytes:
        header: dict[str, Any] = {"__metadata__": {"posespace": json.dumps(self.description)}}
        chunks, length = [], 0
        for name, array in self.arrays.items():
            content = np.ascontiguousarray(array).tobytes()
            place = [length, length + len(content)]
            header[name] = {"dtype": _code(array.dtype), "shape": list(array.shape), "data_offsets": place}
            chunks.append(content)
            length += len(content)
        text = self.header(header).encode()
        text += b" " * (-len(text) % 8)
        return b"".join([struct.pack("<Q", len(text)), text, *chunks])


def _dtype(code: str) -> np.dtype[Any]:
    return np.dtype("<u2" if code == "U16" else CODES[code])


def _code(dtype: np.dtype[Any]) -> str:
    return next(code for code in (*CODES, "U16") if _dtype(code) == dtype)


def tampered(rng: random.Random, content: bytes) -> bytes:
    """Return the file with one to three things wrong with it."""
    parts = Parts.of(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        # One way may leave nothing that the next can be done to.
        with suppress(TypeError, KeyError, AttributeError, IndexError, ValueError, RecursionError):
            rng.choice(WAYS)(rng, parts)
    return parts.written()


def numbers(rng: random.Random, parts: Parts) -> None:
    """Some numbers of an array, or all, made absurd."""
    name = rng.choice([name for name, array in parts.arrays.items() if array.dtype.kind == "f" and array.size])
    _fill(rng, parts.arrays[name], rng.choice(NUMBERS))


def indices(rng: random.Random, parts: Parts) -> None:
    """Some whole numbers of an array, or all, out of range."""
    name = rng.choice([name for name, array in parts.arrays.items() if array.dtype.kind in "iu" and array.size])
    array = parts.arrays[name]
    limits = np.iinfo(array.dtype)
    _fill(rng, array, min(max(rng.choice([*WHOLES, array.size, int(array.max())]), limits.min), limits.max))


def _fill(rng: random.Random, array: NDArray[Any], value: float) -> None:
    with np.errstate(over="ignore"):
        if rng.random() < 0.3:
            array[...] = value
        else:
            for _ in range(rng.choice([1, 1, 4])):
                array.flat[rng.randrange(array.size)] = value


def types(rng: random.Random, parts: Parts) -> None:
    """An array in another type: converted, or its bytes seen as another."""
    name, array = rng.choice(list(parts.arrays.items()))
    kind = np.dtype(rng.choice(list(CODES.values())))
    if rng.random() < 0.7 or array.nbytes % kind.itemsize:
        with np.errstate(all="ignore"):
            parts.arrays[name] = array.astype(kind)
    else:
        parts.arrays[name] = array.ravel().view(kind)


def shapes(rng: random.Random, parts: Parts) -> None:
    """An array with an axis less or more, turned, cut, grown or empty."""
    name, array = rng.choice(list(parts.arrays.items()))
    ways: list[Callable[[], NDArray[Any]]] = [
        array.ravel,
        lambda: array[None],
        lambda: array.T,
        lambda: array[:-1],
        lambda: array[:0],
        lambda: array[..., :1],
        lambda: array[..., :0],
        lambda: array[..., 0],
        lambda: np.concatenate([array, array]),
        lambda: np.repeat(array, 300, axis=0),
    ]
    parts.arrays[name] = rng.choice(ways)()


def columns(rng: random.Random, parts: Parts) -> None:
    """A driver's weights or values with one dimension, one column or none, its bases and heights to match or not."""
    names = [name for name in parts.arrays if name.endswith(("driver/weights", "driver/values"))]
    count = rng.choice([0, 0, 1])
    for name in rng.sample(names, rng.choice([1, len(names)])):
        array = parts.arrays[name]
        parts.arrays[name] = array[:, 0] if rng.random() < 0.5 else array[:, :count]
    if rng.random() < 0.7:
        for name in [name for name in parts.arrays if name.endswith(("basis", "heights"))]:
            parts.arrays[name] = parts.arrays[name][:count]
    if "skin/detail/heights" in parts.arrays and rng.random() < 0.7:
        parts.description["skin"]["detail"]["levels"] = rng.choice([0, 2, 6])
        fine = rng.choice([0, 20, 40_000, 100_000_000_000 if count == 0 else 1])
        parts.arrays["skin/detail/heights"] = np.zeros((0, fine)) if count == 0 else np.zeros((count, fine))


def missing(rng: random.Random, parts: Parts) -> None:
    """An array left out, under another name, or in another's place."""
    name, other = rng.choice(list(parts.arrays)), rng.choice(list(parts.arrays))
    kind = rng.randrange(3)
    if kind == 0:
        del parts.arrays[name]
    elif kind == 1:
        parts.arrays[rng.choice([f"{name}{SURROGATE}", f"{name}/x", "skin", "a\nb"])] = parts.arrays.pop(name)
    else:
        parts.arrays[name] = parts.arrays[other]


def offsets(rng: random.Random, parts: Parts) -> None:
    """Two arrays that change places, overlap, or lie where nothing is."""
    first, second = rng.choice(list(parts.arrays)), rng.choice(list(parts.arrays))
    kind, hostile = rng.randrange(5), rng.choice([*WHOLES, 0.5, None, "0"])

    def changed(header: dict[str, Any]) -> str:
        one, two = header.get(first, {}), header.get(second, {})
        if "data_offsets" not in one or "data_offsets" not in two:
            return json.dumps(header)
        start, end = one["data_offsets"]
        if kind == 0:
            one["data_offsets"], two["data_offsets"] = two["data_offsets"], [start, end]
        elif kind == 1:
            one["data_offsets"] = [start + 1, end + 1]
        elif kind == 2:
            one["data_offsets"] = [end, start]
        elif kind == 3:
            one["data_offsets"] = [hostile, end]
        else:
            one["shape"] = [hostile, *one["shape"][1:]]
        return json.dumps(header)

    parts.header = changed


def twice(rng: random.Random, parts: Parts) -> None:
    """A name that the header has twice."""
    name = rng.choice(list(parts.arrays))
    parts.header = lambda header: (
        json.dumps(header)[:-1] + f", {json.dumps(name)}: {json.dumps(next(reversed(header.values())))}" + "}"
    )


def described(rng: random.Random, parts: Parts) -> None:
    """Values of the description made absurd, left out, or put in another's place."""
    found = places(parts.description, A_FEW)
    for _ in range(rng.choice([1, 1, 3])):
        holder, key = rng.choice(found)
        other, source = rng.choice(found)
        if isinstance(holder, list) or key in holder:
            moved = other[source] if isinstance(other, list) or source in other else None
            holder[key] = copy.deepcopy(rng.choice([*VALUES, moved]))
        if isinstance(holder, dict) and rng.random() < 0.2:
            holder.pop(key, None)


def named(rng: random.Random, parts: Parts) -> None:
    """Names that are half a character, there twice, or someone else's."""
    skin = parts.description["skin"]
    lists = [skin["rig"]["joints"], *(layer["driver"]["names"] for layer in skin["layers"] if "driver" in layer)]
    entries = rng.choice([entry for entry in lists if isinstance(entry, list) and entry] or [["x"]])
    entries[rng.randrange(len(entries))] = rng.choice([*NAMES, *skin["rig"]["joints"]])
    if rng.random() < 0.5:
        skin["about"] = {rng.choice(NAMES): rng.choice(NAMES), "method": rng.choice(NAMES)}
    if skin["layers"] and rng.random() < 0.5:
        skin["layers"][0]["name"] = rng.choice(NAMES)


def deep(rng: random.Random, parts: Parts) -> None:
    """What is said of the making, nested deep."""
    depth = rng.choice([20, 100, 300, 800])
    inside: Any = 1
    for _ in range(depth):
        inside = [inside] if rng.random() < 0.5 else {"a": inside}
    parts.description["skin"]["about"] = {"settings": inside}


def floods(rng: random.Random, parts: Parts) -> None:
    """Very many layers, joints, names or arrays."""
    kind = rng.randrange(5)
    skin = parts.description["skin"]
    if kind == 0 and skin["layers"]:
        count = rng.choice([50, 300, 1000])
        source = rng.randrange(len(skin["layers"]))
        own = {name: array for name, array in parts.arrays.items() if name.startswith(f"skin/layers/{source}/")}
        for k in range(len(skin["layers"]), count):
            skin["layers"].append(skin["layers"][source])
            parts.arrays |= {name.replace(f"/{source}/", f"/{k}/", 1): array for name, array in own.items()}
    elif kind == 1:
        _more_joints(rng, parts)
    elif kind == 2:
        parts.arrays |= {f"unused {k}": np.zeros(1, np.uint8) for k in range(20_000)}
    elif kind == 3:
        skin["about"] = {f"figure {k}": k for k in range(100_000)}
    elif skin["layers"]:
        skin["layers"][0]["driver"] = skin["layers"][0]["driver"] | {"names": [f"dial {k}" for k in range(50_000)]}


def _more_joints(rng: random.Random, parts: Parts) -> None:
    """Thousands of joints, in a chain or all on the root."""
    joints, count = parts.description["skin"]["rig"]["joints"], rng.choice([300, 3000])
    chain, have = rng.random() < 0.5, len(joints)
    joints += [f"more {k}" for k in range(count)]
    for name, array in list(parts.arrays.items()):
        if name.startswith("skin/rig/") and len(array) == have and not name.endswith(("/points", "/triangles")):
            more = np.repeat(array[-1:], count, axis=0)
            if name.endswith(("parents", "links")):
                more = np.arange(have - 1, have - 1 + count) if chain else np.zeros(count)
            parts.arrays[name] = np.concatenate([array, more.astype(array.dtype)])


Way = Callable[[random.Random, Parts], None]
WAYS: list[Way] = [
    *(numbers for _ in range(5)), *(indices for _ in range(3)), *(described for _ in range(3)), types, types, shapes,
    shapes, columns, missing, offsets, offsets, twice, named, named, deep, floods,
]  # fmt: skip
