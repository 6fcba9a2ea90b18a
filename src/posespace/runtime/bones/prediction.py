"""Rotations and amounts of learned bones, predicted from their control points by compiled loops.

The loops read tables by pointers: counting references to slices takes longer than their work, and on several cores
each waits for the other's count.
"""

from __future__ import annotations

import math

import numpy as np
from numba import prange

from posespace.check import Floats, Floats32
from posespace.geometry.nearest_rotation import clear_rotation, nearest_rotation
from posespace.runtime.bones.tables import BoneTables
from posespace.runtime.compiled import inlined, on_all_cores, relaxed
from posespace.runtime.pointers import Pointer, after, pointer

Models = tuple[Pointer, Pointer, Pointer, int, int]
"""A bone's models: `fall`, `offsets`, `coefficients`, how many samples S there are, and how many numbers V."""


@relaxed
def predict_some(
    begin: int, end: int, tables: BoneTables, translations: Floats, rotations: Floats, amounts: Floats32
) -> None:  # pragma: no cover - compiled
    """Write the rotations (B, 9) of some bones and their amounts (B, K + D) from translations (M, 3) of the points."""
    count, size, models = len(tables.samples), tables.offsets.shape[2], tables.fall.shape[1]
    is_local, axes = len(tables.holds) > 0, np.eye(3)
    squares, values, room = np.empty(count), np.empty(size), np.empty(count + size)
    fall, offsets, coefficients = pointer(tables.fall), pointer(tables.offsets), pointer(tables.coefficients)
    controls, matrices, local = tables.near.shape[1], np.empty((3, 3)), np.empty(3 * tables.near.shape[1])
    points = pointer(tables.near), pointer(tables.rest), pointer(translations)
    frames = pointer(tables.holds), pointer(tables.local_rest), pointer(tables.spread)
    gaps = _point_squares(tables.samples, translations, is_local)
    for bone in range(begin, end):
        if is_local:
            _write_axes(bone, controls, points, frames, pointer(local), matrices, axes)
            _local_squares(bone, controls, pointer(tables.local_samples), pointer(local), squares)
        else:
            _sum_squares(bone, controls, points[0], gaps, squares)
        first = bone * models
        own = after(fall, first), after(offsets, first * size), after(coefficients, first * count * size), count, size
        if models == 1:
            _evaluate(own, 0, pointer(squares), pointer(values))
        else:
            _blend(own, tables.blended[0], tables.heat[bone], pointer(squares), pointer(values), pointer(room))
        for k in range(size - 4):
            amounts[bone, k] = values[4 + k]
        _write_rotation(bone, axes, pointer(values), rotations)


@on_all_cores
def predict(
    parts: int, tables: BoneTables, translations: Floats, rotations: Floats, amounts: Floats32
) -> None:  # pragma: no cover - compiled
    """Write the rotations and amounts of all bones."""
    count = len(tables.near)
    for part in prange(parts):
        predict_some(part * count // parts, (part + 1) * count // parts, tables, translations, rotations, amounts)


@relaxed
def _point_squares(samples: Floats, translations: Floats, is_local: bool) -> Floats:  # pragma: no cover - compiled
    """Squared distances (S, M) of the points from those of each sample; none for bones with local frames."""
    count = 0 if is_local else len(samples)
    squares = np.empty((count, len(translations)))
    for s in range(count):
        for m in range(len(translations)):
            x, y = translations[m, 0] - samples[s, m, 0], translations[m, 1] - samples[s, m, 1]
            z = translations[m, 2] - samples[s, m, 2]
            squares[s, m] = x * x + y * y + z * z
    return squares


@inlined
def _sum_squares(
    bone: int, controls: int, near: Pointer, gaps: Floats, squares: Floats
) -> None:  # pragma: no cover - compiled
    """Write the squared distances (S,) of a bone's points from those of each sample, from those of each point."""
    for s in range(len(squares)):
        total = 0.0
        for c in range(bone * controls, (bone + 1) * controls):
            total += gaps[s, near[c]]
        squares[s] = total


@inlined
def _write_axes(
    bone: int,
    controls: int,
    points: tuple[Pointer, Pointer, Pointer],
    frames: tuple[Pointer, Pointer, Pointer],
    local: Pointer,
    product: Floats,
    axes: Floats,
) -> None:  # pragma: no cover - compiled
    """Write the axes (3, 3) that move with a bone's points, and the points (C, 3) in them.

    Parameters
    ----------
    points : `near`, `rest` and the translations of the points
    frames : `holds`, `local_rest` and `spread`
    local, product : the points, and (3, 3) to work in
    """
    near, rest, translations = points
    holds, local_rest, spread = frames
    first = bone * controls
    x = y = z = 0.0
    for c in range(controls):
        at, hold = 3 * near[first + c], holds[first + c]
        for i in range(3):
            local[3 * c + i] = rest[at + i] + translations[at + i]
        x, y, z = x + hold * local[3 * c], y + hold * local[3 * c + 1], z + hold * local[3 * c + 2]
    for i in range(3):
        for j in range(3):
            product[i, j] = spread[bone] if i == j else 0.0
    for c in range(controls):
        at, hold = 3 * (first + c), holds[first + c]
        local[3 * c], local[3 * c + 1], local[3 * c + 2] = local[3 * c] - x, local[3 * c + 1] - y, local[3 * c + 2] - z
        for i in range(3):
            for j in range(3):
                product[i, j] += hold * local[3 * c + i] * local_rest[at + j]
    if not clear_rotation(product, axes):
        nearest_rotation(product, axes)
    for c in range(controls):
        x, y, z = local[3 * c], local[3 * c + 1], local[3 * c + 2]
        for j in range(3):
            local[3 * c + j] = x * axes[0, j] + y * axes[1, j] + z * axes[2, j]


@inlined
def _local_squares(
    bone: int, controls: int, samples: Pointer, local: Pointer, squares: Floats
) -> None:  # pragma: no cover - compiled
    """Write the squared distances (S,) of a bone's points (C, 3) from the samples, in its local frame."""
    size = 3 * controls
    for s in range(len(squares)):
        at, total = (bone * len(squares) + s) * size, 0.0
        for k in range(size):
            gap = local[k] - samples[at + k]
            total += gap * gap
        squares[s] = total


@inlined
def _evaluate(own: Models, model: int, squares: Pointer, out: Pointer) -> None:  # pragma: no cover - compiled
    """Write the unit quaternion and amounts (V,) that a model gives at squared distances (S,) from the samples."""
    fall, offsets, coefficients, count, size = own
    for k in range(size):
        out[k] = offsets[model * size + k]
    for s in range(count):
        at, kernel = (model * count + s) * size, math.exp(fall[model] * squares[s])
        for k in range(size):
            out[k] += kernel * coefficients[at + k]
    _unit(out)


@relaxed
def _blend(
    own: Models, blended: int, heat: float, squares: Pointer, out: Pointer, room: Pointer
) -> None:  # pragma: no cover - compiled
    """Write the unit quaternion and amounts (V,) that the models of the nearest samples give together.

    `room` (S + V,) is overwritten.
    """
    count, size = own[3], own[4]
    remaining, values = room, after(room, count)
    for s in range(count):
        remaining[s] = squares[s]
    for k in range(size):
        out[k] = 0.0
    x = y = z = w = least = total = 0.0
    for taken in range(blended):
        nearest = 0
        for s in range(1, count):
            if remaining[s] < remaining[nearest]:
                nearest = s
        _evaluate(own, nearest, squares, values)
        if taken == 0:
            x, y, z, w, least = values[0], values[1], values[2], values[3], squares[nearest]
        share = math.exp(heat * (squares[nearest] - least))
        total += share
        for k in range(4, size):
            out[k] += share * values[k]
        if x * values[0] + y * values[1] + z * values[2] + w * values[3] < 0.0:
            share = -share
        for k in range(4):
            out[k] += share * values[k]
        remaining[nearest] = 1e300
    for k in range(4, size):
        out[k] /= total
    _unit(out)


@inlined
def _unit(quaternion: Pointer) -> None:  # pragma: no cover - compiled
    """Bring the four numbers of a quaternion to unit length; one of no length stands for no rotation."""
    x, y, z, w = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    length = math.sqrt(x * x + y * y + z * z + w * w)
    if length < 1e-12:
        x, y, z, w, length = 0.0, 0.0, 0.0, 1.0, 1.0
    quaternion[0], quaternion[1], quaternion[2], quaternion[3] = x / length, y / length, z / length, w / length


@inlined
def _write_rotation(bone: int, axes: Floats, q: Pointer, rotations: Floats) -> None:  # pragma: no cover - compiled
    """Write the rotation of a bone: that of its axes (3, 3) times that of a unit quaternion."""
    x, y, z, w = q[0], q[1], q[2], q[3]
    columns = (
        (1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)),
        (2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)),
        (2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)),
    )
    for i in range(3):
        for j in range(3):
            a, b, c = columns[j]
            rotations[bone, 3 * i + j] = axes[i, 0] * a + axes[i, 1] * b + axes[i, 2] * c
