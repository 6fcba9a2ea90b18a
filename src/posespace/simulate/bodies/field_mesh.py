"""Even, well-shaped triangles at an exact count on the surface of a distance field.

Isotropic remeshing after Botsch and Kobbelt (2004): split long edges, collapse short ones, flip, relax, project.
Everything runs in a fixed order, so that the same field always gives the same triangles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.simulate.bodies.distance_field import DistanceField, marching_cubes

_CAPACITY = 24
"""Most triangles around a vertex; operations that would pass half of it are refused, so it never overflows."""
_ROUNDS = 12

Sizing = Callable[[Floats], Floats]


def triangulate(
    field: DistanceField, box: ArrayLike, count: int, spacing: float, sizing: Sizing | None = None
) -> tuple[Floats, Ints]:
    """Return points (N, 3) and exactly `count` triangles (count, 3) of the field's surface, facing outward.

    Parameters
    ----------
    field : the surface, closed within `box`
    box : (2, 3) lowest and highest corner of a box around it
    count : how many triangles, an even number as every closed surface has
    spacing : of the grid that the surface is first found on, less than its narrowest gap
    sizing : wanted edge lengths (N,) at points (N, 3), relative to each other; None: the same everywhere
    """
    if count < 4 or count % 2:
        raise InputError(f"triangle count of a closed surface: expected an even number from 4, got {count}")
    points, triangles = marching_cubes(field, box, spacing)
    work = _Work(field, sizing or _even, field.project(points), triangles)
    for _ in range(_ROUNDS):
        unit = work.unit_length(count)
        work.collapse(0.8 * unit, len(work.triangles))
        work.split(4 / 3 * unit, len(work.triangles))
        work.improve(2)
    work.steer(count)
    work.improve(25)
    return field.project(work.points), work.triangles


def relax(
    field: DistanceField, points: Floats, triangles: Ints, sizes: Floats, free: NDArray[np.bool_], steps: int = 3
) -> Floats:
    """Slide the `free` (N,) ones of points (N, 3) along the surface to the middle of the triangles around them.

    A triangle counts by its area over the square of the `sizes` (N,) wanted there, which evens these out. They are
    brought back to the surface in `steps`.
    """
    corners = points[triangles]
    facing = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    weight = np.linalg.norm(facing, axis=1) / sizes[triangles].mean(axis=1) ** 2
    total = _gathered(weight[:, None], triangles, len(points))
    shift = _gathered(weight[:, None] * corners.mean(axis=1), triangles, len(points)) / total - points
    normals = _gathered(facing, triangles, len(points))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    shift -= (shift * normals).sum(axis=1, keepdims=True) * normals
    moved = points.copy()
    moved[free] = field.project(points[free] + 0.7 * shift[free], steps)
    return moved


def _gathered(values: Floats, triangles: Ints, count: int) -> Floats:
    """Sums (N, C) at each of `count` vertices over the values (T, C) of the triangles around it."""
    around = triangles.ravel()
    return np.stack([np.bincount(around, np.repeat(column, 3), minlength=count) for column in values.T], axis=1)


def _even(points: Floats) -> Floats:
    return np.ones(len(points))


@dataclass
class _Work:
    """A surface in the making."""

    field: DistanceField
    sizing: Sizing
    points: Floats
    triangles: Ints

    def unit_length(self, count: int) -> float:
        """Return the edge length, where the size is 1, at which `count` equilateral triangles cover the surface."""
        a, b, c = np.moveaxis(self.points[self.triangles], 1, 0)
        area = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
        covered = (area / self.sizing(self.points)[self.triangles].mean(axis=1) ** 2).sum()
        return float(np.sqrt(covered / (count * np.sqrt(3) / 4)))

    def edges(self) -> tuple[Ints, Floats]:
        """Return edges (E, 2) and their lengths (E,) relative to the wanted size."""
        pairs = np.concatenate([self.triangles[:, [0, 1]], self.triangles[:, [1, 2]], self.triangles[:, [2, 0]]])
        pairs = np.ascontiguousarray(pairs[pairs[:, 0] < pairs[:, 1]])
        size = self.sizing(self.points)[pairs].mean(axis=1)
        return pairs, np.linalg.norm(self.points[pairs[:, 0]] - self.points[pairs[:, 1]], axis=1) / size

    def normals(self) -> Floats:
        """Return unit normals (N, 3)."""
        a, b, c = np.moveaxis(self.points[self.triangles], 1, 0)
        total = _gathered(np.cross(b - a, c - a), self.triangles, len(self.points))
        return np.asarray(total / np.linalg.norm(total, axis=1, keepdims=True))

    def collapse(self, limit: float, most: int) -> None:
        """Collapse at most `most` edges shorter than `limit`, shortest first."""
        pairs, lengths = self.edges()
        order = np.argsort(lengths, kind="stable")
        pairs = pairs[order[lengths[order] < limit]]
        _collapse(self.points, self.normals(), self.triangles, pairs, most)
        self.triangles = self.triangles[self.triangles[:, 0] >= 0]
        kept, renamed = np.unique(self.triangles, return_inverse=True)
        self.triangles = renamed.reshape(-1, 3).astype(np.int32)
        self.points = self.field.project(self.points[kept], 1)

    def split(self, limit: float, most: int) -> None:
        """Split at most `most` edges longer than `limit`, longest first."""
        pairs, lengths = self.edges()
        order = np.argsort(-lengths, kind="stable")
        pairs = pairs[order[lengths[order] > limit]]
        chosen, self.triangles = _split(self.triangles, pairs, len(self.points), most)
        self.points = np.concatenate([self.points, self.field.project(self.points[chosen].mean(axis=1), 1)])

    def improve(self, rounds: int) -> None:
        """Flip edges and relax at the same count."""
        free = np.ones(len(self.points), dtype=bool)
        for _ in range(rounds):
            _flip(self.points, self.normals(), self.triangles, self.edges()[0])
            # One step is enough so near to the surface: the next round mends what is left.
            self.points = relax(self.field, self.points, self.triangles, self.sizing(self.points), free, steps=1)

    def steer(self, count: int) -> None:
        """Collapse or split until there are exactly `count` triangles."""
        for _ in range(40):
            surplus = (len(self.triangles) - count) // 2
            if surplus == 0:
                return
            if surplus > 0:
                self.collapse(np.inf, surplus)
            else:
                self.split(0.0, -surplus)
            self.improve(2)
        raise InputError(f"triangle count: expected one that this surface can have, got {count}")


@njit(cache=True)
def _fans(triangles: Ints, count: int) -> tuple[Ints, Ints]:
    """The triangles around each vertex (N, capacity) and how many there are (N,)."""
    fans, degrees = np.full((count, _CAPACITY), -1, np.int32), np.zeros(count, np.int32)
    for t in range(len(triangles)):
        for v in triangles[t]:
            _join(fans, degrees, v, t)
    return fans, degrees


@njit(cache=True)
def _join(fans: Ints, degrees: Ints, v: int, t: int) -> None:
    """Put triangle t into the fan of vertex v."""
    fans[v, degrees[v]] = t
    degrees[v] += 1


@njit(cache=True)
def _leave(fans: Ints, degrees: Ints, v: int, t: int) -> None:
    """Take triangle t out of the fan of vertex v."""
    for k in range(degrees[v]):
        if fans[v, k] == t:
            degrees[v] -= 1
            fans[v, k] = fans[v, degrees[v]]
            return


@njit(cache=True)
def _sides(triangles: Ints, fans: Ints, degrees: Ints, a: int, b: int) -> tuple[int, int]:
    """The triangle that runs from a to b and the one that runs from b to a; -1 where there is no such edge."""
    forward, backward = -1, -1
    for k in range(degrees[a]):
        t = fans[a, k]
        for corner in range(3):
            if triangles[t, corner] == a:
                if triangles[t, (corner + 1) % 3] == b:
                    forward = t
                if triangles[t, (corner + 2) % 3] == b:
                    backward = t
    return forward, backward


@njit(cache=True)
def _upright(p: Floats, q: Floats, r: Floats, normal: Floats) -> bool:
    """Whether triangle p q r faces the way of `normal`, within 60 degrees."""
    n = np.cross(q - p, r - p)
    return bool(np.dot(n, normal) > 0.5 * np.sqrt(np.dot(n, n) * np.dot(normal, normal)))


@njit(cache=True)
def _stays_upright(points, normals, triangles, fan, end, other, place):  # type: ignore[no-untyped-def]
    """Whether the triangles of a vertex's fan, but those of its edge to `other`, face outward with it at `place`."""
    for t in fan:
        p, q, r = triangles[t]
        if other in (p, q, r):
            continue
        at_p = place if p == end else points[p]
        at_q = place if q == end else points[q]
        at_r = place if r == end else points[r]
        if not _upright(at_p, at_q, at_r, normals[p] + normals[q] + normals[r]):
            return False
    return True


@njit(cache=True)
def _may_collapse(triangles: Ints, fans: Ints, degrees: Ints, a: int, b: int) -> bool:
    """Whether the surface stays a surface, with four to a dozen triangles a vertex, when b moves into a."""
    forward, backward = _sides(triangles, fans, degrees, a, b)
    if forward < 0 or backward < 0 or degrees[a] + degrees[b] - 4 > _CAPACITY // 2:
        return False
    c, d = triangles[forward].sum() - a - b, triangles[backward].sum() - a - b
    if min(degrees[c], degrees[d]) < 5:
        return False
    # The two must share no neighbour but these, or the surface would be pinched there.
    shared = 0
    for k in range(degrees[a]):
        for v in triangles[fans[a, k]]:
            shared += v not in (a, b) and _sides(triangles, fans, degrees, b, v)[0] >= 0
    return bool(shared == 4)  # each of them is met in two triangles


@njit(cache=True)
def _collapse(points: Floats, normals: Floats, triangles: Ints, pairs: Ints, most: int) -> None:
    """Collapse edges to their middle, in place; a triangle that goes gets -1 for its corners."""
    fans, degrees = _fans(triangles, len(points))
    touched = np.zeros(len(points), np.bool_)
    done = 0
    for a, b in pairs:
        if done == most:
            return
        if touched[a] or touched[b] or not _may_collapse(triangles, fans, degrees, a, b):
            continue
        place = (points[a] + points[b]) / 2
        if not _stays_upright(points, normals, triangles, fans[a, : degrees[a]], a, b, place):
            continue
        if not _stays_upright(points, normals, triangles, fans[b, : degrees[b]], b, a, place):
            continue
        for t in _sides(triangles, fans, degrees, a, b):
            for v in triangles[t].copy():
                _leave(fans, degrees, v, t)
            triangles[t] = -1
        for t in fans[b, : degrees[b]]:
            triangles[t] = np.where(triangles[t] == b, a, triangles[t])
            _join(fans, degrees, a, t)
        points[a] = place
        touched[a] = touched[b] = True
        done += 1


@njit(cache=True)
def _split(triangles: Ints, pairs: Ints, count: int, most: int) -> tuple[Ints, Ints]:
    """Split edges; their ends (S, 2) in the order of the new vertices, and the triangles (T + 2S, 3)."""
    fans, degrees = _fans(triangles, count)
    touched = np.zeros(count, np.bool_)
    chosen = np.empty((min(len(pairs), most), 2), np.int32)
    grown = np.empty((len(triangles) + 2 * len(chosen), 3), np.int32)
    grown[: len(triangles)] = triangles
    done = 0
    for a, b in pairs:
        # Only where nothing has changed yet in this pass: the fans then need no upkeep.
        if done == len(chosen) or touched[a] or touched[b]:
            continue
        forward, backward = _sides(triangles, fans, degrees, a, b)
        c, d = triangles[forward].sum() - a - b, triangles[backward].sum() - a - b
        if touched[c] or touched[d]:
            continue
        new, t = count + done, len(triangles) + 2 * done
        grown[t] = np.where(triangles[forward] == a, new, triangles[forward])
        grown[t + 1] = np.where(triangles[backward] == a, new, triangles[backward])
        grown[forward] = np.where(triangles[forward] == b, new, triangles[forward])
        grown[backward] = np.where(triangles[backward] == b, new, triangles[backward])
        chosen[done, 0], chosen[done, 1] = a, b
        touched[a] = touched[b] = touched[c] = touched[d] = True
        done += 1
    return chosen[:done].copy(), grown[: len(triangles) + 2 * done].copy()


@njit(cache=True)
def _cotangent(corner: Floats, p: Floats, q: Floats) -> float:
    """Cotangent of the angle at `corner` of the triangle with p and q."""
    n = np.cross(p - corner, q - corner)
    return float(np.dot(p - corner, q - corner) / max(np.sqrt(np.dot(n, n)), 1e-300))


@njit(cache=True)
def _flip(points: Floats, normals: Floats, triangles: Ints, pairs: Ints) -> None:
    """Flip, in place, the edges whose opposite angles sum to more than 180 degrees."""
    fans, degrees = _fans(triangles, len(points))
    for a, b in pairs:
        forward, backward = _sides(triangles, fans, degrees, a, b)
        if forward < 0 or backward < 0 or min(degrees[a], degrees[b]) < 4:
            continue
        c, d = triangles[forward].sum() - a - b, triangles[backward].sum() - a - b
        if _cotangent(points[c], points[a], points[b]) + _cotangent(points[d], points[a], points[b]) > -1e-6:
            continue
        if max(degrees[c], degrees[d]) > _CAPACITY // 2 or _sides(triangles, fans, degrees, c, d)[0] >= 0:
            continue
        normal = normals[a] + normals[b] + normals[c] + normals[d]
        first = _upright(points[a], points[d], points[c], normal)
        if not (first and _upright(points[d], points[b], points[c], normal)):
            continue
        triangles[forward, 0], triangles[forward, 1], triangles[forward, 2] = a, d, c
        triangles[backward, 0], triangles[backward, 1], triangles[backward, 2] = d, b, c
        _leave(fans, degrees, b, forward)
        _leave(fans, degrees, a, backward)
        _join(fans, degrees, d, forward)
        _join(fans, degrees, c, backward)
