"""Lines that add height to the surface of a distance field, or carve it: creases, wrinkles, tendons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posespace.check import Floats, Ints
from posespace.geometry.vectors import dot, minus
from posespace.jit import njit


@dataclass(frozen=True, eq=False)
class HeightLine:
    """A polyline near the surface that raises it, or carves it where the height is negative.

    The full height is reached on the line; it falls smoothly to zero at the distance `reach`. Distances are measured in
    space, so a surface that lies a little off the line gets a little less.

    Parameters
    ----------
    points : (K, 3)
    heights : (K,) at the points
    reach : distance at which the height is zero
    """

    points: Floats
    heights: Floats
    reach: float


@dataclass(frozen=True, eq=False)
class HeightLines:
    """All height lines of a surface, one after another in flat arrays.

    Parameters
    ----------
    points : (P, 3) of all lines
    heights : (P,) at these points
    starts : (L + 1,) int64, index of each line's first point, then the number of points
    reaches : (L,) distance from each line within which the surface changes
    boxes : (L, 2, 3) lowest and highest corner of the box that each line changes
    """

    points: Floats
    heights: Floats
    starts: Ints
    reaches: Floats
    boxes: Floats

    @classmethod
    def of(cls, lines: Sequence[HeightLine]) -> HeightLines:
        """Pack lines; where they meet, their heights add up."""
        boxes = [(line.points.min(axis=0) - line.reach, line.points.max(axis=0) + line.reach) for line in lines]
        return cls(
            np.concatenate([np.zeros((0, 3)), *(line.points for line in lines)]),
            np.concatenate([np.zeros(0), *(line.heights for line in lines)]),
            np.cumsum([0, *(len(line.points) for line in lines)], dtype=np.int64),
            np.array([line.reach for line in lines], dtype=np.float64),
            np.array(boxes, dtype=np.float64).reshape(-1, 2, 3),
        )

    @property
    def tables(self) -> tuple[Floats | Ints, ...]:
        """The arrays that `subtract_heights` takes."""
        return self.points, self.heights, self.starts, self.reaches, self.boxes


@njit()
def _outside(point: Floats, box: Floats) -> bool:
    return bool((point < box[0]).any() or (point > box[1]).any())


@njit()
def _nearest(point: Floats, points: Floats, first: int, end: int, limit: float) -> tuple[float, int, float]:
    """Squared distance to a line if below `limit`, the nearest piece or -1, and the fraction along that piece."""
    nearest, piece, fraction = limit, -1, 0.0
    for k in range(first, end - 1):
        edge, away = minus(points[k + 1], points[k]), minus(point, points[k])
        along = min(max(dot(away, edge) / dot(edge, edge), 0.0), 1.0)
        square = dot(away, away) - along * (2 * dot(away, edge) - along * dot(edge, edge))
        if square < nearest:
            nearest, piece, fraction = square, k, along
    return nearest, piece, fraction


@njit()
def subtract_heights(total, point, points, heights, starts, reaches, boxes):  # type: ignore[no-untyped-def]
    """Subtract every line's height at `point` (3,) from `total` (4,), the field's value and gradient, in place."""
    for line in range(len(reaches)):
        if _outside(point, boxes[line]):
            continue
        square = reaches[line] ** 2
        nearest, piece, fraction = _nearest(point, points, starts[line], starts[line + 1], square)
        if piece < 0:
            continue
        edge, climb = points[piece + 1] - points[piece], heights[piece + 1] - heights[piece]
        away = point - points[piece] - fraction * edge
        height, falloff = heights[piece] + fraction * climb, 1 - nearest / square
        total[0] -= height * falloff**3
        total[1:] += (6 * height * falloff**2 / square) * away
        if 0 < fraction < 1:
            total[1:] -= (climb * falloff**3 / np.dot(edge, edge)) * edge
