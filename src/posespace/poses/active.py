"""Active joints and controls: those that poses move away from rest, and the pose spaces that they span.

Every fit, rival and report uses these functions, so that the thresholds are the same everywhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.errors import InputError
from posespace.geometry.rotations import angles_between
from posespace.interpolate.distances import distances
from posespace.motion import LEAST_ANGLE, LEAST_CONTROL, Motion, nonzero_controls
from posespace.pose import Pose
from posespace.poses.parts import parts_of
from posespace.poses.spaces import AXES, TRANSLATIONS, PoseSpace
from posespace.rig import Rig
from posespace.skeleton import Skeleton

Active = frozenset[int | str]
"""Joints by number and controls by name."""

_LEAST_TRANSLATION = 1e-4
"""Of the mesh's diagonal: a joint that is translated by less is at rest."""


def rotated_from_rest(rig: Rig, motion: Motion) -> NDArray[np.bool_]:
    """Return (P, J) which joints each pose rotates away from rest, relative to the joints they are linked to."""
    return angles_between(_parts(rig, motion)[0], _parts(rig, rig.rest)[0]) > LEAST_ANGLE


def translated_from_rest(rig: Rig, motion: Motion) -> NDArray[np.bool_]:
    """Return (P, J) which joints each pose translates away from rest, relative to the joints they are linked to.

    A translation that is the same in all of several poses does not count: it belongs to the skeleton.
    """
    translations = _parts(rig, motion)[1]
    limit = _LEAST_TRANSLATION * rig.mesh.diagonal
    active = np.abs(translations - _parts(rig, rig.rest)[1]).max(axis=2, initial=0.0) > limit
    if len(motion) > 1:
        active &= (np.ptp(translations, axis=0) > limit).any(axis=1)
    return np.asarray(active)


def at_rest(rig: Rig, motion: Motion) -> NDArray[np.bool_]:
    """Return (P,) which poses are the rest pose, all controls at zero."""
    active = rotated_from_rest(rig, motion).any(axis=1) | translated_from_rest(rig, motion).any(axis=1)
    return np.asarray(~(active | nonzero_controls(motion).any(axis=1)))


def active_in_poses(rig: Rig, motion: Motion, shown: bool = False) -> list[Active]:
    """Return for each pose the joints and controls that it moves from rest.

    Parameters
    ----------
    shown : a joint is also at rest in the skeleton's rest pose: exporters often rotate joints between the pose that
        the mesh was bound in and the pose that the file shows
    """
    joints = rotated_from_rest(rig, motion)
    if shown:
        joints &= angles_between(_parts(rig, motion)[0], parts_of(rig.skeleton).rest) > LEAST_ANGLE
    joints |= translated_from_rest(rig, motion)
    controls = [[motion.control_names[k] for k in np.flatnonzero(row)] for row in nonzero_controls(motion)]
    return [frozenset((*np.flatnonzero(row).tolist(), *names)) for row, names in zip(joints, controls, strict=True)]


def active_names(active: Active, skeleton: Skeleton) -> tuple[str, ...]:
    """Return the names of joints and controls: joints in the skeleton's order, then controls by name."""
    joints, controls = _split(active)
    return (*(skeleton.names[joint] for joint in joints), *controls)


def changing(rig: Rig, motion: Motion) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the joints and of the controls that change during a clip, from its first pose."""
    if not len(motion):
        return (), ()
    rotations, translations = _parts(rig, motion)
    still = (angles_between(rotations, rotations[0]) <= LEAST_ANGLE).all(axis=0)
    still &= (np.ptp(translations, axis=0) <= _LEAST_TRANSLATION * rig.mesh.diagonal).all(axis=1)
    changes = np.abs(motion.controls - motion.controls[:1]).max(axis=0, initial=0.0) > LEAST_CONTROL
    joints = tuple(rig.skeleton.names[joint] for joint in np.flatnonzero(~still))
    return joints, tuple(motion.control_names[k] for k in np.flatnonzero(changes))


def space_of(rig: Rig, active: Active, motion: Motion, kind: str = "joint") -> PoseSpace:
    """Return the pose space that some joints and controls span.

    Joints that only rotate span a space of rotations, or with kind "freedoms" of their degrees of freedom; with
    translations or controls among them it is always the latter.

    Parameters
    ----------
    motion : the poses it is for: they decide which translations change, and which axes joints rotate about where the
        skeleton has no axes
    """
    joints, controls = _split(active)
    if not joints:
        return PoseSpace("controls", controls)
    names = [rig.skeleton.names[joint] for joint in joints]
    translations = translation_axes(rig, motion)[joints]
    if not controls and kind == "joint" and not translations.any():
        return PoseSpace("joint", tuple(names))
    for name in controls:
        if name.rpartition(".")[0] and name.rpartition(".")[2] in AXES + TRANSLATIONS:
            raise InputError(f"control {name!r}: next to joints its ending reads as an axis; give it another name")
    rotations = rotation_axes(rig, motion)[joints]
    degrees = [
        f"{name}.{(AXES + TRANSLATIONS)[axis]}"
        for name, row in zip(names, np.concatenate([rotations, translations], axis=1), strict=True)
        for axis in np.flatnonzero(row)
    ]
    return PoseSpace("freedoms", (*degrees, *controls))


def rotation_axes(rig: Rig, motion: Motion) -> NDArray[np.bool_]:
    """Return (J, 3) the axes that joints rotate about: the skeleton's, where it has axes, else those of the poses."""
    if rig.skeleton.axes is not None:
        return np.asarray(np.abs(rig.skeleton.axes).max(axis=2) > 0)
    angles = parts_of(rig.skeleton).angles(_parts(rig, motion)[0])
    rest = parts_of(rig.skeleton).angles(_parts(rig, rig.rest)[0])
    return np.asarray(np.abs(angles - rest).max(axis=0, initial=0.0) > LEAST_CONTROL)


def translation_axes(rig: Rig, motion: Motion) -> NDArray[np.bool_]:
    """Return (J, 3) the axes that poses translate joints along."""
    translations, rest = _parts(rig, motion)[1], _parts(rig, rig.rest)[1]
    limit = _LEAST_TRANSLATION * rig.mesh.diagonal
    moves = np.abs(translations - rest).max(axis=0, initial=0.0) > limit
    if len(motion) > 1:
        moves &= np.ptp(translations, axis=0) > limit
    return np.asarray(moves)


def whole_space(rig: Rig, motion: Motion, kind: str = "joint") -> PoseSpace:
    """Return the space of all joints and controls that some pose moves; `kind` as in `space_of`."""
    if not len(motion):
        raise InputError("examples: expected at least one, got none")
    active: Active = frozenset().union(*active_in_poses(rig, motion))
    if not active:
        raise InputError("examples: no pose differs from rest, so there is nothing to interpolate over")
    return space_of(rig, active, motion, kind)


def single_spaces(rig: Rig, motion: Motion) -> list[PoseSpace]:
    """Return a pose space for each joint, degree of freedom or control that some pose moves.

    A joint whose axes the skeleton has gets a space for each of them, so that rotations about two axes add up; any
    other joint gets one, and so does one that translates.
    """
    skeleton, translations = rig.skeleton, np.asarray(translation_axes(rig, motion).any(axis=1))
    candidates = []
    for joint, name in enumerate(skeleton.names):
        if translations[joint]:
            candidates.append(space_of(rig, frozenset([joint]), motion))
        elif skeleton.axes is None:
            candidates.append(PoseSpace("joint", (name,)))
        else:
            rows = np.flatnonzero(np.abs(skeleton.axes[joint]).max(axis=1) > 0)
            candidates += [PoseSpace("freedoms", (f"{name}.{AXES[row]}",)) for row in rows]
    candidates += [PoseSpace("controls", (name,)) for name in motion.control_names]
    spaces = [space for space in candidates if active_in_space(rig, motion, space).any()]
    if not spaces:
        raise InputError("examples: no pose differs from rest, so there is nothing to learn")
    return spaces


def active_in_space(rig: Rig, motion: Motion, space: PoseSpace) -> NDArray[np.bool_]:
    """Return (P,) which poses differ from rest in a pose space; with controls in it the threshold is smaller."""
    coordinates = space.coordinates(motion, rig.skeleton)
    rest = space.coordinates(rig.rest, rig.skeleton)[None]
    if space.kind in ("joint", "quaternions"):
        return np.asarray(distances(coordinates, rest, space.metric)[:, 0] > LEAST_ANGLE)
    degrees = [space.degree_of(name, rig.skeleton) for name in space.names]
    mixed = bool(space.controls(rig.skeleton))
    least = [LEAST_CONTROL if mixed else LEAST_ANGLE if degree is None or degree[1] < 3 else 0.0 for degree in degrees]
    is_translation = [degree is not None and degree[1] >= 3 for degree in degrees]
    limits = np.where(is_translation, _LEAST_TRANSLATION * rig.mesh.diagonal, least)
    return np.asarray((np.abs(coordinates - rest) > limits).any(axis=1))


def _parts(rig: Rig, pose: Pose | Motion) -> tuple[Floats, Floats]:
    return parts_of(rig.skeleton).of(pose)


def _split(active: Active) -> tuple[list[int], tuple[str, ...]]:
    """The joints and the controls, each sorted."""
    joints = sorted(entry for entry in active if isinstance(entry, int))
    return joints, tuple(sorted(entry for entry in active if isinstance(entry, str)))
