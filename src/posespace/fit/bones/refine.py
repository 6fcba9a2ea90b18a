"""Refinement of bones: transforms and weights alternately, until the error converges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posespace.check import Floats, Ints
from posespace.fit.bones.bone_weights import bone_pool, fit_weights
from posespace.fit.bones.transforms import affine_transforms, bone_transforms
from posespace.geometry.edges import neighbours_of
from posespace.progress import track

ROUNDS = 60
"""Most rounds of transforms and weights."""

SETTLED = 3e-3
"""The rounds end when one lowers the squared error by less than this fraction."""


@dataclass(frozen=True, eq=False)
class Bones:
    """Bones of a rest shape, their weights, and the remaining error.

    Parameters
    ----------
    transforms : (B, P, 3, 4) rest to each shape
    influences, weights : (N, K) the bones of each vertex and their weights
    errors : (N,) squared distances to the shapes, summed over them
    """

    transforms: Floats
    influences: Ints
    weights: Floats
    errors: Floats

    @property
    def error(self) -> float:
        """Squared distances to all shapes, summed."""
        return float(self.errors.sum())


def initial_bones(
    points: Floats, triangles: Ints, shapes: Floats, labels: Ints, transforms: Floats, influences: int
) -> Bones:
    """Return one bone per cluster of triangles; each vertex is on the bone of an adjacent triangle that fits it best.

    Parameters
    ----------
    points, triangles : (N, 3) and (T, 3) the rest shape
    shapes : (N, P, 3)
    labels : (T,) the cluster of each triangle
    transforms : (B, P, 3, 4) of the clusters
    influences : K, most bones per vertex
    """
    nearest, least = np.zeros(len(points), np.int32), np.full(len(points), np.inf)
    for vertex in triangles.T:
        moved = np.einsum("tpij,tj->tpi", transforms[labels][..., :3], points[vertex]) + transforms[labels][..., 3]
        gap = np.square(moved - shapes[vertex]).sum(axis=(1, 2))
        # In this order the best of several triangles at one vertex is written last.
        order = np.argsort(-gap, kind="stable")
        better = order[gap[order] < least[vertex[order]]]
        nearest[vertex[better]], least[vertex[better]] = labels[better], gap[better]
    weights = np.zeros((len(points), influences))
    weights[:, 0] = 1.0
    return Bones(transforms, np.repeat(nearest[:, None], influences, axis=1), weights, least)


def refine(
    points: Floats, triangles: Ints, shapes: Floats, bones: Bones, affine: bool = False, rounds: int = ROUNDS
) -> Bones:
    """Return better bones, by alternately solving for transforms and for weights.

    Parameters
    ----------
    points, triangles : (N, 3) and (T, 3) the rest shape, half its box's diagonal about 1
    shapes : (N, P, 3)
    bones : the initial ones
    affine : whether bones may stretch and shear
    rounds : most rounds
    """
    solve = affine_transforms if affine else bone_transforms
    around = neighbours_of(triangles, len(points))
    best = bones
    for _ in track(range(rounds), "bones and their weights"):
        moved = solve(points, shapes, best.influences, best.weights, best.transforms)
        pool = bone_pool(points, *around, best.influences, best.weights, len(moved))
        refined = Bones(moved, *fit_weights(points, shapes, moved, pool, best.influences, best.weights))
        settled = refined.error > (1 - SETTLED) * best.error
        best = refined
        if settled:
            break
    return best
