"""Corrections: what learned bones leave over at the examples, as a few displacements of the rest shape."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from posespace.check import Floats
from posespace.examples import Examples
from posespace.fit.points.amounts import principal, with_amounts
from posespace.geometry import skinning
from posespace.motion import Motion
from posespace.skin.bones.learned import LearnedBones
from posespace.skin.skin import Skin

_COLLAPSED = 1e-2
"""A surface that its bones flatten below this is not corrected along what is lost."""


def with_corrections(skin: Skin, examples: Examples, motion: Motion, squares: Floats, count: int) -> LearnedBones:
    """Return a skin's bones with corrections, at most `count`.

    Parameters
    ----------
    skin : with learned bones that give rotations alone
    examples, motion : what it was fitted to, and its control points there
    squares : (B, S, S) between the examples, as each bone sees its points
    """
    bones = skin.bones
    assert bones is not None
    left = np.stack([_left_over(skin, examples, motion, row) for row in range(len(motion))])
    coordinates, components = principal(left.reshape(len(left), -1), count)
    if not len(components):
        return bones
    # The models have to give as many amounts as there are corrections, so both are put in at once.
    added = components.reshape(-1, *left.shape[1:])
    found = with_amounts(bones, squares, coordinates, added)
    return replace(found, corrections=added.astype(np.float32))


def _left_over(skin: Skin, examples: Examples, motion: Motion, row: int) -> Floats:
    """What (N, 3) to add to the rest shape so that an example comes out."""
    assert skin.bones is not None
    pose, points = motion[row], skin.rig.mesh.points.astype(np.float64)
    blend = skinning.blend_linear(skin.transforms(pose), skin.bones.influences, skin.bones.weights)
    gap = np.asarray(examples.shapes[row], dtype=np.float64) - skinning.apply(blend, points)
    turned = np.swapaxes(blend[..., :3], -1, -2)
    damped = turned @ blend[..., :3] + _COLLAPSED * np.eye(3)
    return np.asarray((1 + _COLLAPSED) * np.linalg.solve(damped, turned @ gap[..., None])[..., 0])
