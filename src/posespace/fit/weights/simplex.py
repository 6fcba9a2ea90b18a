"""Quadratic problems over weights that are at least 0 and sum to one: those of one vertex."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.jit import njit


@njit()
def energy_of(normal: Floats, target: Floats, weights: Floats) -> float:  # pragma: no cover - compiled
    """Half the squared error and penalties of weights (C,), up to a constant."""
    total = 0.0
    for c in range(len(weights)):
        row = 0.0
        for d in range(len(weights)):
            row += normal[c, d] * weights[d]
        total += weights[c] * (0.5 * row - target[c])
    return total


@njit()
def sparse_on_simplex(
    normal: Floats, target: Floats, start: Floats, allowed: NDArray[np.bool_], influences: int
) -> Floats:  # pragma: no cover - compiled
    """Best weights of which at most `influences` are not zero: the smallest is dropped until no more remain."""
    weights: Floats = on_simplex(normal, target, start, allowed)
    while (weights > 0).sum() > influences:
        smallest = -1
        for c in range(len(weights)):
            if weights[c] > 0 and (smallest < 0 or weights[c] < weights[smallest]):
                smallest = c
        # Unused weights stay unused, so that few rounds of dropping are enough.
        allowed = weights > 0
        allowed[smallest] = False
        weights[smallest] = 0.0
        weights = on_simplex(normal, target, weights / weights.sum(), allowed)
    return weights


@njit()
def on_simplex(
    normal: Floats, target: Floats, start: Floats, allowed: NDArray[np.bool_]
) -> Floats:  # pragma: no cover - compiled
    """Least of w·normal·w/2 - target·w over weights w ≥ 0 that sum to one, by the method of active sets.

    `normal` (C, C) is positive definite, `start` (C,) is such weights.
    """
    weights = start.copy()
    most = len(weights)
    free = weights > 0
    factor, best, ones = np.empty((most, most)), np.empty(most), np.empty(most)
    for _ in range(6 * most + 6):
        rows = np.flatnonzero(free)
        count = len(rows)
        level = _on_plane(normal, target, rows, factor, best, ones)
        if best[:count].min() > 0:
            weights[:] = 0.0
            for a in range(count):
                weights[rows[a]] = best[a]
            slope = normal @ weights - target
            entering, steepest = -1, -1e-10 * (abs(level) + np.abs(target).max() + normal.max())
            for c in range(most):
                if allowed[c] and not free[c] and slope[c] - level < steepest:
                    entering, steepest = c, slope[c] - level
            if entering < 0:
                break
            free[entering] = True
        else:
            step, leaving = 1.0, -1
            for a in range(count):
                if best[a] <= 0:
                    reach = weights[rows[a]] / (weights[rows[a]] - best[a]) if weights[rows[a]] > 0 else 0.0
                    if leaving < 0 or reach < step:
                        step, leaving = reach, a
            for a in range(count):
                weights[rows[a]] += step * (best[a] - weights[rows[a]])
            weights[rows[leaving]] = 0.0
            free[rows[leaving]] = False
    valid: Floats = np.maximum(weights, 0.0) / np.maximum(weights, 0.0).sum()
    return valid


@njit()
def _on_plane(
    normal: Floats, target: Floats, rows: NDArray[np.int64], factor: Floats, best: Floats, ones: Floats
) -> float:  # pragma: no cover - compiled
    """Write to `best` the weights of `rows`, of any sign, that are least and sum to one; return their common slope.

    By Cholesky factorisation; a pivot lost to rounding is replaced, so that two equal columns do no harm.
    """
    count = len(rows)
    for a in range(count):
        for b in range(a + 1):
            left = normal[rows[a], rows[b]]
            for c in range(b):
                left -= factor[a, c] * factor[b, c]
            if a == b:
                factor[a, a] = np.sqrt(max(left, 1e-14 * normal[rows[a], rows[a]] + 1e-300))
            else:
                factor[a, b] = left / factor[b, b]
    for a in range(count):
        best[a], ones[a] = target[rows[a]], 1.0
        for c in range(a):
            best[a] -= factor[a, c] * best[c]
            ones[a] -= factor[a, c] * ones[c]
        best[a] /= factor[a, a]
        ones[a] /= factor[a, a]
    for a in range(count - 1, -1, -1):
        for c in range(a + 1, count):
            best[a] -= factor[c, a] * best[c]
            ones[a] -= factor[c, a] * ones[c]
        best[a] /= factor[a, a]
        ones[a] /= factor[a, a]
    level = float((1.0 - best[:count].sum()) / ones[:count].sum())
    for a in range(count):
        best[a] += level * ones[a]
    return level
