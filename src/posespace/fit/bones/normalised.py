"""Shapes aligned and scaled, so that a fit depends neither on the rigid motion of the whole nor on the unit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posespace.check import Floats, Ints
from posespace.geometry import rotations
from posespace.geometry.weld import weld_points


@dataclass(frozen=True, eq=False)
class Normalised:
    """A rest shape about the origin with half its box's diagonal 1, and shapes aligned with it; seams are welded.

    Parameters
    ----------
    points : (G, 3) the rest shape
    triangles : (T, 3) of these vertices
    shapes : (G, P, 3)
    groups : (N,) the welded vertex of each original one
    centre, scale : (3,) and a number: an original point of the rest shape is ``centre + scale * point``
    rotations, translations : (P, 3, 3) and (P, 3): an original point of a shape is
        ``scale * rotation @ point + translation``
    """

    points: Floats
    triangles: Ints
    shapes: Floats
    groups: Ints
    centre: Floats
    scale: float
    rotations: Floats
    translations: Floats

    def original_transforms(self, transforms: Floats) -> Floats:
        """Return (B, P, 3, 4) transforms of the normalised shapes as those of the original ones."""
        moved = np.empty_like(transforms)
        moved[..., :3] = self.rotations @ transforms[..., :3]
        moved[..., 3] = self.translations + self.scale * np.einsum("pij,bpj->bpi", self.rotations, transforms[..., 3])
        moved[..., 3] -= moved[..., :3] @ self.centre
        return moved


def normalised(rest: Floats, triangles: Ints, shapes: Floats) -> Normalised:
    """Align shapes (P, N, 3) with the rest shape (N, 3), which must have some size, and scale both."""
    points = np.asarray(rest, dtype=np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    centre, scale = (low + high) / 2, float(np.linalg.norm(high - low)) / 2
    groups, first = _welded(rest, shapes)
    unit = (points[first] - centre) / scale
    chosen = np.asarray(shapes, dtype=np.float64)[:, first]
    middle, middles = unit.mean(axis=0), chosen.mean(axis=1)
    apart = (chosen - middles[:, None]) / scale
    # The rotation nearest to the covariance is the best one from the rest shape to the other.
    matrices = rotations.matrices(rotations.from_matrices(np.einsum("pgi,gj->pij", apart, unit - middle)))
    aligned = np.einsum("pgi,pij->gpj", apart, matrices) + middle
    translations = middles - scale * matrices @ middle
    shapes = np.ascontiguousarray(aligned)
    return Normalised(unit, groups[triangles], shapes, groups, centre, scale, matrices, translations)


def _welded(rest: Floats, shapes: Floats) -> tuple[Ints, Ints]:
    """Return the group (N,) of each vertex, and the first vertex (G,) of each: vertices equal in all shapes."""
    weld = weld_points(rest)
    leader = weld.first[weld.groups]
    other = np.flatnonzero(leader != np.arange(len(rest)))
    apart = np.zeros(len(other), dtype=bool)
    for shape in shapes:
        apart |= (shape[other] != shape[leader[other]]).any(axis=1)
    leader[other[apart]] = other[apart]
    first, groups = np.unique(leader, return_inverse=True)
    return groups.ravel().astype(np.int32), first.astype(np.int32)
