"""A closed surface remeshed with triangles of a given size: split, collapse, flip, relax, project back onto it.

The rounds are those of Botsch and Kobbelt (2004). A last step moves the vertices along their normals so that the flat
triangles lie half inside and half outside the round surface: it keeps the volume.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

from posespace.check import Floats, Ints
from posespace.geometry.edges import edges_of
from posespace.geometry.fans import fans_of, flip, merge, sides_of, third, would_pinch
from posespace.geometry.normals import area_vectors, vertex_normals
from posespace.geometry.relax import relaxed
from posespace.geometry.surface import Surface
from posespace.geometry.vectors import agree, dot, minus, normal
from posespace.jit import njit

_ROUNDS = 8
_PASSES = 12
"""Most collapse passes in the first round: each about halves the number of triangles."""

_MOST_AROUND = 16
"""Triangles around a vertex beyond which no edge is collapsed into it."""


def remesh(surface: Surface, size: Floats) -> tuple[Floats, Ints]:
    """Remesh a closed surface.

    Parameters
    ----------
    surface : closed, consistently oriented, each edge shared by two triangles
    size : (N,) the edge length wanted near each of its points

    Returns
    -------
    points : (M, 3)
    triangles : (K, 3) int32, again closed, with two triangles per edge
    """
    points, triangles = _rounds(surface, size, (1.0,) * _ROUNDS)
    return _straddle(surface, points, triangles), triangles


def retile(surface: Surface, size: Floats) -> tuple[Floats, Ints]:
    """Cover a closed surface with other triangles, whose vertices lie on it; takes and returns what `remesh` does.

    It is first made coarser and then fine again, so that little is left of its triangles: quicker than `remesh`, and a
    little less even.
    """
    return _rounds(surface, size, (2.0, 1.0, 1.0))


def _rounds(surface: Surface, size: Floats, factors: tuple[float, ...]) -> tuple[Floats, Ints]:
    """Split, collapse, flip and relax, in one round for each factor on the size."""
    points: Floats = surface.points
    wanted: Floats = np.asarray(size, dtype=np.float64)
    triangles = surface.triangles
    for number, factor in enumerate(factors):
        points, triangles, wanted = _split(points, triangles, factor * wanted)
        points, triangles, wanted = _edit(points, triangles, wanted, _PASSES if number == 0 else 3)
        points, wanted = _relax(surface, points, triangles), wanted / factor
    return points, triangles


def _split(points: Floats, triangles: Ints, size: Floats) -> tuple[Floats, Ints, Floats]:
    """Halve edges until none is longer than 4/3 of the wanted size."""
    for _ in range(24):
        edges, sides, _ = edges_of(triangles)
        ends = points[edges]
        longest = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) > 4 / 3 * size[edges].min(axis=1)
        if not longest.any():
            break
        middle = np.full(len(edges), -1)
        middle[longest] = len(points) + np.arange(int(longest.sum()))
        points = np.vstack([points, ends[longest].mean(axis=1)])
        size = np.concatenate([size, size[edges[longest]].mean(axis=1)])
        triangles = _divide(triangles, middle[sides])
    return points, triangles, size


def _divide(triangles: Ints, middle: Ints) -> Ints:
    """Divide triangles (T, 3) at new vertices `middle` (T, 3) of their sides, -1 where a side stays whole."""
    cut = middle >= 0
    count = cut.sum(axis=1)
    # Corners are rotated so that a single cut is side 01, and with two cuts the whole side is 20.
    first = np.where(count == 1, cut.argmax(axis=1), np.where(count == 2, ((~cut).argmax(axis=1) + 1) % 3, 0))
    columns = (np.arange(3) + first[:, None]) % 3
    a, b, c = np.take_along_axis(triangles, columns, axis=1).T
    p, q, r = np.take_along_axis(middle, columns, axis=1).T
    parts = [triangles[count == 0]]
    for cuts, corners in (
        (1, ((a, p, c), (p, b, c))),
        (2, ((p, b, q), (a, p, q), (a, q, c))),
        (3, ((a, p, r), (p, b, q), (r, q, c), (p, q, r))),
    ):
        parts += [np.stack(corner, axis=1)[count == cuts] for corner in corners]
    return np.concatenate(parts).astype(np.int32)


def _edit(points: Floats, triangles: Ints, size: Floats, passes: int) -> tuple[Floats, Ints, Floats]:
    """Collapse short edges, shortest first, then flip edges towards six neighbours per vertex."""
    points, triangles = points.copy(), triangles.copy()
    for _ in range(passes):
        edges = edges_of(triangles).ends
        relative = np.linalg.norm(points[edges[:, 1]] - points[edges[:, 0]], axis=1) / size[edges].mean(axis=1)
        short = np.flatnonzero(relative < 0.8)
        short = short[np.argsort(relative[short], kind="stable")]
        if not _collapse(edges[short], points, size, triangles):
            break
        triangles = triangles[triangles[:, 0] >= 0]
    for _ in range(3):
        if not _flip(edges_of(triangles).ends, points, triangles):
            break
    used, renumbered = np.unique(triangles, return_inverse=True)
    return points[used], renumbered.reshape(-1, 3).astype(np.int32), size[used]


def _relax(surface: Surface, points: Floats, triangles: Ints) -> Floats:
    """Even out the triangles and bring the vertices back to the surface."""
    for _ in range(2):
        areas = np.linalg.norm(area_vectors(points, triangles), axis=1)
        normals = vertex_normals(points, triangles)
        points = surface.closest(relaxed(points, triangles, normals, areas), normals).points
    return points


def _straddle(surface: Surface, points: Floats, triangles: Ints) -> Floats:
    """Move vertices along their normals to bring points all over the triangles onto the surface, by least squares."""
    shares = np.array([(4, 1, 1), (1, 4, 1), (1, 1, 4), (2, 2, 2)]) / 6
    for _ in range(2):
        normals = vertex_normals(points, triangles)
        facing = area_vectors(points, triangles)
        area = np.linalg.norm(facing, axis=1, keepdims=True)
        facing = facing / np.where(area > 0, area, 1)
        samples = np.einsum("sk,tki->tsi", shares, points[triangles]).reshape(-1, 3)
        toward = np.repeat(facing, len(shares), axis=0)
        gap = ((surface.closest(samples, toward).points - samples) * toward).sum(axis=1)
        lever = np.einsum("tki,ti->tk", normals[triangles], facing)
        entries = (shares[None] * lever[:, None]).reshape(-1)
        rows = np.repeat(np.arange(len(samples)), 3)
        columns = np.repeat(triangles, len(shares), axis=0).ravel()
        matrix = sparse.csr_array((entries, (rows, columns)), shape=(len(samples), len(points)))
        # Held back a little: where triangles fold, the offset would be free to run away.
        system = (matrix.T @ matrix + 0.05 * sparse.eye_array(len(points))).tocsc()
        points = points + spsolve(system, matrix.T @ gap)[:, None] * normals
    return points


@njit()
def _may_move(b: int, a: int, points: Floats, size: Floats, triangles: Ints, fan: Ints) -> bool:
    """Whether b can be put on a without turning a triangle of its fan over or stretching an edge beyond its size."""
    for t in fan:
        x, y, z = triangles[t]
        if a in (x, y, z):
            continue
        before = normal(points[x], points[y], points[z])
        after = normal(points[a if x == b else x], points[a if y == b else y], points[a if z == b else z])
        # Slivers of the source have no trustworthy normal and may go anywhere.
        if not agree(before, after, 0.3) and dot(before, before) > 1e-8 * size[a] ** 4:
            return False
        for far in (x, y, z):
            gap = minus(points[far], points[a])
            if far != b and dot(gap, gap) > (4 / 3 * min(size[a], size[far])) ** 2:
                return False
    return True


@njit()
def _collapse(edges: Ints, points: Floats, size: Floats, triangles: Ints) -> int:
    """Collapse `edges` to an end of theirs where it can be done and return how many; triangles that go become -1."""
    fans, degrees = fans_of(triangles, len(points))
    done = 0
    for e in range(len(edges)):
        for a, b in ((edges[e, 0], edges[e, 1]), (edges[e, 1], edges[e, 0])):
            if degrees[a] + degrees[b] - 4 > _MOST_AROUND or degrees[a] < 3 or degrees[b] < 3:
                continue
            forward, backward = sides_of(a, b, triangles, fans, degrees)
            if forward < 0 or backward < 0 or would_pinch(a, b, triangles, fans, degrees):
                continue
            if not _may_move(b, a, points, size, triangles, fans[b, : degrees[b]]):
                continue
            merge(a, b, triangles, fans, degrees)
            done += 1
            break
    return done


@njit()
def _flip(edges: Ints, points: Floats, triangles: Ints) -> int:
    """Flip the edges whose flip brings the vertices around them nearer to six neighbours. Returns how many."""
    fans, degrees = fans_of(triangles, len(points))
    done = 0
    for e in range(len(edges)):
        a, b = edges[e]
        forward, backward = sides_of(a, b, triangles, fans, degrees)
        if forward < 0 or backward < 0:
            continue
        c, d = third(triangles, forward, a, b), third(triangles, backward, a, b)
        gain = abs(degrees[a] - 6) + abs(degrees[b] - 6) + abs(degrees[c] - 6) + abs(degrees[d] - 6)
        gain -= abs(degrees[a] - 7) + abs(degrees[b] - 7) + abs(degrees[c] - 5) + abs(degrees[d] - 5)
        if gain <= 0 or c == d or min(degrees[a], degrees[b]) <= 4 or max(degrees[c], degrees[d]) >= fans.shape[1]:
            continue
        old, other = normal(points[a], points[b], points[c]), normal(points[b], points[a], points[d])
        mean = (old[0] + other[0], old[1] + other[1], old[2] + other[2])
        flat = agree(normal(points[a], points[d], points[c]), mean, 0.6)
        flat = flat and agree(normal(points[d], points[b], points[c]), mean, 0.6)
        if not flat or sides_of(c, d, triangles, fans, degrees)[0] >= 0:
            continue
        flip(a, b, triangles, fans, degrees)
        done += 1
    return done
