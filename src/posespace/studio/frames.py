"""Messages of the studio's WebSocket: JSON in text frames, JSON with arrays in binary ones. What comes in is checked.

A binary frame is the length of its JSON as uint32, the JSON, and from the next multiple of four bytes on each of its
`arrays`, little-endian and in C order, each beginning at a multiple of four bytes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from posespace.errors import InputError
from posespace.formats.checked_json import Fields

Json = dict[str, Any]
Arrays = Mapping[str, NDArray[Any]]

MOST_BYTES = 2**26
"""Of one message; a shape of a million vertices has a fifth of that."""
MOST_JSON = 2**22
MOST_ARRAYS = 8
DTYPES: dict[str, np.dtype[Any]] = {"f4": np.dtype("<f4"), "i4": np.dtype("<i4"), "u1": np.dtype("u1")}


class Message(NamedTuple):
    """What a frame holds: a JSON object and arrays by name."""

    fields: Fields
    arrays: dict[str, NDArray[Any]]


def encode(header: Mapping[str, Any], arrays: Arrays | None = None) -> str | bytes:
    """Return a message as a frame: text, or bytes where it has arrays."""
    if not arrays:
        return json.dumps(header, separators=(",", ":"), allow_nan=False)
    listed, parts = [], []
    for name, array in arrays.items():
        code = {"f": "f4", "i": "i4", "u": "u1"}[array.dtype.kind]
        listed.append({"name": name, "dtype": code, "shape": list(array.shape)})
        parts.append(_padded(np.ascontiguousarray(array, DTYPES[code]).tobytes()))
    text = json.dumps({**header, "arrays": listed}, separators=(",", ":"), allow_nan=False).encode()
    return b"".join([len(text).to_bytes(4, "little"), _padded(text), *parts])


def decode(frame: str | bytes) -> Message:
    """Return the message of a frame; raise unless it is one."""
    if len(frame) > MOST_BYTES:
        raise InputError(f"message: expected at most {MOST_BYTES:,} bytes, got {len(frame):,}")
    if isinstance(frame, str):
        return Message(_json(frame), {})
    length = int.from_bytes(frame[:4], "little")
    if len(frame) < 4 or 4 + length > len(frame):
        raise InputError(f"message: expected {length} bytes of JSON, got {max(0, len(frame) - 4)}")
    fields = _json(frame[4 : 4 + length])
    entries = fields.parts("arrays", "array", [])
    if len(entries) > MOST_ARRAYS:
        raise InputError(f"message: expected at most {MOST_ARRAYS} arrays, got {len(entries)}")
    arrays, first = dict[str, NDArray[Any]](), _aligned(4 + length)
    for entry in entries:
        dtype, shape = _dtype(entry), entry.shape("shape")
        count = math.prod(shape)
        if first + count * dtype.itemsize > len(frame):
            raise InputError(f"{entry.where}: expected {count} numbers, got a message that ends before")
        arrays[entry.text("name")] = np.frombuffer(frame, dtype, count, first).reshape(shape)
        first = _aligned(first + count * dtype.itemsize)
    return Message(fields, arrays)


def _dtype(entry: Fields) -> np.dtype[Any]:
    code = entry.text("dtype")
    if code not in DTYPES:
        raise InputError(f"{entry.where}: expected one of {', '.join(DTYPES)}, got {code[:20]!r}")
    return DTYPES[code]


def _json(text: str | bytes) -> Fields:
    if len(text) > MOST_JSON:
        raise InputError(f"message: expected at most {MOST_JSON:,} bytes of JSON, got {len(text):,}")
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise InputError(f"message: expected JSON ({str(error)[:80]})") from None
    return Fields(value, "message")


def _finite(word: str) -> float:
    number = float(word)
    return number if math.isfinite(number) else _refuse(word[:20])


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


def _aligned(count: int) -> int:
    return count + -count % 4


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 4)
