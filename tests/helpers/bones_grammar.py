"""Learned bones and detail made by the grammar of docs/drivers.md, version 2, with rules broken here and there.

Sizes, models, corrections and levels of any combination; arrays that are too short, too long, of the wrong type, and of
sizes that no memory holds. The same seed gives the same file.
"""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.geometry.subdivision import fine_vertex_count

TYPES = {"int8": 5120, "uint8": 5121, "int16": 5122, "uint16": 5123, "uint32": 5125, "float32": 5126}
HOSTILE = [0.0, -1.0, np.nan, np.inf, -np.inf, 1e-45, 1e-30, 1e10, 1e19, -1e19, 1e30, 3e38]
GIANT = [2, 40, 3_000, 300_000, 10_000_000, 2**31 - 1]
WHOLES: list[Any] = [-(2**31), -1, 0, 1, 2, 3, 7, 2000, 65536, 2**31, 2**53, 10**30]
VALUES: list[Any] = [None, True, "", "x", [], [0], {}, {"a": 1}, 0.5, -0.5, 1e-310, 1e300]


class Arrays:
    """Collects flat accessors of numbers in a file; some are broken.

    Parameters
    ----------
    rng : decides what is broken
    whole, binary : the file's JSON, and its binary part
    wrong : how likely each thing is to be
    """

    def __init__(self, rng: random.Random, whole: dict[str, Any], binary: bytes, wrong: float) -> None:
        self._rng, self._whole, self.binary, self._wrong = rng, whole, bytearray(binary), wrong
        self.numbers = np.random.default_rng(rng.randrange(2**32))

    def put(self, values: NDArray[Any]) -> Any:
        """Add numbers of any shape; return the accessor, or what is none."""
        flat = np.ascontiguousarray(values).ravel()
        if flat.dtype.kind == "f" and flat.size and self.breaks():
            flat = flat.astype(np.float32)
            flat[self.numbers.integers(flat.size, size=self._rng.choice([1, 3, 100]))] = self._rng.choice(HOSTILE)
        if self.breaks():
            flat = self._rng.choice([flat[:-1], flat[: flat.size // 2], np.tile(flat, 2), flat[:0]])
        self.binary += b"\0" * (-len(self.binary) % 4)
        views, accessors = self._whole["bufferViews"], self._whole["accessors"]
        views.append({"buffer": 0, "byteOffset": len(self.binary), "byteLength": max(flat.nbytes, 1)})
        self.binary += flat.tobytes() or b"\0"
        entry: dict[str, Any] = {"bufferView": len(views) - 1, "componentType": TYPES[flat.dtype.name]}
        entry |= {"count": flat.size, "type": "SCALAR"}
        if self.breaks():
            entry[self._rng.choice(["count", "componentType", "type", "bufferView"])] = self._rng.choice(
                [*TYPES.values(), *WHOLES, "VEC3", "SCALAR", 5124]
            )
        if self.breaks(2):
            # Zeros without a view take no bytes of the file, however many they are.
            entry.pop("bufferView", None)
            entry["count"] = flat.size * self._rng.choice(GIANT)
        accessors.append(entry)
        return self.either(len(accessors) - 1, [*WHOLES, *VALUES])

    def either(self, good: Any, wrong: list[Any]) -> Any:
        """Return what is good, or what is not."""
        return self._rng.choice(wrong) if self.breaks() else good

    def breaks(self, times: int = 1) -> bool:
        """Whether the next thing is broken."""
        return self._rng.random() < times * self._wrong


class Bones:
    """Makes the parts `bones` and `detail` for a file of so many bones and control points."""

    def __init__(self, rng: random.Random, arrays: Arrays, triangles: NDArray[np.int32], block: dict[str, Any]) -> None:
        self._rng, self._arrays, self._old = rng, arrays, block["bones"]
        self._triangles, self._vertices = triangles, int(block["vertices"])
        self._points = len(block["joints"]) - 1
        self._samples, self._corrections, self._raised = rng.randint(1, 6), rng.choice([0, 0, 1, 3]), rng.choice([0, 2])
        self._models = rng.choice([1, self._samples])

    def parts(self, bones: int, drivers: Any) -> dict[str, Any]:
        """Return the parts of the block that version 2 adds; `drivers` are its own, of any JSON."""
        parts: dict[str, Any] = {
            "vertices": self._arrays.either(self._vertices, [*WHOLES, *VALUES]),
            "bones": self._arrays.either(self._bones(bones), [*VALUES]),
            "detail": self._arrays.either(self._detail(drivers), [*VALUES]),
        }
        if not self._raised and self._rng.random() < 0.3:
            del parts["detail"]
        return {key: value for key, value in parts.items() if not self._arrays.breaks()}

    def _bones(self, bones: int) -> dict[str, Any]:
        put, numbers, near = self._arrays.put, self._arrays.numbers, self._rng.randint(1, self._points)
        shape = (bones, self._models)
        values = 4 + self._corrections + self._raised
        part: dict[str, Any] = {
            "points": self._arrays.either(self._old["points"], [*WHOLES, *VALUES]),
            "rest": self._arrays.either(self._old["rest"], [*WHOLES, *VALUES]),
            "anchors": put(numbers.random(self._points, np.float32)),
            "samples": put(numbers.normal(size=(self._samples, self._points, 3)).astype(np.float32)),
            "near": put(numbers.integers(self._points, size=(bones, near)).astype(np.uint16)),
            "widths": put(numbers.uniform(0.2, 3, shape).astype(np.float32)),
            "heat": put(numbers.uniform(0.2, 3, bones).astype(np.float32)),
            "blended": self._arrays.either(self._rng.randint(1, self._models), [*WHOLES, *VALUES]),
            "offsets": put(numbers.normal(size=(*shape, values)).astype(np.float32)),
            "coefficients": put(numbers.normal(size=(*shape, self._samples, values)).astype(np.float32)),
            "centres": put(numbers.normal(size=(bones, 3)).astype(np.float32)),
            "beta": self._arrays.either(self._rng.choice([0.3, 3, 30]), [0, -1, 1e-300, 1e300, *VALUES]),
            "plain": self._arrays.either(self._old["plain"], [*VALUES]),
        }
        if self._rng.random() < 0.3:
            # The drivers' pool has numbers of any kind.
            part["exact"] = self._arrays.either(self._rng.randrange(2_500), [*WHOLES, *VALUES])
        if self._rng.random() < 0.6:
            part["holds"] = put(numbers.random((bones, near), np.float32))
        if self._rng.random() < 0.3:
            part["ties"] = put(numbers.integers(self._vertices, size=(3, 2)).astype(np.uint16))
        if self._corrections:
            part["corrections"] = self._arrays.either(
                self._packed("values", self._vertices * 3, self._corrections), VALUES
            )
        return {key: value for key, value in part.items() if not self._arrays.breaks()}

    def _detail(self, drivers: Any) -> dict[str, Any]:
        levels, components, part = self._rng.randint(0, 2), self._raised, dict[str, Any]()
        if not components:
            number = self._rng.randrange(len(drivers)) if isinstance(drivers, list) and drivers else 0
            part["driver"] = self._arrays.either(number, [*WHOLES, *VALUES])
            components = _columns(drivers, number)
        part |= self._packed("heights", fine_vertex_count(self._triangles, self._vertices, levels), components)
        return part | {"levels": self._arrays.either(levels, [*WHOLES, *VALUES])}

    def _packed(self, name: str, size: int, components: int) -> dict[str, Any]:
        """Components in 32, 16 or 8 bits."""
        bits = self._rng.choice([32, 16, 8])
        values: NDArray[Any] = 0.1 * self._arrays.numbers.normal(size=(components, size)).astype(np.float32)
        part: dict[str, Any] = {"bits": self._arrays.either(bits, [*WHOLES, *VALUES])}
        if bits < 32:
            most = 2 ** (bits - 1) - 1
            values = self._arrays.numbers.integers(-most, most, size=values.shape).astype(f"i{bits // 8}")
            part["scales"] = self._arrays.put(np.full(components, 0.1 / math.sqrt(most), np.float32))
        return part | {name: self._arrays.put(values)}


def _columns(drivers: Any, number: int) -> int:
    """How many coordinates a driver gives; any number where that is not to be told."""
    try:
        columns = drivers[number]["weights"][1]
    except (TypeError, KeyError, IndexError):
        return 1
    return columns if isinstance(columns, int) and 0 < columns < 5 else 1
