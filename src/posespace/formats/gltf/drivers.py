"""The drivers of a file's `POSESPACE_drivers`: pose spaces and interpolants, their numbers in one buffer view."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from posespace import check
from posespace.errors import InputError
from posespace.formats.checked_json import Fields
from posespace.formats.gltf.buffers import Document
from posespace.formats.gltf.extension import EXTENSION
from posespace.interpolate.distances import Array
from posespace.interpolate.fitted import RBFInterpolant, ShepardInterpolant
from posespace.interpolate.kernels import KERNELS, TAILS
from posespace.poses.spaces import AXES, KINDS, TRANSLATIONS, PoseSpace
from posespace.skeleton import Skeleton
from posespace.skin.driver import Driver, Interpolant

Names = Sequence[str]

HELD = 4
"""A number of a driver costs as much as this many of a file: it is a 64-bit one, and players copy it."""
_STEPS_A_DRIVER = 2


def read_drivers(document: Document, fields: Fields, skeleton: Skeleton) -> list[Driver]:
    """Return the drivers of a file, over the joints of a skeleton and the file's controls."""
    pool = Pool(document, fields)
    controls = fields.texts("controls")
    return [_driver(record, pool, skeleton, controls) for record in fields.parts("drivers", "driver")]


class Pool:
    """The numbers of a file's drivers, in double precision. Drivers may share them, so what each takes counts.

    Parameters
    ----------
    document, fields : the file, and its part of the extension
    """

    def __init__(self, document: Document, fields: Fields) -> None:
        content = bytes(document.bytes_of(Fields({"bufferView": fields.integer("numbers")}, EXTENSION)))
        if len(content) % 8:
            raise InputError(f"{EXTENSION}: numbers: expected 8 bytes each, got {len(content)} bytes")
        self._numbers, self._budget = np.frombuffer(content, "<f8").astype(np.float64), document.budget

    def slice(self, fields: Fields, start: int, shape: tuple[int, ...]) -> Array:
        """Return the numbers from `start` on, in a shape."""
        end = start + math.prod(shape)
        if end > len(self._numbers):
            raise InputError(f"{fields.where}: expected numbers up to {len(self._numbers)}, got some up to {end}")
        self._budget.hold(HELD * math.prod(shape), f"{EXTENSION}: {fields.where}")
        return self._numbers[start:end].reshape(shape)

    def begin(self) -> None:
        """Count one more driver."""
        self._budget.work(_STEPS_A_DRIVER, "drivers")


def _driver(fields: Fields, pool: Pool, skeleton: Skeleton, controls: Names) -> Driver:
    pool.begin()
    kind = check.choice(f"{fields.where}: kind", fields.text("kind"), KINDS)
    space = PoseSpace(kind, _names(fields, kind, skeleton, controls))
    first, samples = _pair(fields, "centres")
    start, columns = _pair(fields, "weights")
    centres = pool.slice(fields, first, (samples, space.dimensions))
    kernel = check.choice(f"{fields.where}: kernel", fields.text("kernel"), (*KERNELS, "shepard"))
    if kernel == "shepard":
        values = pool.slice(fields, start, (samples, columns))
        power, reach = fields.number("power"), fields.number("reach")
        return Driver(space, ShepardInterpolant(space.metric, power, reach, centres, values))
    tail = check.choice(f"{fields.where}: tail", fields.text("tail"), TAILS)
    rows = samples + {"none": 0, "constant": 1, "linear": 1 + space.dimensions}[tail]
    weights = pool.slice(fields, start, (rows, columns))
    axes = len(space.names) if kind == "joint" else space.dimensions
    radius = pool.slice(fields, fields.integer("radius"), (axes,))
    reach = fields.number("reach") if "reach" in fields else math.inf
    span = None
    if "span" in fields:
        span_start, directions = _pair(fields, "span")
        span = pool.slice(fields, span_start, (directions, 3 * axes if kind == "joint" else axes))
    made: Interpolant = RBFInterpolant(kernel, space.metric, tail, radius, centres, weights, reach, span)
    return Driver(space, made)


def _names(fields: Fields, kind: str, skeleton: Skeleton, controls: Names) -> tuple[str, ...]:
    """The names of a space's joints, degrees of freedom or controls."""
    if kind in ("joint", "quaternions"):
        return tuple(skeleton.names[joint] for joint in fields.integers("inputs", len(skeleton)))
    if kind == "freedoms":
        return tuple(_freedom(fields, joint, axis, skeleton, controls) for joint, axis in _pairs(fields))
    return tuple(controls[control] for control in fields.integers("inputs", len(controls)))


def _pairs(fields: Fields) -> list[tuple[int, int]]:
    """The inputs of a driver, two together."""
    numbers = fields.integers("inputs", 2**31, least=-1)
    if len(numbers) % 2:
        raise InputError(f"{fields.where}: inputs: expected two numbers for each, got {len(numbers)} in all")
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _freedom(fields: Fields, joint: int, axis: int, skeleton: Skeleton, controls: Names) -> str:
    """The name of a joint's degree of freedom, or of a control, whose joint is -1."""
    endings = controls if joint < 0 else AXES + TRANSLATIONS
    if joint >= len(skeleton) or not 0 <= axis < len(endings):
        raise InputError(
            f"{fields.where}: inputs: expected a joint and its axis, or -1 and a control, got {joint}, {axis}"
        )
    return endings[axis] if joint < 0 else f"{skeleton.names[joint]}.{endings[axis]}"


def _pair(fields: Fields, key: str) -> tuple[int, int]:
    numbers = fields.integers(key, 2**53)
    if len(numbers) != 2:
        raise InputError(f"{fields.where}: {key}: expected where they start and how many, got {len(numbers)} numbers")
    return numbers[0], numbers[1]
