"""What learned bones leave over at the examples, kept as a few displacements that each bone adds more or less of.

How much is learned from the same kernels as the bone's rotation, so that a correction, too, follows near points alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from posespace import skinning
from posespace.check import Floats, Ints
from posespace.examples import Examples
from posespace.interpolate.kernel_cca import centred_kernels, ridge_weights
from posespace.learned_bones import LearnedBones
from posespace.motion import Motion
from posespace.skin import Skin

_RIDGE = 0.1
"""Of the kernels' mean variance: what is left over is noisier than rotations are."""

_COLLAPSED = 1e-2
"""A surface that its bones flatten below this is not corrected along what is lost."""


def with_corrections(skin: Skin, examples: Examples, motion: Motion, count: int) -> LearnedBones:
    """Return a skin's bones with corrections, at most `count`.

    Parameters
    ----------
    skin : with learned bones that have one model each and no corrections
    examples, motion : what it was fitted to, and its control points there
    """
    bones = skin.bones
    assert bones is not None
    left = np.stack([_left_over(skin, examples, motion, row) for row in range(len(motion))])
    coordinates, components = _principal(left, count)
    if not len(components):
        return bones
    squares = np.stack([bones.squares(bones.rest + shift) for shift in skin.aligned(motion)[0].translations[:, 1:]], 1)
    kernels, row = centred_kernels(squares, bones.widths[:, 0].astype(np.float64))
    mean = coordinates.mean(axis=0)
    weights = ridge_weights(kernels, np.broadcast_to(coordinates - mean, (len(bones), *coordinates.shape)), _RIDGE)
    kept = _kept(kernels, coordinates, bones.weights, bones.influences)
    weights, mean = weights * kept, mean * kept
    offsets = mean - np.einsum("bs,bsk->bk", row, weights)
    return replace(
        bones,
        offsets=np.concatenate([bones.offsets, offsets[:, None].astype(np.float32)], axis=2),
        coefficients=np.concatenate([bones.coefficients, weights[:, None].astype(np.float32)], axis=3),
        corrections=components.astype(np.float32),
    )


def _left_over(skin: Skin, examples: Examples, motion: Motion, row: int) -> Floats:
    """What (N, 3) to add to the rest shape so that an example comes out."""
    assert skin.bones is not None
    pose, points = motion[row], skin.rig.mesh.points.astype(np.float64)
    blend = skinning.blend_linear(skin.transforms(pose), skin.bones.influences, skin.bones.weights)
    gap = np.asarray(examples.shapes[row], dtype=np.float64) - skinning.apply(blend, points)
    turned = np.swapaxes(blend[..., :3], -1, -2)
    damped = turned @ blend[..., :3] + _COLLAPSED * np.eye(3)
    return np.asarray((1 + _COLLAPSED) * np.linalg.solve(damped, turned @ gap[..., None])[..., 0])


def _principal(left: Floats, count: int) -> tuple[Floats, Floats]:
    """Displacements (S, N, 3) as coordinates (S, K) times components (K, N, 3), the largest first."""
    flat = left.reshape(len(left), -1)
    values, vectors = np.linalg.eigh(flat @ flat.T)
    order = np.argsort(-values)[:count]
    order = order[values[order] > 1e-12 * max(float(values.max(initial=0.0)), 1e-300)]
    components = (vectors[:, order].T @ flat) / np.sqrt(len(left))
    return vectors[:, order] * np.sqrt(len(left)), components.reshape(-1, *left.shape[1:])


def _kept(kernels: Floats, coordinates: Floats, weights: Floats, influences: Ints) -> Floats:
    """By what factor (K,) from 0 to 1 each correction is kept: what predicts it best where each example is left out."""
    count = len(coordinates)
    scale = np.trace(kernels, axis1=1, axis2=2)[:, None, None] / count
    hat = kernels @ np.linalg.inv(kernels + (_RIDGE * scale + 1e-12) * np.eye(count)) + 1 / count
    spared = np.maximum(1 - np.diagonal(hat, axis1=1, axis2=2), 1e-6)[..., None]
    found = coordinates - (coordinates - hat @ coordinates) / spared
    sizes = np.bincount(influences.ravel(), weights.ravel(), minlength=len(kernels))
    right = np.einsum("b,bsk,sk->k", sizes, found, coordinates)
    return np.asarray(np.clip(right / np.maximum(np.einsum("b,bsk,bsk->k", sizes, found, found), 1e-300), 0.0, 1.0))
