"""The poses that a skin knows best: those its layers were fitted on, read back from what drives them."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats
from posespace.errors import InputError
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.poses.parts import parts_of
from posespace.rig import Rig
from posespace.skin.driver import Driver
from posespace.skin.skin import Skin


def fitted_poses(skin: Skin) -> Motion:
    """Return a pose for each sample of each layer; what does not drive a layer is at rest there."""
    poses = [pose for layer in skin.layers for pose in _samples(layer.driver, skin.rig)]
    if not poses:
        raise InputError("skin: it has no layer to take poses from; give a motion")
    return Motion.from_poses(poses)


def _samples(driver: Driver, rig: Rig) -> list[Pose]:
    space, places = driver.space, np.asarray(driver.interpolant.centres, dtype=np.float64)
    names = space.controls(rig.skeleton)
    if space.kind == "points":
        raise InputError("skin: it is driven by control points, which are no poses of joints; give a motion")
    columns = [space.names.index(name) for name in names]
    turns, shifts = parts_of(rig.skeleton).to_pose(*_parts(driver, rig, places))
    return [
        Pose(turn, shift, dict(zip(names, place[columns].tolist(), strict=True)))
        for turn, shift, place in zip(turns, shifts, places, strict=True)
    ]


def _parts(driver: Driver, rig: Rig, places: Floats) -> tuple[Floats, Floats]:
    """Each joint's part, rotations (M, J, 4) and shifts (M, J, 3), at the samples (M, D)."""
    space, skeleton = driver.space, rig.skeleton
    rest = parts_of(skeleton).of(rig.rest)
    turns, shifts = (np.tile(each, (len(places), 1, 1)) for each in rest)
    if space.kind in ("joint", "quaternions"):
        turns[:, list(space.joints(skeleton))] = places.reshape(len(places), -1, 4)
    elif space.kind == "freedoms":
        numbers = np.concatenate([parts_of(skeleton).angles(turns), shifts], axis=2)
        for column, name in enumerate(space.names):
            if (degree := space.degree_of(name, skeleton)) is not None:
                numbers[:, degree[0], degree[1]] = places[:, column]
        moved = list(space.joints(skeleton))
        turns[:, moved] = parts_of(skeleton).rotated(numbers[..., :3])[:, moved]
        shifts = numbers[..., 3:]
    return turns, shifts
