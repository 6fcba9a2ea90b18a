"""Shapes brought to one place and size, so that a fit sees neither the motion of the whole nor the unit of length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posespace.check import Floats, Ints
from posespace.geometry import rotations
from posespace.geometry.weld import weld_points


@dataclass(frozen=True, eq=False)
class Placed:
    """A rest shape about the origin with half its box's diagonal 1, and shapes laid over it; seams welded.

    Parameters
    ----------
    points : (G, 3) the rest shape
    triangles : (T, 3) of these vertices
    shapes : (G, P, 3)
    groups : (N,) which of the vertices each given one is
    centre, scale : (3,) and a number: a given point of the rest shape is ``centre + scale * point``
    turns, shifts : (P, 3, 3) and (P, 3): a given point of a shape is ``scale * turn @ point + shift``
    """

    points: Floats
    triangles: Ints
    shapes: Floats
    groups: Ints
    centre: Floats
    scale: float
    turns: Floats
    shifts: Floats

    def given_transforms(self, transforms: Floats) -> Floats:
        """Return (B, P, 3, 4) transforms of the placed shapes as those of the given ones."""
        moved = np.empty_like(transforms)
        moved[..., :3] = self.turns @ transforms[..., :3]
        moved[..., 3] = self.shifts + self.scale * np.einsum("pij,bpj->bpi", self.turns, transforms[..., 3])
        moved[..., 3] -= moved[..., :3] @ self.centre
        return moved


def placed(rest: Floats, triangles: Ints, shapes: Floats) -> Placed:
    """Lay shapes (P, N, 3) over the rest shape (N, 3), which must have some size."""
    points = np.asarray(rest, dtype=np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    centre, scale = (low + high) / 2, float(np.linalg.norm(high - low)) / 2
    groups, first = _welded(rest, shapes)
    unit = (points[first] - centre) / scale
    chosen = np.asarray(shapes, dtype=np.float64)[:, first]
    middle, middles = unit.mean(axis=0), chosen.mean(axis=1)
    apart = (chosen - middles[:, None]) / scale
    # The quaternion nearest the matrix of products turns the rest shape onto the other best.
    turns = rotations.matrices(rotations.from_matrices(np.einsum("pgi,gj->pij", apart, unit - middle)))
    laid = np.einsum("pgi,pij->gpj", apart, turns) + middle
    shifts = middles - scale * turns @ middle
    return Placed(unit, groups[triangles], np.ascontiguousarray(laid), groups, centre, scale, turns, shifts)


def _welded(rest: Floats, shapes: Floats) -> tuple[Ints, Ints]:
    """Return the group (N,) of each vertex, and the first vertex (G,) of each: those that share all places."""
    weld = weld_points(rest)
    leader = weld.first[weld.groups]
    other = np.flatnonzero(leader != np.arange(len(rest)))
    parts = np.zeros(len(other), dtype=bool)
    for shape in shapes:
        parts |= (shape[other] != shape[leader[other]]).any(axis=1)
    leader[other[parts]] = other[parts]
    first, groups = np.unique(leader, return_inverse=True)
    return groups.ravel().astype(np.int32), first.astype(np.int32)
