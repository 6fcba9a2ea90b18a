"""The correspondence energy of Sumner and Popović (2004) on a template: smoothness, rigidity and target positions.

Over the gradients G of its triangles: pairs of neighbours ‖G_i − G_j‖², each ‖G_i − B_i‖² for gradients B, and
‖position − target‖² where a vertex, or a mixture of a triangle's corners, has a target. The last is per squared mean
edge, so that weights mean the same on coarse and fine meshes and in any unit.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.geometry.cholesky import BlockCholesky
from posespace.geometry.edges import edges_of
from posespace.geometry.gradients import adjacent, gradient_operator, gradients, solid

_HELD = 1e-7
"""Weight that keeps every vertex at its position: vertices that no other term moves stay."""


class Energy:
    """The energy of one template, with its matrix ordered once.

    Parameters
    ----------
    points : (N, 3) the template
    triangles : (T, 3); those without an area have no gradient and are left out
    """

    def __init__(self, points: Floats, triangles: Ints) -> None:
        self.points = np.asarray(points, dtype=np.float64)
        self.triangles = triangles[solid(self.points, triangles)]
        self.operator = gradient_operator(self.points, self.triangles)
        ends = edges_of(self.triangles).ends
        lengths = np.linalg.norm(self.points[ends[:, 0]] - self.points[ends[:, 1]], axis=1)
        self.edge = float(lengths.mean())
        faces = len(self.triangles)
        one, other = adjacent(self.triangles).T
        pairs = sparse.csr_array((np.ones(len(one)), (one, other)), shape=(faces, faces))
        between = pairs + pairs.T
        # Each pair counts from both of its triangles, as in the paper's sum over neighbours.
        laplacian = 2 * (sparse.diags_array(between.sum(axis=1)) - between)
        self._smooth = self._over_gradients(laplacian)
        self._rigid = self._over_gradients(sparse.eye_array(faces))
        pattern = sparse.tril(abs(self._smooth) + abs(self._rigid) + self._corners(), format="coo")
        rows, columns = pattern.row.astype(np.int64), pattern.col.astype(np.int64)
        self._keys = rows * self.size + columns
        self._order = np.argsort(self._keys)
        self._held = _HELD / self.edge**2
        middles = self.points[self.triangles].mean(axis=1)
        self._cholesky = BlockCholesky(np.concatenate([self.points, middles]), rows, columns, width=1)

    @property
    def size(self) -> int:
        """Unknowns per coordinate: vertices, then the image of each triangle's normal."""
        return len(self.points) + len(self.triangles)

    def _over_gradients(self, weights: sparse.sparray) -> sparse.csr_array:
        wide = sparse.kron(weights, sparse.eye_array(3), format="csr")
        return sparse.csr_array(self.operator.T @ (wide @ self.operator))

    def _corners(self) -> sparse.csr_array:
        """Ones where two corners of a triangle meet, and on the diagonal: targets may couple these."""
        corners = self.triangles.astype(np.int64)
        rows, columns = np.repeat(corners, 3, axis=1).ravel(), np.tile(corners, (1, 3)).ravel()
        shape = (self.size, self.size)
        return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape) + sparse.eye_array(*shape)

    def gradients(self, positions: Floats) -> Floats:
        """Return the gradients (T, 3, 3) of `positions` (N + T, 3)."""
        return gradients(self.operator, positions)

    def with_normals(self, points: Floats) -> Floats:
        """Return `points` (N, 3) of the surface with the images (T, 3) of its normals: unit normals."""
        corners = points[self.triangles]
        vectors = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.concatenate([points, vectors / np.where(length > 0, length, 1.0)])

    def weigh(self, rigidity: float, mixture: sparse.csr_array, weights: Floats) -> None:
        """Factor the matrix of the energy, with these weights for the solves that follow.

        Parameters
        ----------
        rigidity : weight of the distances from the goal gradients; that of smoothness is one
        mixture : (Q, N), mixtures of vertices that have targets, each row within one triangle
        weights : (Q,) of the targets
        """
        self._rigidity = rigidity
        self._pull = sparse.csr_array(mixture.T @ sparse.diags_array(weights / self.edge**2))
        targets = sparse.coo_array(self._pull @ mixture + self._held * sparse.eye_array(len(self.points)))
        grown = sparse.csr_array((targets.data, (targets.row, targets.col)), shape=(self.size, self.size))
        lower = sparse.tril(self._smooth + rigidity * self._rigid + grown, format="coo")
        keys = lower.row.astype(np.int64) * self.size + lower.col
        values = np.zeros(len(self._keys))
        values[self._order[np.searchsorted(self._keys, keys, sorter=self._order)]] = lower.data
        if not self._cholesky.factor(values[:, None, None]):
            raise InputError("template: its triangles are too thin to be fitted; remesh it")

    def solve(self, targets: Floats, start: Floats, goals: Floats) -> Floats:
        """Return the positions (N + T, 3) of least energy.

        Parameters
        ----------
        targets : (Q, 3)
        start : (N + T, 3) the surface, whose vertices stay where no other term moves them
        goals : (T, 3, 3) the goal gradients
        """
        count = len(self.points)
        right: Floats = self._rigidity * (self.operator.T @ goals.transpose(0, 2, 1).reshape(-1, 3))
        right[:count] += self._pull @ targets + self._held * start[:count]
        positions: Floats = self._cholesky.backsolve(right)
        return positions
