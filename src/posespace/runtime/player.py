"""Player, what all backends have in common: poses are checked, and arrays are returned."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from copy import copy
from threading import Lock
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from posespace import check
from posespace.check import Floats, Floats32
from posespace.errors import InputError
from posespace.geometry import rotations
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.runtime import cores
from posespace.runtime.bones.stage import PlayedBones
from posespace.runtime.drive.drive import drive, require_ordinary
from posespace.runtime.drive.tables import driver_tables
from posespace.skin.skin import Driven, Skin

Shape = tuple[Floats32, Floats32 | None]

_FLOAT32 = np.dtype(np.float32)


class DriveRoom(NamedTuple):
    """Where P poses are driven: what `drive` works in, the transforms of joints that are bones, and the coordinates."""

    scratch: Floats
    palette: Floats32
    coordinates: Floats


class DrivenPose(NamedTuple):
    """One pose, driven: the bones' transforms (12 B,), all coordinates (C,), and the bones' amounts (B, K + D)."""

    palette: Floats32
    coordinates: Floats
    amounts: Floats32


class Player(ABC):
    """Poses a skin again and again. Threads that share a player wait for one another; `clone` makes one per thread.

    Parameters
    ----------
    skin : what it plays
    normals : whether it gives normals too, as `Skin.pose` does; points alone are faster

    Attributes
    ----------
    vertices : N, how many points a frame has
    """

    _bones: PlayedBones

    def __init__(self, skin: Skin, normals: bool = True) -> None:
        self.skin, self.normals = skin, bool(normals)
        self._drivers = driver_tables(skin)
        self._joints, self.vertices = len(skin.rig.skeleton), len(skin.mesh.points)
        self._carried = self.normals and skin.detail is None and skin.carries_normals

    def clone(self) -> Self:
        """Return a player for another thread: it shares the tables of this one and has its own room to work in."""
        other = copy(self)
        other._make_room()
        return other

    def _make_room(self) -> None:
        """Make what serves one thread at a time, for a new player or a clone."""
        self._lock = Lock()
        self._pose = np.zeros(self._drivers.pose_size)
        self._views = self._drivers.views(self._pose)
        self._room = self._drive_room(1)
        self._warned: set[str] = set()
        cores.watch(self)

    def _drive_room(self, poses: int) -> DriveRoom:
        return DriveRoom(
            np.zeros((poses, self._drivers.scratch)),
            np.zeros((poses, self._bones.joint_numbers), np.float32),
            np.zeros((poses, self._drivers.columns)),
        )

    def after_fork(self, one_core: bool) -> None:
        """Go on in a forked process; it has none of the threads that may have held the lock."""
        del one_core
        self._lock = Lock()

    def __call__(
        self, pose: Pose | ArrayLike, points: Floats32 | None = None, normals: Floats32 | None = None
    ) -> Shape:
        """Return the posed points (N, 3) and unit normals (N, 3), or None if the player gives none.

        Parameters
        ----------
        pose : a pose, or only its rotations (J, 4)
        points, normals : float32 arrays (N, 3) to write to; None: new ones
        """
        if points is normals and points is not None:
            raise InputError("points and normals: expected two arrays, got one for both")
        out = self._array("points", points)
        normals_out = self._array("normals", normals) if self.normals else None
        with self._lock:
            self._read(pose)
            self._play(out, normals_out)
        return out, normals_out

    def many(self, motion: Motion, points: Floats32 | None = None, normals: Floats32 | None = None) -> Iterator[Shape]:
        """Pose a whole motion, some poses at a time, in memory that does not grow with it.

        Parameters
        ----------
        motion : P poses
        points, normals : float32 arrays (P, N, 3), e.g. memory-mapped files, which are filled at once; without them
            what is yielded is valid until the next is asked for

        Yields
        ------
        points (N, 3) and normals (N, 3) of each pose
        """
        if not isinstance(motion, Motion):
            raise InputError(f"play.many: expected a Motion, got a {type(motion).__name__}")
        self._check_joints(motion.rotations.shape[-2])
        largest = np.abs(motion.controls).max(axis=0, initial=0.0).tolist()
        self._check_controls(dict(zip(motion.control_names, largest, strict=True)))
        count = len(motion)
        for name, array in (("points", points), ("normals", normals)):
            if array is not None:
                _check_array(name, array, (count, self.vertices, 3))
        shapes = self._stream(motion, points, normals)
        return shapes if points is None else iter(list(shapes))

    def drive(self, pose: Pose | ArrayLike) -> Driven:
        """Return the bone transforms (B, 3, 4), each layer's coordinates (C,) and the rest, as `Skin.drive` does."""
        with self._lock:
            self._read(pose)
            palette, coordinates, amounts = (numbers.copy() for numbers in self._drive_pose())
        return self._drivers.driven(self.skin, palette.reshape(-1, 3, 4), coordinates, amounts)

    @abstractmethod
    def _play(self, points: Floats32, normals: Floats32 | None) -> None:
        """Write the shape of the pose in `self._pose`."""

    @abstractmethod
    def _stream(self, motion: Motion, points: Floats32 | None, normals: Floats32 | None) -> Iterator[Shape]:
        """Yield the shape of each pose; the arguments are checked."""

    def _drive_pose(self) -> DrivenPose:
        """Drive the pose in `self._pose`; the next one may overwrite the result."""
        scratch, palette, coordinates = self._room
        bones = self._bones.drive(self._pose[None], palette)
        drive(self._drivers.arrays, bones.poses[0], scratch[0], palette[0], coordinates[0])
        require_ordinary(scratch.item(-1))
        return DrivenPose(bones.palettes[0], coordinates[0], bones.amounts[0])

    def _read(self, pose: Pose | ArrayLike) -> None:
        if isinstance(pose, Pose):
            self._check_joints(len(pose.rotations))
            if pose.controls:
                self._check_controls(pose.controls)
            self._drivers.write_pose(pose, self._views)
            return
        if isinstance(pose, Motion):
            raise InputError("play: expected one Pose, got a Motion; pass one pose, e.g. motion[0], or call play.many")
        quaternions = check.floats("pose rotations", pose, ("J", 4))
        self._check_joints(len(quaternions))
        unit = rotations.normalize(quaternions, "pose rotations")
        if np.abs(unit - quaternions).max(initial=0.0) > 1e-3:
            self._warn("pose rotations: some quaternions are not of unit length; they are normalised")
        self._pose[:] = 0.0
        self._pose[: unit.size] = unit.ravel()

    def _check_joints(self, joints: int) -> None:
        if joints != self._joints:
            raise InputError(f"pose: expected {self._joints} joints as in the rig, got {joints}")

    def _check_controls(self, controls: Mapping[str, float]) -> None:
        for line in self.skin.unknown_controls(controls):
            self._warn(line)

    def _warn(self, text: str) -> None:
        """Warn of one thing once, not every frame."""
        if text not in self._warned:
            self._warned.add(text)
            warnings.warn(text, stacklevel=4)

    def _array(self, name: str, array: Floats32 | None) -> Floats32:
        if array is None:
            return np.empty((self.vertices, 3), np.float32)
        _check_array(name, array, (self.vertices, 3))
        return array


def _check_array(name: str, array: Floats32, shape: tuple[int, ...]) -> None:
    if not isinstance(array, np.ndarray) or array.dtype != _FLOAT32 or array.shape != shape:
        got = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        raise InputError(f"{name}: expected a float32 array of shape {shape}, got {got}")
    if not (array.flags.c_contiguous and array.flags.writeable):
        raise InputError(f"{name}: expected a contiguous array that can be written to")
