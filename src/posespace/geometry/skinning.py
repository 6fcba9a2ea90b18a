"""Base skinning: bone transforms blended at each vertex, applied, and inverted with damping. One pose at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Ints
from posespace.geometry import rotations

DAMPING = 1e-2
"""Singular values below this fraction of the largest one are damped: the blend is close to losing rank there."""


def blend_linear(transforms: Floats, influences: Ints, weights: Floats) -> Floats:
    """Blend bone transforms linearly (SSD).

    Parameters
    ----------
    transforms : (J, 3, 4) rest to posed space
    influences : (N, K) joints of each vertex
    weights : (N, K) their weights

    Returns
    -------
    (N, 3, 4) float64, each vertex's blend M
    """
    flat = np.asarray(transforms, dtype=np.float64).reshape(-1, 12)
    blend = np.zeros((len(influences), 12))
    for slot in range(influences.shape[1]):
        # Taken and scaled in place: a fifth of the time of indexing and multiplying.
        part = np.take(flat, influences[:, slot], axis=0)
        part *= weights[:, slot, None]
        blend += part
    return blend.reshape(-1, 3, 4)


def blend_dual_quaternion(transforms: Floats, influences: Ints, weights: Floats) -> Floats:
    """Blend bone transforms as dual quaternions (Kavan et al. 2008); the arguments and result of `blend_linear`.

    Scale and shear cannot live in a dual quaternion: they are blended linearly and applied first.
    """
    bones = np.asarray(transforms, dtype=np.float64)
    quaternions, stretch = rotations.polar(bones[:, :, :3])
    translations = np.concatenate([bones[:, :, 3], np.zeros((len(bones), 1))], axis=1)
    dual = 0.5 * rotations.multiply(translations, quaternions)
    # Two quaternions stand for one rotation; each bone takes the sign nearest the vertex's strongest bone.
    pivot = quaternions[influences[np.arange(len(influences)), weights.argmax(axis=1)]]
    real_sum, dual_sum = np.zeros((len(influences), 4)), np.zeros((len(influences), 4))
    stretch_sum = np.zeros((len(influences), 3, 3))
    for slot in range(influences.shape[1]):
        joint = influences[:, slot]
        sign = np.where((quaternions[joint] * pivot).sum(axis=1) < 0, -1.0, 1.0)
        weight = (weights[:, slot] * sign)[:, None]
        real_sum += weight * quaternions[joint]
        dual_sum += weight * dual[joint]
        stretch_sum += weights[:, slot, None, None] * stretch[joint]
    length = np.linalg.norm(real_sum, axis=1, keepdims=True)
    real, dual_part = real_sum / length, dual_sum / length
    blend = np.empty((len(influences), 3, 4))
    blend[:, :, :3] = rotations.matrices(real) @ stretch_sum
    blend[:, :, 3] = 2 * rotations.multiply(dual_part, rotations.inverse(real))[:, :3]
    return blend


def apply(blend: Floats, points: Floats) -> Floats:
    """Return M·v (N, 3) for blends (N, 3, 4) and points (N, 3)."""
    moved: Floats = np.einsum("nij,nj->ni", blend[:, :, :3], points, dtype=np.float64)
    moved += blend[:, :, 3]
    return moved


def residual(blend: Floats, inverse: Floats, rest: Floats, observed: Floats) -> Floats:
    """Return what must be added to rest points (N, 3) so that blends (N, 3, 4) take them to the observed ones (N, 3).

    `inverse` (N, 3, 3) inverts the linear part of each blend, as well as it can: see `invert`.
    """
    # From the skinned point rather than as M⁻¹·v - v: even where M is damped, a shape that skinning gives has no
    # residual then.
    return np.asarray(np.einsum("nij,nj->ni", inverse, observed - apply(blend, rest)))


def cofactor_normals(blend: Floats, normals: Floats) -> Floats:
    """Return unit normals (N, 3) carried by blends (N, 3, 4): cof(M)·n, which stays normal to the surface."""
    carried: Floats = np.einsum("nij,nj->ni", cofactors(blend[:, :, :3]), normals, dtype=np.float64)
    length = np.linalg.norm(carried, axis=1, keepdims=True)
    lost = length[:, 0] < 1e-300
    carried[lost], length[lost] = normals[lost], 1.0
    carried /= length
    return carried


def cofactors(linear: Floats) -> Floats:
    """Return (..., 3, 3) cofactor matrices: det(A)·A⁻ᵀ, finite for any A."""
    a, b, c = (np.asarray(linear[..., k, :], dtype=np.float64) for k in range(3))
    return np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=-2)


def invert(blend: Floats, damping: float = DAMPING) -> tuple[Floats, NDArray[np.bool_]]:
    """Invert the linear part of each blend, damped where it is close to losing rank.

    A singular value s at or above ``damping`` times the largest one, S, is inverted exactly; below that 1/s gives way
    to s/(damping·S)², which meets it there and falls to zero with s, so the result is bounded and never NaN.

    Parameters
    ----------
    blend : (N, 3, 4)

    Returns
    -------
    inverse : (N, 3, 3)
    damped : (N,) bool, where damping acted
    """
    linear = np.asarray(blend[:, :, :3], dtype=np.float64)
    cofactor = cofactors(linear)
    determinant = (linear[:, 0] * cofactor[:, 0]).sum(axis=1)
    # The smallest singular value is at least |det| / S² and S is at most the Frobenius norm.
    size = np.sqrt((linear**2).sum(axis=(1, 2)))
    suspect = np.abs(determinant) < damping * size**3
    safe = np.where(suspect, 1.0, determinant)
    inverse = np.swapaxes(cofactor, 1, 2) / safe[:, None, None]
    damped = np.zeros(len(linear), dtype=bool)
    if suspect.any():
        u, s, vt = np.linalg.svd(linear[suspect])
        floor = damping * s[:, :1]
        low = s < floor
        filtered = np.where(low, s / np.where(floor > 0, floor, 1) ** 2, 1 / np.where(low, 1, s))
        inverse[suspect] = np.swapaxes(vt, 1, 2) @ (filtered[:, :, None] * np.swapaxes(u, 1, 2))
        damped[suspect] = low.any(axis=1)
    return inverse, damped
