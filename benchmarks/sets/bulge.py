"""A made truth for any rig and clip: dual-quaternion skinning, and skin that bulges where a joint bends.

The bulge grows with sin² of half the angle by which a joint turns from its parent, so it is no linear function of the
pose, and it does not change when the whole moves rigidly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

import posespace as ps
from posespace.check import Floats
from posespace.geometry import rotations
from posespace.geometry.smoothstep import smoothstep
from posespace.skeleton import invert_affine

HEIGHT = 0.03
"""How high the skin bulges at 90 degrees, as a fraction of the diagonal, unless the bone is short."""

REACH = 0.15
"""How far a bulge reaches at most, as a fraction of the diagonal; at short bones as far as the bone is long."""

LEAST_REACH = 0.01
"""How far it reaches at least, where joints lie in one place."""


@dataclass(frozen=True, eq=False)
class Bends:
    """The joints of a rig that bend its skin.

    Parameters
    ----------
    joints : (B,) joints that move vertices
    parents : (B,) the closest joint above each that moves vertices too
    fields : (B, N) how far each vertex bulges along its normal when the joint turns by 180 degrees
    """

    joints: NDArray[np.int64]
    parents: NDArray[np.int64]
    fields: Floats

    @classmethod
    def of(cls, rig: ps.Rig) -> Bends:
        """Find them: each bulge is highest next to its joint, and fades along the skin of the joint and its parent."""
        weights = rig.dense_weights()
        above = parents_with_skin(rig.skeleton, np.asarray(weights.any(axis=0)))
        joints = np.array(sorted(above), dtype=np.int64)
        parents = np.array([above[joint] for joint in joints.tolist()], dtype=np.int64)
        places = invert_affine(rig.inverse_bind)[:, :3, 3]
        lengths = np.linalg.norm(places[joints] - places[parents], axis=1)
        shortest = np.full(len(places), np.inf)
        np.minimum.at(shortest, joints, lengths)
        np.minimum.at(shortest, parents, lengths)
        size = rig.mesh.diagonal
        fields = np.zeros((len(joints), len(weights)))
        for row, (joint, parent) in enumerate(zip(joints, parents, strict=True)):
            reach = float(np.clip(shortest[joint], LEAST_REACH * size, REACH * size))
            share = weights[:, joint] + weights[:, parent]
            gaps = np.linalg.norm(rig.mesh.points - places[joint], axis=1)
            near = 1 - smoothstep((gaps - gaps[share > 0].min()) / reach)
            fields[row] = 2 * min(HEIGHT * size, reach / 2) * share * near
        return cls(joints, parents, fields)

    def heights(self, transforms: Floats) -> Floats:
        """Return how far the vertices bulge (P, N) under bone transforms (P, J, 3, 4)."""
        turn = rotations.polar(transforms[..., :3])[0]
        bend = rotations.multiply(rotations.inverse(turn[:, self.parents]), turn[:, self.joints])
        sine_squared = np.square(bend[..., :3]).sum(axis=-1)
        return np.asarray(sine_squared @ self.fields)


def parents_with_skin(skeleton: ps.Skeleton, has_skin: NDArray[np.bool_]) -> dict[int, int]:
    """Return for each joint with skin the closest joint with skin above it; one with none above is left out.

    Parameters
    ----------
    has_skin : (J,) which joints move vertices
    """
    found: dict[int, int] = {}
    closest: dict[int, int] = {}
    for joint in skeleton.order:
        parent = int(skeleton.parents[joint])
        above = parent if parent >= 0 and has_skin[parent] else closest.get(parent, -1)
        closest[joint] = above
        if has_skin[joint] and above >= 0:
            found[joint] = above
    return found


def bulging(rig: ps.Rig, motion: ps.Motion) -> ps.Examples:
    """Return the made truth in each pose, as examples of the rig with the blending that it has."""
    truth = replace(rig, blending="dual_quaternion")
    heights = Bends.of(rig).heights(rig.transforms(motion))
    shapes = [truth.skin(pose, height[:, None] * rig.normals) for pose, height in zip(motion, heights, strict=True)]
    return ps.Examples.from_shapes(rig, motion, np.stack(shapes))
