"""What a page may ask of the studio, one file per kind of work; each request is a line in `REQUESTS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from numpy.typing import NDArray

from posespace.formats.checked_json import Fields
from posespace.studio.project import Project
from posespace.studio.requests import fits, looking, playing, poses, sculpting


class Request(NamedTuple):
    """One request.

    Parameters
    ----------
    answer : from the project, the message's fields and its arrays to the answer's, JSON and arrays
    changes : whether it changes the project, which only the editor may do
    """

    answer: Callable[[Project, Fields, dict[str, NDArray[Any]]], tuple[dict[str, Any], dict[str, NDArray[Any]]]]
    changes: bool = False


REQUESTS: dict[str, Request] = {
    "project": Request(looking.project),
    "skin": Request(looking.skin),
    "surface": Request(looking.surface),
    "pose_of": Request(looking.pose_of),
    "truth": Request(looking.truth),
    "scores": Request(looking.scores),
    "influence": Request(poses.influence),
    "map": Request(poses.pose_map),
    "map_pose": Request(poses.map_pose),
    "define": Request(sculpting.define, changes=True),
    "rename": Request(sculpting.rename, changes=True),
    "remove": Request(sculpting.remove, changes=True),
    "mute": Request(sculpting.mute, changes=True),
    "mirror": Request(sculpting.mirror, changes=True),
    "radius": Request(sculpting.radius, changes=True),
    "control_radius": Request(sculpting.control_radius, changes=True),
    "undo": Request(sculpting.undo, changes=True),
    "redo": Request(sculpting.redo, changes=True),
    "draft": Request(sculpting.draft, changes=True),
    "take_draft": Request(sculpting.take_draft),
    "export": Request(sculpting.export),
    "markers": Request(playing.markers),
    "export_skin": Request(playing.export_skin),
    "import": Request(sculpting.import_shape),
    "fit": Request(fits.fit, changes=True),
    "cancel": Request(fits.cancel, changes=True),
    "take_fit": Request(fits.take_fit, changes=True),
    "figures": Request(fits.figures),
    "edit_skin": Request(fits.edit_skin, changes=True),
}
