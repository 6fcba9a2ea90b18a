"""Skin stiffness: an elastic membrane on the outer faces of the tetrahedra, which wrinkles.

Each face is an incompressible neo-Hookean sheet in plane stress: per area at rest, ψ = k/2 (λ₁² + λ₂² + 1/(λ₁λ₂)² − 3),
λ₁ ≥ λ₂ being its stretches and k the shear modulus of the skin times its thickness. A thin sheet resists no
compression: it wrinkles, finer than any mesh. So where λ₂ < λ₁^(−1/2) it pulls along λ₁ only,
ψ = k/2 (λ₁² + 2/λ₁ − 3), and where λ₁ < 1 not at all: the relaxed energy of Pipkin (1986). It is convex, so its
tangent needs no damping. Ten-node faces are four flat triangles. A face couples only nodes of one
element, so the tangent has the pattern of the elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from posespace.check import Floats
from posespace.jit import njit
from posespace.simulation.solver.elements import Nodes

_LOWER = ((0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2))
"""Pairs of a triangle's corners, as the blocks of its tangent come."""


class Membrane:
    """The energy of a sheet of triangles.

    Parameters
    ----------
    points : (N, 3) at rest
    triangles : (M, 3)
    stiffness : shear modulus times thickness
    """

    def __init__(self, points: Floats, triangles: Nodes, stiffness: float) -> None:
        self.triangles, self.stiffness = triangles, stiffness
        a, b, c = (points[triangles[:, k]] for k in range(3))
        u, v = b - a, c - a
        length = np.linalg.norm(u, axis=1)
        along = (u * v).sum(axis=1) / length
        normal = np.cross(u, v)
        across = np.linalg.norm(normal, axis=1) / length
        # The inverse of the edges' 2×2 matrix in the triangle's local frame, by rows.
        zero = np.zeros(len(u))
        self._inverse: Floats = np.stack([1 / length, -along / (length * across), zero, 1 / across], axis=1)
        self._area: Floats = 0.5 * length * across
        self._parts = np.empty((len(triangles), 6, 9))

    def forces(self, points: Floats) -> tuple[Floats, Floats]:
        """Return each triangle's energy (M,) and the slope of the energy at its corners (M, 3, 3)."""
        energy, slope = _forces(points, self.triangles, self._inverse, self._area, self.stiffness)
        return energy, slope

    def tangents(self, points: Floats) -> Floats:
        """Return each triangle's tangent (M, 6, 9): blocks of the corner pairs (0, 0), (1, 0), (1, 1), (2, 0)..."""
        _tangents(points, self.triangles, self._inverse, self._area, self.stiffness, self._parts)
        return self._parts

    def blocks(self) -> tuple[Nodes, Nodes]:
        """Return the nodes (M, 6) of the rows and of the columns of the tangents' blocks."""
        row, column = np.array(_LOWER).T
        return self.triangles[:, row], self.triangles[:, column]


@njit()
def _gradient(points: Floats, corners: Nodes, inverse: Floats, f: Floats) -> None:
    """Write the two columns of F, as six numbers, into `f`."""
    for i in range(3):
        u = points[corners[1], i] - points[corners[0], i]
        v = points[corners[2], i] - points[corners[0], i]
        f[i] = u * inverse[0] + v * inverse[2]
        f[3 + i] = u * inverse[1] + v * inverse[3]


@njit()
def _metric(f: Floats) -> tuple[float, float, float]:
    """The entries C₀₀, C₁₁ and C₀₁ of the metric."""
    p, q, r = 0.0, 0.0, 0.0
    for i in range(3):
        p += f[i] * f[i]
        q += f[3 + i] * f[3 + i]
        r += f[i] * f[3 + i]
    return p, q, r


@njit()
def _stretches(p: float, q: float, r: float) -> tuple[float, float]:
    """The greater and the lesser stretch."""
    middle, half = 0.5 * (p + q), np.hypot(0.5 * (p - q), r)
    return np.sqrt(middle + half), np.sqrt(max(middle - half, 0.0))


@njit()
def _longest(p: float, q: float, r: float, stretch: float) -> tuple[float, float]:
    """The direction at rest, a unit vector, that has the greater stretch."""
    x, y = stretch * stretch - q, r
    if abs(p - stretch * stretch) > abs(x):
        x, y = r, stretch * stretch - p
    length = np.hypot(x, y)
    return (x / length, y / length) if length > 0.0 else (1.0, 0.0)


@njit()
def _stress(f: Floats, by: Floats) -> float:
    """Write the slope of ψ/k by F, as six numbers, into `by` and return ψ/k."""
    p, q, r = _metric(f)
    one, two = _stretches(p, q, r)
    if one <= 1.0:
        by[:] = 0.0
        return 0.0
    if two * np.sqrt(one) <= 1.0:
        x, y = _longest(p, q, r, one)
        pull = 1.0 - 1.0 / one**3
        for i in range(3):
            along = pull * (f[i] * x + f[3 + i] * y)
            by[i], by[3 + i] = along * x, along * y
        return float(0.5 * (one * one + 2.0 / one - 3.0))
    squared = p * q - r * r
    for i in range(3):
        by[i] = f[i] - (f[i] * q - r * f[3 + i]) / squared**2
        by[3 + i] = f[3 + i] - (f[3 + i] * p - r * f[i]) / squared**2
    return float(0.5 * (p + q + 1.0 / squared - 3.0))


@njit()
def _curvature(f: Floats, h: Floats) -> None:
    """Write the second derivative of ψ/k by F into `h` (6, 6)."""
    p, q, r = _metric(f)
    one, two = _stretches(p, q, r)
    if one <= 1.0:
        h[:] = 0.0
    elif two * np.sqrt(one) <= 1.0:
        _wrinkled(f, one, two, *_longest(p, q, r, one), h)
    else:
        _taut(f, p, q, r, h)


@njit()
def _taut(f: Floats, p: float, q: float, r: float, h: Floats) -> None:
    squared = p * q - r * r
    g = np.empty(6)
    for i in range(3):
        g[i] = f[i] * q - r * f[3 + i]
        g[3 + i] = f[3 + i] * p - r * f[i]
    for a in range(2):
        for b in range(2):
            for i in range(3):
                for j in range(3):
                    same = 1.0 if i == j else 0.0
                    if a == b:
                        o = 1 - a
                        bend = (q if a == 0 else p) * same - f[3 * o + i] * f[3 * o + j]
                    else:
                        bend = 2.0 * f[3 * a + i] * f[3 * b + j] - f[3 * b + i] * f[3 * a + j] - r * same
                    m, n = 3 * a + i, 3 * b + j
                    h[m, n] = 4.0 * g[m] * g[n] / squared**3 - bend / squared**2
                    if m == n:
                        h[m, n] += 1.0


@njit()
def _wrinkled(f: Floats, one: float, two: float, x: float, y: float, h: Floats) -> None:
    """That of λ₁²/2 + 1/λ₁, by the second derivative of a singular value in its own frame."""
    modes = np.empty((4, 6))
    u, v, w = np.empty(3), np.empty(3), np.empty(3)
    for i in range(3):
        u[i] = (f[i] * x + f[3 + i] * y) / one
        v[i] = f[3 + i] * x - f[i] * y
    # v is λ₂ times the second axis; where λ₂ vanishes any direction across the first will do.
    if two < 1e-9 * one:
        least = np.abs(u).argmin()
        v[:] = 0.0
        v[least] = 1.0
        v -= u[least] * u
    v /= np.sqrt((v * v).sum())
    w[0], w[1], w[2] = u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]
    for i in range(3):
        modes[0, i], modes[0, 3 + i] = u[i] * x, u[i] * y
        modes[1, i], modes[1, 3 + i] = -u[i] * y, u[i] * x
        modes[2, i], modes[2, 3 + i] = v[i] * x, v[i] * y
        modes[3, i], modes[3, 3 + i] = w[i] * x, w[i] * y
    pull = one - 1.0 / one**2
    gap = one * one - two * two
    for m in range(6):
        for n in range(6):
            rotation = one * (modes[1, m] * modes[1, n] + modes[2, m] * modes[2, n])
            rotation += two * (modes[1, m] * modes[2, n] + modes[2, m] * modes[1, n])
            h[m, n] = (1.0 + 2.0 / one**3) * modes[0, m] * modes[0, n]
            h[m, n] += pull * (rotation / gap + modes[3, m] * modes[3, n] / one)


@njit(parallel=True)
def _forces(points: Floats, triangles: Nodes, inverse: Floats, area: Floats, stiffness: float) -> tuple[Any, Any]:
    count = len(triangles)
    energy, slope = np.empty(count), np.empty((count, 3, 3))
    for t in prange(count):
        f, by = np.empty(6), np.empty(6)
        _gradient(points, triangles[t], inverse[t], f)
        weight = stiffness * area[t]
        energy[t] = weight * _stress(f, by)
        for i in range(3):
            p, q = weight * by[i], weight * by[3 + i]
            slope[t, 1, i] = p * inverse[t, 0] + q * inverse[t, 1]
            slope[t, 2, i] = p * inverse[t, 2] + q * inverse[t, 3]
            slope[t, 0, i] = -slope[t, 1, i] - slope[t, 2, i]
    return energy, slope


@njit(parallel=True)
def _tangents(points: Floats, triangles: Nodes, inverse: Floats, area: Floats, stiffness: float, parts: Floats) -> None:
    for t in prange(len(triangles)):
        f, h, by = np.empty(6), np.empty((6, 6)), np.empty((3, 2))
        _gradient(points, triangles[t], inverse[t], f)
        _curvature(f, h)
        weight = stiffness * area[t]
        for b in range(2):
            by[1, b], by[2, b] = inverse[t, b], inverse[t, 2 + b]
            by[0, b] = -by[1, b] - by[2, b]
        block = 0
        for m in range(3):
            for n in range(m + 1):
                for i in range(3):
                    for j in range(3):
                        total = 0.0
                        for a in range(2):
                            for b in range(2):
                                total += by[m, a] * h[3 * a + i, 3 * b + j] * by[n, b]
                        parts[t, block, 3 * i + j] = weight * total
                block += 1
