"""Weighted pose space deformation: each vertex measures poses by the joints that move it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posespace.check import Floats
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.interpolate.distances import blocks, distances
from posespace.pose import Pose
from posespace.poses.active import at_rest, rotated_from_rest
from posespace.poses.digests import pose_digests
from posespace.poses.parts import parts_of
from posespace.rig import Rig
from posespace.rivals.unsaved import Unsaved


@dataclass(frozen=True, eq=False)
class WeightedSkin(Unsaved):
    """A rig in which every vertex has its own distance between poses.

    Parameters
    ----------
    rig : the rig
    joints : K joints that rotate
    centres : (M, K, 4) their rotations in the examples
    radius : of the Gaussian, radians
    shares : (N, K) each joint's weight in a vertex's distance
    weights : (M, N, 3) float32, of the Gaussian of each example at each vertex
    poses : digests of the poses it was fitted on
    """

    rig: Rig
    joints: tuple[int, ...]
    centres: Floats
    radius: float
    shares: Floats
    weights: Floats
    poses: tuple[str, ...]

    @property
    def tables(self) -> tuple[Floats, ...]:
        """What it stores, excluding the rig."""
        return (self.centres, self.shares, self.weights)

    def pose(self, pose: Pose) -> tuple[Floats, Floats]:
        """Return the posed points (N, 3) and unit normals (N, 3)."""
        squares = squared_angles(parts_of(self.rig.skeleton).of(pose)[0][None, list(self.joints)], self.centres)[0]
        kernel = np.exp(-0.5 * (squares @ self.shares.T) / self.radius**2)
        points = self.rig.skin(pose, np.einsum("mn,mnc->nc", kernel, self.weights))
        return points, self.rig.mesh.normals(points)


@dataclass(frozen=True)
class WeightedPSD:
    """Weighted pose space deformation (Kurihara, Miyata 2004).

    A vertex's squared distance between two poses is the sum of the joints' squared angles, each times the vertex's
    skinning weight for that joint's bone. Poses that differ in other joints only have distance 0: their corrections
    are averaged, for which `smoothing` is needed.

    Parameters
    ----------
    radius : of the Gaussian, radians, above 0; None: chosen by leave-one-out on some vertices
    smoothing : above 0; far below 1e-4 the weights of such poses grow beyond the digits of float32
    """

    radius: float | None = None
    smoothing: float = 1e-2

    def __post_init__(self) -> None:
        if self.radius is not None and not 0 < self.radius < np.inf:
            raise InputError(f"radius: expected above 0, got {self.radius}")
        if not 0 < self.smoothing < np.inf:
            raise InputError(f"smoothing: expected above 0, got {self.smoothing}")

    def fit(self, examples: Examples) -> WeightedSkin:
        """Return the skin that comes close to every example."""
        rig, motion = examples.rig, examples.motion
        joints = tuple(np.flatnonzero(rotated_from_rest(rig, motion).any(axis=0)).tolist())
        if not joints:
            raise InputError("weighted PSD: no joint rotates in the examples; it needs one that does")
        if not at_rest(rig, motion).any():
            examples = _with_rest(examples)
        centres = parts_of(rig.skeleton).of(examples.motion)[0][:, list(joints)]
        squares = squared_angles(centres, centres)
        shares = rig.dense_weights()[:, list(joints)]
        values = np.stack([examples.residual(index)[0] for index in range(len(examples))], axis=1)
        radius = self.radius or self._choose_radius(squares, shares, values)
        weights = np.empty(values.shape, np.float32)
        for rows in blocks(len(values), len(squares) ** 2):
            weights[rows] = np.linalg.solve(self._systems(squares, shares[rows], radius), values[rows])
        kept = np.ascontiguousarray(weights.transpose(1, 0, 2))
        digests = tuple(pose_digests(motion, rig.skeleton))
        return WeightedSkin(rig, joints, centres.astype(np.float32), radius, shares.astype(np.float32), kept, digests)

    def _systems(self, squares: Floats, shares: Floats, radius: float) -> Floats:
        """Return the matrices (S, M, M) of vertices with `shares` (S, K)."""
        systems = np.exp(-0.5 * np.einsum("abk,sk->sab", squares, shares, optimize=True) / radius**2)
        return np.asarray(systems + self.smoothing * np.eye(len(squares)))

    def _choose_radius(self, squares: Floats, shares: Floats, values: Floats) -> float:
        """The radius of least leave-one-out error on about a hundred of the vertices with the largest corrections."""
        energy = (values**2).sum(axis=(1, 2))
        sampled = np.argsort(-energy)[: max(1, len(energy) // 4) : max(1, len(energy) // 400)]
        spread = float(np.sqrt(squares.sum(axis=2).max()))
        errors: dict[float, float] = {}
        for radius in map(float, np.geomspace(spread / 50, spread, 12)):
            error = 0.0
            for rows in blocks(len(sampled), len(squares) ** 2):
                inverse = np.linalg.inv(self._systems(squares, shares[sampled[rows]], radius))
                diagonal = np.diagonal(inverse, axis1=1, axis2=2)
                error += float((((inverse @ values[sampled[rows]]) / diagonal[..., None]) ** 2).sum())
            errors[radius] = error
        return min(errors, key=errors.__getitem__)


def squared_angles(a: Floats, b: Floats) -> Floats:
    """Return the squared angles (Q, M, K) between the rotations a (Q, K, 4) and b (M, K, 4) of each joint."""
    return np.stack([distances(a[:, k], b[:, k], "rotation") ** 2 for k in range(a.shape[1])], axis=2)


def _with_rest(examples: Examples) -> Examples:
    rig = examples.rig
    motion = examples.motion.with_rest(rig.rest)
    shapes = [examples.shapes[k] for k in range(len(examples))]
    return Examples.from_shapes(rig, motion, np.stack([*shapes, rig.skin(rig.rest)]))
