"""Interpolation in which each vertex has its own set of samples; vertices with the same set share a solve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.jit import njit


def fill_sets(kernel: Floats, members: NDArray[np.bool_], values: Floats) -> Floats:
    """Return each vertex's interpolant at every sample: the given value in its set, that of the RBF outside it.

    Parameters
    ----------
    kernel : (M, M) positive definite
    members : (M, S) bool, the set of each vertex
    values : (M, S, 3)

    Returns
    -------
    (M, S, 3) float64
    """
    packed = np.ascontiguousarray(np.packbits(members, axis=0).T)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(len(first) + 1))
    filled = np.array(values, dtype=np.float64)
    _fill(np.asarray(kernel, dtype=np.float64), members, filled, order, starts)
    return filled


@njit()
def _fill(
    kernel: Floats, members: NDArray[np.bool_], values: Floats, order: NDArray[np.int64], starts: NDArray[np.int64]
) -> None:
    """Fill `values` outside the sets; vertices order[starts[g]:starts[g + 1]] share the set of group g."""
    lower = np.zeros_like(kernel)
    for group in range(len(starts) - 1):
        member = members[:, order[starts[group]]]
        inside, outside = np.flatnonzero(member), np.flatnonzero(~member)
        _factor(kernel, inside, lower)
        shares = np.empty((len(outside), len(inside)))
        for row, sample in enumerate(outside):
            _substitute(lower, kernel[sample, inside], shares[row])
        for vertex in order[starts[group] : starts[group + 1]]:
            for row, sample in enumerate(outside):
                for axis in range(3):
                    total = 0.0
                    for column, other in enumerate(inside):
                        total += shares[row, column] * values[other, vertex, axis]
                    values[sample, vertex, axis] = total


@njit()
def _factor(kernel: Floats, chosen: NDArray[np.int64], lower: Floats) -> None:
    """Cholesky's factor of kernel[chosen, chosen]."""
    for i in range(len(chosen)):
        for j in range(i + 1):
            rest = kernel[chosen[i], chosen[j]]
            for k in range(j):
                rest -= lower[i, k] * lower[j, k]
            # A kernel that rounding has made indefinite gets a tiny pivot instead of NaN.
            lower[i, j] = np.sqrt(max(rest, 1e-14)) if i == j else rest / lower[j, j]


@njit()
def _substitute(lower: Floats, right: Floats, out: Floats) -> None:
    """Solve lower·lowerᵀ·out = right."""
    count = len(right)
    for i in range(count):
        rest = right[i]
        for k in range(i):
            rest -= lower[i, k] * out[k]
        out[i] = rest / lower[i, i]
    for i in range(count - 1, -1, -1):
        rest = out[i]
        for k in range(i + 1, count):
            rest -= lower[k, i] * out[k]
        out[i] = rest / lower[i, i]
