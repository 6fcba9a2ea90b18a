"""Requests on the pose space: how strongly a sculpt acts along its axis, and the map of the sculpts' poses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numpy.typing import NDArray

from posespace.fit.psd.influence import Influence
from posespace.formats.checked_json import Fields
from posespace.poses.pose_axis import LENGTH, PoseAxis
from posespace.studio.project import Project

Answer = tuple[dict[str, Any], dict[str, NDArray[Any]]]
Arrays = dict[str, NDArray[Any]]


def influence(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001 - all requests take these
    """Answer with a sculpt's weight along the way from rest through its pose; with a pose, where that stands too."""
    curve = opened.sculpts.influence(fields.text("name"))
    metres = opened.space.metres if curve.unit == LENGTH else 1.0
    now = None
    if "pose" in fields:
        along, weight = curve.at(opened.space.pose(fields.part("pose")))
        now = [metres * along, weight]
    words = {
        "layer": curve.layer,
        "column": curve.column,
        "unit": _unit(curve.unit),
        "own": metres * curve.own,
        "radius": metres * curve.radius,
        "scale": metres * curve.axis.scale,
        "others": {name: metres * distance for name, distance in curve.others.items()},
        "axis": _axis(curve.axis),
        "controls": _controls(curve, opened.space.metres),
        "now": now,
    }
    return words, {"distance": metres * curve.distance, "weight": curve.weight}


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
        "inputs": _inputs(shown.freedoms),
        "now": now,
    }
    plane = {"rest": shown.rest, "extents": shown.extents, "basis": shown.basis}
    return words, {"dots": shown.dots, "residuals": shown.residuals, **plane}


def map_pose(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001
    """Answer with the pose at a point of the map; what is not of the map stays as in the pose that is sent."""
    layer = fields.texts("layer") if "layer" in fields else None
    pose = opened.sculpts.pose_map(layer).pose(fields.numbers("point", 2), opened.space.pose(fields.part("pose")))
    return {"pose": opened.space.of_pose(pose)}, {}


def _axis(axis: PoseAxis) -> dict[str, Any]:
    """The axis, so that a page can tell where a pose stands on it: see `PoseAxis.fractions`."""
    space, skeleton = axis.space, axis.skeleton
    if axis.is_quaternions:
        inputs: list[Any] = list(space.joints(skeleton))
    else:
        degrees = [(space.degree_of(name, skeleton), name) for name in space.names]
        inputs = _inputs((name, 0) if degree is None else degree for degree, name in degrees)
    joint_axes = axis.joint_axes.tolist() if axis.is_quaternions else []
    return {"inputs": inputs, "start": axis.start.tolist(), "gains": axis.gains.tolist(), "axes": joint_axes}


def _inputs(freedoms: Iterable[tuple[int | str, int]]) -> list[Any]:
    """What the numbers of a pose space are: a control by its name, else a joint and its axis."""
    return [owner if isinstance(owner, str) else [owner, axis] for owner, axis in freedoms]


def _controls(curve: Influence, metres: float) -> list[dict[str, Any]]:
    """The joints and controls of the sculpt's layer: what a radius of each is measured in, and how much of it 1 is."""
    space, skeleton = curve.axis.space, curve.axis.skeleton
    rows: dict[str, dict[str, Any]] = {}
    for name, unit in zip(space.names, curve.axis.units, strict=True):
        degree = space.degree_of(name, skeleton)
        owner = name if degree is None else skeleton.names[degree[0]]
        scale = metres if unit == LENGTH else 1.0
        rows.setdefault(owner, {"name": owner, "unit": _unit(unit), "scale": scale})
    return list(rows.values())


def _unit(unit: str) -> str:
    """A unit as the page has it: lengths in metres."""
    return "metres" if unit == LENGTH else unit
