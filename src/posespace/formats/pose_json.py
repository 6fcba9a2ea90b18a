"""Poses as JSON, joint by joint and by name: posespace's own form, and the simple forms that other tools write.

Such a file has no skeleton: `read` gives a `PoseFile`, whose `motion` puts the poses onto one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from posespace import check
from posespace.budget import Budget
from posespace.check import Floats
from posespace.errors import FileError, InputError, quoted
from posespace.formats import files
from posespace.formats.checked_json import Fields, shown
from posespace.formats.pose_file import FREEDOMS, FilePose, PoseFile
from posespace.motion import Motion
from posespace.skeleton import Skeleton

VERSION = 1
_PARTS = ("rotations", "translations", "controls", "time")
_BEND = ("bend", "axis")
_POSES_A_STEP = 2
_NUMBERS_AN_OBJECT = 100
_FEWER = "split it into several files"
_MATRIX_KEYS = ("matrix", "offsetMatrix", "offsetMatrix_colmajor")


def read(path: Path) -> PoseFile:
    """Read poses: posespace's own form, or pose → joint → quaternion, {"rotation": ...} or matrix, at any depth.

    A quaternion is x, y, z, w. A matrix is 16 numbers, column by column, from the joint to the world. Words and single
    numbers next to poses or joints are left out.
    """
    text = files.read_text(path)
    content, budget = files.parse_json(path, text), Budget(len(text))
    if not isinstance(content, dict):
        raise FileError(path, "expected a JSON object with poses by name")
    if "posespace" not in content and _looks_own(content.get("poses")):
        raise FileError(
            path, 'looks like posespace\'s own form without its first line: "posespace": "poses", "version": 1'
        )
    with files.naming(path):
        is_own = content.get("posespace") == "poses"
        poses = _own(Fields(content, "the file"), budget) if is_own else _foreign(content, path.stem, budget)
    if not poses:
        form = 'posespace\'s own form, which begins with "posespace": "poses", "version": 1'
        raise FileError(path, f"holds no poses: expected pose → joint → [x, y, z, w] or 16 numbers, or {form}")
    return PoseFile(path, poses, len(text))


def write(path: Path, motion: Motion, skeleton: Skeleton, also: Mapping[str, object] | None = None) -> None:
    """Write poses in posespace's own form; reading them gives back every number to the last bit.

    `also` is written next to the poses, and passed over when they are read.
    """
    if not len(motion):
        raise InputError("motion: expected at least one pose, got none")
    if motion.rotations.shape[1] != len(skeleton):
        raise InputError(f"motion: expected {len(skeleton)} joints as in the skeleton, got {motion.rotations.shape[1]}")
    rotated = (motion.rotations != skeleton.rest_rotations).any(axis=2)
    translated = (motion.translations != 0).any(axis=2)
    poses = {}
    for row, name in enumerate(motion.names):
        entry: dict[str, Any] = {"time": float(motion.times[row])}
        entry["rotations"] = {
            skeleton.names[k]: motion.rotations[row, k].tolist() for k in np.flatnonzero(rotated[row])
        }
        if translated[row].any():
            moved = np.flatnonzero(translated[row])
            entry["translations"] = {skeleton.names[k]: motion.translations[row, k].tolist() for k in moved}
        if motion.control_names:
            entry["controls"] = dict(zip(motion.control_names, motion.controls[row].tolist(), strict=True))
        poses[name] = entry
    content = {"posespace": "poses", "version": VERSION, **(also or {}), "poses": poses}
    with files.atomic_write(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1, allow_nan=False), encoding="utf-8")


def _own(content: Fields, budget: Budget) -> dict[str, FilePose]:
    """Return the poses of posespace's own form."""
    if (version := content.values.get("version")) != VERSION:
        which = "without a version" if version is None else f"of version {shown(version)}"
        raise InputError(f"is a pose file {which}; expected version {VERSION}")
    poses, by_name = content.part("poses"), {}
    budget.work(len(poses.values) // _POSES_A_STEP, "poses", _FEWER)
    for name in poses:
        where = f"pose {quoted(name)}"
        pose = poses.part(name, where=where)
        for key in pose:
            if key not in _PARTS:
                raise InputError(f"{where}: unknown key {quoted(key)}; expected {', '.join(_PARTS)}")
        rotations, translations, controls = (pose.part(key, {}) for key in ("rotations", "translations", "controls"))
        listed = {joint: None for joint in rotations if not isinstance(rotations.values[joint], dict)}
        described = {joint: _turn(rotations, joint) for joint in rotations if joint not in listed}
        by_name[name] = FilePose(
            rotations={joint: _quaternion(rotations, joint) for joint in listed},
            bends={joint: vector for joint, (kind, vector) in described.items() if kind == "bend"},
            angles={joint: vector for joint, (kind, vector) in described.items() if kind == "angles"},
            translations={joint: np.array(translations.numbers(joint, 3)) for joint in translations},
            controls={control: controls.number(control) for control in controls},
            time=pose.number("time") if pose.values.get("time") is not None else None,
        )
    return by_name


def _foreign(content: dict[str, Any], stem: str, budget: Budget) -> dict[str, FilePose]:
    """Return the poses of other tools: objects, at any depth, that hold joints. One alone is named `stem`."""
    poses = list(_poses_within(content, budget))
    budget.work(len(poses) // _POSES_A_STEP, "poses", _FEWER)
    named_poses = [
        (names, _foreign_pose(f"pose {quoted('/'.join(names) or stem)}", entry, budget)) for names, entry in poses
    ]
    last = [names[-1] if names else stem for names, _ in named_poses]
    # Outer levels, such as left and right, go into the name only where it would be given twice without them.
    short = len(set(last)) == len(last)
    return {name if short else "/".join(names): pose for name, (names, pose) in zip(last, named_poses, strict=True)}


def _foreign_pose(where: str, entry: dict[str, Any], budget: Budget) -> FilePose:
    joints = {joint: _joint_numbers(value) for joint, value in entry.items() if isinstance(value, list | dict)}
    fields, pose = Fields(joints, where), FilePose()
    for joint, numbers in joints.items():
        if numbers is None:
            raise InputError(f"{where}: joint {quoted(joint)}: expected 4 or 16 numbers")
        if len(numbers) == 16:
            budget.work(1, "matrices", _FEWER)
            pose.matrices[joint] = _matrix(fields, joint)
        else:
            pose.rotations[joint] = _quaternion(fields, joint)
    if pose.matrices and pose.rotations:
        raise InputError(f"{where}: expected rotations or matrices, got both")
    return pose


def _quaternion(fields: Fields, joint: str) -> Floats:
    numbers = fields.numbers(joint, 4)
    if not any(numbers):
        raise InputError(f"{fields.where}: joint {quoted(joint)}: expected a quaternion of nonzero length")
    return np.array(numbers)


def _turn(fields: Fields, joint: str) -> tuple[str, Floats]:
    """Return "bend" and a rotation vector, or "angles" and three angles, both (3,) in radians."""
    what = f"{fields.where}: joint {quoted(joint)}"
    description = fields.part(joint, where=what)
    keys = set(description)
    if keys == set(_BEND):
        axis = description.numbers("axis", 3)
        # Measured by `hypot`, since a tiny direction squared would vanish.
        length = math.hypot(*axis)
        if not length:
            raise InputError(f"{what}: axis: expected a direction such as [1, 0, 0], got zeros")
        size = math.radians(description.number("bend"))
        return "bend", np.array([size * (entry / length) for entry in axis])
    if keys and keys <= set(FREEDOMS):
        return "angles", np.array(
            [math.radians(description.number(axis)) if axis in description else 0.0 for axis in FREEDOMS]
        )
    came = ", ".join(shown(key) for key in description) or "nothing"
    raise InputError(f'{what}: expected "bend" and "axis", or "x", "y", "z", in degrees, got {came[:80]}')


def _matrix(fields: Fields, joint: str) -> Floats:
    what = f"{fields.where}: joint {quoted(joint)}"
    matrix = check.affine(what, np.array(fields.numbers(joint, 16)).reshape(4, 4).T, (4, 4), tolerance=1e-6)
    scale = float(np.abs(matrix[:3, :3]).max())
    if scale == 0 or abs(np.linalg.det(matrix[:3, :3] / scale)) < 1e-9:
        raise InputError(f"{what}: expected an invertible matrix, got a flat one")
    return matrix


def _looks_own(poses: Any) -> bool:
    """Whether some entry has the parts that a pose of posespace's own form has."""
    entries = poses.values() if isinstance(poses, dict) else ()
    return any(isinstance(entry, dict) and {"rotations", "controls"} & entry.keys() for entry in entries)


def _poses_within(content: dict[str, Any], budget: Budget) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield each object that holds joints, in the file's order, with the names that lead to it."""
    stack: list[tuple[tuple[str, ...], dict[str, Any]]] = [((), content)]
    while stack:
        names, entry = stack.pop()
        # The deeper an object is, the longer the names that lead to it.
        budget.hold(_NUMBERS_AN_OBJECT + 2 * len(names), "objects", _FEWER)
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
