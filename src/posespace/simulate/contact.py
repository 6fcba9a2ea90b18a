"""Skin that meets skin in deep flexion: a penalty on depth that keeps the tangent's pattern.

A penetrating node is pushed, alone, to a plane halfway out, which stays still during a Newton iteration; the nodes it
has entered are pushed to it from their side in the same way. So only diagonal blocks of the tangent change, and the
planes settle over the iterations: Newton's method then converges linearly, not quadratically.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from posespace.check import Floats
from posespace.errors import InputError
from posespace.simulate.elements import EDGES, Nodes

_FACES = ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2))
_CANDIDATES = (
    48  # Nearest triangles looked at: those around the node itself come first, then those it may have entered.
)


@dataclass(frozen=True)
class Contact:
    """How skin resists skin.

    Parameters
    ----------
    stiffness : pressure at a depth of one mean edge of the skin, in units of Young's modulus. More means less depth
        left, and slower convergence
    apart : skin that is nearer than so many mean edges at rest does not touch itself
    """

    stiffness: float = 3.0
    apart: float = 4.0

    def __post_init__(self) -> None:
        for name in ("stiffness", "apart"):
            if not 0 < getattr(self, name) < np.inf:
                raise InputError(f"contact {name}: expected above 0, got {getattr(self, name)}")


@dataclass(frozen=True, eq=False)
class Pairs:
    """Penetrating nodes and their planes, frozen.

    Parameters
    ----------
    nodes : (K,) node of each pair
    middle : (K, 3) a point of its plane
    normal : (K, 3) unit normal of its plane, the way out
    weight : (K,) force a depth
    """

    nodes: Nodes
    middle: Floats
    normal: Floats
    weight: Floats

    def depth(self, points: Floats) -> Floats:
        """Return how far (K,) each node of a shape (N, 3) is behind its plane, 0 if before it."""
        gap: Floats = ((self.middle - points[self.nodes]) * self.normal).sum(axis=1)
        return np.maximum(gap, 0.0)

    def energy(self, points: Floats) -> float:
        """Return the energy of the depths in a shape (N, 3)."""
        return float(0.5 * self.weight @ self.depth(points) ** 2)

    def force(self, points: Floats) -> Floats:
        """Return the slope (K, 3) of the energy by the position of each pair's node."""
        slope: Floats = -(self.weight * self.depth(points))[:, None] * self.normal
        return slope

    def tangent(self, points: Floats) -> Floats:
        """Return the second derivative (K, 3, 3) of the energy by the position of each pair's node."""
        active = self.weight * (self.depth(points) > 0)
        return active[:, None, None] * self.normal[:, :, None] * self.normal[:, None, :]


class SkinContact:
    """Finds where the skin of a solid has entered itself.

    Parameters
    ----------
    contact : its settings
    points : (N, 3) rest shape
    tets : (T, 4) or (T, 10)
    fixed : (N,) bool; a face whose corners are all fixed lies on a bone and is no skin
    young : Young's modulus
    """

    def __init__(self, contact: Contact, points: Floats, tets: Nodes, fixed: NDArray[np.bool_], young: float) -> None:
        faces = boundary(tets)
        self.triangles = faces[~fixed[faces].all(axis=1)]
        corners = points[self.triangles]
        self._edge = float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean())
        self._apart = contact.apart * self._edge
        area = np.linalg.norm(_areas(points, self.triangles), axis=1)
        share = np.bincount(self.triangles.ravel(), np.repeat(area / 3, 3), minlength=len(points))
        self._weight = contact.stiffness * young / self._edge * share
        nodes = np.unique(self.triangles)
        self._nodes = nodes[~fixed[nodes]]
        self._rest, self._centres = points, corners.mean(axis=1)

    def find(self, points: Floats) -> Pairs:
        """Return the pairs of a shape (N, 3): each skin node that is less than an edge deep, with its plane."""
        centres = points[self.triangles].mean(axis=1)
        reach, candidates = 2 * self._edge, min(_CANDIDATES, len(centres))
        _, nearest = cKDTree(centres).query(points[self._nodes], candidates, distance_upper_bound=reach)
        near = np.asarray(nearest).reshape(len(self._nodes), candidates)
        row, column = np.nonzero(near < len(centres))
        node, triangle = self._nodes[row], near[row, column]
        far = ((self._rest[node] - self._centres[triangle]) ** 2).sum(axis=1) > self._apart**2
        node, triangle = node[far], triangle[far]
        normals = _normals(points, self.triangles)
        closest, normal = _closest(points, normals, points[node], self.triangles[triangle])
        gap = closest - points[node]
        depth, distance = (gap * normal).sum(axis=1), np.linalg.norm(gap, axis=1)
        # A node that has entered looks the other way; one that sees the far side of a thin part does not count.
        hit = (depth > 0) & (distance < self._edge) & ((normals[node] * normal).sum(axis=1) < 0)
        order = np.lexsort((triangle[hit], distance[hit], node[hit]))
        found, first = np.unique(node[hit][order], return_index=True)
        pick = np.flatnonzero(hit)[order][first]
        middle = points[found] + 0.5 * depth[pick, None] * normal[pick]
        return Pairs(found, middle, normal[pick], self._weight[found])


def boundary(tets: Nodes) -> Nodes:
    """Return the faces (F, 3) of tetrahedra that belong to one only, seen from outside counter-clockwise.

    A face of 10-node tetrahedra is four triangles, so that its middle nodes are corners too.
    """
    between = {frozenset(edge): 4 + k for k, edge in enumerate(EDGES)}
    corners, pieces = [], []
    for a, b, c in _FACES:
        corners.append(tets[:, [a, b, c]])
        if tets.shape[1] == 10:
            ab, bc, ca = between[frozenset((a, b))], between[frozenset((b, c))], between[frozenset((c, a))]
            pieces.append(tets[:, [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]])
        else:
            pieces.append(corners[-1][:, None])
    _, inverse, count = np.unique(
        np.sort(np.concatenate(corners), axis=1), axis=0, return_inverse=True, return_counts=True
    )
    outside: Nodes = np.concatenate(pieces)[count[inverse.ravel()] == 1].reshape(-1, 3)
    return outside


def _areas(points: Floats, triangles: Nodes) -> Floats:
    """Area vectors (F, 3) of triangles."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return 0.5 * np.cross(b - a, c - a)


def _normals(points: Floats, triangles: Nodes) -> Floats:
    """Unit normals (N, 3) of the nodes of triangles, weighted by area; zero elsewhere."""
    area, corners = np.repeat(_areas(points, triangles), 3, axis=0), triangles.ravel()
    total = np.stack([np.bincount(corners, area[:, k], minlength=len(points)) for k in range(3)], axis=1)
    unit: Floats = total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-300)
    return unit


def _closest(points: Floats, normals: Floats, queries: Floats, triangles: Nodes) -> tuple[Floats, Floats]:
    """Points (K, 3) of triangles (K, 3) near queries (K, 3), and their smooth normals (K, 3).

    Off a triangle the point is on its rim, not quite the nearest there; a neighbour then has a nearer one.
    """
    a, b, c = (points[triangles[:, k]] for k in range(3))
    ab, ac, aq = b - a, c - a, queries - a
    normal = np.cross(ab, ac)
    square = np.maximum((normal**2).sum(axis=1), 1e-300)
    v = (np.cross(aq, ac) * normal).sum(axis=1) / square
    w = (np.cross(ab, aq) * normal).sum(axis=1) / square
    share = np.maximum(np.stack([1 - v - w, v, w], axis=1), 0.0)
    share /= share.sum(axis=1, keepdims=True)
    closest = np.einsum("kc,kci->ki", share, points[triangles])
    smooth = np.einsum("kc,kci->ki", share, normals[triangles])
    return closest, smooth / np.maximum(np.linalg.norm(smooth, axis=1, keepdims=True), 1e-300)
