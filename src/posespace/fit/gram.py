"""Inner products of the frames of a clip: signals are computed from them, at a cost independent of the vertices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Ints

Array32 = NDArray[np.float32]

RANK = 1e-6
"""Singular values below this fraction of the largest count as zero."""

_BLOCK = 1 << 20


def gram_of(frames: Array32, vertices: Ints) -> Floats:
    """Return the inner products (P, P) of the displacements (P, N, 3) at chosen vertices (S,), in double precision."""
    total = np.zeros((len(frames), len(frames)))
    for block in _blocks(vertices, len(frames)):
        part = frames[:, block].reshape(len(frames), -1).astype(np.float64)
        total += part @ part.T
    return total


def linear_combinations(frames: Array32, vertices: Ints, coefficients: Floats) -> Array32:
    """Return the sums (K, S, 3) of frames (P, N, 3) times `coefficients` (K, P), at chosen vertices (S,)."""
    sums = np.empty((len(coefficients), len(vertices), 3), dtype=np.float32)
    start = 0
    for block in _blocks(vertices, len(frames)):
        part = frames[:, block].reshape(len(frames), -1).astype(np.float64)
        sums[:, start : start + len(block)] = (coefficients @ part).reshape(len(coefficients), -1, 3)
        start += len(block)
    return sums


def _blocks(vertices: Ints, frames: int) -> Iterator[Ints]:
    """Vertices in blocks small enough that their displacements over all frames can be copied."""
    step = max(1, _BLOCK // (3 * frames))
    for start in range(0, len(vertices), step):
        yield vertices[start : start + step]


def principal(gram: Floats, most: int | None = None) -> tuple[Floats, Floats]:
    """Return the singular values (K,) of the frames, largest first, and their right singular vectors (K, P) as rows.

    K is the rank, or `most` where that is less. The sign of a row makes its third moment positive, so it does not
    depend on the order of frames or vertices.
    """
    values, vectors = np.linalg.eigh(gram)
    sizes = np.sqrt(np.maximum(values[::-1], 0.0))
    count = int((sizes > RANK * sizes[0]).sum()) if sizes[0] > 0 else 0
    count = count if most is None else min(count, most)
    rows = vectors[:, ::-1].T[:count]
    return sizes[:count], rows * np.where((rows**3).sum(axis=1) < 0, -1.0, 1.0)[:, None]
