"""Drive, compiled: a pose's joint transforms and every layer's coordinates in one call on flat tables."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Floats32
from posespace.runtime.compiled import inlined, uncounted
from posespace.runtime.drive_tables import KERNEL_NUMBERS, Tables

_GAUSSIAN, _EXPONENTIAL, _MULTIQUADRIC, _THIN_PLATE, _LINEAR, _SHEPARD = (
    KERNEL_NUMBERS[name] for name in ("gaussian", "exponential", "multiquadric", "thin_plate", "linear", "shepard")
)


def _polynomial(function: Callable[[Floats], Floats], low: float, high: float, degree: int) -> list[float]:
    """Coefficients, highest first, of a smooth function between two numbers, in t from -1 to 1."""
    nodes = np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))
    values = function(low + (high - low) * (nodes + 1) / 2)
    fitted = np.polynomial.Chebyshev(np.polynomial.chebyshev.chebfit(nodes, values, degree))
    found: list[float] = fitted.convert(kind=np.polynomial.Polynomial).coef[::-1].tolist()
    return found


# Both to eleven digits: a root and an arc function less, and many at once. Each number has a name, for a list would be
# read from memory at every step.
# The squared angle between two rotations is (4·asin(√s/2))², s the squared distance of their quaternions, 0 to 2.
_A14, _A13, _A12, _A11, _A10, _A9, _A8, _A7, _A6, _A5, _A4, _A3, _A2, _A1, _A0 = _polynomial(
    lambda s: (4 * np.arcsin(0.5 * np.sqrt(s))) ** 2 / s, 0.0, 2.0, 14
)
# The rotation vector is 2·acos(w)/√(1 - w²) times x y z, w from 0 to 1.
_B14, _B13, _B12, _B11, _B10, _B9, _B8, _B7, _B6, _B5, _B4, _B3, _B2, _B1, _B0 = _polynomial(
    lambda w: 2 * np.arccos(w) / np.sqrt(1 - w * w), 0.0, 1.0, 14
)


@uncounted
def drive(
    tables: Tables, pose: Floats, scratch: Floats, palette: Floats32, coordinates: Floats
) -> None:  # pragma: no cover - compiled
    """Write the transforms (12 J,) and the coordinates (C,) of a pose; see `Drive` for the sizes of the others."""
    links, joints, heads, slots, numbers = tables
    count = len(links)
    world, features, terms = scratch[: 12 * count], scratch[12 * count :], scratch[16 * count + len(pose) :]
    for k in range(count):
        joint = links[k, 0]
        _place(joints[joint], joint, links[joint, 1], pose, pose[4 * count :], world)
        _bind(world[12 * joint :], joints[joint, 21:33], palette[12 * joint :])
    if not len(heads):
        return
    for joint in range(count):
        _features(joints[joint], joint, count, links[joint, 2], pose, features)
    for k in range(7 * count, len(pose)):
        features[4 * count + k] = pose[k]
    for which in range(len(heads)):
        head = heads[which]
        if head[0] == _SHEPARD:
            _squares(head, slots, numbers, features, terms)
            _shares(head[3], numbers[head[11]], numbers[head[11] + 1], terms)
        else:
            _squares(head, slots, numbers, features, terms)
            _radial(head[0], head[3], terms)
            _tail(head, slots, numbers, features, terms)
        _weigh(head, numbers, terms, coordinates)


@uncounted
def drive_again(
    tables: Tables, pose: Floats, scratch: Floats, palette: Floats32, coordinates: Floats, times: int
) -> None:  # pragma: no cover - compiled
    """Drive a pose so many times: what it costs within a frame, where no call from Python comes before it."""
    for _ in range(times):
        drive(tables, pose, scratch, palette, coordinates)


@uncounted
def _place(
    own: Floats, joint: int, parent: int, turns: Floats, shifts: Floats, world: Floats
) -> None:  # pragma: no cover - compiled
    """Write a joint's transform to the world, 3 rows of 4, its parent's being there."""
    x, y, z, w = turns[4 * joint], turns[4 * joint + 1], turns[4 * joint + 2], turns[4 * joint + 3]
    r = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )
    at = 12 * joint
    for column in range(4):
        if column < 3:
            p, q, s = own[12 + column], own[15 + column], own[18 + column]
            a = r[0][0] * p + r[0][1] * q + r[0][2] * s
            b = r[1][0] * p + r[1][1] * q + r[1][2] * s
            c = r[2][0] * p + r[2][1] * q + r[2][2] * s
        else:
            a, b, c = shifts[3 * joint], shifts[3 * joint + 1], shifts[3 * joint + 2]
        d = own[0] * a + own[1] * b + own[2] * c
        e = own[4] * a + own[5] * b + own[6] * c
        f = own[8] * a + own[9] * b + own[10] * c
        if column == 3:
            d, e, f = d + own[3], e + own[7], f + own[11]
        if parent >= 0:
            up = 12 * parent
            a = world[up] * d + world[up + 1] * e + world[up + 2] * f
            b = world[up + 4] * d + world[up + 5] * e + world[up + 6] * f
            c = world[up + 8] * d + world[up + 9] * e + world[up + 10] * f
            if column == 3:
                a, b, c = a + world[up + 3], b + world[up + 7], c + world[up + 11]
            d, e, f = a, b, c
        world[at + column], world[at + 4 + column], world[at + 8 + column] = d, e, f


@uncounted
def _bind(world: Floats, bind: Floats, out: Floats32) -> None:  # pragma: no cover - compiled
    """Write the transform from rest to posed space, row by row."""
    for row in range(0, 12, 4):
        a, b, c = world[row], world[row + 1], world[row + 2]
        for column in range(3):
            out[row + column] = a * bind[column] + b * bind[4 + column] + c * bind[8 + column]
        out[row + 3] = a * bind[3] + b * bind[7] + c * bind[11] + world[row + 3]


@uncounted
def _features(
    own: Floats, joint: int, count: int, bends: int, turns: Floats, features: Floats
) -> None:  # pragma: no cover - compiled
    """Write what pose spaces see of a joint: its rotation, the same signed as at rest, and its angles."""
    x, y, z, w = turns[4 * joint], turns[4 * joint + 1], turns[4 * joint + 2], turns[4 * joint + 3]
    p, q, r, s = own[33], own[34], own[35], own[36]
    side = -1.0 if x * p + y * q + z * r + w * s < 0 else 1.0
    for k in range(4):
        features[4 * joint + k] = turns[4 * joint + k]
        features[4 * count + 4 * joint + k] = side * turns[4 * joint + k]
    if not bends:
        return
    i = s * x - p * w - q * z + r * y
    j = s * y + p * z - q * w - r * x
    k = s * z - p * y + q * x - r * w
    real = s * w + p * x + q * y + r * z
    sign = -1.0 if real < 0 else 1.0
    scale = sign * _bend(min(sign * real, 1.0))
    for axis in range(3):
        row = 37 + 3 * axis
        features[8 * count + 3 * joint + axis] = scale * (own[row] * i + own[row + 1] * j + own[row + 2] * k)


@inlined
def _bend(w: float) -> float:  # pragma: no cover - compiled
    """The length of a rotation vector over that of x y z, from w of a unit quaternion, 0 to 1."""
    t = 2.0 * w - 1.0
    high = ((((((_B14 * t + _B13) * t + _B12) * t + _B11) * t + _B10) * t + _B9) * t + _B8) * t + _B7
    return ((((((high * t + _B6) * t + _B5) * t + _B4) * t + _B3) * t + _B2) * t + _B1) * t + _B0


@uncounted
def _squares(
    head: NDArray[np.int64], slots: NDArray[np.int64], numbers: Floats, features: Floats, terms: Floats
) -> None:  # pragma: no cover - compiled
    """Write the squared distances of the features from an interpolant's samples."""
    count, dimensions, slot, radius = head[3], head[4], head[7], head[8]
    centres = numbers[head[9] : head[9] + dimensions * count]
    terms[:count] = 0.0
    if not head[1]:
        for k in range(dimensions):
            here, scale, own = features[slots[slot + k]], numbers[radius + k], centres[k * count : (k + 1) * count]
            for m in range(count):
                gap = (here - own[m]) * scale
                terms[m] += gap * gap
        return
    for joint in range(dimensions // 4):
        first, scale = slot + 4 * joint, numbers[radius + joint] ** 2
        x, y, z, w = (
            features[slots[first]],
            features[slots[first + 1]],
            features[slots[first + 2]],
            features[slots[first + 3]],
        )
        own = centres[4 * joint * count : 4 * (joint + 1) * count]
        for m in range(count):
            dot = x * own[m] + y * own[count + m] + z * own[2 * count + m] + w * own[3 * count + m]
            terms[m] += scale * _square_angle(max(0.0, 2.0 - 2.0 * abs(dot)))


@inlined
def _square_angle(chord: float) -> float:  # pragma: no cover - compiled
    """The squared angle between rotations from the squared distance, at most 2, of their quaternions."""
    t = chord - 1.0
    high = ((((((_A14 * t + _A13) * t + _A12) * t + _A11) * t + _A10) * t + _A9) * t + _A8) * t + _A7
    low = ((((((high * t + _A6) * t + _A5) * t + _A4) * t + _A3) * t + _A2) * t + _A1) * t + _A0
    return chord * low


@uncounted
def _radial(kernel: int, count: int, terms: Floats) -> None:  # pragma: no cover - compiled
    """Put a radial function in the place of each squared distance; a loop for each function is by far the fastest."""
    if kernel == _THIN_PLATE:
        for m in range(count):
            terms[m] = 0.5 * terms[m] * math.log(terms[m]) if terms[m] > 0.0 else 0.0
    elif kernel == _GAUSSIAN:
        for m in range(count):
            terms[m] = math.exp(-0.5 * terms[m])
    elif kernel == _EXPONENTIAL:
        for m in range(count):
            terms[m] = math.exp(-math.sqrt(terms[m]))
    elif kernel == _MULTIQUADRIC:
        for m in range(count):
            terms[m] = math.sqrt(1.0 + terms[m])
    elif kernel == _LINEAR:
        for m in range(count):
            terms[m] = math.sqrt(terms[m])
    else:
        for m in range(count):
            terms[m] *= math.sqrt(terms[m])


@uncounted
def _tail(
    head: NDArray[np.int64], slots: NDArray[np.int64], numbers: Floats, features: Floats, terms: Floats
) -> None:  # pragma: no cover - compiled
    """Write the terms of the polynomial after those of the samples."""
    turning, tail, count, slot, centre = head[1], head[2], head[3], head[7], head[9]
    if tail > 0:
        terms[count] = 1.0
    for k in range(tail - 1):
        value = features[slots[slot + k]]
        if turning:
            agree = 0.0
            for other in range(4 * (k // 4), 4 * (k // 4) + 4):
                agree += features[slots[slot + other]] * numbers[centre + other * count]
            value = -value if agree < 0 else value
        terms[count + 1 + k] = value - numbers[centre + k * count]


@uncounted
def _shares(count: int, power: float, reach: float, terms: Floats) -> None:  # pragma: no cover - compiled
    """Put each sample's share in the place of its squared distance; ratios to the nearest, so no power overflows."""
    nearest = 0
    for m in range(count):
        if terms[m] < terms[nearest]:
            nearest = m
    least, total = terms[nearest], 0.0
    for m in range(count):
        if math.sqrt(least) <= reach:
            terms[m] = 1.0 if m == nearest else 0.0
        else:
            terms[m] = (least / terms[m]) ** (0.5 * power) if terms[m] > 0.0 else 1.0
        total += terms[m]
    for m in range(count):
        terms[m] /= total


@uncounted
def _weigh(
    head: NDArray[np.int64], numbers: Floats, terms: Floats, coordinates: Floats
) -> None:  # pragma: no cover - compiled
    """Write an interpolant's values: its terms times their weights."""
    count = head[2] + head[3]
    for c in range(head[5]):
        total = 0.0
        for m in range(count):
            total += terms[m] * numbers[head[10] + c * count + m]
        coordinates[head[6] + c] = total
