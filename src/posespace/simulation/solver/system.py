"""The energy of the free nodes: the tissue's elements, the skin as a membrane, and its contact with itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.geometry.cholesky import BlockCholesky
from posespace.jit import njit
from posespace.simulation.solver import elements
from posespace.simulation.solver.contact import SkinContact
from posespace.simulation.solver.elements import Nodes
from posespace.simulation.solver.material import Material
from posespace.simulation.solver.membrane import Membrane

_CROWDED = 1.1
"""The factor's pattern keeps the blocks of past contacts until it has this many times those of the elements."""


@dataclass(frozen=True, eq=False)
class State:
    """A shape, its energy and its forces.

    Parameters
    ----------
    points : (N, 3)
    energy : infinite where an element is inverted and the law forbids it
    force : (n, 3) the slope of the energy at the free nodes
    largest : the largest force of one element on a node
    least : the least det F
    touching : the collisions; None without contact
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
    fixed : (N,) bool, nodes with prescribed positions, not solved for
    material : of the elements
    membrane : of the skin, on faces of the elements; None for none
    contact : of the skin; None: it may pass through itself
    embedding : sparse (S, N), from the nodes to the vertices of the contact's surface
    """

    def __init__(
        self,
        points: Floats,
        tets: Nodes,
        fixed: Any,
        material: Material,
        membrane: Membrane | None = None,
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
        self._own = self._factor_of(self._own_keys)
        self._wide, self._wide_keys = self._own, self._own_keys
        self._membrane = membrane
        if membrane is not None:
            rows, columns = membrane.blocks()
            self._sheet = _SheetBlocks(number[rows], number[columns], self._own_keys, len(self.free))
        self.contact, self._embedding = contact, None
        if contact is not None:
            self._embedding = sp.csr_array(embedding)
            self._to_nodes = sp.csr_array(sp.kron(self._embedding[:, self.free].T, sp.identity(3)))

    def forget(self) -> None:
        """Forget past contacts, so that a solve does not depend, not even by rounding, on those before it."""
        self._wide, self._wide_keys = self._own, self._own_keys

    def _factor_of(self, keys: Nodes) -> BlockCholesky:
        count = len(self.free)
        return BlockCholesky(self.points[self.free], keys // count, keys % count)

    def skin(self, points: Floats) -> Floats:
        """Return the contact's surface (S, 3) where the nodes are at `points` (N, 3)."""
        assert self._embedding is not None
        moved: Floats = self._embedding @ points
        return moved

    def state(self, points: Floats, candidates: Any = None) -> State:
        """Return energy and forces of a shape (N, 3); `candidates` are what may touch, where that is known."""
        law, mu, volume = self.material.constants
        parts, force, least = elements.element_forces(points, self.tets, *self.rest, law, mu, volume)
        energy, nodal = float(parts.sum()), elements.nodal_forces(force, self.tets, len(points))
        if self._membrane is not None:
            sheet, pull = self._membrane.forces(points)
            energy += float(sheet.sum())
            nodal += elements.nodal_forces(pull, self._membrane.triangles, len(points))
        free_forces, largest, lowest = nodal[self.free], float(np.abs(force).max()), float(least.min())
        if self.contact is None or not np.isfinite(energy):
            return State(points, energy, free_forces, largest, lowest)
        skin = self.skin(points)
        touching = self.contact.collisions(skin, candidates)
        if len(touching):
            energy += self.contact.energy(skin, touching)
            free_forces = free_forces + (self._to_nodes @ self.contact.slope(skin, touching).ravel()).reshape(-1, 3)
        return State(points, energy, free_forces, largest, lowest, touching)

    def solve(self, state: State, right: Floats, beta: float, gamma: float) -> Floats | None:
        """Solve the tangent for `right` (n, 3); None where it is not positive definite.

        `beta` damps the negative eigenvalues of the elements, from 0 not at all to 1 wholly; `gamma` those of contact.
        """
        tangent = self._pattern.tangent(state.points, self.tets, self.rest, self.material.constants, beta)
        if self._membrane is not None:
            self._sheet.add(self._membrane.tangents(state.points), tangent)
        keys, extra = self._contact_blocks(state, gamma)
        if not len(keys):
            return self._own.solve(tangent, right)
        if not np.isin(keys, self._wide_keys, assume_unique=True).all():
            self._widen(keys)
        blocks: Floats = np.zeros((len(self._wide_keys), 3, 3))
        blocks[np.searchsorted(self._wide_keys, self._own_keys)] = tangent
        np.add.at(blocks, np.searchsorted(self._wide_keys, keys), extra)
        return self._wide.solve(blocks, right)

    def _contact_blocks(self, state: State, gamma: float) -> tuple[Nodes, Floats]:
        """The blocks that contact adds to the tangent's lower half: their keys (K,) and values (K, 3, 3)."""
        if self.contact is None or not state.in_contact:
            return np.zeros(0, np.int64), np.zeros((0, 3, 3))
        curvature = self.contact.curvature(self.skin(state.points), state.touching, gamma)
        both = sp.bsr_array(self._to_nodes @ curvature @ self._to_nodes.T, blocksize=(3, 3))
        rows = np.repeat(np.arange(len(self.free)), np.diff(both.indptr))
        columns = both.indices.astype(np.int64)
        lower = rows >= columns
        return rows[lower] * len(self.free) + columns[lower], both.data[lower]

    def _widen(self, keys: Nodes) -> None:
        """Order the factor anew for these blocks, and for those of past contacts unless they are too many."""
        kept = self._wide_keys if len(self._wide_keys) < _CROWDED * len(self._own_keys) else self._own_keys
        self._wide_keys = np.union1d(kept, keys)
        self._wide = self._factor_of(self._wide_keys)

    def clear_fraction(self, points: Floats, ahead: Floats) -> tuple[float, Any]:
        """Return the collision-free fraction of the path from one shape to another, and what may touch on it."""
        if self.contact is None:
            return 1.0, None
        return self.contact.clear_fraction(self.skin(points), self.skin(ahead))


class _SheetBlocks:
    """Indices of the blocks of a membrane's triangles among those of the elements."""

    def __init__(self, rows: Nodes, columns: Nodes, keys: Nodes, count: int) -> None:
        wanted = np.maximum(rows, columns) * count + np.minimum(rows, columns)
        at = np.searchsorted(keys, wanted).clip(0, len(keys) - 1)
        self._at = np.where((rows >= 0) & (columns >= 0), at, -1).ravel()
        self._transposed = (rows < columns).ravel()

    def add(self, parts: Floats, blocks: Floats) -> None:
        """Add the triangles' tangents (M, 6, 9) to `blocks` (B, 3, 3)."""
        _scatter(parts.reshape(-1, 9), self._at, self._transposed, blocks.reshape(-1, 9))


@njit()
def _scatter(parts: Floats, at: Nodes, transposed: NDArray[np.bool_], blocks: Floats) -> None:
    for k in range(len(parts)):
        if at[k] < 0:
            continue
        for a in range(9):
            blocks[at[k], a] += parts[k, 3 * (a % 3) + a // 3] if transposed[k] else parts[k, a]
