"""Products of the frames of a clip with each other: signals are found from them, however many vertices there are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Ints

Array32 = NDArray[np.float32]

RANK = 1e-6
"""A direction counts where its singular value is above this fraction of the largest."""

_BLOCK = 1 << 20


def gram_of(frames: Array32, vertices: Ints) -> Floats:
    """Return the products (P, P) of the displacements (P, N, 3) of some vertices (S,), in double precision."""
    total = np.zeros((len(frames), len(frames)))
    for some in _blocks(vertices, len(frames)):
        part = frames[:, some].reshape(len(frames), -1).astype(np.float64)
        total += part @ part.T
    return total


def combined(frames: Array32, vertices: Ints, mix: Floats) -> Array32:
    """Return mixtures (K, S, 3) of the frames (P, N, 3) at some vertices (S,); `mix` is (K, P)."""
    found = np.empty((len(mix), len(vertices), 3), dtype=np.float32)
    start = 0
    for some in _blocks(vertices, len(frames)):
        part = frames[:, some].reshape(len(frames), -1).astype(np.float64)
        found[:, start : start + len(some)] = (mix @ part).reshape(len(mix), -1, 3)
        start += len(some)
    return found


def _blocks(vertices: Ints, frames: int) -> Iterator[Ints]:
    """Vertices in blocks small enough that their displacements over all frames can be copied."""
    step = max(1, _BLOCK // (3 * frames))
    for start in range(0, len(vertices), step):
        yield vertices[start : start + step]


def principal(gram: Floats, most: int | None = None) -> tuple[Floats, Floats]:
    """Return the singular values (K,) of the frames, largest first, and the orthonormal rows (K, P) that go with them.

    K is the rank, or `most` where that is less. A row's sign is the one that makes its third moment positive: it does
    not depend on the order of frames or vertices.
    """
    values, vectors = np.linalg.eigh(gram)
    sizes = np.sqrt(np.maximum(values[::-1], 0.0))
    count = int((sizes > RANK * sizes[0]).sum()) if sizes[0] > 0 else 0
    count = count if most is None else min(count, most)
    rows = vectors[:, ::-1].T[:count]
    return sizes[:count], rows * np.where((rows**3).sum(axis=1) < 0, -1.0, 1.0)[:, None]
