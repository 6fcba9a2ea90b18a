"""Motions of files for a skin to play: of its own joints or control points, or of a rig that drives the points."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from posespace.errors import FileError, InputError
from posespace.examples import Examples
from posespace.formats import registry
from posespace.formats.contents import unique
from posespace.formats.files import naming
from posespace.formats.load import load_rig
from posespace.formats.pose_choice import PoseChoice
from posespace.motion import Motion, rotated_joints
from posespace.poses.control_points import motion_from_rig
from posespace.poses.retarget_motion import NoCommonJointError
from posespace.skeleton import Skeleton
from posespace.skin.edit import with_beta
from posespace.skin.skin import Skin

MARKERS_BETA = 0.3
"""How strongly markers pull the surface: they are noisy, and not exactly at the control points."""

_NAMED = 4
"""Control points that a warning names."""

Note = Callable[[str], None]


def load_skin_motions(
    skin: Skin, files: Sequence[Path], choice: PoseChoice, clips: Sequence[str] = (), note: Note | None = None
) -> dict[str, Motion]:
    """Return motions of a skin's own joints or control points by the names of their clips; with no `clips`, the first.

    Parameters
    ----------
    skin : the skin that plays them
    files : motions, poses, example stores or markers
    choice : which poses of them
    clips : which clips of the one file; none: the first of each
    note : called with a line about what was chosen
    """
    try:
        motions = _load(skin.rig.skeleton, files, choice, clips, note)
    except FileError as error:
        if len(skin.bones.points) and isinstance(error.__cause__, NoCommonJointError):
            remedy = "to play a skeleton's motion give its rig by `rig`"
            raise FileError(error.path, f"{error.problem}; {remedy}") from error
        raise
    for name, motion in motions.items():
        warn_of_rotations(name, skin, motion)
    return motions


def warn_of_rotations(motion_name: str | Path, skin: Skin, motion: Motion) -> None:
    """Warn where a motion rotates joints of a skin that only translate."""
    still = set(skin.bones.joints_without_rotation(skin.rig))
    rotated = np.flatnonzero(rotated_joints(motion, skin.rig.skeleton.rest_rotations).any(axis=0))
    names = [name for name in (skin.rig.skeleton.names[joint] for joint in rotated) if name in still]
    if names:
        listed = ", ".join(names[:_NAMED]) + f" and {len(names) - _NAMED} more" * (len(names) > _NAMED)
        problem = f"control points only translate; rotations of {listed} are ignored"
        warnings.warn(f"{motion_name}: {problem}", stacklevel=3)


def load_driven_motions(
    skin: Skin,
    rig: Path,
    files: Sequence[Path],
    choice: PoseChoice,
    clips: Sequence[str] = (),
    note: Note | None = None,
) -> dict[str, Motion]:
    """Return motions of a skin's control points, which the skinned vertices of a rig, or of an example store's, drive.

    The other parameters are those of `load_skin_motions`.
    """
    if not files:
        raise InputError("rig: needs `motion`")
    if not len(skin.points):
        raise InputError("rig: the skin has no control points")
    driving = Examples.open(rig).rig if rig.is_dir() else load_rig(rig)
    motions = _load(driving.skeleton, files, choice, clips, note)
    with naming(rig):
        return {name: motion_from_rig(driving, motion, skin.rig, skin.points) for name, motion in motions.items()}


def with_beta_for(skin: Skin, files: Sequence[Path], beta: float | None = None) -> Skin:
    """Return a skin whose points pull its surface by `beta`; None: `MARKERS_BETA` where markers move them."""
    has_markers = len(skin.points) > 0 and any(registry.reads(file, registry.MARKERS) for file in files)
    if beta is None and not has_markers:
        return skin
    return with_beta(skin, MARKERS_BETA if beta is None else beta)


def _load(
    skeleton: Skeleton, files: Sequence[Path], choice: PoseChoice, clips: Sequence[str], note: Note | None
) -> dict[str, Motion]:
    if len(files) > 1 and clips:
        raise InputError(f"clips: expected one file of motions, whose clips they are, got {len(files)}")
    pairs = [pair for file in files for pair in choice.load_clips(file, skeleton, clips, note).items()]
    return dict(zip(unique((name for name, _ in pairs), "motion"), (motion for _, motion in pairs), strict=True))
