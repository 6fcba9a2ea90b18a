"""Corrections: the residuals of learned bones at the examples, as a few principal components."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from posespace.check import Floats
from posespace.examples import Examples
from posespace.fit.points.amounts import principal, with_amounts
from posespace.geometry import skinning
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.rig import Rig
from posespace.skin.bones.learned import LearnedBones

_COLLAPSED = 1e-2
"""Squared stretch of a blend below which its inverse is damped: what is flattened cannot be corrected."""


def with_corrections(
    bones: LearnedBones, rig: Rig, examples: Examples, motion: Motion, squares: Floats, count: int
) -> LearnedBones:
    """Return bones with at most `count` corrective components.

    Parameters
    ----------
    bones : give rotations alone
    rig : of the control points
    examples, motion : what they were fitted to, and the control points there
    squares : (B, S, S) squared distances between the examples, for each bone
    """
    residuals = np.stack([_residual(bones, rig, pose, examples.shapes[row]) for row, pose in enumerate(motion)])
    coordinates, components = principal(residuals.reshape(len(residuals), -1), count)
    if not len(components):
        return bones
    corrections = components.reshape(-1, *residuals.shape[1:])
    predicting = with_amounts(bones, squares, coordinates, corrections)
    return replace(predicting, corrections=corrections.astype(np.float32))


def _residual(bones: LearnedBones, rig: Rig, pose: Pose, shape: Floats) -> Floats:
    """What must be added to the rest shape (N, 3) so that the bones give an example's shape (N, 3) in a pose."""
    blend = skinning.blend_linear(bones.drive(pose, rig)[0], bones.influences, bones.weights)
    observed = np.asarray(shape, dtype=np.float64)
    return skinning.residual(blend, _damped_inverse(blend), rig.mesh.points.astype(np.float64), observed)


def _damped_inverse(blend: Floats) -> Floats:
    """The inverse (N, 3, 3) of blends (N, 3, 4), damped everywhere but for rotations: (MᵀM + c)⁻¹Mᵀ (1 + c)."""
    transposed = np.swapaxes(blend[..., :3], -1, -2)
    damped = transposed @ blend[..., :3] + _COLLAPSED * np.eye(3)
    return np.asarray((1 + _COLLAPSED) * np.linalg.solve(damped, transposed))
