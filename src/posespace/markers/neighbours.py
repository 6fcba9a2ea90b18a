"""Hidden markers predicted from the others, by how they moved together while all were seen."""

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
"""Frames that show all points, per point, needed to learn how they move together."""
_RAMP = 0.25
"""Seconds within which the weight of a marker in the alignment rises to one, once it is seen."""
_LOOSE = 0.03
"""Weight in the alignment of a marker that does not keep its distances from others."""
_RIDGE = 1e-2
"""Ridge of the regression, of the mean square of the translations."""
_PRODUCTS_A_STEP = 500_000
"""Products of matrices that are summed in a step of a budget."""


def complete(
    take: Markers, shape: Floats, firm: NDArray[np.bool_], hold: float, fade: float
) -> tuple[Markers, TakeAlignment]:
    """Return a take in which every marker is seen in every frame, and the alignment of its frames.

    Each frame is aligned to one `shape` (M, 3) by the markers that are seen, mostly by those that keep their distances,
    `firm` (M,), so that the whole may move meanwhile. In the aligned frames `completed` fills in the translations from
    that shape.
    """
    budget, width = Budget(take.positions.nbytes, "take"), 3 * len(take.names)
    budget.work(len(take.gaps), "gaps", UNGAPPED)
    hidden = int((~take.seen.all(axis=0)).sum())
    budget.hold(4 * width**2, "markers that predict others")
    budget.work(hidden * (len(take) + width) * width**2 // _PRODUCTS_A_STEP, "markers with gaps", UNGAPPED)
    weights = np.where(firm, 1.0, _LOOSE) * _trust(take.seen, _RAMP * take.rate)
    alignment = align_take(take, shape, weights=weights)
    translations = completed(alignment(take.positions) - shape, take.seen, take.rate, hold, fade)
    return replace(take, positions=alignment.inverse(shape + translations), seen=np.ones_like(take.seen)), alignment


def completed(translations: Floats, seen: NDArray[np.bool_], rate: float, hold: float, fade: float) -> Floats:
    """Return translations (F, M, 3) from rest, known where `seen` (F, M), for every frame, without a jump.

    A point that is not seen is predicted from the others by a linear regression on the frames that show all. The
    residual before and after the gap is bridged as in `bridged`, which also does all the work where no other point is
    seen, or too few frames show all.
    """
    completed_translations = bridged(translations, seen, rate, hold, fade)
    complete_frames = seen.all(axis=1)
    count = seen.shape[1]
    hidden = np.flatnonzero(~seen.all(axis=0))
    if not len(hidden) or count < 2 or complete_frames.sum() < _ENOUGH * count:
        return completed_translations
    predictors = [_predictor(translations[complete_frames], int(point)) for point in hidden]
    for _ in range(_SWEEPS):
        for point, matrix in zip(hidden, predictors, strict=True):
            predicted = (
                np.delete(completed_translations, point, axis=1).reshape(len(completed_translations), -1) @ matrix
            )
            remainder = bridged(
                (completed_translations[:, point] - predicted)[:, None], seen[:, [point]], rate, hold, fade
            )[:, 0]
            completed_translations[:, point] = np.where(seen[:, [point]], translations[:, point], predicted + remainder)
    return completed_translations


def _trust(seen: NDArray[np.bool_], ramp: float) -> Floats:
    """Return (F, M) weights of markers: zero in their gaps, rising to one within `ramp` frames beside them.

    So the alignment does not jump when a marker disappears or returns.
    """
    frames = np.arange(len(seen), dtype=np.float64)[:, None]
    before = np.maximum.accumulate(np.where(seen, -np.inf, frames), axis=0)
    after = np.minimum.accumulate(np.where(seen, np.inf, frames)[::-1], axis=0)[::-1]
    return smoothstep(np.minimum(frames - before, after - frames) / max(ramp, 1.0))


def _predictor(translations: Floats, point: int) -> Floats:
    """Return the matrix (3M - 3, 3) that predicts the translations of a point from the others', by frames (F, M, 3)."""
    others = np.delete(translations, point, axis=1).reshape(len(translations), -1)
    square = others.T @ others
    square[np.diag_indices(len(square))] += _RIDGE * np.trace(square) / len(square) + 1e-300
    return np.linalg.solve(square, others.T @ translations[:, point])
