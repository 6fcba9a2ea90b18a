"""MESHIK: one blend of the examples rotates and stretches the triangles; its weights come from the control points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.geometry import rotations
from posespace.geometry.nearest_rotation import nearest_rotation
from posespace.jit import njit
from posespace.poses.digests import pose_digests
from posespace.rivals.handles import Handles, HeldSurface, PointedSurface, gradient_rows

_HALVINGS = 5
_LEAST_GAIN = 1e-4
"""Rounds end when one lowers the energy by less than this fraction."""


@dataclass(frozen=True, eq=False)
class MeshIKSurface(PointedSurface):
    """A surface with the blend of its examples that meets the control points with least distortion.

    Parameters
    ----------
    handles : the surface and its control points
    settings : of the iterations
    solve : least squares for the surface from the gradients of its triangles
    tangents : (T, 2, 3) two tangents of each triangle at rest, times the root of its area
    vectors : (M, T, 3) float32, rotation vector of each triangle in each example but the rest
    stretches : (M, T, 3, 3) float32, the stretch of its gradient, minus the identity
    poses : digests of the poses it was fitted on
    """

    settings: MeshIK
    solve: HeldSurface
    tangents: Floats
    vectors: Floats
    stretches: Floats
    poses: tuple[str, ...]

    @property
    def tables(self) -> tuple[Floats, ...]:
        """What it stores, excluding the rig."""
        return (self.vectors, self.stretches)

    def shape(self, positions: Floats) -> Floats:
        """Return the surface (V, 3) whose control points are at `positions` (C, 3), by Gauss-Newton."""
        weights = np.zeros(len(self.vectors))
        nearest = self.handles.nearest(positions)
        if nearest:
            weights[nearest - 1] = 1.0
        energy, shape, residual = self._measure(weights, positions)
        for _ in range(self.settings.rounds):
            step = self._step(weights, residual)
            for halving in range(_HALVINGS + 1):
                tried = weights + step / 2**halving
                new, moved, new_residual = self._measure(tried, positions)
                if new < energy:
                    break
            else:
                break
            gain = 1 - new / energy
            weights, energy, shape, residual = tried, new, moved, new_residual
            if gain < _LEAST_GAIN:
                break
        return shape

    def _measure(self, weights: Floats, positions: Floats) -> tuple[float, Floats, Floats]:
        """Return the energy of a blend, its surface (V, 3), and the residual of its gradients (2T, 3)."""
        rotation, stretch = self._blend(weights)
        wanted = _rows(rotation @ stretch, self.tangents)
        shape = self.solve(wanted, positions)
        residual = wanted - self.solve.rows @ shape
        return float((residual**2).sum()), shape, residual

    def _blend(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the blended rotations and stretches (T, 3, 3)."""
        vectors = np.tensordot(weights, self.vectors, 1)
        return _exponential(vectors), np.eye(3) + np.tensordot(weights, self.stretches, 1)

    def _step(self, weights: Floats, residual: Floats) -> Floats:
        """Return the change of the weights (M,) by the linearised energy; the surface moves along with it."""
        vectors = np.tensordot(weights, self.vectors, 1)
        rotation, stretch = self._blend(weights)
        both, jacobian = rotation @ stretch, _left_jacobian(vectors)
        columns = np.empty((len(self.vectors), *residual.shape))
        for k in range(len(self.vectors)):
            spin = np.einsum("tij,tj->ti", jacobian, self.vectors[k])
            columns[k] = _rows(np.cross(spin[:, :, None], both, axis=1) + rotation @ self.stretches[k], self.tangents)
        # What the surface can follow costs nothing: the same solve projects it out.
        right, followed = self.solve.drawn(columns.transpose(1, 0, 2).reshape(len(residual), -1))
        flat = columns.reshape(len(columns), -1)
        free = len(right)
        split = (part.reshape(free, -1, 3).transpose(1, 0, 2).reshape(len(columns), -1) for part in (right, followed))
        right, followed = split
        square = flat @ flat.T - right @ followed.T
        ridge = self.settings.ridge * np.trace(flat @ flat.T) / len(flat)
        return np.asarray(-np.linalg.solve(square + ridge * np.eye(len(flat)), flat @ residual.ravel()))


@dataclass(frozen=True)
class MeshIK:
    """Mesh-based inverse kinematics (Sumner, Zwicker, Gotsman, Popović 2005), control points exact.

    The rotations of the triangles' gradients are blended by their logarithms and the stretches linearly, with one
    weight per example for the whole surface.

    Parameters
    ----------
    rounds : at least 1, most Gauss-Newton steps
    ridge : above 0, keeps the steps small, relative to the mean square of the linearised gradients
    """

    rounds: int = 20
    ridge: float = 1e-4

    def __post_init__(self) -> None:
        check.count("rounds", self.rounds)
        if not 0 < self.ridge < np.inf:
            raise InputError(f"ridge: expected above 0, got {self.ridge}")

    def fit(self, examples: Examples) -> MeshIKSurface:
        """Return the surface of examples whose joints are control points."""
        handles = Handles.of(examples)
        if len(handles.shapes) < 2:
            raise InputError("MESHIK: expected an example besides the rest shape, got none")
        rows, tangents = gradient_rows(handles.rest, handles.triangles)
        gradients = _gradients(handles)
        matrices = np.empty_like(gradients)
        _nearest(gradients.reshape(-1, 3, 3), matrices.reshape(-1, 3, 3))
        stretches = np.swapaxes(matrices, -1, -2) @ gradients - np.eye(3)
        vectors = _logarithm(matrices)
        digests = tuple(pose_digests(examples.motion, examples.rig.skeleton))
        return MeshIKSurface(
            handles,
            self,
            HeldSurface(rows, handles.held),
            tangents,
            vectors.astype(np.float32),
            stretches.astype(np.float32),
            digests,
        )


def _gradients(handles: Handles) -> Floats:
    """Return (M, T, 3, 3) the deformation gradient of each triangle, with its normal, in each example but the rest."""
    rest = _edge_bases(handles.rest, handles.triangles)
    flat = np.abs(np.linalg.det(rest)) < 1e-300
    rest[flat] = np.eye(3)
    inverse = np.linalg.inv(rest)
    gradients = np.stack([_edge_bases(shape, handles.triangles) @ inverse for shape in handles.shapes[1:]])
    gradients[:, flat] = np.eye(3)
    return gradients


def _edge_bases(points: Floats, triangles: Ints) -> Floats:
    """Return (T, 3, 3) with two edges of each triangle and its normal, scaled by the root of its area, as columns."""
    corners = points[triangles]
    e1, e2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = np.cross(e1, e2)
    root = np.sqrt(np.linalg.norm(normal, axis=1))
    return np.stack([e1, e2, normal / np.where(root > 0, root, 1)[:, None]], axis=2)


def _rows(gradients: Floats, tangents: Floats) -> Floats:
    """Return (2T, 3) gradients (T, 3, 3) along the tangents (T, 2, 3)."""
    return np.asarray(np.einsum("tij,taj->tai", gradients, tangents).reshape(-1, 3))


def _exponential(vectors: Floats) -> Floats:
    """Return the rotations (T, 3, 3) of rotation vectors (T, 3)."""
    angle = np.linalg.norm(vectors, axis=1)
    axis = vectors / np.where(angle > 0, angle, 1)[:, None]
    return rotations.matrices(rotations.from_axis_angle(axis, angle))


def _logarithm(matrices: Floats) -> Floats:
    """Return the rotation vectors (..., 3) of rotations (..., 3, 3)."""
    quaternions = np.concatenate([rotations.from_matrices(example)[None] for example in matrices])
    sine = np.linalg.norm(quaternions[..., :3], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(sine, quaternions[..., 3:])
    return np.asarray(quaternions[..., :3] * np.where(sine > 1e-12, angle / np.where(sine > 1e-12, sine, 1), 2.0))


def _left_jacobian(vectors: Floats) -> Floats:
    """Return (T, 3, 3) J with exp(v + d) ≈ exp(J d) exp(v) for rotation vectors v (T, 3) and small d."""
    angle = np.linalg.norm(vectors, axis=1)[:, None, None]
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    cross = np.zeros((len(vectors), 3, 3))
    x, y, z = vectors.T
    cross[:, 0, 1], cross[:, 0, 2], cross[:, 1, 2] = -z, y, -x
    cross -= np.swapaxes(cross, 1, 2)
    first = np.where(small, 0.5, (1 - np.cos(safe)) / safe**2)
    second = np.where(small, 1 / 6, (safe - np.sin(safe)) / safe**3)
    return np.asarray(np.eye(3) + first * cross + second * (cross @ cross))


@njit()
def _nearest(matrices: Floats, nearest: Floats) -> None:  # pragma: no cover - compiled
    """Write the rotations nearest to matrices (K, 3, 3)."""
    for k in range(len(matrices)):
        nearest_rotation(matrices[k], nearest[k])
