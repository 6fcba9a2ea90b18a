"""The bound on corrections: at no pose is a displacement more than 1.5 times what its neighbourhood has at the samples.

A driver's coordinates are scaled, all by one factor, so far that the rule holds at every vertex that the driver moves.
What is measured is known from the layer itself: a file stores nothing of it, and every `Skin` keeps the rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Ints
from posespace.geometry.edges import neighbours_of
from posespace.layer import Basis, Driver, combined
from posespace.mesh import Mesh

BOUND = 1.5
"""Most that a displacement may be, over the largest one in its neighbourhood at any sample of the driver."""

RINGS = 2
"""Rings of vertices that make a vertex's neighbourhood."""

KEPT = 1.455
"""What players keep to: a little below the bound, so that corrections stored in few bits keep it too."""

FLOOR = 0.02
"""A neighbourhood counts as displaced by at least this fraction of the layer's largest displacement: what fades out at
the edge of a support must not hold back all of it."""

_MOST_SAMPLES = 256
_MOST_COMPONENTS = 256
_ROUNDS = 4
_ROUNDING = 1e-9


class Neighbourhoods:
    """The vertices around each vertex of a mesh; those that share a position are one."""

    def __init__(self, mesh: Mesh) -> None:
        weld = mesh.weld
        self._groups, self._count = weld.groups, len(weld.first)
        starts, neighbours = neighbours_of(weld.groups[mesh.triangles], self._count)
        each = np.arange(self._count)
        # Each vertex is in its own neighbourhood; so no list is empty.
        self._around = np.insert(neighbours, starts[:-1], each)
        self._starts = starts[:-1] + each

    def largest(self, values: Floats, support: Ints) -> Floats:
        """Return the largest value (S,) around each vertex of a support with values (S,); elsewhere they are zero."""
        found = np.zeros(self._count)
        np.maximum.at(found, self._groups[support], values)
        for _ in range(RINGS):
            found = np.maximum.reduceat(found[self._around], self._starts)
        return np.asarray(found[self._groups[support]])


class Moved(NamedTuple):
    """What a driver moves: a basis (C, S, 3), and the most that each of its vertices may be displaced (S,)."""

    basis: Basis
    limits: Floats

    def ratio(self, coordinates: Floats) -> float:
        """Return the largest displacement of coordinates (C,) over its limit."""
        displaced = combined(self.basis, coordinates)
        return float((np.linalg.norm(displaced, axis=1) / self.limits).max(initial=0.0))


@dataclass(frozen=True, eq=False)
class Bound:
    """How far the coordinates of a driver may go.

    Parameters
    ----------
    moved : the bases that it drives
    norm : (C, C) a matrix such that |norm · coordinates| is at least the ratio of any vertex: where it is at most 1,
        no vertex needs to be looked at; None: all are
    """

    moved: tuple[Moved, ...]
    norm: Floats | None

    @classmethod
    def of(cls, driver: Driver, bases: Sequence[tuple[Ints, Basis]], around: Neighbourhoods) -> Bound:
        """Return the bound of a driver that moves supports (S,) by bases (C, S, 3)."""
        samples = _at_samples(driver)
        moved = tuple(Moved(basis, _limits(samples, support, basis, around)) for support, basis in bases)
        return cls(moved, _norm(moved) if moved and driver.components <= _MOST_COMPONENTS else None)

    def kept(self, coordinates: Floats) -> Floats:
        """Return coordinates (C,) or (P, C) scaled so that they keep within the bound."""
        rows = np.atleast_2d(coordinates)
        factors = np.ones(len(rows))
        for k in np.flatnonzero(self._in_doubt(rows)):
            factors[k] = 1.0 / max([1.0, *(each.ratio(rows[k]) for each in self.moved)])
        return np.asarray((rows * factors[:, None]).reshape(coordinates.shape))

    def _in_doubt(self, rows: Floats) -> NDArray[np.bool_]:
        """Which coordinates (P, C) may be beyond the bound at some vertex."""
        if self.norm is None:
            return np.full(len(rows), bool(self.moved))
        return np.asarray(~(np.linalg.norm(rows @ self.norm.T, axis=1) <= 1.0))


def _at_samples(driver: Driver) -> Floats:
    """The driver's coordinates (M, C) at its samples; of many, at some that are spread evenly."""
    centres = driver.interpolant.centres
    chosen = np.unique(np.linspace(0, len(centres) - 1, min(len(centres), _MOST_SAMPLES)).round().astype(np.int64))
    return driver.interpolant(centres[chosen])


def _limits(samples: Floats, support: Ints, basis: Basis, around: Neighbourhoods) -> Floats:
    """The most that each vertex (S,) may be displaced, from the coordinates at the samples (M, C)."""
    dense = np.asarray(basis, dtype=np.float32)
    displaced = (np.tensordot(coordinates, dense, axes=1) for coordinates in samples.astype(np.float32))
    return limits_of(displaced, support, around)


def limits_of(displaced: Iterable[Floats], support: Ints, around: Neighbourhoods) -> Floats:
    """Return the most that each vertex (S,) may be displaced, from its displacements (S, 3) at each sample."""
    largest = np.zeros(len(support))
    for displacements in displaced:
        np.maximum(largest, np.linalg.norm(displacements, axis=1), out=largest)
    limits = np.maximum(around.largest(largest, support), FLOOR * largest.max(initial=0.0))
    # Where there is nothing at all, nothing may be added; a tiny number spares a division by zero.
    return np.asarray(KEPT * np.maximum(limits, np.finfo(np.float32).tiny))


def _norm(moved: Sequence[Moved]) -> Floats:
    """The root (C, C) of a form that is at least the squared ratio of every vertex, and about the least such form.

    A form Q is, where the rows F (3, C) of every vertex have a trace of F Q⁻¹ Fᵀ of at most 1. Weighing the vertices by
    that trace, a few times over, brings the sum of their forms near the smallest: Khachiyan's algorithm.
    """
    rows = np.concatenate(
        [np.asarray(each.basis, dtype=np.float64).transpose(1, 2, 0) / each.limits[:, None, None] for each in moved]
    )
    weights = np.full(len(rows), 1.0 / max(len(rows), 1))
    for _ in range(_ROUNDS):
        form = _form(rows, weights)
        weights = weights * _traces(rows, form)
        weights /= weights.sum() or 1.0
    form = _form(rows, weights)
    form *= float(_traces(rows, form).max(initial=0.0))
    values, vectors = np.linalg.eigh(form)
    return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)


def _form(rows: Floats, weights: Floats) -> Floats:
    flat = (np.sqrt(weights)[:, None, None] * rows).reshape(-1, rows.shape[2])
    form = flat.T @ flat
    return np.asarray(form + _ROUNDING * max(float(np.trace(form)), 1e-300) * np.eye(len(form)))


def _traces(rows: Floats, form: Floats) -> NDArray[np.float64]:
    lower = np.linalg.cholesky(form)
    flat = np.linalg.solve(lower, rows.reshape(-1, rows.shape[2]).T)
    return np.asarray(np.square(flat).sum(axis=0).reshape(-1, 3).sum(axis=1))
