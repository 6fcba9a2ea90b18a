"""The flat tables of a skin's first stage: joints, pose spaces and interpolants, as `drive` reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.interpolate.distances import axis_count, unit_quaternions
from posespace.interpolate.fitted import RBFInterpolant
from posespace.interpolate.kernels import KERNELS, TAILS
from posespace.layer import Driver
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.rig import Rig
from posespace.skeleton import Skeleton
from posespace.skin import Skin
from posespace.spaces import PoseSpace

KERNEL_NUMBERS = {name: number for number, name in enumerate((*KERNELS, "shepard"))}


class Tables(NamedTuple):
    """Everything that `drive` reads, flat and in few arrays: each costs a call more than the numbers in it.

    Parameters
    ----------
    links : (J, 3) joints from roots to tips, the parent of each joint, and whether a layer needs its angles
    joints : (J, 46) of each joint its frame in its parent (3, 4), the scale and shear that no pose changes (3, 3), its
        inverse bind transform (3, 4), its rotation at rest (4,) and the axes that its angles are about (3, 3)
    heads : (I, 12) a row an interpolant: kernel, whether its distance is between rotations, terms of the tail, samples,
        dimensions, columns, first column of the result; then where its slots are, and where among the numbers its
        inverse radii, its centres, its weights, and Shepard's power and reach
    slots : where in the features each dimension is found
    numbers : of all interpolants; centres are dimension by dimension, weights of kernels and tail column by column
    """

    links: NDArray[np.int64]
    joints: Floats
    heads: NDArray[np.int64]
    slots: NDArray[np.int64]
    numbers: Floats


@dataclass(frozen=True, eq=False)
class Drive:
    """The flat tables of a skin's first stage.

    Parameters
    ----------
    tables : what `drive` reads
    controls : names of the controls, in the order of their values
    columns : how many coordinates there are in all
    layers : for each layer the first column of its points' coordinates and of its normals'
    detail : the first column of the detail's, or -1
    """

    tables: Tables
    controls: tuple[str, ...]
    columns: int
    layers: tuple[tuple[int, int], ...]
    detail: int

    @property
    def scratch(self) -> int:
        """How many numbers `drive` needs to work in."""
        heads = self.tables.heads
        terms = int((heads[:, 2] + heads[:, 3]).max(initial=0))
        return 23 * len(self.tables.links) + len(self.controls) + terms

    @property
    def pose_size(self) -> int:
        """How many numbers a pose has: four and three a joint, one a control."""
        return 7 * len(self.tables.links) + len(self.controls)

    def write_pose(self, pose: Pose, out: Floats) -> None:
        """Write a pose's rotations, translations and controls to `out`; a control that it does not name is zero."""
        joints = len(self.tables.links)
        out[: 4 * joints] = pose.rotations.ravel()
        out[4 * joints : 7 * joints] = pose.translations.ravel()
        for number, name in enumerate(self.controls):
            out[7 * joints + number] = pose.controls.get(name, 0.0)

    def write_poses(self, motion: Motion, first: int, last: int, out: Floats) -> None:
        """Write the poses of a motion from `first` up to `last` to the rows of `out`, as `write_pose` does."""
        joints, count = len(self.tables.links), last - first
        out[:count, : 4 * joints] = motion.rotations[first:last].reshape(count, -1)
        out[:count, 4 * joints : 7 * joints] = motion.translations[first:last].reshape(count, -1)
        known = {name: column for column, name in enumerate(motion.control_names)}
        for number, name in enumerate(self.controls):
            out[:count, 7 * joints + number] = motion.controls[first:last, known[name]] if name in known else 0.0


def drive_of(skin: Skin) -> Drive:
    """Flatten the drivers of a skin; layers that share a driver share its columns."""
    counts = [driver.components for driver in skin.drivers]
    ids = [id(driver) for driver in skin.drivers]
    starts = dict(zip(ids, np.cumsum([0, *counts])[:-1].tolist(), strict=True))
    return Drive(
        _tables(skin.rig, skin.drivers, skin.control_names),
        skin.control_names,
        sum(counts),
        tuple((starts[id(layer.driver)], starts[id(layer.normal_driver or layer.driver)]) for layer in skin.layers),
        starts[id(skin.detail.driver)] if skin.detail is not None else -1,
    )


def _tables(rig: Rig, drivers: Sequence[Driver], controls: tuple[str, ...]) -> Tables:
    links, joints = _joints(rig, drivers)
    heads, slots, numbers = _samples(drivers, rig.skeleton, controls)
    return Tables(links, joints, heads, slots, numbers)


def _joints(rig: Rig, drivers: Sequence[Driver]) -> tuple[NDArray[np.int64], Floats]:
    skeleton = rig.skeleton
    count = len(skeleton)
    bends = np.zeros(count, np.int64)
    for driver in drivers:
        if driver.space.kind == "angles":
            bends[list(driver.space.joints(skeleton))] = 1
    identity = np.broadcast_to(np.eye(3), (count, 3, 3))
    parts = (
        skeleton.frames[:, :3],
        identity if skeleton.stretches is None else skeleton.stretches,
        rig.inverse_bind[:, :3],
        skeleton.rest_rotations,
        identity if skeleton.axes is None else skeleton.axes,
    )
    links = np.stack([np.asarray(skeleton.order), skeleton.parents, bends], axis=1).astype(np.int64)
    return links, np.concatenate([part.reshape(count, -1).astype(np.float64) for part in parts], axis=1)


def _samples(
    drivers: Sequence[Driver], skeleton: Skeleton, controls: tuple[str, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    heads: list[tuple[int, ...]] = []
    slots: list[int] = []
    numbers: list[Floats] = []
    length, column = 0, 0
    for driver in drivers:
        made = driver.interpolant
        samples, dimensions = made.centres.shape
        turning = made.metric == "rotation"
        centres = made.centres.astype(np.float64)
        if turning:
            centres = unit_quaternions(centres).reshape(samples, dimensions)
        if isinstance(made, RBFInterpolant):
            kernel, tail = KERNEL_NUMBERS[made.kernel], (0, 1, 1 + dimensions)[TAILS.index(made.tail)]
            radii, weights, powers = made.radius, made.weights, (0.0, 0.0)
        else:
            kernel, tail, powers = KERNEL_NUMBERS["shepard"], 0, (made.power, made.reach)
            radii, weights = np.ones(axis_count(dimensions, made.metric)), made.values
        parts = (1 / radii, _by_column(centres), _by_column(weights), np.array(powers))
        at = (length + np.cumsum([0, *(part.size for part in parts)])).tolist()
        heads.append((kernel, turning, tail, samples, dimensions, made.columns, column, len(slots), *at[:-1]))
        slots += _slots(driver.space, skeleton, controls)
        numbers += [part.ravel() for part in parts]
        length, column = at[-1], column + made.columns
    flat = np.concatenate([np.zeros(0), *numbers])
    return np.array(heads, np.int64).reshape(-1, 12), np.array(slots, np.int64), flat


def _by_column(values: Floats) -> Floats:
    """Values (M,) or (M, C), column after column."""
    return values.reshape(len(values), -1).T.ravel()


def _slots(space: PoseSpace, skeleton: Skeleton, controls: tuple[str, ...]) -> list[int]:
    """Where the coordinates of a space are among the features: 4 J rotations, 4 J signed ones, 3 J angles, controls."""
    joints = len(skeleton)
    if space.kind in ("joint", "quaternions"):
        base = 0 if space.kind == "joint" else 4 * joints
        return [base + 4 * joint + k for joint in space.joints(skeleton) for k in range(4)]
    found = []
    for name in space.axes:
        degree = space.degree_of(name, skeleton)
        found.append(11 * joints + controls.index(name) if degree is None else 8 * joints + 3 * degree[0] + degree[1])
    return found
