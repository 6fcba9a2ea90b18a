"""The bound on corrections: no displacement exceeds 1.5 times the largest of its neighbourhood at the samples.

A driver's coordinates are scaled, all by one factor, until the rule holds at every vertex that the driver moves.
The bound is computed from the layer: no file stores it, and every `Skin` keeps the rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Ints
from posespace.mesh import Mesh
from posespace.skin.basis import Basis, combined
from posespace.skin.driver import Driver

BOUND = 1.5
"""Largest displacement, as a multiple of the largest in its neighbourhood at any sample of the driver."""

RINGS = 2
"""Rings of vertices that make a vertex's neighbourhood."""

KEPT = 1.455
"""The bound in players: a little lower, so that corrections stored in few bits keep the rule too."""

FLOOR = 0.02
"""A neighbourhood counts as displaced by at least this fraction of the layer's largest displacement: what fades out at
the edge of a support must not limit all of it."""

_MOST_COMPONENTS = 256
_LEAST_SAMPLES = 256
_MOST_DISTANCES = 4_000_000
"""Up to 2,000 samples all count: where one is left out, its correction may exceed the bound."""

_BLOCK = 64
_NOTHING = 1e-9
_DEPENDENT = 1e-6


class Neighbourhoods:
    """The vertices around each vertex of a mesh; those that share a position are one."""

    def __init__(self, mesh: Mesh) -> None:
        weld = mesh.weld
        self._groups, self._count = weld.groups, len(weld.first)
        starts, neighbours = mesh.neighbours
        vertices = np.arange(self._count)
        # Each vertex is in its neighbourhood, so no list is empty.
        self._around = np.insert(neighbours, starts[:-1], vertices)
        self._starts = starts[:-1] + vertices

    def largest(self, values: Floats, support: Ints) -> Floats:
        """Return the largest value (S,) around each vertex of a support with values (S,); elsewhere they are zero."""
        largest = np.zeros(self._count)
        np.maximum.at(largest, self._groups[support], values)
        for _ in range(RINGS):
            largest = np.maximum.reduceat(largest[self._around], self._starts)
        return np.asarray(largest[self._groups[support]])


class DrivenBasis(NamedTuple):
    """A basis (C, S, 3) that a driver moves, and the largest displacement (S,) of each of its vertices."""

    basis: Basis
    limits: Floats

    def ratio(self, coordinates: Floats) -> float:
        """Return the largest displacement at coordinates (C,), as a multiple of its limit."""
        displaced = combined(self.basis, coordinates)
        return float((np.linalg.norm(displaced, axis=1) / self.limits).max(initial=0.0))


@dataclass(frozen=True, eq=False)
class Bound:
    """The bound on the coordinates of a driver.

    Parameters
    ----------
    moved : the bases that it drives
    norm : (C, C) a matrix such that the sum of |norm · coordinates| is at least the ratio of any vertex: where it is
        at most 1, no vertex is checked; None: all are
    """

    moved: tuple[DrivenBasis, ...]
    norm: Floats | None

    @classmethod
    def of(cls, driver: Driver, bases: Sequence[tuple[Ints, Basis]], around: Neighbourhoods) -> Bound:
        """Return the bound of a driver that moves supports (S,) by bases (C, S, 3)."""
        samples = _at_samples(driver)
        moved = tuple(DrivenBasis(basis, _limits(samples, support, basis, around)) for support, basis in bases)
        return cls(moved, _norm(samples, moved) if moved else None)

    def kept(self, coordinates: Floats) -> Floats:
        """Return coordinates (C,) or (P, C) scaled to be within the bound."""
        rows = np.atleast_2d(coordinates)
        factors = np.ones(len(rows))
        for k in np.flatnonzero(self._may_exceed(rows)):
            factors[k] = 1.0 / max([1.0, *(basis.ratio(rows[k]) for basis in self.moved)])
        return np.asarray((rows * factors[:, None]).reshape(coordinates.shape))

    def _may_exceed(self, rows: Floats) -> NDArray[np.bool_]:
        """Which coordinates (P, C) may exceed the bound at some vertex."""
        if self.norm is None:
            return np.full(len(rows), bool(self.moved))
        return np.asarray(~(np.abs(rows @ self.norm.T).sum(axis=1) <= 1.0))


def _at_samples(driver: Driver) -> Floats:
    """The driver's coordinates (M, C) at its samples; of very many, at some that are spread evenly."""
    centres = driver.interpolant.centres
    most = min(len(centres), max(_LEAST_SAMPLES, _MOST_DISTANCES // len(centres)))
    # Halves are rounded up, as players in other languages do.
    chosen = np.floor(np.linspace(0, len(centres) - 1, most) + 0.5).astype(np.int64)
    return driver.interpolant(centres[np.unique(chosen)])


def _limits(samples: Floats, support: Ints, basis: Basis, around: Neighbourhoods) -> Floats:
    """The largest displacement (S,) of each vertex, from the coordinates at the samples (M, C)."""
    return limits_of(_displaced(samples, basis), support, around)


def _displaced(coordinates: Floats, basis: Basis) -> Iterator[Floats]:
    """The displacements (S, 3) of each of many coordinates (M, C) of a basis (C, S, 3), in single precision."""
    samples, dense = coordinates.astype(np.float32), np.asarray(basis, dtype=np.float32).reshape(basis.shape[0], -1)
    least = _NOTHING * np.abs(samples).max(initial=0.0)
    for first in range(0, len(samples), _BLOCK):
        block = samples[first : first + _BLOCK]
        # Of sculpts, each sample mostly has a component to itself.
        used = (np.abs(block) > least).any(axis=0)
        yield from (block[:, used] @ dense[used]).reshape(len(block), -1, 3)


def limits_of(displaced: Iterable[Floats], support: Ints, around: Neighbourhoods) -> Floats:
    """Return the largest displacement (S,) of each vertex, from its displacements (S, 3) at each sample."""
    largest = np.zeros(len(support))
    for displacements in displaced:
        np.maximum(largest, np.linalg.norm(displacements, axis=1), out=largest)
    limits = np.maximum(around.largest(largest, support), FLOOR * largest.max(initial=0.0))
    # Where no sample displaces anything, no pose may; a tiny number avoids a division by zero.
    return np.asarray(KEPT * np.maximum(limits, np.finfo(np.float32).tiny))


def _norm(samples: Floats, moved: Sequence[DrivenBasis]) -> Floats | None:
    """The matrix that writes coordinates (C,) as a sum of C vectors, each times its largest ratio; see `Bound`.

    The vectors are coordinates at samples (M, C), each the farthest from the span of those before; their ratios are at
    most 1 over the bound. Orthogonal to their span, where there may be rounding, any directions do.
    """
    count = samples.shape[1]
    if count > _MOST_COMPONENTS:
        return None
    remainders, chosen = samples.copy(), list[int]()
    least = _DEPENDENT * float(np.linalg.norm(samples, axis=1).max())
    for _ in range(count):
        lengths = np.linalg.norm(remainders, axis=1)
        farthest = int(lengths.argmax())
        if not lengths[farthest] > least:
            break
        chosen.append(farthest)
        direction = remainders[farthest] / lengths[farthest]
        remainders -= np.outer(remainders @ direction, direction)
    complement = np.linalg.qr(samples[chosen].T, mode="complete")[0][:, len(chosen) :].T
    ratios = np.full(count, 1.0 / KEPT)
    for driven in moved if len(complement) else ():
        displaced = _displaced(complement, driven.basis)
        largest = [float((np.linalg.norm(shape, axis=1) / driven.limits).max(initial=0.0)) for shape in displaced]
        ratios[len(chosen) :] = np.maximum(ratios[len(chosen) :], largest)
    return np.asarray(ratios[:, None] * np.linalg.inv(np.concatenate([samples[chosen], complement])).T)
