"""Positions of learned bones from their rotations: one linear system for all bones, which keeps the surface together.

Least squares: every skinned edge should be the rest edge rotated by the bones at its ends, and with weight `beta` every
control point should be at its target. Ties count as weak edges: they hold the pieces of the surface that have no
control point. The matrix is constant, so it is inverted once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.geometry.edges import edges_of
from posespace.mesh import Mesh

if TYPE_CHECKING:
    from posespace.skin.bones.learned import LearnedBones

_AT_ONCE = 8192
_RIDGE = 1e-10
"""Of the mean diagonal: gives a position to a bone that moves no vertex."""
_TIE = 0.1
"""Weight of a tie, that of an edge being 1."""
_NO_TIES = np.zeros((0, 2), np.int32)


class BonePositions:
    """Solves for the positions of bones from their rotations and the control points: ``inverse · (rotated + pulls)``.

    Attributes
    ----------
    inverse : (B, B) of the constant matrix
    starts, columns, levers : (B + 1,), (E,) and (E, 3): row b of `rotated` is the sum over its entries of the rotation
        of bone ``columns``, less the identity, times ``levers``
    pulls : (B, M) what a unit translation of each control point adds
    """

    def __init__(self, bones: LearnedBones, mesh: Mesh) -> None:
        count = len(bones)
        ends = edges_of(mesh.triangles).ends
        ends = ends[ends[:, 0] != ends[:, 1]]
        matrix, levers = np.zeros((count, count)), np.zeros((3, count, count))
        points = mesh.points.astype(np.float64)
        for first in range(0, len(ends), _AT_ONCE):
            _add_edges(bones, points, ends[first : first + _AT_ONCE], 1.0, matrix, levers)
        ties = _NO_TIES if bones.ties is None else bones.ties
        for first in range(0, len(ties), _AT_ONCE):
            _add_edges(bones, points, ties[first : first + _AT_ONCE], _TIE, matrix, levers)
        pulls = np.zeros((count, len(bones.points)))
        _add_points(bones, points, matrix, levers, pulls)
        matrix[np.diag_indices(count)] += _RIDGE * (np.trace(matrix) / count + 1e-300)
        self.inverse: Floats = _inverse(matrix)
        self.pulls: Floats = pulls
        rows, columns = np.nonzero(np.abs(levers).max(axis=0) > 0)
        self.starts: Ints = np.searchsorted(rows, np.arange(count + 1)).astype(np.int32)
        self.columns: Ints = columns.astype(np.int32)
        self.levers: Floats = np.ascontiguousarray(levers[:, rows, columns].T)
        self._rows = rows

    def __call__(self, rotations: Floats, translations: Floats) -> Floats:
        """Return the translations (B, 3) of the bones' centres, for rotations (B, 3, 3) of the bones.

        `translations` (M, 3) are those of the control points from rest. At rest nothing moves, whatever the weights.
        """
        terms = np.einsum("eij,ej->ei", rotations[self.columns] - np.eye(3), self.levers)
        rotated = np.stack([np.bincount(self._rows, axis, minlength=len(rotations)) for axis in terms.T], axis=1)
        return np.asarray(self.inverse @ (rotated + self.pulls @ translations))


def _inverse(matrix: Floats) -> Floats:
    try:
        return np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        raise InputError(
            "learned bones: singular system: bone positions are undetermined by the weights and points"
        ) from None


def _add_edges(bones: LearnedBones, points: Floats, ends: Ints, weight: float, matrix: Floats, levers: Floats) -> None:
    """Add edges (E, 2) of a weight to the matrix and to the levers of rotations.

    A skinned vertex is Σ w (R (v - o) + p) over its bones, o their centres and p their positions. So an edge requires
    Σ (w_i - w_j) p = Σ R (½ (w_i + w_j) (v_i - v_j) - w_i (v_i - o) + w_j (v_j - o)).
    """
    i, j = ends.T
    bone = np.concatenate([bones.influences[i], bones.influences[j]], axis=1)
    first_weights, second_weights = bones.weights[i].astype(np.float64), bones.weights[j].astype(np.float64)
    signed = np.concatenate([first_weights, -second_weights], axis=1)
    half = 0.5 * np.concatenate([first_weights, second_weights], axis=1)[..., None] * (points[i] - points[j])[:, None]
    arms = np.concatenate(
        [
            points[i][:, None] - bones.centres[bones.influences[i]],
            points[j][:, None] - bones.centres[bones.influences[j]],
        ],
        axis=1,
    )
    root = np.sqrt(weight)
    _add(bone, root * signed, root * (half - signed[..., None] * arms), matrix, levers)


def _add_points(bones: LearnedBones, points: Floats, matrix: Floats, levers: Floats, pulls: Floats) -> None:
    """Add the control points, with weight `beta`, to the matrix, the levers of rotations, and the pulls."""
    bone, weight = bones.influences[bones.points], bones.weights[bones.points].astype(np.float64)
    arms = points[bones.points][:, None] - bones.centres[bone]
    root = np.sqrt(bones.beta)
    _add(bone, root * weight, -root * weight[..., None] * arms, matrix, levers)
    np.add.at(pulls, (bone, np.arange(len(bone))[:, None]), bones.beta * weight)


def _add(bone: Ints, signed: Floats, targets: Floats, matrix: Floats, levers: Floats) -> None:
    """Add equations Σ signed · p = Σ R targets over the bones (Q, K) of each to the normal equations."""
    count = len(matrix)
    flat = (bone[:, :, None].astype(np.int64) * count + bone[:, None, :]).ravel()
    matrix += np.bincount(flat, (signed[:, :, None] * signed[:, None, :]).ravel(), count * count).reshape(count, count)
    for axis in range(3):
        product = (signed[:, :, None] * targets[:, None, :, axis]).ravel()
        levers[axis] += np.bincount(flat, product, count * count).reshape(count, count)
