"""Shapes read from their files and brought to the rig: its unit, its axes, its vertex order."""

from __future__ import annotations

from collections import Counter

from posespace.check import Floats
from posespace.formats import files
from posespace.gathering.conform import IN_ORDER, Placing, VertexOrder
from posespace.gathering.shape_files import Shape
from posespace.gathering.vertex_matching import is_reordered
from posespace.motion import Motion
from posespace.rig import Rig


class PlacedShapes:
    """Reads shapes in the rig's unit, axes and vertex order, and keeps count of how.

    `reordered` are the poses whose file joins other vertices than the rig does, taken in its order.
    """

    def __init__(self, rig: Rig, motion: Motion, placing: Placing) -> None:
        self._rig, self._motion, self._placing = rig, motion, placing
        self._order = VertexOrder(rig, placing.match)
        self.reordered: list[str] = []
        self.used: Counter[str] = Counter()

    def points(self, index: int, shape: Shape) -> Floats:
        """Return the points (N, 3) of the shape of a pose."""
        mesh, name = shape.read(), self._motion.names[index]
        mesh = mesh.with_points(self._placing.placed(name, mesh.points))
        with files.naming(shape.source):
            points, way = self._order.points(shape.source, mesh, self._rig.skin(self._motion[index]))
        self.used[way] += 1
        if way == IN_ORDER and is_reordered(mesh, self._rig.mesh):
            self.reordered.append(name)
        return points
