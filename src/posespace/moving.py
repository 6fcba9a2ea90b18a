"""What moves: the joints and controls that poses take away from rest, and the pose spaces they span.

Every fit, rival and report asks here, so that what counts as moving is decided in one place.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.errors import InputError
from posespace.interpolate.distances import distances
from posespace.motion import DIALLED, TURNED, Motion, dialled, turned, turning
from posespace.pose import Pose
from posespace.rig import Rig
from posespace.skeleton import Skeleton
from posespace.spaces import AXES, PoseSpace

Movers = frozenset[int | str]
"""Joints by number and controls by name."""

_SHIFTED = 1e-4  # of the mesh's diagonal: a joint shifted by less is where it was


def turned_joints(rig: Rig, motion: Motion) -> NDArray[np.bool_]:
    """Return (P, J) which joints each pose turns from the rest shape."""
    return turned(motion, rig.rest.rotations)


def at_rest(rig: Rig, motion: Motion) -> NDArray[np.bool_]:
    """Return (P,) which poses are the rest pose, all controls at zero."""
    return np.asarray(~(turned_joints(rig, motion).any(axis=1) | dialled(motion).any(axis=1)))


def moved(rig: Rig, motion: Motion, shown: bool = False) -> list[Movers]:
    """Return for each pose the joints and controls that it moves from rest.

    Parameters
    ----------
    shown : a joint also rests where the skeleton's own rest pose has it: exporters often turn the root between the
        pose that the mesh was bound in and the pose that the file shows
    """
    joints = turned_joints(rig, motion)
    if shown:
        joints &= turned(motion, Pose.rest(rig.skeleton).rotations)
    controls = [[motion.control_names[k] for k in np.flatnonzero(row)] for row in dialled(motion)]
    return [frozenset((*np.flatnonzero(row).tolist(), *names)) for row, names in zip(joints, controls, strict=True)]


def check_not_only_shifted(rig: Rig, motion: Motion) -> None:
    """Raise where a pose shifts joints and moves nothing else: no pose space knows shifts."""
    limit = _SHIFTED * rig.mesh.diagonal
    rests = (rig.rest, Pose.rest(rig.skeleton))
    shifted = np.minimum(*(np.abs(motion.translations - rest.translations) for rest in rests)) > limit
    for index, movers in enumerate(moved(rig, motion, shown=True)):
        if not movers and shifted[index].any():
            joint = rig.skeleton.names[int(shifted[index].any(axis=1).argmax())]
            raise InputError(
                f"pose {motion.names[index]!r}: it only shifts joints ({joint!r}), and a pose space knows rotations "
                "and controls; give the shift as a control too, or leave the pose out"
            )


def names_of(movers: Movers, skeleton: Skeleton) -> tuple[str, ...]:
    """Return the names of joints and controls: joints in the skeleton's order, then controls by name."""
    joints, controls = _apart(movers)
    return (*(skeleton.names[joint] for joint in joints), *controls)


def changing(motion: Motion, skeleton: Skeleton) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the joints and of the controls that change during a clip, from its first pose."""
    joints = tuple(skeleton.names[joint] for joint in np.flatnonzero(turning(motion)))
    off = np.abs(motion.controls - motion.controls[:1]).max(axis=0, initial=0.0) > DIALLED
    return joints, tuple(motion.control_names[k] for k in np.flatnonzero(off))


def space_of(rig: Rig, movers: Movers, rotations: Floats, kind: str = "joint") -> PoseSpace:
    """Return the pose space that some joints and controls span.

    Joints alone span a space of rotations, or with kind "angles" of their degrees of freedom; with controls among them
    it is always the latter.

    Parameters
    ----------
    rotations : (P, J, 4) of the poses it is for: where the skeleton does not know its axes, those they turn about count
    """
    joints, controls = _apart(movers)
    if not joints:
        return PoseSpace("controls", controls)
    names = [rig.skeleton.names[joint] for joint in joints]
    if not controls and kind == "joint":
        return PoseSpace("joint", tuple(names))
    for name in controls:
        if name.rpartition(".")[0] and name.rpartition(".")[2] in AXES:
            raise InputError(f"control {name!r}: next to joints its ending reads as an axis; give it another name")
    if rig.skeleton.axes is not None:
        turns = np.abs(rig.skeleton.axes[joints]).max(axis=2) > 0
    else:
        angles = rig.skeleton.angles(rotations)[:, joints]
        turns = np.abs(angles - rig.skeleton.angles(rig.rest.rotations)[joints]).max(axis=0) > DIALLED
    degrees = [f"{name}.{AXES[axis]}" for name, row in zip(names, turns, strict=True) for axis in np.flatnonzero(row)]
    return PoseSpace("angles", (*degrees, *controls))


def whole_space(rig: Rig, motion: Motion, kind: str = "joint") -> PoseSpace:
    """Return the space of all joints and controls that some pose moves; `kind` as in `space_of`."""
    if not len(motion):
        raise InputError("examples: expected at least one, got none")
    movers: Movers = frozenset().union(*moved(rig, motion))
    if not movers:
        raise InputError("examples: no pose differs from rest, so there is nothing to interpolate over")
    return space_of(rig, movers, motion.rotations, kind)


def single_spaces(rig: Rig, motion: Motion) -> list[PoseSpace]:
    """Return a pose space for each joint, degree of freedom or control that some pose moves.

    A joint whose axes the skeleton knows has a space for each of them, so that turning about one axis and about
    another add up; any other joint has one.
    """
    skeleton = rig.skeleton
    found = []
    for joint, name in enumerate(skeleton.names):
        if skeleton.axes is None:
            found.append(PoseSpace("joint", (name,)))
        else:
            rows = np.flatnonzero(np.abs(skeleton.axes[joint]).max(axis=1) > 0)
            found += [PoseSpace("angles", (f"{name}.{AXES[row]}",)) for row in rows]
    found += [PoseSpace("controls", (name,)) for name in motion.control_names]
    spaces = [space for space in found if moved_in(rig, motion, space).any()]
    if not spaces:
        raise InputError("examples: no pose differs from rest, so there is nothing to learn")
    return spaces


def moved_in(rig: Rig, motion: Motion, space: PoseSpace) -> NDArray[np.bool_]:
    """Return (P,) which poses differ from rest in a pose space; controls in it make the measure finer."""
    where = space.coordinates(motion, rig.skeleton)
    rest = space.coordinates(rig.rest, rig.skeleton)[None]
    still = DIALLED if space.controls(rig.skeleton) else TURNED
    return np.asarray(distances(where, rest, space.metric)[:, 0] > still)


def _apart(movers: Movers) -> tuple[list[int], tuple[str, ...]]:
    """The joints and the controls, each in order."""
    joints = sorted(mover for mover in movers if isinstance(mover, int))
    return joints, tuple(sorted(mover for mover in movers if isinstance(mover, str)))
