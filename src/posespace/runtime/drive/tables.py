"""The flat tables of a skin's first stage: joints, pose spaces and interpolants, as `drive` reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Floats32
from posespace.errors import InputError
from posespace.interpolate.distances import axis_count, unit_quaternions
from posespace.interpolate.fitted import RBFInterpolant
from posespace.interpolate.kernels import TAILS
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.poses.parts import parts_of
from posespace.poses.spaces import PoseSpace
from posespace.rig import Rig
from posespace.runtime.drive.bound_tables import bound_entries
from posespace.skeleton import Skeleton
from posespace.skin.bound import Bound
from posespace.skin.driver import Driver
from posespace.skin.skin import Skin

_FAR = 1e100
"""In place of an endless reach: compiled loops do not know infinity."""

KERNEL_NUMBERS = {
    "gaussian": 0,
    "exponential": 1,
    "multiquadric": 2,
    "thin_plate": 3,
    "linear": 4,
    "cubic": 5,
    "shepard": 6,
}
"""The kernels that have a loop in `drive`."""

# How many numbers each joint has: of its rotation, its translation, its angles and a transform (3, 4).
TURN, SHIFT, ANGLES, TRANSFORM = 4, 3, 3, 12
POSE_NUMBERS = TURN + SHIFT
"""How many numbers of a pose each joint has: all rotations, all translations, then the controls."""
SIGNED_TURNS, ALL_ANGLES, ALL_SHIFTS, FEATURES = TURN, 2 * TURN, 2 * TURN + ANGLES, 2 * TURN + ANGLES + SHIFT
"""Of each joint, how many features come before its signed rotation, before its angles, before its shifts, and in all.

All rotations, all rotations signed as at rest, all angles, all shifts, then the controls.
"""

# Columns of `DriveTables.links`, and how many there are.
ORDER, PARENT, ANGLED, LINKED_TO, ORIENTED = range(5)
LINK = 5
# Where the parts of a row of `DriveTables.joints` begin, and how long it is.
FRAME, STRETCH, BIND, REST, AXES, FRAME_TURN, OFFSET, JOINT = 0, 12, 21, 33, 37, 46, 50, 53
# Columns of `DriveTables.heads`, and how many there are.
KERNEL, ROTATIONS, TAIL, SAMPLES, DIMENSIONS, COLUMNS, FIRST_COLUMN, SLOTS, RADII, CENTRES, WEIGHTS, EXTRA = range(12)
DIRECTIONS, SPAN, NORM, VERTICES, ENTRIES, BLOCKS = range(12, 18)
HEAD = 18


class DriveTables(NamedTuple):
    """Everything that `drive` reads, flat and in few arrays: passing an array costs more than reading its numbers.

    Parameters
    ----------
    links : (J, LINK) the joints from roots to tips (ORDER), then of each joint its parent (PARENT), whether a layer
        needs its angles (ANGLED), the joint it is LINKED_TO, and whether its rotation to the world is needed (ORIENTED)
    joints : (J, JOINT) of each joint its FRAME in its parent (3, 4), the scale and shear that no pose changes (STRETCH,
        (3, 3)), its inverse BIND transform (3, 4), its part of the REST pose (4,), the AXES of its angles (3, 3), the
        rotation of its frame (FRAME_TURN, (4,)) and where it rests, seen from the joint it is linked to (OFFSET, (3,))
    heads : (I, HEAD) a row per interpolant: its KERNEL, whether its distance is between ROTATIONS, the terms of its
        TAIL, how many SAMPLES, DIMENSIONS and COLUMNS it has, and the FIRST_COLUMN of its result; then where its SLOTS
        begin, and where among the numbers its inverse RADII, its CENTRES, its WEIGHTS, and EXTRA: Shepard's power and
        reach, or the square of a kernel's reach; how many DIRECTIONS its SPAN has (-1: all) and where it begins; where
        the NORM of its bound begins (-1: none), how many VERTICES it moves, and where their ENTRIES and BLOCKS begin
    slots : where in the features each dimension is found
    numbers : of all interpolants; centres dimension by dimension, weights of kernels and tail column by column
    entries : for the bound of each interpolant, where the entries of each of its vertices begin and the last ones end,
        then the column of each entry in the interpolant's result; entries are counted over all interpolants
    lengths : (3 E,) float32, of each entry the displacement per unit of its column, over the limit of the vertex
    longest : float32, of each block of vertices the longest entry of each column; see `bound_entries`
    """

    links: NDArray[np.int64]
    joints: Floats
    heads: NDArray[np.int64]
    slots: NDArray[np.int64]
    numbers: Floats
    entries: NDArray[np.int64]
    lengths: Floats32
    longest: Floats32


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

    tables: DriveTables
    controls: tuple[str, ...]
    columns: int
    layers: tuple[tuple[int, int], ...]
    detail: int

    @property
    def scratch(self) -> int:
        """How many numbers `drive` needs: transforms and rotations to the world, features, then of an interpolant its
        terms and where the pose lies in its space.

        The last one says how many of the numbers it gave are beyond `check.LARGEST`.
        """
        heads = self.tables.heads
        terms = int((heads[:, SAMPLES] + heads[:, TAIL]).max(initial=0))
        place = int(heads[:, DIMENSIONS].max(initial=0))
        return (TRANSFORM + TURN + FEATURES) * len(self.tables.links) + len(self.controls) + terms + place + 1

    @property
    def pose_size(self) -> int:
        """How many numbers a pose has: seven per joint, one per control."""
        return POSE_NUMBERS * len(self.tables.links) + len(self.controls)

    def views(self, numbers: Floats) -> tuple[Floats, Floats, Floats]:
        """Return where a pose's numbers have its rotations (J, 4), its translations (J, 3) and its controls (C,)."""
        joints = len(self.tables.links)
        turns, shifts, controls = np.split(numbers, [TURN * joints, POSE_NUMBERS * joints])
        return turns.reshape(joints, TURN), shifts.reshape(joints, SHIFT), controls

    def write_pose(self, pose: Pose, out: tuple[Floats, Floats, Floats]) -> None:
        """Write a pose to `views` of its numbers; a control that it does not name is zero."""
        turns, shifts, controls = out
        turns[...] = pose.rotations
        shifts[...] = pose.translations
        for number, name in enumerate(self.controls):
            controls[number] = pose.controls.get(name, 0.0)

    def write_poses(self, motion: Motion, first: int, last: int, out: Floats) -> None:
        """Write the poses of a motion from `first` up to `last` to the rows of `out`, as `write_pose` does."""
        joints, count = len(self.tables.links), last - first
        shifts, controls = TURN * joints, POSE_NUMBERS * joints
        out[:count, :shifts] = motion.rotations[first:last].reshape(count, -1)
        out[:count, shifts:controls] = motion.translations[first:last].reshape(count, -1)
        known = {name: column for column, name in enumerate(motion.control_names)}
        for number, name in enumerate(self.controls):
            out[:count, controls + number] = motion.controls[first:last, known[name]] if name in known else 0.0


def drive_of(skin: Skin) -> Drive:
    """Flatten the drivers of a skin; layers that share a driver share its columns."""
    counts = [driver.components for driver in skin.drivers]
    ids = [id(driver) for driver in skin.drivers]
    starts = dict(zip(ids, np.cumsum([0, *counts])[:-1].tolist(), strict=True))
    return Drive(
        _tables(skin),
        skin.control_names,
        sum(counts),
        tuple((starts[id(layer.driver)], starts[id(layer.normal_driver or layer.driver)]) for layer in skin.layers),
        starts.get(id(skin.detail.driver), -1) if skin.detail is not None else -1,
    )


def _tables(skin: Skin) -> DriveTables:
    links, joints = _joints(skin.rig, skin.drivers)
    bounds = [skin.bounds[id(driver)] for driver in skin.drivers]
    heads, slots, numbers = _samples(skin.drivers, bounds, skin.rig.skeleton, skin.control_names)
    flat = bound_entries(bounds)
    heads[:, [VERTICES, ENTRIES, BLOCKS]] = np.stack([flat.vertices, flat.starts, flat.blocks], axis=1)
    return DriveTables(links, joints, heads, slots, numbers, flat.entries, flat.lengths, flat.longest)


def _joints(rig: Rig, drivers: Sequence[Driver]) -> tuple[NDArray[np.int64], Floats]:
    skeleton, parts = rig.skeleton, parts_of(rig.skeleton)
    count = len(skeleton)
    bends = np.zeros(count, np.int64)
    for driver in drivers:
        if driver.space.kind == "freedoms":
            bends[list(driver.space.joints(skeleton))] = 1
    identity = np.broadcast_to(np.eye(3), (count, 3, 3))
    tables = (
        skeleton.local_frames[:, :3],
        identity if skeleton.stretches is None else skeleton.stretches,
        rig.inverse_bind[:, :3],
        parts.rest,
        identity if skeleton.axes is None else skeleton.axes,
        parts.local_frame_rotations,
        parts.offsets,
    )
    columns = (np.asarray(skeleton.order), skeleton.parents, bends, parts.links, parts.oriented)
    links = np.stack(columns, axis=1).astype(np.int64)
    return links, np.concatenate([table.reshape(count, -1).astype(np.float64) for table in tables], axis=1)


def _samples(
    drivers: Sequence[Driver], bounds: Sequence[Bound], skeleton: Skeleton, controls: tuple[str, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    heads: list[tuple[int, ...]] = []
    slots: list[int] = []
    numbers: list[Floats] = []
    length, column = 0, 0
    for driver, bound in zip(drivers, bounds, strict=True):
        made = driver.interpolant
        samples, dimensions = made.centres.shape
        turning = made.metric == "rotation"
        centres = made.centres.astype(np.float64)
        if turning:
            centres = unit_quaternions(centres).reshape(samples, dimensions)
        if isinstance(made, RBFInterpolant):
            kernel, tail = _kernel_number(made.kernel), (0, 1, 1 + dimensions)[TAILS.index(made.tail)]
            # A kernel has no power: in its place stands the square of its reach.
            radii, weights, powers = made.radius, made.weights, (min(made.reach, _FAR) ** 2, 0.0)
            span = made.span
        else:
            kernel, tail, powers = KERNEL_NUMBERS["shepard"], 0, (made.power, made.reach)
            radii, weights, span = np.ones(axis_count(dimensions, made.metric)), made.values, None
        spanned, norm = (np.zeros(0) if each is None else each for each in (span, bound.norm))
        parts = (1 / radii, _by_column(centres), _by_column(weights), np.array(powers), spanned, norm)
        at = (length + np.cumsum([0, *(part.size for part in parts)])).tolist()
        head = (kernel, turning, tail, samples, dimensions, made.columns, column, len(slots), *at[:4])
        directions, tested = -1 if span is None else len(span), -1 if bound.norm is None else at[5]
        heads.append((*head, directions, at[4], tested, 0, 0, 0))
        slots += _slots(driver.space, skeleton, controls)
        numbers += [part.ravel() for part in parts]
        length, column = at[-1], column + made.columns
    flat = np.concatenate([np.zeros(0), *numbers])
    return np.array(heads, np.int64).reshape(-1, HEAD), np.array(slots, np.int64), flat


def _kernel_number(kernel: str) -> int:
    """The number of a kernel in `drive`; one without a loop there must not be played as another."""
    if kernel not in KERNEL_NUMBERS:
        raise InputError(f"kernel {kernel!r}: compiled players know {', '.join(KERNEL_NUMBERS)}")
    return KERNEL_NUMBERS[kernel]


def _by_column(values: Floats) -> Floats:
    """Values (M,) or (M, C), column after column."""
    return values.reshape(len(values), -1).T.ravel()


def _slots(space: PoseSpace, skeleton: Skeleton, controls: tuple[str, ...]) -> list[int]:
    """Where the coordinates of a space are among the features."""
    joints = len(skeleton)
    if space.kind in ("joint", "quaternions"):
        base = 0 if space.kind == "joint" else SIGNED_TURNS * joints
        return [base + TURN * joint + k for joint in space.joints(skeleton) for k in range(TURN)]
    found = []
    for name in space.axes:
        degree = space.degree_of(name, skeleton)
        if degree is None:
            found.append(FEATURES * joints + controls.index(name))
        elif degree[1] < ANGLES:
            found.append(ALL_ANGLES * joints + ANGLES * degree[0] + degree[1])
        else:
            found.append(ALL_SHIFTS * joints + SHIFT * degree[0] + degree[1] - ANGLES)
    return found
