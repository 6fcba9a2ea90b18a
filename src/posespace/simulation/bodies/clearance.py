"""Distances between the bones of a body that a pose moves rigidly with their joints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posespace.check import Floats, Ints
from posespace.simulation.bodies.body import Bone
from posespace.skeleton import Skeleton, invert_affine


def gaps(skeleton: Skeleton, bones: Sequence[Bone], pairs: Ints, rotations: Floats) -> Floats:
    """Return the gaps (P, K) between pairs of posed bones, negative where they meet.

    A gap is the distance of the two axes less the radii where they are nearest: exact for capsules, and for cones as
    slender as bones right to a few hundredths of it.

    Parameters
    ----------
    skeleton : whose joints carry the bones
    bones : in the rest shape
    pairs : (K, 2) numbers of bones
    rotations : (P, J, 4) the joints' rotations in each pose
    """
    joints = [bone.joint for bone in bones]
    moved = (skeleton.world(rotations) @ invert_affine(skeleton.rest_world))[:, joints]
    ends = np.array([(bone.start, bone.end) for bone in bones], dtype=np.float64)
    radii = np.array([(bone.start_radius, bone.end_radius) for bone in bones])
    posed = np.einsum("pbij,bkj->pbki", moved[..., :3, :3], ends) + moved[..., None, :3, 3]
    one, other = pairs.T
    along, across = _nearest(posed[:, one], posed[:, other])
    apart = np.linalg.norm(_at(posed[:, one], along) - _at(posed[:, other], across), axis=-1)
    thick = _at(radii[one][..., None], along) + _at(radii[other][..., None], across)
    return np.asarray(apart - thick[..., 0])


def _at(ends: Floats, share: Floats) -> Floats:
    """Linear interpolation at a `share` (...) between two ends (..., 2, k)."""
    return np.asarray(ends[..., 0, :] + share[..., None] * (ends[..., 1, :] - ends[..., 0, :]))


def _nearest(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """The nearest points of two segments (..., 2, 3), as fractions (...) along each.

    After Ericson, Real-Time Collision Detection (2005), section 5.1.9; parallel segments are compared at a start.
    """
    u, v = one[..., 1, :] - one[..., 0, :], other[..., 1, :] - other[..., 0, :]
    between = one[..., 0, :] - other[..., 0, :]
    a, b, e = (u * u).sum(-1), (u * v).sum(-1), (v * v).sum(-1)
    c, f = (u * between).sum(-1), (v * between).sum(-1)
    slant = a * e - b * b
    skew = slant > 1e-9 * a * e
    first = np.where(skew, np.clip((b * f - c * e) / np.where(skew, slant, 1), 0, 1), 0.0)
    second = np.clip((b * first + f) / e, 0, 1)
    return np.clip((b * second - c) / a, 0, 1), second
