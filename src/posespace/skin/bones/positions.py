"""Where learned bones are once their rotations are known: all together, so that the surface holds together.

Least squares over the places of all bones: every skinned edge is to be the rest edge turned by the bones at its ends,
and `beta` times every control point is to be where it is asked to be. The matrix is constant, so it is inverted once.
"""

from __future__ import annotations

import numpy as np

from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.geometry.edges import edges_of
from posespace.mesh import Mesh
from posespace.skin.bones.learned import LearnedBones

_AT_ONCE = 8192
_RIDGE = 1e-10
"""Of the mean diagonal: a bone that moves no vertex has a place all the same."""


class BonePositions:
    """How the places of bones change with their rotations and the control points: ``inverse · (turned + drawn)``.

    Attributes
    ----------
    inverse : (B, B) of the constant matrix
    starts, columns, levers : (B + 1,), (E,) and (E, 3): row b of `turned` is the sum over its entries of the rotation
        of bone ``columns``, less the identity, times ``levers``
    drawn : (B, M) what a shift of each control point adds
    """

    def __init__(self, bones: LearnedBones, mesh: Mesh) -> None:
        count = len(bones)
        ends = edges_of(mesh.triangles).ends
        ends = ends[ends[:, 0] != ends[:, 1]]
        matrix, levers = np.zeros((count, count)), np.zeros((3, count, count))
        points = mesh.points.astype(np.float64)
        for first in range(0, len(ends), _AT_ONCE):
            _add_edges(bones, points, ends[first : first + _AT_ONCE], matrix, levers)
        drawn = np.zeros((count, len(bones.points)))
        _add_points(bones, points, matrix, levers, drawn)
        matrix[np.diag_indices(count)] += _RIDGE * (np.trace(matrix) / count + 1e-300)
        self.inverse: Floats = _inverse(matrix)
        self.drawn: Floats = drawn
        rows, columns = np.nonzero(np.abs(levers).max(axis=0) > 0)
        self.starts: Ints = np.searchsorted(rows, np.arange(count + 1)).astype(np.int32)
        self.columns: Ints = columns.astype(np.int32)
        self.levers: Floats = np.ascontiguousarray(levers[:, rows, columns].T)
        self._rows = rows

    def __call__(self, turns: Floats, shifts: Floats) -> Floats:
        """Return how far the centres (B, 3) of bones move that are turned by `turns` (B, 3, 3).

        The control points are shifted from rest by `shifts` (M, 3). At rest nothing moves, whatever the weights are.
        """
        each = np.einsum("eij,ej->ei", turns[self.columns] - np.eye(3), self.levers)
        turned = np.stack([np.bincount(self._rows, axis, minlength=len(turns)) for axis in each.T], axis=1)
        return np.asarray(self.inverse @ (turned + self.drawn @ shifts))


def _inverse(matrix: Floats) -> Floats:
    try:
        return np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        raise InputError(
            "learned bones: singular system: bone positions are undetermined by the weights and points"
        ) from None


def _add_edges(bones: LearnedBones, points: Floats, ends: Ints, matrix: Floats, levers: Floats) -> None:
    """Add some edges to the matrix and to what rotations add.

    A skinned vertex is Σ w (R (v - o) + p) over its bones, o their centres and p their places. So an edge asks that
    Σ (w_i - w_j) p = Σ R (½ (w_i + w_j) (v_i - v_j) - w_i (v_i - o) + w_j (v_j - o)).
    """
    i, j = ends.T
    bone = np.concatenate([bones.influences[i], bones.influences[j]], axis=1)
    here, there = bones.weights[i].astype(np.float64), bones.weights[j].astype(np.float64)
    signed = np.concatenate([here, -there], axis=1)
    half = 0.5 * np.concatenate([here, there], axis=1)[..., None] * (points[i] - points[j])[:, None]
    arms = np.concatenate(
        [
            points[i][:, None] - bones.centres[bones.influences[i]],
            points[j][:, None] - bones.centres[bones.influences[j]],
        ],
        axis=1,
    )
    _add(bone, signed, half - signed[..., None] * arms, matrix, levers)


def _add_points(bones: LearnedBones, points: Floats, matrix: Floats, levers: Floats, drawn: Floats) -> None:
    """Add the control points, `beta` times, to the matrix, to what rotations add, and to what they add themselves."""
    bone, weight = bones.influences[bones.points], bones.weights[bones.points].astype(np.float64)
    arms = points[bones.points][:, None] - bones.centres[bone]
    root = np.sqrt(bones.beta)
    _add(bone, root * weight, -root * weight[..., None] * arms, matrix, levers)
    np.add.at(drawn, (bone, np.arange(len(bone))[:, None]), bones.beta * weight)


def _add(bone: Ints, signed: Floats, asked: Floats, matrix: Floats, levers: Floats) -> None:
    """Add equations Σ signed · p = Σ R asked over the bones (Q, K) of each to the normal equations."""
    count = len(matrix)
    flat = (bone[:, :, None].astype(np.int64) * count + bone[:, None, :]).ravel()
    matrix += np.bincount(flat, (signed[:, :, None] * signed[:, None, :]).ravel(), count * count).reshape(count, count)
    for axis in range(3):
        product = (signed[:, :, None] * asked[:, None, :, axis]).ravel()
        levers[axis] += np.bincount(flat, product, count * count).reshape(count, count)
