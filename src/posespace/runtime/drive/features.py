"""What pose spaces see of the joints, compiled: their parts, the same signed as at rest, and their angles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from posespace.check import Floats
from posespace.runtime.compiled import inlined, relaxed
from posespace.runtime.drive.tables import (
    ALL_ANGLES,
    ANGLES,
    AXES,
    FRAME_ROTATION,
    OFFSET,
    REST,
    ROTATION,
    SIGNED_ROTATIONS,
    TRANSFORM,
    TRANSLATION,
)
from posespace.runtime.pointers import Pointer, after


def polynomial(function: Callable[[Floats], Floats], low: float, high: float, degree: int) -> list[float]:
    """Return coefficients, highest first, of a smooth function between two numbers, in t from -1 to 1."""
    nodes = np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))
    values = function(low + (high - low) * (nodes + 1) / 2)
    series = np.polynomial.Chebyshev(np.polynomial.chebyshev.chebfit(nodes, values, degree))
    coefficients: list[float] = series.convert(kind=np.polynomial.Polynomial).coef[::-1].tolist()
    return coefficients


# To eleven digits: it saves a root and an arc function. Each number has a name, as a list would be read from memory at
# every step.
# The rotation vector is 2·acos(w)/√(1 - w²) times x y z, w from 0 to 1.
_B14, _B13, _B12, _B11, _B10, _B9, _B8, _B7, _B6, _B5, _B4, _B3, _B2, _B1, _B0 = polynomial(
    lambda w: 2 * np.arccos(w) / np.sqrt(1 - w * w), 0.0, 1.0, 14
)


@inlined
def quaternion(rotations: Pointer, joint: int) -> tuple[float, float, float, float]:  # pragma: no cover - compiled
    """A joint's rotation among those of all joints."""
    at = ROTATION * joint
    return rotations[at], rotations[at + 1], rotations[at + 2], rotations[at + 3]


@relaxed
def orient(
    row: Pointer, joint: int, parent: int, rotations: Pointer, oriented: Pointer
) -> None:  # pragma: no cover - compiled
    """Write a joint's rotation to the world; its parent's is there already."""
    rotation = _product(quaternion(after(row, FRAME_ROTATION), 0), quaternion(rotations, joint))
    if parent >= 0:
        rotation = _product(quaternion(oriented, parent), rotation)
    for k in range(ROTATION):
        oriented[ROTATION * joint + k] = rotation[k]


@inlined
def _product(
    a: tuple[float, float, float, float], b: tuple[float, float, float, float]
) -> tuple[float, float, float, float]:  # pragma: no cover - compiled
    """The rotation b, then the rotation a."""
    return (
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    )


@relaxed
def copy_part(
    joint: int, rotations: Pointer, translations: Pointer, features: Pointer, out: Pointer
) -> None:  # pragma: no cover - compiled
    """Write the part of a joint that is linked to its parent: its rotation and translation as they are."""
    for at in range(ROTATION * joint, ROTATION * joint + ROTATION):
        features[at] = rotations[at]
    for at in range(TRANSLATION * joint, TRANSLATION * joint + TRANSLATION):
        out[at] = translations[at]


@relaxed
def part_from_link(
    row: Pointer, joint: int, link: int, world: Pointer, oriented: Pointer, features: Pointer, translations: Pointer
) -> None:  # pragma: no cover - compiled
    """Write the part of a joint as seen from the joint it is linked to; one linked to none rests."""
    if link < 0:
        for k in range(ROTATION):
            features[ROTATION * joint + k] = row[REST + k]
        for k in range(TRANSLATION):
            translations[TRANSLATION * joint + k] = 0.0
        return
    x, y, z, w = quaternion(oriented, link)
    rotation = _product((-x, -y, -z, w), quaternion(oriented, joint))
    for k in range(ROTATION):
        features[ROTATION * joint + k] = rotation[k]
    here, there = after(world, TRANSFORM * joint), after(world, TRANSFORM * link)
    away = (here[3] - there[3], here[7] - there[7], here[11] - there[11], 0.0)
    offset = _product(_product((-x, -y, -z, w), away), (x, y, z, w))
    for k in range(TRANSLATION):
        translations[TRANSLATION * joint + k] = offset[k] - row[OFFSET + k]


@relaxed
def write_features(
    row: Pointer, joint: int, joints: int, angled: int, features: Pointer
) -> None:  # pragma: no cover - compiled
    """Write what else pose spaces see of a joint: its part's rotation signed as at rest, and its angles."""
    x, y, z, w = quaternion(features, joint)
    p, q, r, s = quaternion(after(row, REST), 0)
    side = -1.0 if x * p + y * q + z * r + w * s < 0 else 1.0
    signed = after(features, SIGNED_ROTATIONS * joints)
    for at in range(ROTATION * joint, ROTATION * joint + ROTATION):
        signed[at] = side * features[at]
    if not angled:
        return
    i = s * x - p * w - q * z + r * y
    j = s * y + p * z - q * w - r * x
    k = s * z - p * y + q * x - r * w
    real = s * w + p * x + q * y + r * z
    sign = -1.0 if real < 0 else 1.0
    scale = sign * _bend(min(sign * real, 1.0))
    axes, angles = after(row, AXES), after(features, ALL_ANGLES * joints + ANGLES * joint)
    for axis in range(ANGLES):
        angles[axis] = scale * (axes[3 * axis] * i + axes[3 * axis + 1] * j + axes[3 * axis + 2] * k)


@inlined
def _bend(w: float) -> float:  # pragma: no cover - compiled
    """The length of a rotation vector over that of x y z, from w of a unit quaternion, 0 to 1."""
    t = 2.0 * w - 1.0
    high = ((((((_B14 * t + _B13) * t + _B12) * t + _B11) * t + _B10) * t + _B9) * t + _B8) * t + _B7
    return ((((((high * t + _B6) * t + _B5) * t + _B4) * t + _B3) * t + _B2) * t + _B1) * t + _B0
