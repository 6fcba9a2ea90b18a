"""What is in balance: the tissue's elements and the skin's contact with itself, as one energy of the free nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from posespace.check import Floats
from posespace.simulate.solver import elements
from posespace.simulate.solver.contact import SkinContact
from posespace.simulate.solver.elements import Nodes
from posespace.simulate.solver.factor import BlockCholesky
from posespace.simulate.solver.material import Material

_CROWDED = 1.6
"""The factor's pattern keeps the blocks of past contacts until it has this many times those of the elements."""


@dataclass(frozen=True, eq=False)
class State:
    """A shape and what acts on it.

    Parameters
    ----------
    points : (N, 3)
    energy : infinite where an element is inverted and the law forbids it
    force : (n, 3) the slope of the energy at the free nodes
    largest : the largest force of one element on a node
    least : the least det F
    touching : what touches, as the contact found it; None without contact
    """

    points: Floats
    energy: float
    force: Floats
    largest: float
    least: float
    touching: Any = None

    @property
    def in_contact(self) -> bool:
        """Whether any skin is near enough to other skin to repel it."""
        return self.touching is not None and len(self.touching) > 0


class System:
    """The energy of a body of tetrahedra.

    Parameters
    ----------
    points : (N, 3) rest shape
    tets : (T, 4) or (T, 10)
    fixed : (N,) bool, nodes that are placed, not solved for
    material : of the elements
    contact : of the skin; None lets it pass through itself
    embedding : sparse (S, N), from the nodes to the vertices of the contact's surface
    """

    def __init__(
        self,
        points: Floats,
        tets: Nodes,
        fixed: Any,
        material: Material,
        contact: SkinContact | None = None,
        embedding: Any = None,
    ) -> None:
        self.points, self.tets, self.material = points, tets, material
        used = np.zeros(len(points), dtype=bool)
        used[tets] = True
        self.fixed = fixed
        self.free = np.flatnonzero(used & ~fixed)
        self.rest = elements.rest_gradients(points, tets)
        self.volume = float(self.rest[1].sum())
        self.diagonal = float(np.linalg.norm(np.ptp(points[used], axis=0)))
        number = np.full(len(points), -1, dtype=np.int64)
        number[self.free] = np.arange(len(self.free))
        self._pattern = elements.Pattern(tets, number)
        self._own_keys = self._pattern.rows * len(self.free) + self._pattern.columns
        self._keys, self._cholesky = self._own_keys, self._factor_of(self._own_keys)
        self._places: Nodes | slice = slice(None)
        self.contact, self._embedding = contact, None
        if contact is not None:
            self._embedding = sp.csr_array(embedding)
            self._to_nodes = sp.csr_array(sp.kron(self._embedding[:, self.free].T, sp.identity(3)))

    def _factor_of(self, keys: Nodes) -> BlockCholesky:
        count = len(self.free)
        return BlockCholesky(self.points[self.free], keys // count, keys % count)

    def skin(self, points: Floats) -> Floats:
        """Return the contact's surface (S, 3) where the nodes are at `points` (N, 3)."""
        assert self._embedding is not None
        moved: Floats = self._embedding @ points
        return moved

    def state(self, points: Floats, candidates: Any = None) -> State:
        """Return what acts on a shape (N, 3); `candidates` are what may touch, where that is known."""
        law, mu, volume = self.material.constants
        parts, force, least = elements.element_forces(points, self.tets, *self.rest, law, mu, volume)
        energy, nodal = float(parts.sum()), elements.nodal_forces(force, self.tets, len(points))
        own, largest, lowest = nodal[self.free], float(np.abs(force).max()), float(least.min())
        if self.contact is None or not np.isfinite(energy):
            return State(points, energy, own, largest, lowest)
        skin = self.skin(points)
        touching = self.contact.collisions(skin, candidates)
        if len(touching):
            energy += self.contact.energy(skin, touching)
            own = own + (self._to_nodes @ self.contact.slope(skin, touching).ravel()).reshape(-1, 3)
        return State(points, energy, own, largest, lowest, touching)

    def solve(self, state: State, right: Floats, beta: float, definite: bool) -> Floats | None:
        """Solve the tangent for `right` (n, 3); None where it is not positive definite.

        `beta` damps the negative eigenvalues of the elements, from 0 not at all to 1 wholly; `definite` those of the
        contact.
        """
        own = self._pattern.tangent(state.points, self.tets, self.rest, self.material.constants, beta)
        keys, extra = self._contact_blocks(state, definite)
        if self._keys is self._own_keys and not len(keys):
            return self._cholesky.solve(own, right)
        self._widen(keys)
        blocks: Floats = np.zeros((len(self._keys), 3, 3))
        blocks[self._places] = own
        np.add.at(blocks, np.searchsorted(self._keys, keys), extra)
        return self._cholesky.solve(blocks, right)

    def _contact_blocks(self, state: State, definite: bool) -> tuple[Nodes, Floats]:
        """The blocks that contact adds to the tangent's lower half: their keys (K,) and values (K, 3, 3)."""
        if self.contact is None or not state.in_contact:
            return np.zeros(0, np.int64), np.zeros((0, 3, 3))
        curvature = self.contact.curvature(self.skin(state.points), state.touching, definite)
        both = sp.bsr_array(self._to_nodes @ curvature @ self._to_nodes.T, blocksize=(3, 3))
        rows = np.repeat(np.arange(len(self.free)), np.diff(both.indptr))
        columns = both.indices.astype(np.int64)
        lower = rows >= columns
        return rows[lower] * len(self.free) + columns[lower], both.data[lower]

    def _widen(self, keys: Nodes) -> None:
        """Make sure that the factor's pattern has these blocks; it is ordered anew only where it lacks some."""
        if np.isin(keys, self._keys, assume_unique=True).all():
            return
        kept = self._keys if len(self._keys) < _CROWDED * len(self._own_keys) else self._own_keys
        self._keys = np.union1d(kept, keys)
        self._cholesky = self._factor_of(self._keys)
        self._places = np.searchsorted(self._keys, self._own_keys)

    def way(self, points: Floats, ahead: Floats) -> tuple[float, Any]:
        """Return the fraction of the way from one shape to another that is clear, and what may touch on it."""
        if self.contact is None:
            return 1.0, None
        return self.contact.way(self.skin(points), self.skin(ahead))
