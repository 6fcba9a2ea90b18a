"""One shape file read as a sculpt: its pose, and its vertices in the rig's order."""

from __future__ import annotations

import glob
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from posespace.check import Floats
from posespace.errors import FileError, closest_name, quoted
from posespace.examples import Examples
from posespace.formats import files
from posespace.formats.pose_choice import PoseChoice
from posespace.gathering import posed_meshes
from posespace.gathering.conformed_shapes import ConformedShapes
from posespace.gathering.conventions import Conventions
from posespace.gathering.outliers import Finding, check_examples, outlier_notes
from posespace.gathering.shape_files import Shape, find_shapes
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.rig import Rig


@dataclass(frozen=True, eq=False)
class SculptFile:
    """A sculpt that was read.

    Parameters
    ----------
    pose : the pose at which it was sculpted
    shape : (N, 3) in posed space, in the rig's order
    finding : its distance from plain skinning, and what is suspicious
    notes : what a user should check again, one line each
    """

    pose: Pose
    shape: Floats
    finding: Finding
    notes: list[str]


def sculpt_shape(path: Path) -> Shape:
    """Return the one shape of a file, still to be read; its name is that of its pose, if it is a posed mesh."""
    if not path.is_file():
        raise FileError(path, "expected a file, got a folder" if path.exists() else "does not exist")
    shapes = find_shapes(glob.escape(str(path)))
    if len(shapes) != 1:
        raise FileError(path, f"holds {len(shapes)} shapes; a sculpt is one")
    return shapes[0]


def pose_of(
    rig: Rig, shape: Shape, poses: Path | None, name: str | None, note: Callable[[str], None] | None = None
) -> tuple[str, Pose]:
    """Return the name and the pose of a sculpt.

    Parameters
    ----------
    poses : poses (JSON) or a motion; None: those that `posespace pose` wrote beside the shape
    name : which of them; None: the one with the shape's name, or the only one
    note : called with one line about how poses were read
    """
    file = poses or posed_meshes.pose_file_of(str(shape.source), [shape.source])
    motion = PoseChoice().load(file, rig.skeleton, note=note)
    wanted = name or (motion.names[0] if len(motion) == 1 and shape.name not in motion.names else shape.name)
    if wanted not in motion.names:
        close = closest_name(wanted, motion.names)
        remedy = "" if name else "; name the pose with `pose`"
        raise FileError(file, f"no pose is called {quoted(wanted)}; the closest is {close}{remedy}")
    return wanted, motion[wanted]


def read_sculpt(rig: Rig, shape: Shape, name: str, pose: Pose, conventions: Conventions) -> SculptFile:
    """Return the sculpt of a file at a pose; raise where it is a shape of another mesh."""
    motion = Motion.from_poses([pose], [name])
    conformed = ConformedShapes(rig, motion, conventions)
    points = conformed.points(0, shape)
    with files.naming(shape.source):
        findings = check_examples(Examples.from_shapes(rig, motion, [points]), conformed.reordered)
    return SculptFile(pose, points, findings[0], outlier_notes(findings, rig.mesh.diagonal * rig.mesh.unit))
