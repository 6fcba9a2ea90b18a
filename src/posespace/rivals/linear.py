"""Linear pose blend shapes: corrections linear in the entries of R - I of every joint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posespace.check import Floats
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.geometry import rotations
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.poses.active import rotated_from_rest
from posespace.poses.digests import pose_digests
from posespace.poses.parts import parts_of
from posespace.rig import Rig
from posespace.rivals.unsaved import Unsaved


@dataclass(frozen=True, eq=False)
class LinearPoseSkin(Unsaved):
    """A rig whose corrections are linear in rotation matrices.

    Parameters
    ----------
    rig : the rig
    joints : the K joints that drive it
    basis : (9K, N, 3) float32, the displacement for each entry of R - I, R being the rotation from rest
    poses : digests of the poses it was fitted on
    """

    rig: Rig
    joints: tuple[int, ...]
    basis: Floats
    poses: tuple[str, ...]

    @property
    def tables(self) -> tuple[Floats, ...]:
        """What it stores, excluding the rig."""
        return (self.basis,)

    def pose(self, pose: Pose) -> tuple[Floats, Floats]:
        """Return the posed points (N, 3) and unit normals (N, 3)."""
        features = rotation_features(self.rig, pose, self.joints)
        points = self.rig.skin(pose, np.tensordot(features, self.basis, axes=1))
        return points, self.rig.mesh.normals(points)


@dataclass(frozen=True)
class LinearPoseShapes:
    """The pose blend shapes of SMPL (Loper et al. 2015) for one body, by ridge regression; the roots are left out.

    Parameters
    ----------
    ridge : at least 0, penalty on large shapes, relative to the mean square of the features
    """

    ridge: float = 1e-3

    def __post_init__(self) -> None:
        if not 0 <= self.ridge < np.inf:
            raise InputError(f"ridge: expected at least 0, got {self.ridge}")

    def fit(self, examples: Examples) -> LinearPoseSkin:
        """Return the regression of the examples' corrections."""
        rig, motion = examples.rig, examples.motion
        joints = tuple(np.flatnonzero(rotated_from_rest(rig, motion).any(axis=0)).tolist())
        if not joints:
            raise InputError("linear pose shapes: no joint but a root rotates in the examples; they need one that does")
        features = rotation_features(rig, motion, joints)
        residuals = np.stack([examples.residual(index)[0] for index in range(len(examples))])
        u, sizes, vt = np.linalg.svd(features, full_matrices=False)
        held = sizes**2 + self.ridge * (features**2).mean() * len(features)
        filtered = np.where(sizes > 1e-12 * sizes[0], sizes / np.where(held > 0, held, 1), 0)
        basis = (vt.T * filtered) @ (u.T @ residuals.reshape(len(residuals), -1))
        shaped = basis.reshape(-1, *residuals.shape[1:]).astype(np.float32)
        return LinearPoseSkin(rig, joints, shaped, tuple(pose_digests(motion, rig.skeleton)))


def rotation_features(rig: Rig, pose: Pose | Motion, joints: tuple[int, ...]) -> Floats:
    """Return the entries of R - I of chosen joints: (9K,) of a pose, (P, 9K) of a motion."""
    chosen = list(joints)
    parts, rest = (parts_of(rig.skeleton).of(source)[0] for source in (pose, rig.rest))
    matrices = rotations.matrices(rotations.multiply(rotations.inverse(rest[chosen]), parts[..., chosen, :]))
    return (matrices - np.eye(3)).reshape(*matrices.shape[:-3], -1)
