"""Poses as JSON, joint by joint and by name: posespace's own form, and the simple forms that other tools write.

Such a file has no skeleton: `read` gives a PoseFile, whose `motion` puts the poses onto one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from posespace import check
from posespace.check import Floats
from posespace.errors import FileError, InputError, closest_name
from posespace.formats import files
from posespace.formats.checked_json import Fields, shown
from posespace.motion import Motion
from posespace.skeleton import Skeleton

VERSION = 1
_PARTS = ("rotations", "translations", "controls", "time")
_MATRIX_KEYS = ("matrix", "offsetMatrix", "offsetMatrix_colmajor")


@dataclass(frozen=True, eq=False)
class FilePose:
    """One pose of a file, by the names of its joints. Joints that it does not name rest.

    Parameters
    ----------
    rotations : (4,) quaternions x y z w of joints
    translations : (3,) shifts of joints in their frames, from rest
    matrices : (4, 4) transforms of joints to the world; a pose has either these or rotations
    controls : named scalars
    time : seconds, or None where the file gives none
    """

    rotations: dict[str, Floats] = field(default_factory=dict)
    translations: dict[str, Floats] = field(default_factory=dict)
    matrices: dict[str, Floats] = field(default_factory=dict)
    controls: dict[str, float] = field(default_factory=dict)
    time: float | None = None

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints it names."""
        return tuple(dict.fromkeys([*self.rotations, *self.translations, *self.matrices]))


@dataclass(frozen=True, eq=False)
class PoseFile:
    """The poses of a file, by name and in its order."""

    path: Path
    poses: dict[str, FilePose]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the poses."""
        return tuple(self.poses)

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that any pose names, in the order they come."""
        return tuple(dict.fromkeys(joint for pose in self.poses.values() for joint in pose.joints))

    @property
    def counts(self) -> dict[str, int]:
        """How many joints each pose names."""
        return {name: len(pose.joints) for name, pose in self.poses.items()}

    def motion(self, skeleton: Skeleton) -> Motion:
        """Return the poses as poses of this skeleton.

        A joint that a pose does not name rests, and where matrices are given it follows its parent. The poses' times
        are used if each has one.
        """
        index = {name: joint for joint, name in enumerate(skeleton.names)}
        for joint in self.joints:
            if joint not in index:
                # Comparing takes the square of the length, and a file may hold a name of any length.
                close = closest_name(joint, skeleton.names)
                raise FileError(self.path, f"joint {joint[:80]!r} is not in the skeleton; the closest is {close}")
        turn = np.tile(skeleton.rest_rotations.astype(np.float64), (len(self.poses), 1, 1))
        shift = np.zeros((len(self.poses), len(skeleton), 3))
        for row, pose in enumerate(self.poses.values()):
            for joint, quaternion in pose.rotations.items():
                turn[row, index[joint]] = quaternion
            for joint, vector in pose.translations.items():
                shift[row, index[joint]] = vector
        controls = tuple(dict.fromkeys(name for pose in self.poses.values() for name in pose.controls))
        values = [[pose.controls.get(name, 0.0) for name in controls] for pose in self.poses.values()]
        times = [pose.time for pose in self.poses.values() if pose.time is not None]
        placed = [row for row, pose in enumerate(self.poses.values()) if pose.matrices]
        with files.naming(self.path):
            if placed:
                moved = self._from_matrices(skeleton)
                turn[placed], shift[placed] = moved.rotations, moved.translations
            return Motion(
                turn,
                shift,
                np.array(times) if len(times) == len(self.poses) else None,  # type: ignore[arg-type]
                self.names,
                np.array(values).reshape(len(self.poses), len(controls)),
                controls,
            )

    def _from_matrices(self, skeleton: Skeleton) -> Motion:
        """Return the poses that are given by matrices."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                world = np.stack([_world(skeleton, pose) for pose in self.poses.values() if pose.matrices])
                return Motion.from_world(skeleton, world)
        except np.linalg.LinAlgError as error:
            raise FileError(self.path, "its matrices are too large or too small for this skeleton") from error


def read(path: Path) -> PoseFile:
    """Read poses: posespace's own form, or pose → joint → quaternion, {"rotation": ...} or matrix, at any depth.

    A quaternion is x, y, z, w. A matrix is 16 numbers, column by column, from the joint to the world. Words and single
    numbers next to poses or joints are left out.
    """
    content = files.parse_json(path, files.read_text(path))
    if not isinstance(content, dict):
        raise FileError(path, "expected a JSON object with poses by name")
    if "posespace" not in content and _looks_own(content.get("poses")):
        raise FileError(
            path, 'looks like posespace\'s own form without its first line: "posespace": "poses", "version": 1'
        )
    with files.naming(path):
        is_own = content.get("posespace") == "poses"
        poses = _own(Fields(content, "the file")) if is_own else _foreign(content, path.stem)
    if not poses:
        raise FileError(path, "holds no poses: expected pose → joint → [x, y, z, w] or a matrix of 16 numbers")
    return PoseFile(path, poses)


def write(path: Path, motion: Motion, skeleton: Skeleton) -> None:
    """Write poses in posespace's own form; reading them gives back every number to the last bit."""
    if motion.rotations.shape[1] != len(skeleton):
        raise InputError(f"motion: expected {len(skeleton)} joints as in the skeleton, got {motion.rotations.shape[1]}")
    turned = (motion.rotations != skeleton.rest_rotations).any(axis=2)
    shifted = (motion.translations != 0).any(axis=2)
    poses = {}
    for row, name in enumerate(motion.names):
        entry: dict[str, Any] = {"time": float(motion.times[row])}
        entry["rotations"] = {skeleton.names[k]: motion.rotations[row, k].tolist() for k in np.flatnonzero(turned[row])}
        if shifted[row].any():
            moved = np.flatnonzero(shifted[row])
            entry["translations"] = {skeleton.names[k]: motion.translations[row, k].tolist() for k in moved}
        if motion.control_names:
            entry["controls"] = dict(zip(motion.control_names, motion.controls[row].tolist(), strict=True))
        poses[name] = entry
    content = {"posespace": "poses", "version": VERSION, "poses": poses}
    with files.atomic_write(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1, allow_nan=False), encoding="utf-8")


def _world(skeleton: Skeleton, pose: FilePose) -> Floats:
    """Return (J, 4, 4) the transforms to the world, joints without one following their parent as at rest."""
    world: Floats = skeleton.rest_world.copy()
    from_rest = np.linalg.inv(skeleton.rest_world)
    for joint in skeleton.order:
        name, parent = skeleton.names[joint], skeleton.parents[joint]
        if name in pose.matrices:
            world[joint] = pose.matrices[name]
        elif parent >= 0:
            world[joint] = world[parent] @ from_rest[parent] @ skeleton.rest_world[joint]
    return world


def _own(content: Fields) -> dict[str, FilePose]:
    """Return the poses of posespace's own form."""
    if (version := content.values.get("version")) != VERSION:
        raise InputError(f"has version {shown(version)} of the form; expected {VERSION}")
    poses, found = content.part("poses"), {}
    for name in poses:
        where = f"pose {name[:60]!r}"
        pose = poses.part(name, where=where)
        for key in pose:
            if key not in _PARTS:
                raise InputError(f"{where}: unknown key {key[:60]!r}; expected {', '.join(_PARTS)}")
        turn, shift, controls = (pose.part(key, {}) for key in ("rotations", "translations", "controls"))
        found[name] = FilePose(
            rotations={joint: _quaternion(turn, joint) for joint in turn},
            translations={joint: np.array(shift.numbers(joint, 3)) for joint in shift},
            controls={control: controls.number(control) for control in controls},
            time=pose.number("time") if pose.values.get("time") is not None else None,
        )
    return found


def _foreign(content: dict[str, Any], stem: str) -> dict[str, FilePose]:
    """Return the poses of other tools: objects, at any depth, that hold joints. One alone is named `stem`."""
    found = [
        (names, _foreign_pose(f"pose {('/'.join(names) or stem)[:60]!r}", entry))
        for names, entry in _poses_within(content)
    ]
    last = [names[-1] if names else stem for names, _ in found]
    # Outer levels, such as left and right, go into the name only where it would be given twice without them.
    short = len(set(last)) == len(last)
    return {name if short else "/".join(names): pose for name, (names, pose) in zip(last, found, strict=True)}


def _foreign_pose(where: str, entry: dict[str, Any]) -> FilePose:
    found = {joint: _joint_numbers(value) for joint, value in entry.items() if isinstance(value, list | dict)}
    fields, pose = Fields(found, where), FilePose()
    for joint, numbers in found.items():
        if numbers is None:
            raise InputError(f"{where}: joint {joint[:60]!r}: expected 4 or 16 numbers")
        if len(numbers) == 16:
            pose.matrices[joint] = _matrix(fields, joint)
        else:
            pose.rotations[joint] = _quaternion(fields, joint)
    if pose.matrices and pose.rotations:
        raise InputError(f"{where}: expected rotations or matrices, got both")
    return pose


def _quaternion(fields: Fields, joint: str) -> Floats:
    numbers = np.array(fields.numbers(joint, 4))
    if not numbers.any():
        raise InputError(f"{fields.where}: joint {joint[:60]!r}: expected a quaternion of nonzero length")
    return numbers


def _matrix(fields: Fields, joint: str) -> Floats:
    what = f"{fields.where}: joint {joint[:60]!r}"
    matrix = check.affine(what, np.array(fields.numbers(joint, 16)).reshape(4, 4).T, (4, 4), tolerance=1e-6)
    scale = float(np.abs(matrix[:3, :3]).max())
    if scale == 0 or abs(np.linalg.det(matrix[:3, :3] / scale)) < 1e-9:
        raise InputError(f"{what}: expected an invertible matrix, got a flat one")
    return matrix


def _looks_own(poses: Any) -> bool:
    """Whether some entry has the parts that a pose of posespace's own form has."""
    entries = poses.values() if isinstance(poses, dict) else ()
    return any(isinstance(entry, dict) and {"rotations", "controls"} & entry.keys() for entry in entries)


def _poses_within(content: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield each object that holds joints, in the file's order, with the names that lead to it."""
    stack: list[tuple[tuple[str, ...], dict[str, Any]]] = [((), content)]
    while stack:
        names, entry = stack.pop()
        if any(_joint_numbers(value) is not None for value in entry.values()):
            yield names, entry
        else:
            inner = [((*names, key), value) for key, value in entry.items() if isinstance(value, dict)]
            stack += reversed(inner)


def _joint_numbers(value: Any) -> list[Any] | None:
    """Return the 4 numbers of a joint's rotation or the 16 of its matrix, or None if it is not a joint."""
    if isinstance(value, dict):
        value = next((value[key] for key in ("rotation", *_MATRIX_KEYS) if key in value), None)
    if isinstance(value, list) and len(value) in (4, 16) and all(type(entry) in (int, float) for entry in value):
        return value
    return None
