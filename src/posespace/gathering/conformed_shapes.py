"""Shapes read from their files in the rig's unit, axes and vertex order."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from posespace.check import Floats
from posespace.formats import files, load
from posespace.gathering.conventions import ORDER, Conventions
from posespace.gathering.shape_files import Shape
from posespace.gathering.vertex_matching import is_reordered
from posespace.gathering.vertex_order import IN_ORDER, VertexOrder
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.rig import Rig


class ConformedShapes:
    """Reads the shapes of a motion's poses as shapes of the rig, and counts how their vertices were matched.

    `reordered` are the poses whose file joins other vertices than the rig does, though they were taken in order.
    `match_counts` has the number of shapes by how their vertices were found.
    """

    def __init__(self, rig: Rig, motion: Motion, conventions: Conventions) -> None:
        self._rig, self._motion, self._conventions = rig, motion, conventions
        self._order = VertexOrder(rig, conventions.match)
        self.reordered: list[str] = []
        self.match_counts: Counter[str] = Counter()

    def points(self, index: int, shape: Shape) -> Floats:
        """Return the points (N, 3) of the shape of a pose."""
        mesh, name = shape.read(), self._motion.names[index]
        mesh = mesh.with_points(self._conventions.converted(name, mesh.points))
        with files.naming(shape.source):
            points, matched = self._order.points(shape.source, mesh, self._rig.skin(self._motion[index]))
        self.match_counts[matched] += 1
        if matched == IN_ORDER and is_reordered(mesh, self._rig.mesh):
            self.reordered.append(name)
        return points


def load_shape(path: str | Path, rig: Rig, pose: Pose | None = None, match: str = ORDER) -> Floats:
    """Return the points (N, 3) of a shape file, such as `posespace pose` writes, in the rig's vertex order.

    Parameters
    ----------
    path : a mesh file; where its seams are merged, the rig's split is recovered
    rig : the rig
    pose : about the pose of the shape, by which similar parts are told apart; None: the rest pose
    match : "order", or "positions" for a shape with as many vertices as the rig in another order
    """
    order = VertexOrder(rig, Conventions(match=match).match)
    file = Path(path)
    shape = load.load_mesh(file)
    with files.naming(file):
        return order.points(file, shape, rig.skin(rig.rest if pose is None else pose))[0]
