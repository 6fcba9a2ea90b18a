"""The flat tables of a skin's first stage: joints, pose spaces and interpolants, as `drive` reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posespace import check
from posespace.check import Floats, Floats32
from posespace.errors import InputError
from posespace.interpolate.distances import axis_count, unit_quaternions
from posespace.interpolate.fitted import RBFInterpolant, ShepardInterpolant
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.poses.parts import parts_of
from posespace.poses.spaces import PoseSpace
from posespace.rig import Rig
from posespace.runtime.drive.bound_tables import bound_entries
from posespace.skeleton import Skeleton
from posespace.skin.bound import Bound
from posespace.skin.driver import Driver
from posespace.skin.skin import Driven, Skin

_FAR = 1e100
"""In place of an endless reach: compiled loops do not know infinity."""

KERNELS = ("gaussian", "exponential", "multiquadric", "thin_plate", "linear", "cubic")
"""The kernels that `drive` has a loop for, in the order of their numbers; what comes after them is Shepard's method."""
SHEPARD = len(KERNELS)
METRICS = ("euclidean", "rotation")
TAILS = ("none", "constant", "linear")
JOINT_KINDS, AXIS_KINDS = ("joint", "quaternions"), ("freedoms", "controls")
"""Kinds of pose spaces whose coordinates are quaternions of joints, and those whose coordinates are single numbers."""

# How many numbers each joint has: of its rotation, its translation, its angles and a transform (3, 4).
ROTATION, TRANSLATION, ANGLES, TRANSFORM = 4, 3, 3, 12
POSE_NUMBERS = ROTATION + TRANSLATION
"""How many numbers of a pose each joint has: all rotations, all translations, then the controls."""
SIGNED_ROTATIONS, ALL_ANGLES, ALL_TRANSLATIONS = ROTATION, 2 * ROTATION, 2 * ROTATION + ANGLES
FEATURES = ALL_TRANSLATIONS + TRANSLATION
"""How many features per joint come before all signed rotations, before all angles, before all translations; and in all.

All rotations, all rotations signed as at rest, all angles, all translations, then the controls.
"""

# Columns of `DriverArrays.links`, and how many there are.
ORDER, PARENT, ANGLED, LINKED_TO, ORIENTED = range(5)
LINK = 5
# Where the pieces of a row of `DriverArrays.joints` begin, and how long it is.
FRAME, STRETCH, BIND, REST, AXES, FRAME_ROTATION, OFFSET, JOINT = 0, 12, 21, 33, 37, 46, 50, 53
# Columns of `DriverArrays.heads`, and how many there are.
KERNEL, IS_ROTATION, TAIL, SAMPLES, DIMENSIONS, COLUMNS, FIRST_COLUMN, SLOTS, RADII, CENTRES, WEIGHTS, EXTRA = range(12)
DIRECTIONS, SPAN, NORM, VERTICES, ENTRIES, BLOCKS = range(12, 18)
HEAD = 18


class DriverArrays(NamedTuple):
    """Everything that `drive` reads, flat and in few arrays: passing an array costs more than reading its numbers.

    Parameters
    ----------
    links : (J, LINK) the joints from roots to tips (ORDER), then of each joint its parent (PARENT), whether a layer
        needs its angles (ANGLED), the joint it is LINKED_TO, and whether its rotation to the world is needed (ORIENTED)
    joints : (J, JOINT) of each joint its FRAME in its parent (3, 4), the scale and shear that no pose changes (STRETCH,
        (3, 3)), its inverse BIND transform (3, 4), its part of the REST pose (4,), the AXES of its angles (3, 3), the
        rotation of its frame (FRAME_ROTATION, (4,)) and its rest position, seen from the joint it is linked to (OFFSET,
        (3,))
    heads : (I, HEAD) a row per interpolant: its KERNEL, whether its metric IS_ROTATION, the terms of its
        TAIL, how many SAMPLES, DIMENSIONS and COLUMNS it has, and the FIRST_COLUMN of its result; then where its SLOTS
        begin, and where among the numbers its inverse RADII, its CENTRES, its WEIGHTS, and EXTRA: Shepard's power and
        reach, or the square of a kernel's reach; how many DIRECTIONS its SPAN has (-1: all) and where it begins; where
        the NORM of its bound begins (-1: none), how many VERTICES it moves, and where their ENTRIES and BLOCKS begin
    slots : the index of each dimension among the features
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
class DriverTables:
    """All drivers of a skin as flat tables, and where they find a pose's numbers and write their coordinates.

    Parameters
    ----------
    arrays : what `drive` reads
    controls : names of the controls, in the order of their values
    columns : how many coordinates there are in all
    layers : for each layer the first column of its points' coordinates and of its normals'
    detail : the first column of the detail's, or -1
    """

    arrays: DriverArrays
    controls: tuple[str, ...]
    columns: int
    layers: tuple[tuple[int, int], ...]
    detail: int

    @property
    def scratch(self) -> int:
        """How many numbers `drive` needs: transforms and rotations to the world, features, then of an interpolant its
        terms and the position of the pose in its space.

        The last one says how many of the numbers it gave are beyond `check.LARGEST`.
        """
        heads = self.arrays.heads
        terms = int((heads[:, SAMPLES] + heads[:, TAIL]).max(initial=0))
        position = int(heads[:, DIMENSIONS].max(initial=0))
        return (TRANSFORM + ROTATION + FEATURES) * len(self.arrays.links) + len(self.controls) + terms + position + 1

    @property
    def pose_size(self) -> int:
        """How many numbers a pose has: seven per joint, one per control."""
        return POSE_NUMBERS * len(self.arrays.links) + len(self.controls)

    def views(self, numbers: Floats) -> tuple[Floats, Floats, Floats]:
        """Return where a pose's numbers have its rotations (J, 4), its translations (J, 3) and its controls (C,)."""
        joints = len(self.arrays.links)
        rotations, translations, controls = np.split(numbers, [ROTATION * joints, POSE_NUMBERS * joints])
        return rotations.reshape(joints, ROTATION), translations.reshape(joints, TRANSLATION), controls

    def write_pose(self, pose: Pose, out: tuple[Floats, Floats, Floats]) -> None:
        """Write a pose to `views` of its numbers; a control that it does not name is zero."""
        rotations, translations, controls = out
        rotations[...] = pose.rotations
        translations[...] = pose.translations
        for number, name in enumerate(self.controls):
            controls[number] = pose.controls.get(name, 0.0)

    def write_poses(self, motion: Motion, first: int, last: int, out: Floats) -> None:
        """Write the poses of a motion from `first` up to `last` to the rows of `out`, as `write_pose` does."""
        joints, count = len(self.arrays.links), last - first
        translations, controls = ROTATION * joints, POSE_NUMBERS * joints
        out[:count, :translations] = motion.rotations[first:last].reshape(count, -1)
        out[:count, translations:controls] = motion.translations[first:last].reshape(count, -1)
        column_of = {name: column for column, name in enumerate(motion.control_names)}
        for number, name in enumerate(self.controls):
            out[:count, controls + number] = motion.controls[first:last, column_of[name]] if name in column_of else 0.0

    def driven(self, skin: Skin, transforms: Floats, coordinates: Floats, amounts: Floats) -> Driven:
        """Return what `Skin.drive` does, from the bones' transforms and amounts, and all coordinates (C,)."""
        points = [
            coordinates[at : at + layer.driver.components]
            for layer, (at, _) in zip(skin.layers, self.layers, strict=True)
        ]
        normals = [
            coordinates[at : at + (layer.normal_driver or layer.driver).components]
            for layer, (_, at) in zip(skin.layers, self.layers, strict=True)
        ]
        components = 0 if skin.detail is None or skin.detail.driver is None else skin.detail.driver.components
        return Driven(transforms, points, amounts, normals, coordinates[self.detail : self.detail + components])


def driver_tables(skin: Skin) -> DriverTables:
    """Flatten the drivers of a skin; layers that share a driver share its columns."""
    counts = [driver.components for driver in skin.drivers]
    ids = [id(driver) for driver in skin.drivers]
    starts = dict(zip(ids, np.cumsum([0, *counts])[:-1].tolist(), strict=True))
    return DriverTables(
        _arrays(skin),
        skin.control_names,
        sum(counts),
        tuple((starts[id(layer.driver)], starts[id(layer.normal_driver or layer.driver)]) for layer in skin.layers),
        starts.get(id(skin.detail.driver), -1) if skin.detail is not None else -1,
    )


def _require_known(driver: Driver) -> None:
    """Raise unless `drive` has a loop for a driver: another one would give numbers, but wrong ones."""
    interpolant = driver.interpolant
    if isinstance(interpolant, RBFInterpolant):
        check.choice("player: kernel", interpolant.kernel, KERNELS)
        check.choice("player: tail", interpolant.tail, TAILS)
    elif not isinstance(interpolant, ShepardInterpolant):
        raise InputError(f"player: expected an interpolant of RBF or Shepard, got {type(interpolant).__name__}")
    check.choice("player: metric", interpolant.metric, METRICS)
    check.choice("player: pose space kind", driver.space.kind, JOINT_KINDS + AXIS_KINDS)


def _arrays(skin: Skin) -> DriverArrays:
    for driver in skin.drivers:
        _require_known(driver)
    links, joints = _joints(skin.rig, skin.drivers)
    bounds = [skin.bounds[id(driver)] for driver in skin.drivers]
    heads, slots, numbers = _samples(skin.drivers, bounds, skin.rig.skeleton, skin.control_names)
    flat = bound_entries(bounds)
    heads[:, [VERTICES, ENTRIES, BLOCKS]] = np.stack([flat.vertices, flat.starts, flat.blocks], axis=1)
    return DriverArrays(links, joints, heads, slots, numbers, flat.entries, flat.lengths, flat.longest)


def _joints(rig: Rig, drivers: Sequence[Driver]) -> tuple[NDArray[np.int64], Floats]:
    skeleton, parts = rig.skeleton, parts_of(rig.skeleton)
    count = len(skeleton)
    angled = np.zeros(count, np.int64)
    for driver in drivers:
        if driver.space.kind == "freedoms":
            angled[list(driver.space.joints(skeleton))] = 1
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
    columns = (np.asarray(skeleton.order), skeleton.parents, angled, parts.links, parts.oriented)
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
        interpolant = driver.interpolant
        samples, dimensions = interpolant.centres.shape
        is_rotation = interpolant.metric == "rotation"
        centres = interpolant.centres.astype(np.float64)
        if is_rotation:
            centres = unit_quaternions(centres).reshape(samples, dimensions)
        kernel, tail, radii, weights, extra = _kernel(interpolant)
        span = interpolant.span if isinstance(interpolant, RBFInterpolant) else None
        spanned, norm = (np.zeros(0) if matrix is None else matrix for matrix in (span, bound.norm))
        parts = (1 / radii, _by_column(centres), _by_column(weights), np.array(extra), spanned, norm)
        at = (length + np.cumsum([0, *(part.size for part in parts)])).tolist()
        head = (kernel, is_rotation, tail, samples, dimensions, interpolant.columns, column, len(slots), *at[:4])
        directions, tested = -1 if span is None else len(span), -1 if bound.norm is None else at[5]
        heads.append((*head, directions, at[4], tested, 0, 0, 0))
        slots += _slots(driver.space, skeleton, controls)
        numbers += [part.ravel() for part in parts]
        length, column = at[-1], column + interpolant.columns
    flat = np.concatenate([np.zeros(0), *numbers])
    return np.array(heads, np.int64).reshape(-1, HEAD), np.array(slots, np.int64), flat


def _kernel(interpolant: RBFInterpolant | ShepardInterpolant) -> tuple[int, int, Floats, Floats, tuple[float, float]]:
    """The KERNEL of an interpolant, the terms of its TAIL, its radii, its weights and its EXTRA."""
    dimensions = interpolant.centres.shape[1]
    if isinstance(interpolant, ShepardInterpolant):
        radii = np.ones(axis_count(dimensions, interpolant.metric))
        return SHEPARD, 0, radii, interpolant.values, (interpolant.power, interpolant.reach)
    tail = (0, 1, 1 + dimensions)[TAILS.index(interpolant.tail)]
    extra = (min(interpolant.reach, _FAR) ** 2, 0.0)
    return KERNELS.index(interpolant.kernel), tail, interpolant.radius, interpolant.weights, extra


def _by_column(values: Floats) -> Floats:
    """Values (M,) or (M, C), column after column."""
    return values.reshape(len(values), -1).T.ravel()


def _slots(space: PoseSpace, skeleton: Skeleton, controls: tuple[str, ...]) -> list[int]:
    """The indices of a space's coordinates among the features."""
    joints = len(skeleton)
    if space.kind in JOINT_KINDS:
        base = 0 if space.kind == "joint" else SIGNED_ROTATIONS * joints
        return [base + ROTATION * joint + k for joint in space.joints(skeleton) for k in range(ROTATION)]
    slots = []
    for name in space.names:
        degree = space.degree_of(name, skeleton)
        if degree is None:
            slots.append(FEATURES * joints + controls.index(name))
        elif degree[1] < ANGLES:
            slots.append(ALL_ANGLES * joints + ANGLES * degree[0] + degree[1])
        else:
            slots.append(ALL_TRANSLATIONS * joints + TRANSLATION * degree[0] + degree[1] - ANGLES)
    return slots
