"""The triangles around each position as the GPU reads them: walks from neighbour to neighbour, each point read once.

A walk names its centre, the neighbour where it starts, and then each next neighbour; every step after the start closes
one triangle. Around most vertices one walk goes all around.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from posespace.mesh import Mesh
from posespace.runtime.compiled import compiled
from posespace.runtime.detail.surface_normals import Fans, fans_of

CENTRE, START = 1 << 30, 1 << 29
"""Bits of a vertex in a walk, as in `skin.wgsl`."""

# How many triangles walks are sought among: a position with more gets a few more walks, but the search stays fast.
_AT_ONCE = 64


def walks_of(mesh: Mesh) -> tuple[NDArray[np.uint32], NDArray[np.intp], NDArray[np.uint32]]:
    """Find the walks around each position of a mesh.

    Returns
    -------
    walks : (W, 4) vertices with bits, those of a position in rows that follow one another, filled up with centres;
        the first row is for positions without a triangle
    starts : (G,) the row where those of each position begin
    groups : (N,) the position of each vertex
    """
    fans = fans_of(mesh)
    counts = np.diff(fans.starts)
    steps = np.zeros(3 * len(fans.around), np.uint32)
    lengths = np.zeros(len(counts), np.int64)
    _walk(fans, steps, lengths)
    rows = -(-lengths // 4)
    starts = np.where(rows > 0, 1 + np.cumsum(rows) - rows, 0)
    walks = np.full(4 * (1 + int(rows.sum())), CENTRE, np.uint32)
    rank = ranks_of(lengths)
    walks[4 * np.repeat(starts, lengths) + rank] = steps[3 * np.repeat(fans.starts[:-1], lengths) + rank]
    return walks.reshape(-1, 4), starts, fans.groups.astype(np.uint32)


def ranks_of(lengths: NDArray[np.integer]) -> NDArray[np.intp]:
    """The index of each entry in its list, for lists that follow one another."""
    ranks: NDArray[np.intp] = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return ranks


@compiled
def _walk(fans: Fans, out: NDArray[np.uint32], lengths: NDArray[np.int64]) -> None:  # pragma: no cover - compiled
    """Write the walks of each position, from three times its first triangle on, and how long they are."""
    triangles, groups, starts, around = fans.triangles, fans.groups, fans.starts, fans.around
    most = 0
    for group in range(len(lengths)):
        most = max(most, starts[group + 1] - starts[group])
    edges = np.zeros((most, 3), np.int64)
    for group in range(len(lengths)):
        count = starts[group + 1] - starts[group]
        for k in range(count):
            triangle = triangles[around[starts[group] + k]]
            first_corner = 0
            while groups[triangle[first_corner]] != group:
                first_corner += 1
            for corner in range(3):
                edges[k, corner] = triangle[(first_corner + corner) % 3]
        for first in range(0, count, _AT_ONCE):
            part = edges[first : min(first + _AT_ONCE, count)]
            lengths[group] += _chain(part, out[3 * starts[group] + lengths[group] :])


@compiled
def _chain(edges: NDArray[np.int64], out: NDArray[np.uint32]) -> int:  # pragma: no cover - compiled
    """Write walks along triangles (K, 3), centre first, and return their length; a triangle's centre becomes -1."""
    length = 0
    for _ in range(len(edges)):
        at = _first(edges)
        if at < 0:
            break
        centre = edges[at, 0]
        out[length], out[length + 1] = centre | CENTRE, edges[at, 1] | START
        length += 2
        while at >= 0:
            out[length] = edges[at, 2]
            length += 1
            edges[at, 0] = -1
            at = _leaving(edges, centre, edges[at, 2])
    return length


@compiled
def _first(edges: NDArray[np.int64]) -> int:  # pragma: no cover - compiled
    """A triangle that none comes before, or any that remains, or -1."""
    last = -1
    for k in range(len(edges)):
        if edges[k, 0] >= 0:
            last, follows = k, False
            for other in range(len(edges)):
                follows = follows or (edges[other, 0] == edges[k, 0] and edges[other, 2] == edges[k, 1])
            if not follows:
                return k
    return last


@compiled
def _leaving(edges: NDArray[np.int64], centre: int, vertex: int) -> int:  # pragma: no cover - compiled
    """A triangle of a centre whose next corner is a vertex, or -1."""
    for k in range(len(edges)):
        if edges[k, 0] == centre and edges[k, 1] == vertex:
            return k
    return -1
