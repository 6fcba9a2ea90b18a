"""Unit quaternions (x y z w, as glTF and SciPy) as arrays of shape (..., 4), and their 3x3 matrices.

Kept in NumPy so that a program that only plays a skin need not load SciPy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from posespace.check import Floats
from posespace.errors import InputError

IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])


def normalize(quaternions: ArrayLike, name: str = "rotations") -> Floats:
    """Return `quaternions` (..., 4) at unit length; a zero or non-finite one raises."""
    raw = np.asarray(quaternions, dtype=np.float64)
    # Scaled first: squaring a tiny or huge component would under- or overflow.
    largest = np.abs(raw).max(axis=-1, keepdims=True, initial=0.0)
    if not (np.isfinite(largest) & (largest > 0)).all():
        raise InputError(f"{name}: expected finite quaternions of nonzero length")
    scaled = raw / largest
    length = np.linalg.norm(scaled, axis=-1, keepdims=True)
    # One that has unit length already stays as it is to the last bit, so that saving and loading changes nothing.
    unit: Floats = np.where(np.abs(length * largest - 1) < 1e-15, raw, scaled / length)
    return unit


def multiply(a: Floats, b: Floats) -> Floats:
    """Return a·b: the rotation b, then the rotation a."""
    ax, ay, az, aw = np.moveaxis(a, -1, 0)
    bx, by, bz, bw = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ],
        axis=-1,
    )


def inverse(quaternions: Floats) -> Floats:
    """Return the inverse rotations of unit quaternions."""
    conjugate: Floats = quaternions * np.array([-1.0, -1.0, -1.0, 1.0])
    return conjugate


def same_side(quaternions: Floats) -> Floats:
    """Return, of the two quaternions of each rotation (..., 4), the one with w ≥ 0."""
    return np.where(quaternions[..., 3:] < 0, -quaternions, quaternions)


def vectors(quaternions: Floats) -> Floats:
    """Return the rotation vectors (..., 3), axis times angle up to π, of unit quaternions (..., 4)."""
    near = same_side(quaternions)
    sine = np.linalg.norm(near[..., :3], axis=-1, keepdims=True)
    scale = np.where(sine > 1e-12, 2 * np.arctan2(sine, near[..., 3:]) / np.where(sine > 1e-12, sine, 1), 2.0)
    return np.asarray(near[..., :3] * scale)


def angles_between(a: Floats, b: Floats) -> Floats:
    """Return the angles (...) in radians, 0 to π, between the rotations of unit quaternions."""
    # The chord keeps its digits where the arc cosine of the product would lose them.
    apart, around = np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1)
    return np.asarray(4.0 * np.arctan2(np.minimum(apart, around), np.maximum(apart, around)))


def matrices(quaternions: Floats) -> Floats:
    """Return (..., 3, 3) rotation matrices of unit quaternions (..., 4)."""
    x, y, z, w = np.moveaxis(np.asarray(quaternions, dtype=np.float64), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def from_matrices(rotation: Floats) -> Floats:
    """Return (..., 4) unit quaternions with w ≥ 0 of rotation matrices (..., 3, 3).

    The quaternion is the eigenvector of the largest eigenvalue of a symmetric 4x4 matrix (Bar-Itzhack 2000), which
    is the nearest rotation where the matrix is slightly off.
    """
    m = np.asarray(rotation, dtype=np.float64)
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    xy, xz, yz = m[..., 0, 1] + m[..., 1, 0], m[..., 0, 2] + m[..., 2, 0], m[..., 1, 2] + m[..., 2, 1]
    x, y, z = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    rows = [[xx - yy - zz, xy, xz, x], [xy, yy - xx - zz, yz, y], [xz, yz, zz - xx - yy, z], [x, y, z, xx + yy + zz]]
    symmetric = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    quaternions = np.linalg.eigh(symmetric)[1][..., -1]
    return np.where(quaternions[..., 3:] < 0, -quaternions, quaternions)


def from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> Floats:
    """Return (..., 4) rotations by `angle` (...) radians about unit `axis` (..., 3)."""
    half = np.asarray(angle, dtype=np.float64)[..., None] / 2
    return np.concatenate([np.asarray(axis, dtype=np.float64) * np.sin(half), np.cos(half)], axis=-1)


def slerp(a: Floats, b: Floats, t: Floats) -> Floats:
    """Return the shortest-arc interpolation (..., 4) between unit quaternions, `t` (...) in [0, 1]."""
    cosine = (a * b).sum(axis=-1, keepdims=True)
    b = np.where(cosine < 0, -b, b)
    angle = np.arctan2(np.linalg.norm(b - a, axis=-1, keepdims=True), np.linalg.norm(b + a, axis=-1, keepdims=True)) * 2
    t = np.asarray(t)[..., None]
    small = angle < 1e-6
    safe = np.where(small, 1.0, np.sin(angle))
    wa = np.where(small, 1 - t, np.sin((1 - t) * angle) / safe)
    wb = np.where(small, t, np.sin(t * angle) / safe)
    return normalize(wa * a + wb * b)


def polar(linear: Floats) -> tuple[Floats, Floats]:
    """Polar decomposition L = R·S of matrices (..., 3, 3): the nearest rotation R, as quaternions (..., 4), and S.

    The rotation is proper; where L reflects, S reflects.
    """
    if not np.isfinite(linear).all():
        raise InputError("transforms: expected numbers of ordinary size, got some that overflow")
    u, _, vt = np.linalg.svd(linear)
    flip = np.ones(linear.shape[:-1])
    flip[..., 2] = np.sign(np.linalg.det(u @ vt))
    rotation = (u * flip[..., None, :]) @ vt
    stretch: Floats = np.swapaxes(rotation, -1, -2) @ linear
    return from_matrices(rotation), stretch
