"""How far apart poses are: angles, shifts and controls in one measure, by how far they move the skin."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats
from posespace.poses.spaces import PoseSpace
from posespace.rig import Rig


def axis_lengths(rig: Rig, space: PoseSpace, where: Floats) -> Floats:
    """Return (D,) what a unit along each axis of a space of "freedoms" or "controls" counts, in the mesh's unit.

    A radian counts as far as it moves the skin of its joint, root mean square; a shift as itself. A control, which may
    be of any unit, counts so that its range over the places `where` (P, D) is as long as the longest other, or as long
    as a tenth of the box diagonal where there is none.
    """
    reach, lengths = levers(rig), np.ones(space.dimensions)
    controls = np.zeros(space.dimensions, dtype=bool)
    for axis, name in enumerate(space.axes):
        degree = space.degree_of(name, rig.skeleton)
        if degree is None:
            controls[axis] = True
        elif degree[1] < 3:
            lengths[axis] = reach[degree[0]]
    ranges = np.ptp(where, axis=0) if len(where) else np.zeros(len(lengths))
    longest = float((lengths * ranges)[~controls].max(initial=0.0)) or 0.1 * rig.mesh.diagonal
    lengths[controls] = longest / np.where(ranges > 0, ranges, 1.0)[controls]
    return lengths


def levers(rig: Rig) -> Floats:
    """Return (J,) how far a radian of each joint moves its own skin; of a joint without skin, the mean of the others.

    Skin that hangs on joints below is not counted: a joint corrects the skin around it, however long the limb is.
    """
    places = np.linalg.inv(rig.inverse_bind.astype(np.float64))[:, :3, 3]
    total, squares = np.zeros(len(places)), np.zeros(len(places))
    points = np.asarray(rig.mesh.points, dtype=np.float64)
    for influence, weight in zip(rig.influences.T, rig.weights.T, strict=True):
        away = ((points - places[influence]) ** 2).sum(axis=1)
        total += np.bincount(influence, weight, len(places))
        squares += np.bincount(influence, weight * away, len(places))
    found = np.sqrt(squares / np.where(total > 0, total, 1.0))
    skinned = (total > 0) & (found > 0)
    found[~skinned] = found[skinned].mean() if skinned.any() else 0.1 * rig.mesh.diagonal
    return found
