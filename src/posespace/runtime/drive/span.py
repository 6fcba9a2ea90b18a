"""Drive, compiled: a place moved to the nearest one in the span of an interpolant's samples."""

from __future__ import annotations

import math

from posespace.interpolate.span import LONGEST
from posespace.runtime.compiled import relaxed
from posespace.runtime.drive.tables import CENTRES, DIMENSIONS, DIRECTIONS, RADII, ROTATIONS, SAMPLES, SPAN, TURN
from posespace.runtime.pointers import Pointer, after


@relaxed
def onto_span(head: Pointer, numbers: Pointer, place: Pointer, along: Pointer) -> None:  # pragma: no cover - compiled
    """Move a place to the nearest one in the span of an interpolant's samples; `along` is overwritten."""
    if head[ROTATIONS]:
        _onto_axes(head, numbers, place, along)
    else:
        _onto_directions(head, numbers, place, along)


@relaxed
def _onto_directions(
    head: Pointer, numbers: Pointer, place: Pointer, along: Pointer
) -> None:  # pragma: no cover - compiled
    """Move a place of straight distances."""
    count, dimensions, directions = head[SAMPLES], head[DIMENSIONS], head[DIRECTIONS]
    radii, centres, span = after(numbers, head[RADII]), after(numbers, head[CENTRES]), after(numbers, head[SPAN])
    for row in range(directions):
        along[row] = 0.0
        for k in range(dimensions):
            along[row] += span[row * dimensions + k] * radii[k] * (place[k] - centres[k * count])
    for k in range(dimensions):
        total = 0.0
        for row in range(directions):
            total += along[row] * span[row * dimensions + k]
        place[k] = centres[k * count] + total / radii[k]


@relaxed
def _onto_axes(head: Pointer, numbers: Pointer, place: Pointer, along: Pointer) -> None:  # pragma: no cover - compiled
    """Move rotations to the nearest ones whose axes, as seen from the first sample, are in the span of the samples'."""
    count, joints, directions = head[SAMPLES], head[DIMENSIONS] // TURN, head[DIRECTIONS]
    centres, span = after(numbers, head[CENTRES]), after(numbers, head[SPAN])
    for row in range(directions):
        along[row] = 0.0
    for joint in range(joints):
        own, turn = after(centres, TURN * joint * count), after(place, TURN * joint)
        p, q, r, s = own[0], own[count], own[2 * count], own[3 * count]
        x, y, z, w = turn[0], turn[1], turn[2], turn[3]
        side = -1.0 if s * w + p * x + q * y + r * z < 0.0 else 1.0
        i = side * (s * x - p * w - q * z + r * y)
        j = side * (s * y + p * z - q * w - r * x)
        k = side * (s * z - p * y + q * x - r * w)
        for row in range(directions):
            axis = after(span, 3 * (row * joints + joint))
            along[row] += axis[0] * i + axis[1] * j + axis[2] * k
    for joint in range(joints):
        own, turn = after(centres, TURN * joint * count), after(place, TURN * joint)
        p, q, r, s = own[0], own[count], own[2 * count], own[3 * count]
        x, y, z = 0.0, 0.0, 0.0
        for row in range(directions):
            axis = after(span, 3 * (row * joints + joint))
            x, y, z = x + along[row] * axis[0], y + along[row] * axis[1], z + along[row] * axis[2]
        # What several joints share may come out as more than a half turn of one of them.
        size = max(math.sqrt(x * x + y * y + z * z) / LONGEST, 1.0)
        x, y, z = x / size, y / size, z / size
        w = math.sqrt(max(1.0 - x * x - y * y - z * z, 0.0))
        turn[0] = s * x + p * w + q * z - r * y
        turn[1] = s * y - p * z + q * w + r * x
        turn[2] = s * z + p * y - q * x + r * w
        turn[3] = s * w - p * x - q * y - r * z
