"""Drive, compiled: a position moved to the nearest one in the span of an interpolant's samples."""

from __future__ import annotations

import math

from posespace.interpolate.span import LONGEST
from posespace.runtime.compiled import relaxed
from posespace.runtime.drive.tables import CENTRES, DIMENSIONS, DIRECTIONS, IS_ROTATION, RADII, ROTATION, SAMPLES, SPAN
from posespace.runtime.pointers import Pointer, after


@relaxed
def onto_span(
    head: Pointer, numbers: Pointer, position: Pointer, along: Pointer
) -> None:  # pragma: no cover - compiled
    """Move a position to the nearest one in the span of an interpolant's samples; `along` is overwritten."""
    if head[IS_ROTATION]:
        _onto_axes(head, numbers, position, along)
    else:
        _onto_directions(head, numbers, position, along)


@relaxed
def _onto_directions(
    head: Pointer, numbers: Pointer, position: Pointer, along: Pointer
) -> None:  # pragma: no cover - compiled
    """Move a position whose metric is Euclidean."""
    count, dimensions, directions = head[SAMPLES], head[DIMENSIONS], head[DIRECTIONS]
    radii, centres, span = after(numbers, head[RADII]), after(numbers, head[CENTRES]), after(numbers, head[SPAN])
    for row in range(directions):
        along[row] = 0.0
        for k in range(dimensions):
            along[row] += span[row * dimensions + k] * radii[k] * (position[k] - centres[k * count])
    for k in range(dimensions):
        total = 0.0
        for row in range(directions):
            total += along[row] * span[row * dimensions + k]
        position[k] = centres[k * count] + total / radii[k]


@relaxed
def _onto_axes(
    head: Pointer, numbers: Pointer, position: Pointer, along: Pointer
) -> None:  # pragma: no cover - compiled
    """Move rotations to the nearest ones whose axes, as seen from the first sample, are in the span of the samples'."""
    count, joints, directions = head[SAMPLES], head[DIMENSIONS] // ROTATION, head[DIRECTIONS]
    centres, span = after(numbers, head[CENTRES]), after(numbers, head[SPAN])
    for row in range(directions):
        along[row] = 0.0
    for joint in range(joints):
        centre, rotation = after(centres, ROTATION * joint * count), after(position, ROTATION * joint)
        p, q, r, s = centre[0], centre[count], centre[2 * count], centre[3 * count]
        x, y, z, w = rotation[0], rotation[1], rotation[2], rotation[3]
        side = -1.0 if s * w + p * x + q * y + r * z < 0.0 else 1.0
        i = side * (s * x - p * w - q * z + r * y)
        j = side * (s * y + p * z - q * w - r * x)
        k = side * (s * z - p * y + q * x - r * w)
        for row in range(directions):
            axis = after(span, 3 * (row * joints + joint))
            along[row] += axis[0] * i + axis[1] * j + axis[2] * k
    for joint in range(joints):
        centre, rotation = after(centres, ROTATION * joint * count), after(position, ROTATION * joint)
        p, q, r, s = centre[0], centre[count], centre[2 * count], centre[3 * count]
        x, y, z = 0.0, 0.0, 0.0
        for row in range(directions):
            axis = after(span, 3 * (row * joints + joint))
            x, y, z = x + along[row] * axis[0], y + along[row] * axis[1], z + along[row] * axis[2]
        # What several joints share may come out as more than half a revolution of one of them.
        size = max(math.sqrt(x * x + y * y + z * z) / LONGEST, 1.0)
        x, y, z = x / size, y / size, z / size
        w = math.sqrt(max(1.0 - x * x - y * y - z * z, 0.0))
        rotation[0] = s * x + p * w + q * z - r * y
        rotation[1] = s * y - p * z + q * w + r * x
        rotation[2] = s * z + p * y - q * x + r * w
        rotation[3] = s * w - p * x - q * y - r * z
