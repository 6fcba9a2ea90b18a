"""What the other points say of one whose marker is not seen: they moved together while all were seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from posespace.budget import Budget
from posespace.check import Floats
from posespace.geometry.smoothstep import smoothstep
from posespace.markers.alignment import TakeAlignment, align_take
from posespace.markers.gaps import UNGAPPED, bridged
from posespace.markers.markers import Markers

_SWEEPS = 3
_ENOUGH = 10
"""Frames that show all points, per point, from which it is learned how they move together."""
_RAMP = 0.25
"""Seconds within which a marker counts fully in where its frame lies, once it is seen."""
_LOOSE = 0.03
"""How much a marker counts that does not keep its distances from others."""
_RIDGE = 1e-2
"""Of the mean square of the shifts: how strongly what is learned is held back."""
_PRODUCTS_A_STEP = 500_000
"""Products of matrices that are summed in a step of a budget."""


def complete(
    take: Markers, shape: Floats, firm: NDArray[np.bool_], hold: float, fade: float
) -> tuple[Markers, TakeAlignment]:
    """Return a take in which every marker is seen in every frame, and how its frames lie.

    What is missing is found where the frame lies nearest to one `shape` (M, 3) by the markers that are seen, those
    that keep their distances, `firm` (M,), first, so that the whole may move meanwhile. There `completed` says how
    far each is from that shape.
    """
    budget, width = Budget(take.positions.nbytes, "take"), 3 * len(take.names)
    budget.work(len(take.gaps), "gaps", UNGAPPED)
    hidden = int((~take.seen.all(axis=0)).sum())
    budget.hold(4 * width**2, "markers that others speak of")
    budget.work(hidden * (len(take) + width) * width**2 // _PRODUCTS_A_STEP, "markers with gaps", UNGAPPED)
    weights = np.where(firm, 1.0, _LOOSE) * _trust(take.seen, _RAMP * take.rate)
    lie = align_take(take, shape, weights=weights)
    shifts = completed(lie(take.positions) - shape, take.seen, take.rate, hold, fade)
    return replace(take, positions=lie.back(shape + shifts), seen=np.ones_like(take.seen)), lie


def completed(shifts: Floats, seen: NDArray[np.bool_], rate: float, hold: float, fade: float) -> Floats:
    """Return shifts (F, M, 3) from rest, known where `seen` (F, M), for every frame, without a jump.

    A point that is not seen does what the others say, linearly and without shift when all rest, as learned from the
    frames that show all; what they did not say of it before and after the gap passes over it as in `bridged`, which
    is all there is where none is seen, or too few frames show all.
    """
    found = bridged(shifts, seen, rate, hold, fade)
    whole = seen.all(axis=1)
    count = seen.shape[1]
    hidden = np.flatnonzero(~seen.all(axis=0))
    if not len(hidden) or count < 2 or whole.sum() < _ENOUGH * count:
        return found
    told = [_told(shifts[whole], int(point)) for point in hidden]
    for _ in range(_SWEEPS):
        for point, matrix in zip(hidden, told, strict=True):
            said = np.delete(found, point, axis=1).reshape(len(found), -1) @ matrix
            unsaid = bridged((found[:, point] - said)[:, None], seen[:, [point]], rate, hold, fade)[:, 0]
            found[:, point] = np.where(seen[:, [point]], shifts[:, point], said + unsaid)
    return found


def _trust(seen: NDArray[np.bool_], ramp: float) -> Floats:
    """Return (F, M) how much markers count: zero in their gaps, and more and more within so many frames beside them.

    So the place does not jump when a marker goes or comes.
    """
    frames = np.arange(len(seen), dtype=np.float64)[:, None]
    before = np.maximum.accumulate(np.where(seen, -np.inf, frames), axis=0)
    after = np.minimum.accumulate(np.where(seen, np.inf, frames)[::-1], axis=0)[::-1]
    return smoothstep(np.minimum(frames - before, after - frames) / max(ramp, 1.0))


def _told(shifts: Floats, point: int) -> Floats:
    """Return the matrix (3M - 3, 3) that gives the shifts of a point from those of the others, by frames (F, M, 3)."""
    others = np.delete(shifts, point, axis=1).reshape(len(shifts), -1)
    square = others.T @ others
    square[np.diag_indices(len(square))] += _RIDGE * np.trace(square) / len(square) + 1e-300
    return np.linalg.solve(square, others.T @ shifts[:, point])
