"""Driver blocks (`POSESPACE_drivers`) made by the grammar of docs/drivers.md, with rules broken here and there.

Unlike damage to a good block, this reaches every kind of driver, kernel and tail, and learned bones and detail of every
size, in combinations that no fit makes. The same seed gives the same file.
"""

from __future__ import annotations

import json
import random
import struct
from typing import Any

import numpy as np
from helpers.bones_grammar import Arrays, Bones
from helpers.gltf_files import as_glb
from numpy.typing import NDArray

EXTENSION = "POSESPACE_drivers"
KINDS = ("joint", "quaternions", "freedoms", "controls")
KERNELS = ("gaussian", "exponential", "multiquadric", "thin_plate", "linear", "cubic", "shepard")
CONTROLS = ("smile", "tip.x", "tip.y", "tip.z", "knuckle.x", "knuckle.y", "knuckle.z", "load")
NUMBERS: list[Any] = [0, -0.0, -1, 0.5, 1e-310, 1e-45, 1e-7, 1e7, 1e20, 3e38, 1e155, -1e300, 1.7e308, 10**400]
WHOLES: list[Any] = [-(2**63), -2, -1, 0, 1, 3, 7, 255, 65536, 2**31 - 1, 2**31, 2**53, 2**63, 10**30]
VALUES: list[Any] = [None, True, "", "x", "\ud800", "a\nb", "x" * 5_000, [], [0], [[]], [[0, 1]], {}, {"a": 1}]
QUATERNIONS, OTHERS, RADII = 200, 1_500, 40
"""What the pool of numbers holds, one after the other: unit quaternions, numbers of any sign, radii."""


class Block:
    """Makes one block for a file of so many joints; each rule is broken with the probability `wrong`."""

    def __init__(self, rng: random.Random, old: dict[str, Any]) -> None:
        self._rng, self._joints, self._version, self._up = rng, old["joints"], old["version"], old["up"]
        # A block with bones has more that can break.
        self.wrong = rng.choice([0.0, 0.002, 0.01, 0.05, 0.2]) / (4 if "bones" in old else 1)
        self._blendings = ["linear"] if "bones" in old else ["linear", "dual_quaternion"]

    def file(self, view: int) -> dict[str, Any]:
        """Return the file's part of the block, whose numbers are in a buffer view."""
        drivers = [self._driver() for _ in range(self._rng.randint(1, 6))]
        layers = [self._layer(len(drivers)) for _ in range(self._rng.randint(1, 5))]
        return self._keys(
            version=self._or(self._version, WHOLES),
            numbers=self._or(view, WHOLES),
            unit=self._or(self._rng.choice([1, 0.01, 0.3]), NUMBERS),
            up=self._or(self._rng.choice("yz") if self._version == 1 else self._up, ["y", "z", *VALUES]),
            blending=self._or(self._rng.choice(self._blendings), ["dual_quaternion", *VALUES]),
            joints=self._or([self._joint(joint) for joint in self._joints], [[], self._joints[1:], "joints"]),
            controls=self._or(list(CONTROLS), [[], ["smile"] * 8, ["joint0.x"] * 8, [None], list(CONTROLS[:3])]),
            drivers=self._or(drivers, [[], drivers * 300, {}, [[]], [None]]),
            layers=self._or(layers, [[], layers * 300, "none", [[]], [0]]),
            about=self._or({"method": "grammar"}, [{"\ud800": "\ud800"}, json.loads("[" * 80 + "]" * 80), [], "x"]),
        )

    def targets(self, count: int) -> list[Any]:
        """Return a mesh's part of the block: what each of its targets is."""
        return [self._or(self._target(), VALUES) for _ in range(count)]

    def numbers(self) -> NDArray[np.float64]:
        """Return the pool of numbers."""
        rng = np.random.default_rng(self._rng.randrange(2**32))
        turns = rng.normal(size=(QUATERNIONS, 4))
        turns /= np.linalg.norm(turns, axis=1, keepdims=True)
        pool = np.concatenate([turns.ravel(), rng.normal(size=OTHERS), rng.uniform(0.2, 2, size=RADII)])
        hostile = [0.0, np.nan, np.inf, -np.inf, 1e-310, 1e30, 1e100, -1e300, 1.7e308]
        for _ in range(self._rng.choice([1, 5, 200]) if self._breaks(5) else 0):
            pool[self._rng.randrange(len(pool))] = self._rng.choice(hostile)
        return pool

    def _driver(self) -> Any:
        kind = self._rng.choice(KINDS)
        inputs, dimensions = self._inputs(kind)
        samples, columns = self._rng.randint(1, 6), self._rng.randint(1, 4)
        turning = kind in ("joint", "quaternions")
        first = 4 * self._rng.randrange(QUATERNIONS - 6 * dimensions // 4) if turning else 4 * QUATERNIONS
        start = 4 * QUATERNIONS + self._rng.randrange(OTHERS - 400)
        driver = self._keys(
            kind=self._or(kind, [*KINDS, *VALUES]),
            inputs=self._or(inputs, [inputs[1:], [*inputs, 0], [inputs], inputs * 2, [0.5], [-1, -1], *VALUES]),
            centres=self._pair(first, samples),
            kernel=self._or(self._rng.choice(KERNELS), VALUES),
            tail=self._or(self._rng.choice(["none", "constant", "linear"]), VALUES),
            radius=self._or(4 * QUATERNIONS + OTHERS + self._rng.randrange(8), [*WHOLES, *VALUES]),
            weights=self._pair(start, columns),
            power=self._or(self._rng.choice([1, 2, 3.5]), [*NUMBERS, *VALUES]),
            reach=self._or(self._rng.choice([0.1, 1, 50]), [*NUMBERS, *VALUES]),
        )
        if self._rng.random() < 0.3:
            # Numbers at random are no orthonormal directions, but none at all are a span.
            driver["span"] = self._pair(start, self._rng.choice([1, 7, 400]) if self._breaks(5) else 0)
        return driver

    def _inputs(self, kind: str) -> tuple[list[Any], int]:
        """Return the inputs of a driver and how many numbers a sample of it has."""
        count = self._rng.randint(1, 3)
        joints = self._rng.sample(range(len(self._joints)), count)
        if kind in ("joint", "quaternions"):
            return [self._or(joint, WHOLES) for joint in joints], 4 * count
        if kind == "controls":
            return [self._or(k, WHOLES) for k in self._rng.sample(range(len(CONTROLS)), count)], count
        pairs = [(-1, 0) if self._rng.random() < 0.2 else (joint, self._rng.randrange(6)) for joint in joints]
        return [self._or(number, WHOLES) for pair in dict.fromkeys(pairs) for number in pair], count

    def _pair(self, start: int, count: int) -> Any:
        wrong = [[start], [start, count, 0], [], [count, start], [start, 0], [[start, count]], start, *VALUES]
        return self._or([self._or(start, WHOLES), self._or(count, WHOLES)], wrong)

    def _joint(self, joint: dict[str, Any]) -> dict[str, Any]:
        changed = {key: self._or(value, [*NUMBERS, *WHOLES, *VALUES]) for key, value in joint.items()}
        if self._breaks():
            changed["axes"] = self._rng.choice(
                [[0] * 9, [1] * 9, [1, 0, 0], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [1e30] * 9]
            )
        if self._breaks():
            changed["limits"] = self._rng.choice([[-1, 1] * 3, [1, -1] * 3, [0], [[-1, 1]] * 3, [1e300] * 6])
        return changed

    def _layer(self, drivers: int) -> Any:
        layer = self._keys(
            name=self._or("layer", VALUES),
            driver=self._or(self._rng.randrange(drivers), WHOLES),
            bits=self._or(self._rng.choice([8, 16, 32]), WHOLES),
        )
        if self._rng.random() < 0.4:
            layer["steps"] = [self._or(0.01, NUMBERS) for _ in range(self._rng.randint(0, 4))]
        if self._rng.random() < 0.4:
            layer["normalSteps"] = [self._or(0.01, NUMBERS) for _ in range(self._rng.randint(0, 4))]
        if self._rng.random() < 0.3:
            layer["normals"] = self._or(self._rng.randrange(drivers), WHOLES)
        return layer

    def _target(self) -> dict[str, Any]:
        if self._rng.random() < 0.2:
            return self._rng.choice([{}, {"offset": True}, {"offset": self._or(False, VALUES)}])
        return self._keys(
            layer=self._or(self._rng.randint(0, 4), WHOLES),
            component=self._or(0, WHOLES),
            low=self._or(-0.4, NUMBERS),
            scale=self._or(0.9, NUMBERS),
            normals=self._or(self._rng.random() < 0.3, VALUES),
        )

    def _keys(self, **entries: Any) -> dict[str, Any]:
        """Return an object, of which a key may be missing."""
        return {key: value for key, value in entries.items() if not self._breaks()}

    def _or(self, good: Any, wrong: list[Any]) -> Any:
        return self._rng.choice(wrong) if self._breaks() else good

    def _breaks(self, times: int = 1) -> bool:
        return self._rng.random() < times * self.wrong


def tampered(rng: random.Random, content: bytes) -> bytes:
    """Return an exported skin, a GLB, with a driver block of the grammar's in the place of its own."""
    length = struct.unpack("<I", content[12:16])[0]
    whole, binary = json.loads(content[20 : 20 + length]), content[28 + length :]
    old = whole["extensions"][EXTENSION]
    block = Block(rng, old)
    pool = block.numbers().tobytes()
    binary += b"\0" * (-len(binary) % 8)
    whole["bufferViews"].append({"buffer": 0, "byteOffset": len(binary), "byteLength": len(pool)})
    made = block.file(len(whole["bufferViews"]) - 1)
    for mesh in whole["meshes"]:
        part = mesh["extensions"][EXTENSION]
        part["targets"] = block.targets(len(part["targets"]))
    binary += pool
    if old["version"] == 2:
        arrays = Arrays(rng, whole, binary, block.wrong)
        bones = Bones(rng, arrays, _triangles(whole, binary), old)
        made |= bones.parts(len(whole["skins"][0]["joints"]) - 1, made.get("drivers"))
        binary = bytes(arrays.binary)
    whole["extensions"][EXTENSION] = made
    whole["buffers"] = [{"byteLength": len(binary)}]
    return as_glb(json.dumps(whole).encode(), binary)


def _triangles(whole: dict[str, Any], binary: bytes) -> NDArray[np.int32]:
    """The triangles of the file's one primitive."""
    accessor = whole["accessors"][whole["meshes"][0]["primitives"][0]["indices"]]
    start = whole["bufferViews"][accessor["bufferView"]]["byteOffset"]
    kind = {5123: "<u2", 5125: "<u4"}[accessor["componentType"]]
    return np.frombuffer(binary, kind, accessor["count"], start).astype(np.int32).reshape(-1, 3)
