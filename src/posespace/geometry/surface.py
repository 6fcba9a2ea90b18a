"""Surface: queries of a triangle surface: closest points, winding numbers, self-intersections.

A tree of boxes over the triangles answers them; its nodes also hold the dipoles of far triangles for winding numbers.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Ints
from posespace.geometry.morton import curve_order
from posespace.geometry.normals import area_vectors
from posespace.geometry.vectors import cross, dot, minus
from posespace.jit import njit

_LEAF = 4
"""Triangles in a leaf of the tree."""

_CURVE_BITS = 10
"""Bits per axis of the curve that sorts the triangles for the tree."""

_FAR = 2.2
"""A box this many radii away adds to a winding number as one dipole."""


class Closest(NamedTuple):
    """Points of a surface.

    Parameters
    ----------
    points : (Q, 3)
    triangles : (Q,) int32, the triangle each lies on
    shares : (Q, 3) of that triangle's corners in it, which sum to one
    """

    points: Floats
    triangles: Ints
    shares: Floats


class Surface:
    """A triangle surface with a tree for fast queries.

    Parameters
    ----------
    points : (N, 3)
    triangles : (T, 3), at least one
    """

    def __init__(self, points: Floats, triangles: NDArray[np.integer[Any]]) -> None:
        self.points = np.ascontiguousarray(points, dtype=np.float64)
        self.triangles = np.ascontiguousarray(triangles, dtype=np.int32)
        corners = self.points[self.triangles]
        self.corners = corners
        self.area_normals: Floats = 0.5 * area_vectors(self.points, self.triangles)
        length = np.linalg.norm(self.area_normals, axis=1, keepdims=True)
        self.normals: Floats = self.area_normals / np.where(length > 0, length, 1.0)
        self._order, self._boxes, self._moments = _tree(corners, self.area_normals)

    @property
    def volume(self) -> float:
        """The enclosed volume, negative for an inside-out surface."""
        a, b, c = self.corners[:, 0], self.corners[:, 1], self.corners[:, 2]
        return float(np.einsum("ti,ti->", np.cross(a, b), c)) / 6

    @property
    def area(self) -> float:
        """The sum of the triangles' areas."""
        return float(np.linalg.norm(self.area_normals, axis=1).sum())

    def closest(self, queries: Floats, facing: Floats | None = None) -> Closest:
        """Return the points of the surface closest to `queries` (Q, 3).

        `facing` (Q, 3) are unit vectors or None: only triangles that face within about 80 degrees of them count, so
        that a point on one finger never lands on the next. Where there are none, all count.
        """
        points = np.ascontiguousarray(queries, dtype=np.float64)
        toward = np.zeros_like(points) if facing is None else np.ascontiguousarray(facing, dtype=np.float64)
        closest = Closest(*_closest(points, toward, self.corners, self.normals, self._order, self._boxes))
        missing = np.flatnonzero(closest.triangles < 0)
        if len(missing):
            for column, values in zip(closest, self.closest(points[missing]), strict=True):
                column[missing] = values
        return closest

    def signed_distance(self, queries: Floats) -> Floats:
        """Return the distance (Q,) of `queries` (Q, 3) to the surface, negative inside."""
        gap = np.linalg.norm(queries - self.closest(queries)[0], axis=1)
        signed: Floats = np.where(self.winding(queries) > 0.5, -gap, gap)
        return signed

    def winding(self, queries: Floats) -> Floats:
        """Return winding numbers (Q,) of `queries` (Q, 3): about 1 inside, 0 outside, also where there are holes."""
        points = np.ascontiguousarray(queries, dtype=np.float64)
        winding: Floats = _winding(points, self.corners, self._order, self._boxes, self._moments)
        return winding

    def crossings(self) -> Ints:
        """Return the triangles (C,) that another triangle, not a neighbour, passes through."""
        hit = _crossings(self.corners, self.triangles, self._order, self._boxes)
        return np.flatnonzero(hit).astype(np.int32)


def position_text(position: Floats) -> str:
    """Return a position (3,) as text for a message, without rounding errors."""
    rounding = 1e-9 * float(np.abs(position).max())
    return "(" + ", ".join(f"{x if abs(x) > rounding else 0:.4g}" for x in position.tolist()) + ")"


def _tree(corners: Floats, area_normals: Floats) -> tuple[Ints, Floats, Floats]:
    """Sort the triangles along a space-filling curve and put a complete binary tree of boxes over them.

    Returns the order (L·_LEAF,), -1 where padded; boxes (M, 2, 3) of the M = 2L - 1 nodes, root first; and moments
    (M, 7) of the nodes: summed area normal, area-weighted centre, squared radius about it.
    """
    centre = corners.mean(axis=1)
    leaves = 1 << max(0, math.ceil(math.log2(max(1, len(corners) / _LEAF))))
    order = np.full(leaves * _LEAF, -1, dtype=np.int32)
    order[: len(corners)] = curve_order(centre, _CURVE_BITS)
    filled = order >= 0
    low_corner, high_corner = np.full((len(order), 3), np.inf), np.full((len(order), 3), -np.inf)
    low_corner[filled], high_corner[filled] = corners.min(axis=1)[order[filled]], corners.max(axis=1)[order[filled]]
    area = np.linalg.norm(area_normals, axis=1)
    sums = np.zeros((len(order), 7))
    sums[filled, :3], sums[filled, 6] = area_normals[order[filled]], area[order[filled]]
    sums[filled, 3:6] = (centre * area[:, None])[order[filled]]
    width = _LEAF
    levels = []
    while True:
        levels.append(
            (
                low_corner.reshape(-1, width, 3).min(axis=1),
                high_corner.reshape(-1, width, 3).max(axis=1),
                sums.reshape(-1, width, 7).sum(axis=1),
            )
        )
        low_corner, high_corner, sums = levels[-1]
        if len(sums) == 1:
            break
        width = 2
    lows, highs, moments = (np.concatenate([level[k] for level in reversed(levels)]) for k in range(3))
    middle = moments[:, 3:6] / np.where(moments[:, 6:] > 0, moments[:, 6:], 1)
    reach = np.maximum(np.abs(lows - middle), np.abs(highs - middle))
    with np.errstate(invalid="ignore"):
        moments = np.hstack([moments[:, :3], middle, (reach**2).sum(axis=1)[:, None]])
    return order, np.stack([lows, highs], axis=1), moments


@njit()
def _closest_shares(p: Any, a: Any, b: Any, c: Any) -> tuple[float, float]:  # noqa: PLR0911, one return for each part
    """The shares of b and c in the point of a triangle closest to p (Ericson, Real-Time Collision Detection, 5.1.5)."""
    ab, ac, ap, bp, cp = minus(b, a), minus(c, a), minus(p, a), minus(p, b), minus(p, c)
    d1, d2, d3, d4, d5, d6 = dot(ab, ap), dot(ac, ap), dot(ab, bp), dot(ac, bp), dot(ab, cp), dot(ac, cp)
    if d1 <= 0 and d2 <= 0:
        return 0.0, 0.0
    if d3 >= 0 and d4 <= d3:
        return 1.0, 0.0
    if d6 >= 0 and d5 <= d6:
        return 0.0, 1.0
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    if vc <= 0 and d1 >= 0 and d3 <= 0 and d1 - d3 > 0:
        return d1 / (d1 - d3), 0.0
    if vb <= 0 and d2 >= 0 and d6 <= 0 and d2 - d6 > 0:
        return 0.0, d2 / (d2 - d6)
    if va <= 0 and d4 - d3 >= 0 and d5 - d6 >= 0 and (d4 - d3) + (d5 - d6) > 0:
        share = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return 1 - share, share
    total = va + vb + vc
    if total == 0:
        return 0.0, 0.0
    return vb / total, vc / total


@njit()
def _box_gap2(p: Any, box: Any) -> float:
    """Squared distance from a point to a box."""
    gap2 = 0.0
    for k in range(3):
        d = max(box[0, k] - p[k], p[k] - box[1, k], 0.0)
        gap2 += d * d
    return gap2


@njit()
def _closest(queries: Floats, facing: Floats, corners: Floats, normals: Floats, order: Ints, boxes: Floats) -> Any:
    nearest, shares = np.zeros_like(queries), np.zeros_like(queries)
    triangle = np.full(len(queries), -1, dtype=np.int32)
    first_leaf = len(boxes) // 2
    stack = np.empty(64, dtype=np.int64)
    for q in range(len(queries)):
        p, face, best = queries[q], facing[q], np.inf
        stack[0], top = 0, 1
        anywhere = dot(face, face) == 0
        while top:
            top -= 1
            node = stack[top]
            if _box_gap2(p, boxes[node]) >= best:
                continue
            if node < first_leaf:
                left, right = 2 * node + 1, 2 * node + 2
                if _box_gap2(p, boxes[left]) < _box_gap2(p, boxes[right]):
                    left, right = right, left
                stack[top], stack[top + 1], top = left, right, top + 2
                continue
            for slot in range((node - first_leaf) * _LEAF, (node - first_leaf + 1) * _LEAF):
                t = order[slot]
                if t < 0 or not (anywhere or dot(normals[t], face) > 0.17):
                    continue
                a, b, c = corners[t, 0], corners[t, 1], corners[t, 2]
                v, w = _closest_shares(p, a, b, c)
                ab, ac = minus(b, a), minus(c, a)
                point = (a[0] + v * ab[0] + w * ac[0], a[1] + v * ab[1] + w * ac[1], a[2] + v * ab[2] + w * ac[2])
                away = minus(p, point)
                if dot(away, away) < best:
                    best, triangle[q] = dot(away, away), t
                    nearest[q, 0], nearest[q, 1], nearest[q, 2] = point
                    shares[q, 0], shares[q, 1], shares[q, 2] = 1 - v - w, v, w
    return nearest, triangle, shares


@njit()
def _solid_angle(p: Any, corners: Any) -> float:
    """The solid angle of a triangle seen from p (van Oosterom and Strackee 1983)."""
    a, b, c = minus(corners[0], p), minus(corners[1], p), minus(corners[2], p)
    la, lb, lc = math.sqrt(dot(a, a)), math.sqrt(dot(b, b)), math.sqrt(dot(c, c))
    below = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb
    return 2 * math.atan2(dot(a, cross(b, c)), below)


@njit()
def _winding(queries: Floats, corners: Floats, order: Ints, boxes: Floats, moments: Floats) -> Any:
    numbers = np.zeros(len(queries))
    first_leaf = len(boxes) // 2
    stack = np.empty(64, dtype=np.int64)
    for q in range(len(queries)):
        p, angle = queries[q], 0.0
        stack[0], top = 0, 1
        while top:
            top -= 1
            node = stack[top]
            if boxes[node, 0, 0] > boxes[node, 1, 0]:
                continue
            away = minus(moments[node, 3:6], p)
            gap2 = dot(away, away)
            if gap2 > _FAR * _FAR * moments[node, 6]:
                angle += dot(moments[node, :3], away) / (gap2 * math.sqrt(gap2))
            elif node < first_leaf:
                stack[top], stack[top + 1], top = 2 * node + 1, 2 * node + 2, top + 2
            else:
                for slot in range((node - first_leaf) * _LEAF, (node - first_leaf + 1) * _LEAF):
                    if order[slot] >= 0:
                        angle += _solid_angle(p, corners[order[slot]])
        numbers[q] = angle / (4 * math.pi)
    return numbers


@njit()
def _pierces(p: Any, q: Any, corners: Any) -> bool:
    """Whether the segment from p to q passes through a triangle (Möller and Trumbore 1997)."""
    e1, e2, d = minus(corners[1], corners[0]), minus(corners[2], corners[0]), minus(q, p)
    h = cross(d, e2)
    det = dot(e1, h)
    if det == 0:
        return False
    s = minus(p, corners[0])
    u = dot(s, h) / det
    g = cross(s, e1)
    v, t = dot(d, g) / det, dot(e2, g) / det
    return bool(u >= 0 and v >= 0 and u + v <= 1 and t >= 0 and t <= 1)


@njit()
def _edge_pierces(one: int, other: int, corners: Floats, triangles: Ints) -> bool:
    """Whether an edge of the first triangle that has no end in common with the other passes through the other."""
    a, b, c = triangles[other]
    for k in range(3):
        i, j = triangles[one, k], triangles[one, (k + 1) % 3]
        if i in (a, b, c) or j in (a, b, c):
            continue
        if _pierces(corners[one, k], corners[one, (k + 1) % 3], corners[other]):
            return True
    return False


@njit()
def _crossings(corners: Floats, triangles: Ints, order: Ints, boxes: Floats) -> Any:
    hit = np.zeros(len(triangles), dtype=np.bool_)
    first_leaf = len(boxes) // 2
    stack = np.empty(64, dtype=np.int64)
    span = np.empty((2, 3))
    for t in range(len(triangles)):
        for k in range(3):
            span[0, k] = min(corners[t, 0, k], corners[t, 1, k], corners[t, 2, k])
            span[1, k] = max(corners[t, 0, k], corners[t, 1, k], corners[t, 2, k])
        stack[0], top = 0, 1
        while top:
            top -= 1
            box = boxes[stack[top]]
            apart = False
            for k in range(3):
                apart = apart or box[0, k] > span[1, k] or box[1, k] < span[0, k]
            if apart:
                continue
            if stack[top] < first_leaf:
                left = 2 * stack[top] + 1
                stack[top], stack[top + 1], top = left, left + 1, top + 2
                continue
            leaf = stack[top] - first_leaf
            for slot in range(leaf * _LEAF, (leaf + 1) * _LEAF):
                u = order[slot]
                if u >= 0 and u != t and _edge_pierces(t, u, corners, triangles):
                    hit[t] = hit[u] = True
    return hit
