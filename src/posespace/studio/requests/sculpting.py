"""Requests that change the sculpts: each is atomic on disk, can be undone, and is followed by a solve."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.errors import FileError, InputError, quoted
from posespace.formats.checked_json import Fields
from posespace.gathering.conventions import Conventions
from posespace.gathering.posed_meshes import merged_writer
from posespace.gathering.sculpt_file import read_sculpt, sculpt_shape
from posespace.studio.project import Project

Answer = tuple[dict[str, Any], dict[str, NDArray[Any]]]
Arrays = dict[str, NDArray[Any]]

_MIRROR_TOLERANCE = 0.01
_MOST_LETTERS = 200


def define(opened: Project, fields: Fields, arrays: Arrays) -> Answer:
    """Add the sculpted shape at its pose; with `replace`, give the sculpt of that name another shape."""
    opened.require_sculptable()
    name, pose = _named(fields, "name"), opened.space.pose(fields.part("pose"))
    shape = opened.space.points(_sent(arrays, "points"))
    if fields.flag("replace", False):
        opened.change(lambda sculpts: sculpts.replace(name, shape))
    else:
        opened.change(lambda sculpts: sculpts.add(name, pose, shape))
    opened.drafts.drop()
    return _did(opened)


def rename(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001 - all requests take these
    """Give a sculpt another name."""
    name, to = fields.text("name"), _named(fields, "to")
    opened.change(lambda sculpts: sculpts.rename(name, to))
    return _did(opened)


def remove(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001
    """Remove a sculpt."""
    name = fields.text("name")
    opened.change(lambda sculpts: sculpts.remove(name))
    return _did(opened)


def mute(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001
    """Keep a sculpt, but leave it out of the solve; or take it in again."""
    name, muted = fields.text("name"), fields.flag("muted")
    opened.change(lambda sculpts: sculpts.mute(name, muted=muted))
    return _did(opened)


def mirror(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001
    """Mirror a sculpt to the other side of the rig."""
    name, replaces = fields.text("name"), fields.flag("replace", False)
    done = opened.change(lambda sculpts: sculpts.mirror(name, tolerance=_MIRROR_TOLERANCE, replace_known=replaces))
    made = [
        {"name": image.name, "match": str(image.match), "good": image.match.is_good} for image in done.made.values()
    ]
    answer = {"did": opened.sculpts.steps[-1] if made else "nothing to mirror", "made": made, "kept": done.kept}
    return answer, {}


def radius(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001
    """Set the radius of a sculpt; null: that of its layer."""
    name = fields.text("name")
    value = None if fields.values.get("radius") is None else fields.number("radius")
    opened.change(lambda sculpts: sculpts.set_sculpt_radius(name, value))
    return _did(opened)


def control_radius(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001
    """Set the radius along the axis of a joint or control in every layer; null: chosen by cross-validation."""
    name = fields.text("name")
    value = None if fields.values.get("radius") is None else fields.number("radius")
    opened.change(lambda sculpts: sculpts.set_radius(name, value))
    return _did(opened)


def undo(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001
    """Undo the last change."""
    return {"did": f"undone: {opened.change(lambda sculpts: sculpts.undo())}"}, {}


def redo(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001
    """Redo the change that was undone last."""
    return {"did": f"redone: {opened.change(lambda sculpts: sculpts.redo())}"}, {}


def draft(opened: Project, fields: Fields, arrays: Arrays) -> Answer:
    """Keep strokes that are not defined yet; without points, forget them."""
    if not arrays:
        opened.drafts.drop()
        return {"did": "dropped the draft"}, {}
    pose, name = fields.part("pose"), fields.text("name")
    opened.space.pose(pose)
    points = opened.space.points(_sent(arrays, "points"))
    opened.drafts.keep(name, pose.values, opened.space.of_points(points))
    return {"did": "kept the draft"}, {}


def take_draft(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001
    """Answer with the strokes that were not defined."""
    name, pose, points = opened.drafts.take(len(opened.skin.rig.mesh.points))
    opened.space.pose(Fields(pose, "pose"))
    return {"name": name, "pose": pose}, {"points": points}


def export(opened: Project, fields: Fields, arrays: Arrays) -> Answer:
    """Answer with an OBJ of points, or else of the skin at a pose: seams merged, in the rig's unit."""
    rig = opened.skin.rig
    if arrays:
        points = opened.space.points(_sent(arrays, "points"))
    else:
        points = opened.skin.pose(opened.space.pose(fields.part("pose")))[0][: len(rig.mesh.points)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sculpt.obj"
        merged_writer(rig, None)(rig.mesh, file, points)
        return {}, {"file": np.frombuffer(file.read_bytes(), np.uint8)}


def import_shape(opened: Project, fields: Fields, arrays: Arrays) -> Answer:
    """Answer with the points of a shape sculpted elsewhere at a pose, in the rig's order of vertices."""
    pose, rig = opened.space.pose(fields.part("pose")), opened.skin.rig
    ending = Path(fields.text("filename")).suffix.lower()
    if ending not in (".obj", ".ply"):
        raise InputError(f"import: expected a shape as .obj or .ply, got {ending[:12]!r}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"shape{ending}"
        file.write_bytes(_sent(arrays, "file").tobytes())
        try:
            read = read_sculpt(rig, sculpt_shape(file), "shape", pose, Conventions())
        except FileError as error:
            raise FileError(Path(fields.text("filename")).name, error.problem) from error
    return {"notes": read.notes}, {"points": opened.space.of_points(read.shape)}


def _sent(arrays: Arrays, name: str) -> NDArray[Any]:
    if name not in arrays:
        raise InputError(f"message: expected the array {name!r}")
    return arrays[name]


def _named(fields: Fields, key: str) -> str:
    """The name that a sculpt is to have."""
    name = fields.text(key).strip()
    if len(name) > _MOST_LETTERS:
        raise InputError(f"sculpt {quoted(name)}: expected at most {_MOST_LETTERS} letters")
    return name


def _did(opened: Project) -> Answer:
    return {"did": opened.sculpts.steps[-1]}, {}
