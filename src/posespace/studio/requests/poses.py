"""Requests on the pose space: how strongly a sculpt acts along its axis, and the map of the sculpts' poses."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from posespace.formats.checked_json import Fields
from posespace.studio.project import Project

Answer = tuple[dict[str, Any], dict[str, NDArray[Any]]]
Arrays = dict[str, NDArray[Any]]


def influence(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001 - all requests take these
    """Answer with a sculpt's weight along the way from rest through its pose; with a pose, where that stands too."""
    curve = opened.sculpts.influence(fields.text("name"))
    now = None
    if "pose" in fields:
        now = list(curve.at(opened.space.pose(fields.part("pose"))))
    words = {
        "layer": curve.layer,
        "unit": curve.unit,
        "own": curve.own,
        "radius": curve.radius,
        "others": dict(curve.others),
        "now": now,
    }
    return words, {"distance": curve.distance, "weight": curve.weight}


def pose_map(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001
    """Answer with the poses of the sculpts on a plane, and where a pose is."""
    sculpts = opened.sculpts
    layer = fields.texts("layer") if "layer" in fields else None
    shown = sculpts.pose_map(layer)
    now = shown.point(opened.space.pose(fields.part("pose"))).tolist() if "pose" in fields else None
    muted = [sculpts[name].muted for name in shown.names]
    words = {
        "names": list(shown.names),
        "muted": muted,
        "axes": [{"words": axis.words, "share": axis.share} for axis in shown.axes],
        "now": now,
    }
    return words, {"dots": shown.dots}


def map_pose(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001
    """Answer with the pose at a point of the map; what is not of the map stays as in the pose that is sent."""
    layer = fields.texts("layer") if "layer" in fields else None
    pose = opened.sculpts.pose_map(layer).pose(fields.numbers("point", 2), opened.space.pose(fields.part("pose")))
    return {"pose": opened.space.of_pose(pose)}, {}
