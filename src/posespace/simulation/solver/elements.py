"""Tetrahedra of 4 or 10 nodes: shape functions, quadrature, and the sums over elements that a solve needs.

The sums are free of races: each element writes its own part, then each entry gathers its parts in a fixed order, so
a result is the same, bit for bit, on any number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.errors import InputError
from posespace.geometry.edges import distinct
from posespace.geometry.tetrahedra import EDGES
from posespace.jit import njit
from posespace.simulation.solver.material import stress, tangent

Nodes = NDArray[np.int64]

_CORNER_GRADIENTS = np.array([[-1.0, -1.0, -1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
_FAST = {"contract", "reassoc", "nsz", "arcp"}
_CHUNK = 32  # Elements that a thread takes at once: scratch arrays are made once per chunk.


def quadrature(nodes: int) -> tuple[Floats, Floats]:
    """Return barycentric points (Q, 4) and weights (Q,) that sum to the unit tetrahedron's volume, 1/6.

    One point for 4 nodes, whose strain is constant. Four for 10 nodes: exact for a product of two linear gradients.
    """
    if nodes == 4:
        return np.full((1, 4), 0.25), np.array([1 / 6])
    near, far = (5 + 3 * np.sqrt(5)) / 20, (5 - np.sqrt(5)) / 20
    return np.full((4, 4), far) + (near - far) * np.eye(4), np.full(4, 1 / 24)


def shape_functions(nodes: int, barycentric: Floats) -> Floats:
    """Return the values (Q, nodes) of the shape functions at barycentric points (Q, 4)."""
    if nodes == 4:
        return barycentric
    corner = barycentric * (2 * barycentric - 1)
    middle = np.stack([4 * barycentric[:, i] * barycentric[:, j] for i, j in EDGES], axis=1)
    return np.concatenate([corner, middle], axis=1)


def shape_gradients(nodes: int, barycentric: Floats) -> Floats:
    """Return the gradients (Q, nodes, 3) of the shape functions by the unit tetrahedron's coordinates."""
    count = len(barycentric)
    if nodes == 4:
        return np.broadcast_to(_CORNER_GRADIENTS, (count, 4, 3))
    corner = (4 * barycentric - 1)[:, :, None] * _CORNER_GRADIENTS
    middle = [
        4 * (barycentric[:, i, None] * _CORNER_GRADIENTS[j] + barycentric[:, j, None] * _CORNER_GRADIENTS[i])
        for i, j in EDGES
    ]
    return np.concatenate([corner, np.stack(middle, axis=1)], axis=1)


def rest_gradients(points: Floats, tets: Nodes) -> tuple[Floats, Floats]:
    """Return the shape gradients at rest and the quadrature weights, the volume that each point stands for.

    Parameters
    ----------
    points : (N, 3) rest positions
    tets : (T, 4) or (T, 10) nodes

    Returns
    -------
    gradients : (T, Q, 3, nodes), contiguous along the nodes so that the kernels run over them at full width
    weights : (T, Q), all above 0
    """
    nodes = tets.shape[1]
    barycentric, weights = quadrature(nodes)
    unit = shape_gradients(nodes, barycentric)
    jacobian = np.einsum("tni,qnj->tqij", points[tets], unit)
    volume = np.linalg.det(jacobian)
    if not volume.min(initial=np.inf) > 0:
        worst = int(volume.min(axis=1).argmin())
        raise InputError(f"tets: expected a positive volume at rest, got {volume[worst].min():.3g} in element {worst}")
    gradients = np.swapaxes(np.linalg.inv(jacobian), 2, 3) @ np.swapaxes(unit, 1, 2)
    return np.ascontiguousarray(gradients), volume * weights


def to_quadratic(points: Floats, tets: Nodes) -> tuple[Floats, Nodes, Nodes]:
    """Add a node in the middle of each edge, so that 4-node tetrahedra become 10-node ones with straight sides.

    Parameters
    ----------
    points : (N, 3)
    tets : (T, 4)

    Returns
    -------
    points : (N + M, 3), the given points first
    tets : (T, 10)
    edges : (M, 2) the two given nodes each new node lies between, the lower first
    """
    edges, inverse, _ = distinct(tets[:, EDGES].reshape(-1, 2))
    middle = points[edges].mean(axis=1)
    wide = np.concatenate([tets, len(points) + inverse.reshape(-1, 6)], axis=1)
    return np.concatenate([points, middle]), wide, edges


def volumes(points: Floats, tets: Nodes) -> Floats:
    """Return the signed volume (T,) of each element, curved sides included; their sum is the solid's."""
    barycentric, weights = quadrature(tets.shape[1])
    jacobian = np.einsum("tni,qnj->tqij", points[tets], shape_gradients(tets.shape[1], barycentric))
    volume: Floats = np.linalg.det(jacobian) @ weights
    return volume


@njit(fastmath=_FAST)
def _deformation(points: Floats, nodes: Nodes, gradients: Floats, f: Floats) -> None:
    """Write the deformation gradient F (3, 3) at one quadrature point, whose `gradients` are (3, nodes)."""
    for a in range(3):
        for b in range(3):
            total = 0.0
            for n in range(len(nodes)):
                total += points[nodes[n], a] * gradients[b, n]
            f[a, b] = total


@njit(parallel=True)
def element_forces(
    points: Floats, tets: Nodes, gradients: Floats, weights: Floats, law: int, mu: float, volume: float
) -> tuple[Any, Any, Any]:
    """Return each element's energy (T,), force on its nodes ∂ψ/∂x (T, nodes, 3), and least J (T,)."""
    count, nodes = tets.shape
    energy, least, force = np.empty(count), np.empty(count), np.empty((count, nodes, 3))
    for chunk in prange((count + _CHUNK - 1) // _CHUNK):
        _forces(chunk * _CHUNK, points, tets, gradients, weights, law, mu, volume, energy, force, least)
    return energy, force, least


@njit(fastmath=_FAST)
def _forces(
    first: int,
    points: Floats,
    tets: Nodes,
    gradients: Floats,
    weights: Floats,
    law: int,
    mu: float,
    volume: float,
    energy: Floats,
    force: Floats,
    least: Floats,
) -> None:
    f, p = np.empty((3, 3)), np.empty((3, 3))
    for t in range(first, min(first + _CHUNK, len(tets))):
        energy[t], least[t], force[t] = 0.0, np.inf, 0.0
        for q in range(weights.shape[1]):
            grad = gradients[t, q]
            _deformation(points, tets[t], grad, f)
            psi, j = stress(law, mu, volume, f, p)
            energy[t] += weights[t, q] * psi
            least[t] = min(least[t], j)
            for n in range(tets.shape[1]):
                for a in range(3):
                    pull = p[a, 0] * grad[0, n] + p[a, 1] * grad[1, n] + p[a, 2] * grad[2, n]
                    force[t, n, a] += weights[t, q] * pull


@njit(parallel=True)
def element_tangents(
    points: Floats,
    tets: Nodes,
    gradients: Floats,
    weights: Floats,
    law: int,
    mu: float,
    volume: float,
    beta: float,
    blocks: Floats,
) -> None:
    """Write each element's tangent ∂²ψ/∂x² into `blocks` (T, nodes (nodes + 1) / 2, 9).

    Block a (a + 1) / 2 + b is that of rows of node a and columns of node b ≤ a. `beta` damps negative eigenvalues.
    """
    count = len(tets)
    for chunk in prange((count + _CHUNK - 1) // _CHUNK):
        _tangents(chunk * _CHUNK, points, tets, gradients, weights, law, mu, volume, beta, blocks)


@njit(fastmath=_FAST)
def _tangents(
    first: int,
    points: Floats,
    tets: Nodes,
    gradients: Floats,
    weights: Floats,
    law: int,
    mu: float,
    volume: float,
    beta: float,
    blocks: Floats,
) -> None:
    nodes = tets.shape[1]
    f, h, work = np.empty((3, 3)), np.empty((9, 9)), np.empty((9, 9))
    half, total = np.empty(27), np.empty((nodes, 9, nodes))
    for t in range(first, min(first + _CHUNK, len(tets))):
        total[:] = 0.0
        for q in range(weights.shape[1]):
            grad, weight = gradients[t, q], weights[t, q]
            _deformation(points, tets[t], grad, f)
            tangent(law, mu, volume, beta, f, h, work)
            for a in range(nodes):
                g0, g1, g2 = weight * grad[0, a], weight * grad[1, a], weight * grad[2, a]
                for i in range(3):
                    for p in range(9):
                        half[9 * i + p] = g0 * h[3 * i, p] + g1 * h[3 * i + 1, p] + g2 * h[3 * i + 2, p]
                for ij in range(9):
                    h0, h1, h2 = half[3 * ij], half[3 * ij + 1], half[3 * ij + 2]
                    # Twice the work of the blocks that are kept, but in full-width arithmetic.
                    for b in range(nodes):
                        total[a, ij, b] += h0 * grad[0, b] + h1 * grad[1, b] + h2 * grad[2, b]
        for a in range(nodes):
            for b in range(a + 1):
                for ij in range(9):
                    blocks[t, a * (a + 1) // 2 + b, ij] = total[a, ij, b]


@njit()
def nodal_forces(force: Floats, tets: Nodes, count: int) -> Any:
    """Return the sum (count, 3) at each node of the elements' forces (T, nodes, 3)."""
    total = np.zeros((count, 3))
    for t in range(tets.shape[0]):
        for n in range(tets.shape[1]):
            for a in range(3):
                total[tets[t, n], a] += force[t, n, a]
    return total


class Pattern:
    """Where the blocks of the elements' tangents go in the tangent of the whole, kept at free nodes only.

    Parameters
    ----------
    tets : (T, 4) or (T, 10)
    number : (N,) number of each free node among the free ones, -1 at fixed nodes
    """

    def __init__(self, tets: Nodes, number: Nodes) -> None:
        nodes = tets.shape[1]
        first, second = np.tril_indices(nodes)
        row, column = number[tets[:, first]].ravel(), number[tets[:, second]].ravel()
        kept = np.flatnonzero((row >= 0) & (column >= 0))
        row, column = row[kept], column[kept]
        transposed = row < column
        keys = np.maximum(row, column) * len(number) + np.minimum(row, column)
        order = np.argsort(keys, kind="stable")
        distinct, starts = np.unique(keys[order], return_index=True)
        self.rows: Nodes = distinct // len(number)
        self.columns: Nodes = distinct % len(number)
        self.diagonal: Nodes = np.flatnonzero(self.rows == self.columns)
        self._starts = np.append(starts, len(keys))
        self._sources = (2 * kept + transposed)[order]
        self._parts = np.empty((len(tets), len(first), 9))

    def tangent(
        self, points: Floats, tets: Nodes, rest: tuple[Floats, Floats], constants: tuple[int, float, float], beta: float
    ) -> Floats:
        """Return the blocks (B, 3, 3) at `rows` ≥ `columns` of the tangent; `rest` as from `rest_gradients`."""
        law, mu, volume = constants
        element_tangents(points, tets, *rest, law, mu, volume, beta, self._parts)
        blocks = np.empty((len(self.rows), 3, 3))
        _gather(self._parts.reshape(-1, 9), self._starts, self._sources, blocks.reshape(-1, 9))
        return blocks


@njit(parallel=True)
def _gather(parts: Floats, starts: Nodes, sources: Nodes, blocks: Floats) -> None:
    for k in prange(len(blocks)):
        for a in range(9):
            blocks[k, a] = 0.0
        for s in range(starts[k], starts[k + 1]):
            part = parts[sources[s] >> 1]
            if sources[s] & 1:
                for a in range(9):
                    blocks[k, a] += part[3 * (a % 3) + a // 3]
            else:
                for a in range(9):
                    blocks[k, a] += part[a]
