"""Penalised least squares for a sum of blocks, each acting on some of the vertices; the penalty is cross-validated.

A block is a set of features of the pose with one displacement per feature and vertex, which are solved for. Vertices
that the same blocks act on share one system.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from posespace.check import Floats, Floats32
from posespace.progress import track

Folds = Sequence[NDArray[np.int64]]

STRENGTHS = tuple(10.0**power for power in (-7, -6, -5, -4, -3, -2, -1, 0))
"""Strengths of the penalty that are tried, relative to the mean diagonal of the normal matrix."""

FOLDS = 30
"""Most folds of the cross-validation."""

_VERTICES = 1500
_GROUPS = 48
"""The strength is chosen on about this many vertices of this many groups, the largest."""


def consecutive_folds(poses: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return poses in runs to hold out one at a time: a frame of a clip is easily predicted from the next."""
    return [run for run in np.array_split(poses, min(FOLDS, len(poses))) if len(run)]


def solve_blocks(
    features: Sequence[Floats], data: Floats32, masks: Sequence[Floats32], penalties: Sequence[Floats], folds: Folds
) -> list[Floats32]:
    """Return for each block the values (M, S, 3) with which the sum over all blocks is nearest to `data` (P, N, 3).

    Parameters
    ----------
    features : (P, M) per block
    data : what the blocks should sum to
    masks : (N,) per block, not 0 at the S vertices that it acts on
    penalties : (M, M) per block, the quadratic form that penalises rough values
    folds : poses to hold out together when the strength of the penalty is chosen
    """
    acts = np.stack([mask > 0 for mask in masks])
    columns = [np.cumsum(row) - 1 for row in acts]
    groups = [
        _Group(
            vertices,
            blocks,
            np.concatenate([features[k] for k in blocks], axis=1),
            block_diag(*(penalties[k] for k in blocks)),
        )
        for vertices in _vertices_by_blocks(acts)
        if len(blocks := np.flatnonzero(acts[:, vertices[0]]).tolist())
    ]
    strength = _choose_strength(groups, data, folds) if folds else STRENGTHS[0]
    values = [
        np.zeros((block.shape[1], int(row.sum()), 3), dtype=np.float32)
        for block, row in zip(features, acts, strict=True)
    ]
    for group in track(groups, "least squares"):
        solution = group.operator(strength) @ data[:, group.vertices].reshape(len(data), -1)
        split = np.cumsum([features[k].shape[1] for k in group.blocks])[:-1]
        for k, part in zip(group.blocks, np.split(solution.reshape(len(solution), -1, 3), split), strict=True):
            values[k][:, columns[k][group.vertices]] = part
    return values


class _Group(NamedTuple):
    """Vertices that the same blocks act on, these blocks, their features (P, F) and penalties (F, F)."""

    vertices: NDArray[np.int64]
    blocks: list[int]
    design: Floats
    penalty: Floats

    def operator(self, strength: float) -> Floats32:
        """The matrix (F, P) from values at the poses to values of the features."""
        normal = self.design.T @ self.design
        normal += strength * max(float(np.trace(normal)) / len(normal), 1e-30) * self.penalty
        return np.linalg.solve(normal, self.design.T).astype(np.float32)


def _vertices_by_blocks(acts: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Vertices in groups that the same blocks act on, from (blocks, N)."""
    _, inverse = np.unique(np.packbits(acts, axis=0), axis=1, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    return np.split(order, np.flatnonzero(np.diff(inverse.ravel()[order])) + 1)


def _choose_strength(groups: Sequence[_Group], data: Floats32, folds: Folds) -> float:
    """The strength of least squared error on held-out poses, on some vertices of the largest groups."""
    sampled = np.zeros(data.shape[1], dtype=bool)
    sampled[:: max(1, data.shape[1] // _VERTICES)] = True
    errors = np.zeros(len(STRENGTHS))
    largest = sorted(groups, key=lambda group: -len(group.vertices))[:_GROUPS]
    for group in track(largest, "smoothness"):
        sample = data[:, group.vertices[sampled[group.vertices]]].reshape(len(data), -1)
        for k, strength in enumerate(STRENGTHS):
            hat = group.design @ group.operator(strength)
            residual = sample - hat @ sample
            for fold in folds:
                inner = np.eye(len(fold)) - hat[np.ix_(fold, fold)]
                errors[k] += float((np.linalg.lstsq(inner, residual[fold], rcond=1e-8)[0] ** 2).sum())
    return STRENGTHS[int(errors.argmin())]
