"""Even, well-shaped triangles at an exact count on the surface of a distance field.

Isotropic remeshing after Botsch and Kobbelt (2004): split long edges, collapse short ones, flip, relax, project.
Everything runs in a fixed order, so that the same field always gives the same triangles. `geometry.remesh` decides
otherwise what to split, collapse and flip: one set of rules would give another hand than the one that is stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.geometry.fans import fans_of, flip, merge, sides_of, third, would_pinch
from posespace.geometry.normals import area_vectors, vertex_normals
from posespace.geometry.relax import relaxed
from posespace.geometry.vectors import agree, cross, dot, minus, normal
from posespace.jit import njit
from posespace.simulation.bodies.distance_field import DistanceField, marching_cubes

_MOST_AROUND = 12
"""Triangles around a vertex beyond which no edge is collapsed into it or flipped to it."""
_UPRIGHT = 0.5
"""The least cosine of the angle between a triangle's normal and those of the surface at its corners."""
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
    count : how many triangles; even, as for every closed surface
    spacing : of the grid on which the surface is first found, less than its narrowest gap
    sizing : gives relative edge lengths (N,) at points (N, 3); None: the same everywhere
    """
    if count < 4 or count % 2:
        raise InputError(f"triangle count of a closed surface: expected an even number from 4, got {count}")
    points, triangles = marching_cubes(field, box, spacing)
    mesh = _FieldMesh(field, sizing or _even, field.project(points), triangles)
    for _ in range(_ROUNDS):
        unit = mesh.unit_length(count)
        mesh.collapse(0.8 * unit, len(mesh.triangles))
        mesh.split(4 / 3 * unit, len(mesh.triangles))
        mesh.improve(2)
    mesh.steer(count)
    mesh.improve(25)
    return field.project(mesh.points), mesh.triangles


def relax(
    field: DistanceField, points: Floats, triangles: Ints, sizes: Floats, free: NDArray[np.bool_], steps: int = 3
) -> Floats:
    """Return points (N, 3), the `free` (N,) ones moved along the surface to the middle of the triangles around them.

    A triangle counts by its area over the square of the `sizes` (N,) at its corners, so that each tends to its own
    size. The points are brought back to the surface in `steps` steps.
    """
    weights = np.linalg.norm(area_vectors(points, triangles), axis=1) / sizes[triangles].mean(axis=1) ** 2
    moved = points.copy()
    aim = relaxed(points, triangles, vertex_normals(points, triangles), weights)
    moved[free] = field.project(aim[free], steps)
    return moved


def _even(points: Floats) -> Floats:
    return np.ones(len(points))


@dataclass
class _FieldMesh:
    """The triangles of a field's surface while they are made."""

    field: DistanceField
    sizing: Sizing
    points: Floats
    triangles: Ints

    def unit_length(self, count: int) -> float:
        """Return the edge length, where the size is 1, at which `count` equilateral triangles cover the surface."""
        area = np.linalg.norm(area_vectors(self.points, self.triangles), axis=1) / 2
        covered = (area / self.sizing(self.points)[self.triangles].mean(axis=1) ** 2).sum()
        return float(np.sqrt(covered / (count * np.sqrt(3) / 4)))

    def edges(self) -> tuple[Ints, Floats]:
        """Return edges (E, 2) and their lengths (E,) relative to the wanted size."""
        # In the order of the triangles, not of `edges_of`: in another order other edges would be flipped first.
        pairs = np.concatenate([self.triangles[:, [0, 1]], self.triangles[:, [1, 2]], self.triangles[:, [2, 0]]])
        pairs = np.ascontiguousarray(pairs[pairs[:, 0] < pairs[:, 1]])
        size = self.sizing(self.points)[pairs].mean(axis=1)
        return pairs, np.linalg.norm(self.points[pairs[:, 0]] - self.points[pairs[:, 1]], axis=1) / size

    def collapse(self, limit: float, most: int) -> None:
        """Collapse at most `most` edges shorter than `limit`, shortest first."""
        pairs, lengths = self.edges()
        order = np.argsort(lengths, kind="stable")
        pairs = pairs[order[lengths[order] < limit]]
        _collapse(self.points, vertex_normals(self.points, self.triangles), self.triangles, pairs, most)
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
            _flip(self.points, vertex_normals(self.points, self.triangles), self.triangles, self.edges()[0])
            # One step is enough so near to the surface: the next round corrects what is left.
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


@njit()
def _stays_upright(points, normals, triangles, fan, end, other, position):  # type: ignore[no-untyped-def]
    """Whether a vertex's triangles, except those at its edge to `other`, face outward when it is at `position`."""
    for t in fan:
        p, q, r = triangles[t]
        if other in (p, q, r):
            continue
        at_p = position if p == end else points[p]
        at_q = position if q == end else points[q]
        at_r = position if r == end else points[r]
        if not agree(normal(at_p, at_q, at_r), normals[p] + normals[q] + normals[r], _UPRIGHT):
            return False
    return True


@njit()
def _may_collapse(a: int, b: int, triangles: Ints, fans: Ints, degrees: Ints) -> bool:
    """Whether the surface stays a surface, with four to a dozen triangles per vertex, when b moves into a."""
    forward, backward = sides_of(a, b, triangles, fans, degrees)
    if forward < 0 or backward < 0 or degrees[a] + degrees[b] - 4 > _MOST_AROUND:
        return False
    c, d = third(triangles, forward, a, b), third(triangles, backward, a, b)
    return min(degrees[c], degrees[d]) >= 5 and not would_pinch(a, b, triangles, fans, degrees)


@njit()
def _collapse(points: Floats, normals: Floats, triangles: Ints, pairs: Ints, most: int) -> None:
    """Collapse edges to their midpoint, in place; a triangle that vanishes gets -1 for its corners."""
    fans, degrees = fans_of(triangles, len(points))
    touched = np.zeros(len(points), np.bool_)
    done = 0
    for a, b in pairs:
        if done == most:
            return
        if touched[a] or touched[b] or not _may_collapse(a, b, triangles, fans, degrees):
            continue
        position = (points[a] + points[b]) / 2
        if not _stays_upright(points, normals, triangles, fans[a, : degrees[a]], a, b, position):
            continue
        if not _stays_upright(points, normals, triangles, fans[b, : degrees[b]], b, a, position):
            continue
        merge(a, b, triangles, fans, degrees)
        points[a] = position
        touched[a] = touched[b] = True
        done += 1


@njit()
def _split(triangles: Ints, pairs: Ints, count: int, most: int) -> tuple[Ints, Ints]:
    """Split edges; their ends (S, 2) in the order of the new vertices, and the triangles (T + 2S, 3)."""
    fans, degrees = fans_of(triangles, count)
    touched = np.zeros(count, np.bool_)
    chosen = np.empty((min(len(pairs), most), 2), np.int32)
    grown = np.empty((len(triangles) + 2 * len(chosen), 3), np.int32)
    grown[: len(triangles)] = triangles
    done = 0
    for a, b in pairs:
        # Only where nothing has changed yet in this pass: the fans then need no upkeep.
        if done == len(chosen) or touched[a] or touched[b]:
            continue
        forward, backward = sides_of(a, b, triangles, fans, degrees)
        c, d = third(triangles, forward, a, b), third(triangles, backward, a, b)
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


@njit()
def _cotangent(corner: Floats, p: Floats, q: Floats) -> float:
    """Cotangent of the angle at `corner` of the triangle with p and q."""
    u, v = minus(p, corner), minus(q, corner)
    n = cross(u, v)
    return float(dot(u, v) / max(np.sqrt(dot(n, n)), 1e-300))


@njit()
def _flip(points: Floats, normals: Floats, triangles: Ints, pairs: Ints) -> None:
    """Flip, in place, the edges whose opposite angles sum to more than 180 degrees."""
    fans, degrees = fans_of(triangles, len(points))
    for a, b in pairs:
        forward, backward = sides_of(a, b, triangles, fans, degrees)
        if forward < 0 or backward < 0 or min(degrees[a], degrees[b]) < 4:
            continue
        c, d = third(triangles, forward, a, b), third(triangles, backward, a, b)
        if _cotangent(points[c], points[a], points[b]) + _cotangent(points[d], points[a], points[b]) > -1e-6:
            continue
        if max(degrees[c], degrees[d]) > _MOST_AROUND or sides_of(c, d, triangles, fans, degrees)[0] >= 0:
            continue
        outward = normals[a] + normals[b] + normals[c] + normals[d]
        upright = agree(normal(points[a], points[d], points[c]), outward, _UPRIGHT)
        if upright and agree(normal(points[d], points[b], points[c]), outward, _UPRIGHT):
            flip(a, b, triangles, fans, degrees)
