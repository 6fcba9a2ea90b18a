"""The poses that the layers of a skin were fitted on, read back from their drivers."""

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
    """Return a pose for each sample of each layer; joints and controls that do not drive the layer are at rest."""
    poses = [pose for layer in skin.layers for pose in _samples(layer.driver, skin.rig)]
    if not poses:
        raise InputError("X1 has no layers, so its poses are unknown; give `motion`")
    return Motion.from_poses(poses)


def _samples(driver: Driver, rig: Rig) -> list[Pose]:
    space, samples = driver.space, np.asarray(driver.interpolant.centres, dtype=np.float64)
    names = space.controls(rig.skeleton)
    columns = [space.names.index(name) for name in names]
    rotations, translations = parts_of(rig.skeleton).to_pose(*_parts(driver, rig, samples))
    return [
        Pose(rotation, translation, dict(zip(names, sample[columns].tolist(), strict=True)))
        for rotation, translation, sample in zip(rotations, translations, samples, strict=True)
    ]


def _parts(driver: Driver, rig: Rig, samples: Floats) -> tuple[Floats, Floats]:
    """Each joint's rotation (M, J, 4) and translation (M, J, 3), relative to its parent, at the samples (M, D)."""
    space, skeleton = driver.space, rig.skeleton
    rest = parts_of(skeleton).of(rig.rest)
    rotations, translations = (np.tile(part, (len(samples), 1, 1)) for part in rest)
    if space.kind in ("joint", "quaternions"):
        rotations[:, list(space.joints(skeleton))] = samples.reshape(len(samples), -1, 4)
    elif space.kind == "freedoms":
        numbers = np.concatenate([parts_of(skeleton).angles(rotations), translations], axis=2)
        for column, name in enumerate(space.names):
            if (degree := space.degree_of(name, skeleton)) is not None:
                numbers[:, degree[0], degree[1]] = samples[:, column]
        moved = list(space.joints(skeleton))
        rotations[:, moved] = parts_of(skeleton).rotated(numbers[..., :3])[:, moved]
        translations = numbers[..., 3:]
    return rotations, translations
