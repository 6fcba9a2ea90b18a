"""RBF weights where each vertex interpolates over samples of its own: vertices with the same set share a solve."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from posespace.check import Floats


def solve_sets(kernel: Floats, members: NDArray[np.bool_], values: Floats) -> Floats:
    """Solve kernel[A, A]·w[A] = values[A] at each vertex over its set A of samples; w is zero outside A.

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
    by_vertex = np.ascontiguousarray(values.transpose(1, 0, 2), dtype=np.float64)
    solved = _solve(np.ascontiguousarray(kernel, np.float64), members.T.copy(), by_vertex, order, starts)
    return np.ascontiguousarray(solved.transpose(1, 0, 2))


@njit(cache=True)
def _solve(
    kernel: Floats, members: NDArray[np.bool_], values: Floats, order: NDArray[np.int64], starts: NDArray[np.int64]
) -> Floats:
    """By Cholesky, one factor a group: vertices order[starts[g]:starts[g + 1]] share the set of group g."""
    out = np.zeros_like(values)
    lower = np.zeros_like(kernel)
    for group in range(len(starts) - 1):
        chosen = np.flatnonzero(members[order[starts[group]]])
        count = len(chosen)
        for i in range(count):
            for j in range(i + 1):
                rest = kernel[chosen[i], chosen[j]]
                for k in range(j):
                    rest -= lower[i, k] * lower[j, k]
                # A kernel that rounding has made indefinite gets a tiny pivot instead of NaN.
                lower[i, j] = np.sqrt(max(rest, 1e-14)) if i == j else rest / lower[j, j]
        for vertex in order[starts[group] : starts[group + 1]]:
            for axis in range(3):
                for i in range(count):
                    rest = values[vertex, chosen[i], axis]
                    for k in range(i):
                        rest -= lower[i, k] * out[vertex, chosen[k], axis]
                    out[vertex, chosen[i], axis] = rest / lower[i, i]
                for i in range(count - 1, -1, -1):
                    rest = out[vertex, chosen[i], axis]
                    for k in range(i + 1, count):
                        rest -= lower[k, i] * out[vertex, chosen[k], axis]
                    out[vertex, chosen[i], axis] = rest / lower[i, i]
    return out
