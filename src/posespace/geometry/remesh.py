"""A closed surface drawn again with triangles of a wanted size: split, collapse, flip, relax, return to the surface.

The rounds are those of Botsch and Kobbelt (2004). A last step moves the vertices along their normals so that the flat
triangles lie half inside and half outside the round surface: it keeps the volume.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from scipy import sparse
from scipy.sparse.linalg import spsolve

from posespace.check import Floats, Ints
from posespace.geometry.surface import Surface, vertex_normals

_ROUNDS = 8
_PASSES = 12
"""Collapse passes in the first round at most: each about halves the number of triangles."""


def remesh(surface: Surface, size: Floats) -> tuple[Floats, Ints]:
    """Draw a closed surface again.

    Parameters
    ----------
    surface : closed, consistently oriented, each edge shared by two triangles
    size : (N,) the edge length wanted near each of its points

    Returns
    -------
    points : (M, 3)
    triangles : (K, 3) int32, again closed with two triangles an edge
    """
    points: Floats = surface.points
    wanted: Floats = np.asarray(size, dtype=np.float64)
    triangles = surface.triangles
    for turn in range(_ROUNDS):
        points, triangles, wanted = _split(points, triangles, wanted)
        points, triangles, wanted = _edit(points, triangles, wanted, _PASSES if turn == 0 else 3)
        points = _relax(surface, points, triangles)
    return _straddle(surface, points, triangles), triangles


def edges_of(triangles: Ints) -> tuple[Ints, Ints]:
    """Return the edges (E, 2), lower end first, and the edge (T, 3) of each triangle's sides 01, 12 and 20."""
    sides = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    count = int(triangles.max(initial=0)) + 1
    code, inverse = np.unique(sides[:, 0].astype(np.int64) * count + sides[:, 1], return_inverse=True)
    edges = np.stack([code // count, code % count], axis=1).astype(np.int32)
    return edges, inverse.reshape(-1, 3).astype(np.int32)


def _split(points: Floats, triangles: Ints, size: Floats) -> tuple[Floats, Ints, Floats]:
    """Halve edges until none is longer than 4/3 of the wanted size."""
    for _ in range(24):
        edges, sides = edges_of(triangles)
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
    # Turned so that a single cut is side 01, and with two cuts the whole side is 20.
    turn = np.where(count == 1, cut.argmax(axis=1), np.where(count == 2, ((~cut).argmax(axis=1) + 1) % 3, 0))
    columns = (np.arange(3) + turn[:, None]) % 3
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
    """Collapse short edges, shortest first, then flip edges towards six neighbours a vertex."""
    points, triangles = points.copy(), triangles.copy()
    for _ in range(passes):
        edges, _ = edges_of(triangles)
        relative = np.linalg.norm(points[edges[:, 1]] - points[edges[:, 0]], axis=1) / size[edges].mean(axis=1)
        short = np.flatnonzero(relative < 0.8)
        short = short[np.argsort(relative[short], kind="stable")]
        ring, degree = _rings(triangles, len(points))
        if not _collapse(edges[short], points, size, triangles, ring, degree):
            break
        triangles = triangles[triangles[:, 0] >= 0]
    for _ in range(3):
        ring, degree = _rings(triangles, len(points))
        if not _flip(edges_of(triangles)[0], points, triangles, ring, degree):
            break
    used, renumbered = np.unique(triangles, return_inverse=True)
    return points[used], renumbered.reshape(-1, 3).astype(np.int32), size[used]


def _rings(triangles: Ints, count: int) -> tuple[Ints, Ints]:
    """The triangles round each vertex (N, W), with room to grow, and how many there are (N,)."""
    corners = triangles.ravel()
    order = np.argsort(corners, kind="stable")
    degree = np.bincount(corners, minlength=count)
    slot = np.arange(len(corners)) - np.repeat(np.cumsum(degree) - degree, degree)
    ring = np.full((count, int(degree.max()) + 12), -1, dtype=np.int32)
    ring[corners[order], slot] = order // 3
    return ring, degree.astype(np.int32)


def _relax(surface: Surface, points: Floats, triangles: Ints) -> Floats:
    """Move each vertex along the surface towards the centre of the triangles round it."""
    for _ in range(2):
        corners = points[triangles]
        area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        weight = np.bincount(triangles.ravel(), np.repeat(area, 3), len(points))
        pull = corners.mean(axis=1) * area[:, None]
        centre = np.stack([np.bincount(triangles.ravel(), np.repeat(pull[:, k], 3)) for k in range(3)], axis=1)
        normals = vertex_normals(points, triangles)
        step = centre / np.where(weight > 0, weight, 1)[:, None] - points
        step -= (step * normals).sum(axis=1, keepdims=True) * normals
        points = surface.closest(points + 0.7 * step, normals)[0]
    return points


def _straddle(surface: Surface, points: Floats, triangles: Ints) -> Floats:
    """Move vertices along their normals to bring points all over the triangles onto the surface, by least squares."""
    spots = np.array([(4, 1, 1), (1, 4, 1), (1, 1, 4), (2, 2, 2)]) / 6
    for _ in range(2):
        normals = vertex_normals(points, triangles)
        corners = points[triangles]
        facing = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        area = np.linalg.norm(facing, axis=1, keepdims=True)
        facing = facing / np.where(area > 0, area, 1)
        places = np.einsum("sk,tki->tsi", spots, corners).reshape(-1, 3)
        toward = np.repeat(facing, len(spots), axis=0)
        gap = ((surface.closest(places, toward)[0] - places) * toward).sum(axis=1)
        lever = np.einsum("tki,ti->tk", normals[triangles], facing)
        entries = (spots[None] * lever[:, None]).reshape(-1)
        rows = np.repeat(np.arange(len(places)), 3)
        columns = np.repeat(triangles, len(spots), axis=0).ravel()
        matrix = sparse.csr_array((entries, (rows, columns)), shape=(len(places), len(points)))
        # Held back a little: where triangles fold, the offset would be free to run away.
        normal = (matrix.T @ matrix + 0.05 * sparse.eye_array(len(points))).tocsc()
        points = points + spsolve(normal, matrix.T @ gap)[:, None] * normals
    return points


@njit(cache=True)
def _normal(points: Floats, a: int, b: int, c: int) -> Any:
    u0, u1, u2 = points[b, 0] - points[a, 0], points[b, 1] - points[a, 1], points[b, 2] - points[a, 2]
    v0, v1, v2 = points[c, 0] - points[a, 0], points[c, 1] - points[a, 1], points[c, 2] - points[a, 2]
    return (u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0)


@njit(cache=True)
def _agree(m: Any, n: Any, cosine: float) -> bool:
    """Whether two normals, not unit, are closer than an angle."""
    dot = m[0] * n[0] + m[1] * n[1] + m[2] * n[2]
    square = (m[0] ** 2 + m[1] ** 2 + m[2] ** 2) * (n[0] ** 2 + n[1] ** 2 + n[2] ** 2)
    return bool(dot > cosine * np.sqrt(square) and square > 0)


@njit(cache=True)
def _has(triangles: Ints, t: int, vertex: int) -> bool:
    return bool(triangles[t, 0] == vertex or triangles[t, 1] == vertex or triangles[t, 2] == vertex)


@njit(cache=True)
def _common(a: int, b: int, triangles: Ints, ring: Ints, degree: Ints) -> int:
    """How many vertices are neighbours of both a and b."""
    count = 0
    for i in range(degree[a]):
        # On a closed surface each neighbour follows a in exactly one triangle round it.
        for k in range(3):
            if triangles[ring[a, i], k] == a:
                neighbour = triangles[ring[a, i], (k + 1) % 3]
                for j in range(degree[b]):
                    if neighbour != b and _has(triangles, ring[b, j], neighbour):
                        count += 1
                        break
    return count


@njit(cache=True)
def _may_move(b: int, a: int, points: Floats, size: Floats, triangles: Ints, ring: Ints, degree: Ints) -> bool:
    """Whether b can be put on a without turning a triangle over or stretching an edge beyond its size."""
    for i in range(degree[b]):
        t = ring[b, i]
        if _has(triangles, t, a):
            continue
        x, y, z = triangles[t]
        before = _normal(points, x, y, z)
        after = _normal(points, a if x == b else x, a if y == b else y, a if z == b else z)
        # Slivers of the source have no trustworthy normal and may go anywhere.
        if not _agree(before, after, 0.3) and before[0] ** 2 + before[1] ** 2 + before[2] ** 2 > 1e-8 * size[a] ** 4:
            return False
        for k in range(3):
            far = triangles[t, k]
            gap2 = ((points[far] - points[a]) ** 2).sum()
            if far != b and gap2 > (4 / 3 * min(size[a], size[far])) ** 2:
                return False
    return True


@njit(cache=True)
def _drop(ring: Ints, degree: Ints, vertex: int, t: int) -> None:
    for i in range(degree[vertex]):
        if ring[vertex, i] == t:
            degree[vertex] -= 1
            ring[vertex, i] = ring[vertex, degree[vertex]]
            return


@njit(cache=True)
def _merge(a: int, b: int, triangles: Ints, ring: Ints, degree: Ints) -> None:
    """Put b on a; the two triangles between them die."""
    for i in range(degree[b]):
        t = ring[b, i]
        if _has(triangles, t, a):
            for k in range(3):
                if triangles[t, k] != b:
                    _drop(ring, degree, triangles[t, k], t)
            triangles[t] = -1
        else:
            for k in range(3):
                if triangles[t, k] == b:
                    triangles[t, k] = a
            ring[a, degree[a]] = t
            degree[a] += 1
    degree[b] = 0


@njit(cache=True)
def _collapse(edges: Ints, points: Floats, size: Floats, triangles: Ints, ring: Ints, degree: Ints) -> int:
    """Collapse `edges` where the surface stays a surface; dead triangles get corners -1. Returns how many."""
    done = 0
    room = ring.shape[1]
    for e in range(len(edges)):
        for a, b in ((edges[e, 0], edges[e, 1]), (edges[e, 1], edges[e, 0])):
            if degree[a] + degree[b] - 4 > min(room, 16) or degree[a] < 3 or degree[b] < 3:
                continue
            shared = 0
            for i in range(degree[b]):
                shared += _has(triangles, ring[b, i], a)
            # Two triangles and two common neighbours: else the surface would be pinched.
            if shared != 2 or _common(a, b, triangles, ring, degree) != 2:
                continue
            if not _may_move(b, a, points, size, triangles, ring, degree):
                continue
            _merge(a, b, triangles, ring, degree)
            done += 1
            break
    return done


@njit(cache=True)
def _flip(edges: Ints, points: Floats, triangles: Ints, ring: Ints, degree: Ints) -> int:
    """Flip the edges whose flip brings the vertices round them nearer to six neighbours. Returns how many."""
    done = 0
    for e in range(len(edges)):
        a, b = edges[e]
        first, second = -1, -1
        for i in range(degree[a]):
            t = ring[a, i]
            for k in range(3):
                if triangles[t, k] == a and triangles[t, (k + 1) % 3] == b:
                    first = t
                elif triangles[t, k] == b and triangles[t, (k + 1) % 3] == a:
                    second = t
        if first < 0 or second < 0:
            continue
        c, d = triangles[first].sum() - a - b, triangles[second].sum() - a - b
        gain = abs(degree[a] - 6) + abs(degree[b] - 6) + abs(degree[c] - 6) + abs(degree[d] - 6)
        gain -= abs(degree[a] - 7) + abs(degree[b] - 7) + abs(degree[c] - 5) + abs(degree[d] - 5)
        if gain <= 0 or c == d or min(degree[a], degree[b]) <= 4 or max(degree[c], degree[d]) + 1 > ring.shape[1]:
            continue
        joined = False
        for i in range(degree[c]):
            joined = joined or _has(triangles, ring[c, i], d)
        old, other = _normal(points, a, b, c), _normal(points, b, a, d)
        mean = (old[0] + other[0], old[1] + other[1], old[2] + other[2])
        flat = _agree(_normal(points, a, d, c), mean, 0.6) and _agree(_normal(points, d, b, c), mean, 0.6)
        if joined or not flat:
            continue
        triangles[first, 0], triangles[first, 1], triangles[first, 2] = a, d, c
        triangles[second, 0], triangles[second, 1], triangles[second, 2] = d, b, c
        _drop(ring, degree, a, second)
        _drop(ring, degree, b, first)
        ring[c, degree[c]], ring[d, degree[d]] = second, first
        degree[c] += 1
        degree[d] += 1
        done += 1
    return done
