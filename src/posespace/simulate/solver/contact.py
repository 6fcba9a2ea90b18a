"""Skin that meets skin or bone in deep flexion: a penalty on depth, with the other side moving along.

A node that has entered is pushed out along the normal of the triangle it came through, and the triangle is pushed
back. Triangle, place on it and normal are found again in each of the first Newton iterations and fixed within it, so
the energy of an iteration is quadratic in the nodes. Bones are rounded cones that do not give way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.geometry.normals import area_vectors, vertex_normals
from posespace.geometry.surface import Surface
from posespace.geometry.tetrahedra import boundary
from posespace.simulate.bodies import capsules
from posespace.simulate.bodies.body import Bone
from posespace.simulate.solver.elements import Nodes

_AHEAD = 0.5
"""Nodes within this many edges of touching get their plane already, so that a step does not jump through it."""
_DEEPEST = 1.5
"""Nodes deeper than this many edges of elements may have come from elsewhere: the load step was too long."""
_OUTWARD = 0.05
"""How far above the skin, in edges, a node is tested for being inside."""


@dataclass(frozen=True)
class Contact:
    """How skin resists skin and bones.

    Parameters
    ----------
    stiffness : pressure at a depth of one mean edge of the skin, in units of Young's modulus. More means less depth
        left, and slower convergence
    apart : skin within this many mean edges of itself at rest does not touch itself
    """

    stiffness: float = 3.0
    apart: float = 1.5

    def __post_init__(self) -> None:
        for name in ("stiffness", "apart"):
            if not 0 < getattr(self, name) < np.inf:
                raise InputError(f"contact {name}: expected above 0, got {getattr(self, name)}")


@dataclass(frozen=True, eq=False)
class Pairs:
    """Nodes and what they touch, frozen.

    Parameters
    ----------
    nodes : (K,) node of each pair
    corners : (K, 3) nodes of the triangle it touches; for a bone the node itself
    share : (K, 3) place on the triangle; zero for a bone
    anchor : (K, 3) place on a bone; zero for a triangle
    normal : (K, 3) unit normal there, the way out
    weight : (K,) force per depth
    """

    nodes: Nodes
    corners: Nodes
    share: Floats
    anchor: Floats
    normal: Floats
    weight: Floats

    def depth(self, points: Floats) -> Floats:
        """Return how far (K,) each node of a shape (N, 3) is behind what it touches, 0 if in front of it."""
        place = self.anchor + np.einsum("kc,kci->ki", self.share, points[self.corners])
        gap: Floats = ((place - points[self.nodes]) * self.normal).sum(axis=1)
        return np.maximum(gap, 0.0)

    def energy(self, points: Floats) -> float:
        """Return the energy of the depths in a shape (N, 3)."""
        return float(0.5 * self.weight @ self.depth(points) ** 2)

    def force(self, points: Floats) -> Floats:
        """Return the slope (N, 3) of the energy by the positions."""
        return self._spread(-self.weight * self.depth(points), len(points))

    def touching(self, points: Floats) -> Pairs:
        """Return the pairs that have depth in a shape (N, 3)."""
        deep = self.depth(points) > 0
        return Pairs(*(getattr(self, name)[deep] for name in _FIELDS))

    def product(self, moves: Floats) -> Floats:
        """Return the second derivative of the energy times `moves` (N, 3), all pairs taken as touching."""
        along = ((moves[self.nodes] - np.einsum("kc,kci->ki", self.share, moves[self.corners])) * self.normal).sum(
            axis=1
        )
        return self._spread(self.weight * along, len(moves))

    def diagonal(self) -> tuple[Nodes, Floats]:
        """Return nodes (D,), with repeats, and their diagonal blocks (D, 3, 3) of the second derivative."""
        square = self.normal[:, :, None] * self.normal[:, None, :]
        nodes = np.concatenate([self.nodes, self.corners.ravel()])
        scale = np.concatenate([self.weight, (self.weight[:, None] * self.share**2).ravel()])
        return nodes, scale[:, None, None] * np.concatenate([square, np.repeat(square, 3, axis=0)])

    def _spread(self, amount: Floats, count: int) -> Floats:
        """Put `amount` (K,) along the normals on the nodes, and shares of its opposite on the triangles."""
        total = np.zeros((count, 3))
        push = amount[:, None] * self.normal
        np.add.at(total, self.nodes, push)
        np.add.at(total, self.corners, -self.share[:, :, None] * push[:, None])
        return total


class SkinContact:
    """Finds where the skin of a solid has entered itself or a bone.

    Parameters
    ----------
    contact : its settings
    points : (N, 3) rest shape
    tets : (T, 4) or (T, 10)
    fixed : (N,) bool; a face whose corners are all fixed lies on a bone and is not skin
    young : Young's modulus
    bones : at rest; none: skin touches only itself
    bone_of : (N,) the bone that each fixed node moves with
    """

    def __init__(
        self,
        contact: Contact,
        points: Floats,
        tets: Nodes,
        fixed: NDArray[np.bool_],
        young: float,
        bones: Sequence[Bone] = (),
        bone_of: Ints | None = None,
    ) -> None:
        faces, _ = boundary(tets)
        self.triangles = faces[~fixed[faces].all(axis=1)]
        corners = points[self.triangles]
        self.edge = float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean())
        self.deepest = _DEEPEST * self.edge * (1 if tets.shape[1] == 4 else 2)
        self._apart = contact.apart * self.edge
        area = np.linalg.norm(area_vectors(points, self.triangles), axis=1) / 2
        share = np.bincount(self.triangles.ravel(), np.repeat(area / 3, 3), minlength=len(points))
        self._weight = contact.stiffness * young / self.edge * share
        nodes = np.unique(self.triangles)
        self._nodes = nodes[~fixed[nodes]]
        self._rest, self._centres = points, corners.mean(axis=1)
        self._bones = [(bone, np.flatnonzero(bone_of == k)) for k, bone in enumerate(bones)] if bones else []

    def find(self, points: Floats) -> tuple[Pairs, int]:
        """Return the pairs of a shape (N, 3), and how many nodes are so deep that they have none."""
        pairs, missed = self._skin_pairs(points)
        parts = [pairs, *(self._bone_pairs(points, bone, own) for bone, own in self._bones)]
        return Pairs(*(np.concatenate([getattr(part, name) for part in parts]) for name in _FIELDS)), missed

    def _skin_pairs(self, points: Floats) -> tuple[Pairs, int]:
        surface, normals = Surface(points, self.triangles), vertex_normals(points, self.triangles)
        node = self._nodes
        closest, triangle, share = surface.closest(points[node], -normals[node])
        far = ((self._rest[node] - self._centres[triangle]) ** 2).sum(axis=1) > self._apart**2
        corners = self.triangles[triangle]
        smooth = np.einsum("kc,kci->ki", share, normals[corners])
        normal = smooth / np.maximum(np.linalg.norm(smooth, axis=1, keepdims=True), 1e-300)
        gap = closest - points[node]
        depth, distance = (gap * normal).sum(axis=1), np.linalg.norm(gap, axis=1)
        inside = far & (depth > 0)
        above = points[node[inside]] + _OUTWARD * self.edge * normals[node[inside]]
        # Its own flesh is behind a node: if there is flesh in front of it too, it has entered some.
        inside[inside] = surface.winding(above) > 0.5
        missed = inside & (distance > self.deepest)
        before = far & (depth <= 0) & (distance < _AHEAD * self.edge)
        kept = (inside & ~missed & (depth > 0.3 * distance)) | before
        zero = np.zeros((int(kept.sum()), 3))
        weight = self._weight[node[kept]]
        return Pairs(node[kept], corners[kept], share[kept], zero, normal[kept], weight), int(missed.sum())

    def _bone_pairs(self, points: Floats, bone: Bone, own: Nodes) -> Pairs:
        """The pairs of a bone, which is where its nodes `own` are."""
        turn, shift = _rigid(self._rest[own], points[own])
        at_rest = (points[self._nodes] - shift) @ turn
        away = capsules.distance(bone, at_rest)
        near = np.flatnonzero(away < _AHEAD * self.edge)
        node, normal = self._nodes[near], capsules.outward(bone, at_rest[near]) @ turn.T
        anchor = points[node] - away[near, None] * normal
        same = np.repeat(node[:, None], 3, axis=1)
        return Pairs(node, same, np.zeros((len(node), 3)), anchor, normal, self._weight[node])


_FIELDS = tuple(Pairs.__dataclass_fields__)


def _rigid(rest: Floats, placed: Floats) -> tuple[Floats, Floats]:
    """The rotation (3, 3) and shift (3,) that take points at rest to where they were placed."""
    middle, there = rest.mean(axis=0), placed.mean(axis=0)
    u, _, v = np.linalg.svd((placed - there).T @ (rest - middle))
    turn: Floats = u @ np.diag([1.0, 1.0, np.linalg.det(u @ v)]) @ v
    return turn, there - turn @ middle
