"""Lengths of the axes of a pose space, which make angles, translations and controls comparable."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats
from posespace.poses.spaces import PoseSpace
from posespace.rig import Rig


def axis_lengths(rig: Rig, space: PoseSpace, coordinates: Floats) -> Floats:
    """Return (D,) the length of a unit along each axis of a space of "freedoms" or "controls", in the mesh's unit.

    A radian is as long as the root mean square distance by which it moves the skin of its joint; a translation is its
    length. A control may have any unit: its range over the `coordinates` (P, D) of poses is as long as the longest
    other range, or as a tenth of the box diagonal where there is none.
    """
    lever, lengths = levers(rig), np.ones(space.dimensions)
    controls = np.zeros(space.dimensions, dtype=bool)
    for axis, name in enumerate(space.names):
        degree = space.degree_of(name, rig.skeleton)
        if degree is None:
            controls[axis] = True
        elif degree[1] < 3:
            lengths[axis] = lever[degree[0]]
    ranges = np.ptp(coordinates, axis=0) if len(coordinates) else np.zeros(len(lengths))
    longest = float((lengths * ranges)[~controls].max(initial=0.0)) or 0.1 * rig.mesh.diagonal
    lengths[controls] = longest / np.where(ranges > 0, ranges, 1.0)[controls]
    return lengths


def levers(rig: Rig) -> Floats:
    """Return (J,) the distance by which a radian of each joint moves its skin; without skin, the mean of the others.

    Skin that hangs on joints below is not counted: a joint corrects the skin around it, however long the limb is.
    """
    positions = np.linalg.inv(rig.inverse_bind.astype(np.float64))[:, :3, 3]
    total, squares = np.zeros(len(positions)), np.zeros(len(positions))
    points = np.asarray(rig.mesh.points, dtype=np.float64)
    for influence, weight in zip(rig.influences.T, rig.weights.T, strict=True):
        squared = ((points - positions[influence]) ** 2).sum(axis=1)
        total += np.bincount(influence, weight, len(positions))
        squares += np.bincount(influence, weight * squared, len(positions))
    lengths = np.sqrt(squares / np.where(total > 0, total, 1.0))
    skinned = (total > 0) & (lengths > 0)
    lengths[~skinned] = lengths[skinned].mean() if skinned.any() else 0.1 * rig.mesh.diagonal
    return lengths
