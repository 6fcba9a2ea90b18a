"""Surfaces as signed distance fields: rounded cones, ellipsoids and sheets joined smoothly, and their triangles.

Lengths are in the unit of the primitives. Values are negative inside, and true distances only near the surface.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posespace.check import Floats, Ints
from posespace.errors import InputError, require
from posespace.jit import njit
from posespace.simulation.bodies.height_lines import HeightLine, HeightLines, subtract_heights

_CONE, _ELLIPSOID, _SHEET, _HALF_SPACE = 0, 1, 2, 3
_CARVED = -1
"""The group of primitives that are carved away from the whole."""
_BLOCK = 4
"""Grid points per block along each axis."""
_FAR = 1e3
"""Value of a group before its first primitive."""


@dataclass(frozen=True, eq=False)
class DistanceField:
    """Primitives blended within groups, groups blended with each other, cuts carved away, then height lines added.

    Parameters
    ----------
    kinds : (P,) int64, what each primitive is
    groups : (P,) int64, the group it belongs to, -1 for one that is carved away
    blends : (P,) width of the band of values in which it blends with the primitives before it
    axes : (P, 3, 3) rows are the primitive's local axes, each divided by the stretch along it
    origins : (P, 3) of those axes
    sizes : (P, 10) radii, lengths, corners: see `_primitive`
    joins : (G, 2) int64 group that is merged, group it is merged into, in this order; the last is the whole
    join_blends : (G,) blend width of each join
    height_lines : lines that raise or carve the surface
    """

    kinds: Ints
    groups: Ints
    blends: Floats
    axes: Floats
    origins: Floats
    sizes: Floats
    joins: Ints
    join_blends: Floats
    height_lines: HeightLines

    def __call__(self, points: ArrayLike) -> Floats:
        """Return the field's values (N,) at points (N, 3)."""
        return self.slopes(points)[0]

    def slopes(self, points: ArrayLike) -> tuple[Floats, Floats]:
        """Return the field's values (N,) and gradients (N, 3) at points (N, 3)."""
        both = _slopes(np.ascontiguousarray(points, dtype=np.float64), *self._tables)
        return both[:, 0], both[:, 1:]

    def normals(self, points: ArrayLike) -> Floats:
        """Return unit gradients (N, 3): near the surface, its outward normals."""
        gradients = self.slopes(points)[1]
        return np.asarray(gradients / np.maximum(np.linalg.norm(gradients, axis=1, keepdims=True), 1e-12))

    def project(self, points: ArrayLike, steps: int = 4, stride: float = 2.0) -> Floats:
        """Return points (N, 3) moved along the gradient to the surface, by at most `stride` per step."""
        moved = np.array(points, dtype=np.float64)
        for _ in range(steps):
            values, gradients = self.slopes(moved)
            # Where blends cancel, the gradient is short: the floor keeps the step from running away.
            length = np.maximum((gradients**2).sum(axis=1), 0.05)
            moved -= np.clip(values / length, -stride, stride)[:, None] * gradients
        return moved

    @property
    def _tables(self) -> tuple[Floats | Ints, ...]:
        parts = (self.kinds, self.groups, self.blends, self.axes, self.origins, self.sizes)
        return (*parts, self.joins, self.join_blends, *self.height_lines.tables)


class FieldBuilder:
    """Collects primitives, in the order they are blended, into a `DistanceField`."""

    def __init__(self, joins: Sequence[tuple[str, str, float]]) -> None:
        """Name the groups: each of `joins` is a group, the group it is merged into, and the width of their blend."""
        names = dict.fromkeys(name for merged, into, _ in joins for name in (merged, into))
        self._numbers: Mapping[str, int] = {name: k for k, name in enumerate(names)}
        self._joins = [(self._numbers[merged], self._numbers[into]) for merged, into, _ in joins]
        self._join_blends = [blend for *_, blend in joins]
        self._rows: list[tuple[int, int, float, Floats, Floats, Floats]] = []
        self._lines: list[HeightLine] = []

    def cone(
        self,
        group: str,
        start: ArrayLike,
        end: ArrayLike,
        radii: tuple[float, float],
        blend: float,
        *,
        upward: ArrayLike = (0.0, 0.0, 1.0),
        stretch: tuple[float, float] = (1.0, 1.0),
    ) -> None:
        """Add a rounded cone whose sections are ellipses: `stretch` multiplies the radii sideways and upward."""
        first = np.asarray(start, dtype=np.float64)
        frame = frame_along(np.asarray(end) - first, upward)
        length = float(np.linalg.norm(np.asarray(end) - first))
        # Values shrink to the shortest stretch, so that they never exceed the distance.
        sizes = (length, *radii, min(*stretch, 1.0))
        axes = frame.T / np.array([[stretch[0]], [1.0], [stretch[1]]])
        self._add(_CONE, group, blend, sizes, axes, first)

    def ellipsoid(
        self, group: str, centre: ArrayLike, frame: ArrayLike, radii: tuple[float, float, float], blend: float
    ) -> None:
        """Add an ellipsoid with its axes along the columns of `frame` (3, 3)."""
        self._add(_ELLIPSOID, group, blend, radii, np.asarray(frame).T, np.asarray(centre))

    def sheet(self, group: str, corners: ArrayLike, thickness: float, blend: float) -> None:
        """Add every point within `thickness` of the triangle `corners` (3, 3)."""
        sizes = (*np.asarray(corners, dtype=np.float64).ravel().tolist(), thickness)
        self._add(_SHEET, group, blend, sizes, np.eye(3), np.zeros(3))

    def cut(self, point: ArrayLike, outward: ArrayLike, blend: float) -> None:
        """Carve away everything beyond a plane, on the side that `outward` (3,) points to."""
        frame = frame_along(np.asarray(outward), (0.31, 0.59, 0.74))
        self._add(_HALF_SPACE, None, blend, (), frame.T, np.asarray(point))

    def add_lines(self, *lines: HeightLine) -> None:
        """Raise or carve the surface along lines, after all primitives."""
        self._lines.extend(lines)

    def build(self) -> DistanceField:
        """Return the field of all primitives and lines so far."""
        kinds, groups, blends, axes, origins, sizes = zip(*self._rows, strict=True)
        return DistanceField(
            np.array(kinds),
            np.array(groups),
            np.array(blends, dtype=np.float64),
            np.array(axes),
            np.array(origins),
            np.array(sizes),
            np.array(self._joins),
            np.array(self._join_blends, dtype=np.float64),
            HeightLines.of(self._lines),
        )

    def _add(
        self, kind: int, group: str | None, blend: float, sizes: Sequence[float], axes: Floats, origin: Floats
    ) -> None:
        number = _CARVED if group is None else self._numbers[group]
        padded = np.zeros(10)
        padded[: len(sizes)] = sizes
        self._rows.append((kind, number, blend, axes.astype(np.float64), origin.astype(np.float64), padded))


def frame_along(direction: ArrayLike, upward: ArrayLike) -> Floats:
    """Return a rotation (3, 3) whose columns are x sideways, y along `direction`, z as near to `upward` as possible."""
    y = np.asarray(direction, dtype=np.float64)
    x = np.cross(y, np.asarray(upward, dtype=np.float64))
    if not np.linalg.norm(x) > 0:
        raise InputError(f"frame: expected two directions that differ, got {direction!r} and {upward!r}")
    z = np.cross(x, y)
    return np.stack([axis / np.linalg.norm(axis) for axis in (x, y, z)], axis=1)


def _lattice(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The integer coordinates (N, 3) of a grid, the last varying fastest."""
    return np.stack(np.meshgrid(*(np.arange(count) for count in counts), indexing="ij"), axis=-1).reshape(-1, 3)


def marching_cubes(field: DistanceField, box: ArrayLike, spacing: float) -> tuple[Floats, Ints]:
    """Return the raw surface, points (N, 3) and triangles (T, 3) facing outward, on a grid over `box` (2, 3)."""
    measure = require("skimage.measure", "simulate", "building a surface from a distance field")
    low, high = np.asarray(box, dtype=np.float64)
    blocks = np.ceil((high - low) / (_BLOCK * spacing)).astype(int)
    # Most blocks are far from the surface: the value at their centre serves for all of their points.
    middle = field(low + spacing * (_lattice(blocks) * _BLOCK + (_BLOCK - 1) / 2))
    near = np.abs(middle) < _BLOCK * spacing * 1.5
    values = np.repeat(middle[:, None], _BLOCK**3, axis=1)
    inner = _lattice(np.full(3, _BLOCK))
    grid = _lattice(blocks)[near][:, None] * _BLOCK + inner
    values[near] = field(low + spacing * grid.reshape(-1, 3)).reshape(-1, _BLOCK**3)
    values = values.reshape(*blocks, _BLOCK, _BLOCK, _BLOCK).transpose(0, 3, 1, 4, 2, 5).reshape(blocks * _BLOCK)
    points, triangles, _, _ = measure.marching_cubes(values, 0.0, spacing=(spacing,) * 3, gradient_direction="descent")
    return points.astype(np.float64) + low, triangles.astype(np.int32)


@njit()
def _blend(total: Floats, part: tuple[float, float, float, float], blend: float) -> None:
    """Join `part` into `total`, both a value and its gradient, in place.

    The lesser value, rounded off where the two are within `blend` of each other; twice differentiable.
    """
    gap = part[0] - total[0]
    if gap >= blend:
        return
    near = max(blend - abs(gap), 0.0) / blend
    share = near * near / 2 if gap > 0 else 1 - near * near / 2
    total[0] = min(total[0], part[0]) - near * near * near * blend / 6
    for k in range(1, 4):
        total[k] += share * (part[k] - total[k])


@njit()
def _rounded_cone(x: float, y: float, z: float, sizes: Floats) -> tuple[float, float, float, float]:
    """The hull of a ball at the origin and one at (0, length, 0)."""
    length, low, high, scale = sizes[0], sizes[1], sizes[2], sizes[3]
    slope = (low - high) / length
    lean = math.sqrt(1 - slope * slope)
    radial = math.sqrt(x * x + z * z)
    along = y * lean - radial * slope
    if 0 <= along <= length * lean:
        share = scale * lean / max(radial, 1e-12)
        return scale * (radial * lean + y * slope - low), share * x, scale * slope, share * z
    radius = low
    if along > 0:
        radius = high
        y -= length
    distance = math.sqrt(x * x + y * y + z * z)
    share = scale / max(distance, 1e-12)
    return scale * (distance - radius), share * x, share * y, share * z


@njit()
def _ellipsoid(x: float, y: float, z: float, sizes: Floats) -> tuple[float, float, float, float]:
    """The distance to first order; at the centre, where it has none, the shortest radius."""
    a, b, c = 1 / sizes[0] ** 2, 1 / sizes[1] ** 2, 1 / sizes[2] ** 2
    scaled = math.sqrt(x * x * a + y * y * b + z * z * c)
    slope = math.sqrt((x * a) ** 2 + (y * b) ** 2 + (z * c) ** 2)
    if slope < 1e-12:
        return -min(sizes[0], sizes[1], sizes[2]), 0.0, 0.0, 0.0
    value = scaled * (scaled - 1) / slope
    p, q = (2 - 1 / scaled) / slope, value / slope**2
    return value, (p - q * a) * a * x, (p - q * b) * b * y, (p - q * c) * c * z


@njit()
def _sheet(x: float, y: float, z: float, sizes: Floats) -> tuple[float, float, float, float]:
    """A triangle, by nine coordinates, thickened by the tenth size."""
    a, b, c = sizes[:3], sizes[3:6], sizes[6:9]
    point = np.array((x, y, z))
    normal = np.cross(b - a, c - a)
    gap = normal * (np.dot(point - a, normal) / np.dot(normal, normal))
    inside = True
    for start, end in ((a, b), (b, c), (c, a)):
        inside = inside and np.dot(np.cross(end - start, point - start), normal) > 0
    if not inside:
        nearest = np.inf
        for start, end in ((a, b), (b, c), (c, a)):
            share = np.dot(point - start, end - start) / np.dot(end - start, end - start)
            away = point - start - min(max(share, 0.0), 1.0) * (end - start)
            if np.dot(away, away) < nearest:
                nearest, gap = np.dot(away, away), away
    distance = math.sqrt(np.dot(gap, gap))
    share = 1 / max(distance, 1e-12)
    return distance - sizes[9], share * gap[0], share * gap[1], share * gap[2]


@njit()
def _primitive(kind: int, point: Floats, axes: Floats, origin: Floats, sizes: Floats) -> Any:
    """The value and gradient of one primitive.

    Sizes: a cone's length, two radii and least stretch; an ellipsoid's radii; a sheet's corners and thickness.
    """
    x, y, z = point[0] - origin[0], point[1] - origin[1], point[2] - origin[2]
    u = axes[0, 0] * x + axes[0, 1] * y + axes[0, 2] * z
    v = axes[1, 0] * x + axes[1, 1] * y + axes[1, 2] * z
    w = axes[2, 0] * x + axes[2, 1] * y + axes[2, 2] * z
    value, du, dv, dw = -v, 0.0, -1.0, 0.0
    if kind == _CONE:
        value, du, dv, dw = _rounded_cone(u, v, w, sizes)
    elif kind == _ELLIPSOID:
        value, du, dv, dw = _ellipsoid(u, v, w, sizes)
    elif kind == _SHEET:
        value, du, dv, dw = _sheet(u, v, w, sizes)
    dx = axes[0, 0] * du + axes[1, 0] * dv + axes[2, 0] * dw
    dy = axes[0, 1] * du + axes[1, 1] * dv + axes[2, 1] * dw
    dz = axes[0, 2] * du + axes[1, 2] * dv + axes[2, 2] * dw
    return value, dx, dy, dz


@njit()
def _slopes(points, kinds, groups, blends, axes, origins, sizes, joins, join_blends, *height_lines):  # type: ignore[no-untyped-def]
    """Values and gradients (N, 4) at points (N, 3)."""
    result = np.empty((len(points), 4))
    parts = np.zeros((len(joins) + 1, 4))
    for n in range(len(points)):
        parts[:, 0] = _FAR
        for k in range(len(kinds)):
            if groups[k] != _CARVED:
                part = _primitive(kinds[k], points[n], axes[k], origins[k], sizes[k])
                _blend(parts[groups[k]], part, blends[k])
        for k in range(len(joins)):
            merged = parts[joins[k, 0]]
            _blend(parts[joins[k, 1]], (merged[0], merged[1], merged[2], merged[3]), join_blends[k])
        # Carving is a union of the outsides.
        whole = -parts[joins[-1, 1]]
        for k in range(len(kinds)):
            if groups[k] == _CARVED:
                part = _primitive(kinds[k], points[n], axes[k], origins[k], sizes[k])
                _blend(whole, part, blends[k])
        result[n] = -whole
        subtract_heights(result[n], points[n], *height_lines)
    return result
