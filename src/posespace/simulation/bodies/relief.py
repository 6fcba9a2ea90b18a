"""Lines that raise or carve the surface of a distance field: creases, wrinkles, tendons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posespace.check import Floats, Ints
from posespace.geometry.vectors import dot, minus
from posespace.jit import njit


@dataclass(frozen=True, eq=False)
class Line:
    """A line of `points` (K, 3) near the surface that raises it by `heights` (K,); negative ones carve it.

    The height is reached on the line and falls smoothly to nothing at the distance `reach`. It is measured in space:
    a surface that moves away from the line gets a little less.
    """

    points: Floats
    heights: Floats
    reach: float


@dataclass(frozen=True, eq=False)
class Relief:
    """Lines, one after another in flat arrays.

    Parameters
    ----------
    points : (P, 3) of all lines
    heights : (P,) at these points
    starts : (L + 1,) int64, where each line's points start and the last one's end
    reaches : (L,) how far from each line the surface changes
    boxes : (L, 2, 3) lowest and highest corner of the space that each line changes
    """

    points: Floats
    heights: Floats
    starts: Ints
    reaches: Floats
    boxes: Floats

    @classmethod
    def of(cls, lines: Sequence[Line]) -> Relief:
        """Return the relief of all the lines, which add up where they meet."""
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
        """What `raise_by` takes."""
        return self.points, self.heights, self.starts, self.reaches, self.boxes


@njit()
def _outside(point: Floats, box: Floats) -> bool:
    return bool((point < box[0]).any() or (point > box[1]).any())


@njit()
def _nearest(point: Floats, points: Floats, first: int, end: int, limit: float) -> tuple[float, int, float]:
    """The square of the distance to a line, if less than `limit`; the piece, or -1, and the place in it from 0 to 1."""
    nearest, piece, place = limit, -1, 0.0
    for k in range(first, end - 1):
        edge, away = minus(points[k + 1], points[k]), minus(point, points[k])
        share = min(max(dot(away, edge) / dot(edge, edge), 0.0), 1.0)
        square = dot(away, away) - share * (2 * dot(away, edge) - share * dot(edge, edge))
        if square < nearest:
            nearest, piece, place = square, k, share
    return nearest, piece, place


@njit()
def raise_by(total, point, points, heights, starts, reaches, boxes):  # type: ignore[no-untyped-def]
    """Take the height of every line at `point` (3,) off `total` (4,), a value and its gradient, in place."""
    for line in range(len(reaches)):
        if _outside(point, boxes[line]):
            continue
        square = reaches[line] ** 2
        nearest, piece, place = _nearest(point, points, starts[line], starts[line + 1], square)
        if piece < 0:
            continue
        edge, climb = points[piece + 1] - points[piece], heights[piece + 1] - heights[piece]
        away = point - points[piece] - place * edge
        height, left = heights[piece] + place * climb, 1 - nearest / square
        total[0] -= height * left**3
        total[1:] += (6 * height * left**2 / square) * away
        if 0 < place < 1:
            total[1:] -= (climb * left**3 / np.dot(edge, edge)) * edge
