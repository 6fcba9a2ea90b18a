"""Requests that look: the project, its skin, shapes at a pose, errors at examples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.formats.checked_json import Fields
from posespace.studio.project import Project

Answer = tuple[dict[str, Any], dict[str, NDArray[Any]]]
Arrays = dict[str, NDArray[Any]]


def project(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001 - all requests take these
    """Answer with the project."""
    return opened.describe(), {}


def skin(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001
    """Answer with the current skin as a GLB."""
    return {"revision": opened.revision}, {"glb": np.frombuffer(opened.glb(), np.uint8)}


def surface(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001
    """Answer with the coarse surface at a pose, ready to sculpt on."""
    current, space = opened.skin, opened.space
    pose, mesh = space.pose(fields.part("pose")), current.rig.mesh
    posed = {"points": current.pose(pose)[0][: len(mesh.points)], "plain": current.rig.skin(pose)}
    shapes = {name: space.of_points(points) for name, points in posed.items()}
    return {"revision": opened.revision, "sculpt": opened.sculpt_at(pose)}, {
        **shapes,
        "rest": space.of_points(mesh.points),
        "triangles": mesh.triangles,
        "weld": mesh.weld.first[mesh.weld.groups],
    }


def pose_of(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001
    """Answer with the pose of a sculpt."""
    name = fields.text("name")
    return {"name": name, "pose": opened.space.of_pose(opened.pose_of(name))}, {}


def truth(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001
    """Answer with an example's shape, and how far the skin and plain skinning are from it, in metres."""
    name = fields.text("name")
    shape, of_skin, of_plain = map(opened.space.of_points, opened.errors_at(name))
    return {"name": name}, {"points": shape, "skin": of_skin, "plain": of_plain}


def scores(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001
    """Answer with the skin's error at each example, the worst first."""
    return {"unit": "mm", "scores": opened.scores()}, {}
