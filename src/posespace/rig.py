"""Rig: a mesh, a skeleton and the weights that bind them; plain skinning and its inverse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.geometry import skinning
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.pose import Pose, require_pose
from posespace.skeleton import Skeleton, invert_affine

BLENDINGS = {"linear": skinning.blend_linear, "dual_quaternion": skinning.blend_dual_quaternion}


@dataclass(frozen=True, eq=False)
class Rig:
    """A mesh bound to a skeleton.

    Parameters
    ----------
    mesh : the rest shape
    skeleton : its joints
    influences : (N, K) int32, the joints that move each vertex, strongest first; unused slots have weight 0
    weights : (N, K) floats from 0 to 1, each row scaled to sum to one; a row of zeros is bound to the first root
    inverse_bind : (J, 4, 4) from mesh space to each joint in the rest shape; None: from the skeleton's rest pose
    blending : "linear" or "dual_quaternion"
    """

    mesh: Mesh
    skeleton: Skeleton
    influences: Ints
    weights: Floats
    inverse_bind: Floats = None  # type: ignore[assignment]  # None becomes the inverse of the skeleton's rest
    blending: str = "linear"

    def __post_init__(self) -> None:
        count, joints = len(self.mesh.points), len(self.skeleton)
        weights = check.floats("rig weights", self.weights, (count, "K"), check.LARGEST)
        influences = check.indices("rig influences", self.influences, weights.shape, below=joints)
        weights, influences = _normalized(weights, influences, self.skeleton)
        bind = invert_affine(self.skeleton.rest_world) if self.inverse_bind is None else self.inverse_bind
        put = object.__setattr__
        put(self, "weights", weights)
        put(self, "influences", influences)
        put(self, "inverse_bind", check.transforms("rig inverse_bind", bind, (joints, 4, 4), self.skeleton.names))
        check.choice("rig blending", self.blending, tuple(BLENDINGS))
        self.transforms(self.rest)

    def __repr__(self) -> str:
        return f"Rig({self.mesh}, {self.skeleton}, up to {self.weights.shape[1]} influences, {self.blending})"

    @classmethod
    def from_arrays(
        cls,
        points: ArrayLike,
        triangles: ArrayLike,
        weights: ArrayLike,
        parents: ArrayLike,
        rest_world: ArrayLike,
        names: Sequence[str] | None = None,
    ) -> Rig:
        """Make a rig from plain arrays.

        Parameters
        ----------
        points : (N, 3)
        triangles : (T, 3)
        weights : (N, J), one column per joint
        parents : (J,), -1 for a root
        rest_world : (J, 4, 4) each joint's rest transform to the world
        names : J names; None for joint0, joint1, ...
        """
        mesh = Mesh(np.asarray(points), np.asarray(triangles))
        above = np.asarray(parents)
        skeleton = Skeleton.from_world(names or [f"joint{k}" for k in range(len(above))], above, rest_world)
        dense = check.floats("rig weights", weights, (len(mesh.points), len(skeleton)))
        influences, packed = pack_weights(dense)
        return cls(mesh, skeleton, influences, packed)

    @classmethod
    def from_mesh(cls, mesh: Mesh) -> Rig:
        """Make a rig that has only a root joint, for shapes driven by controls alone, such as faces."""
        skeleton = Skeleton.from_world(["root"], [-1], np.eye(4)[None])
        count = len(mesh.points)
        return cls(mesh, skeleton, np.zeros((count, 1), np.int32), np.ones((count, 1), np.float32))

    @cached_property
    def rest(self) -> Pose:
        """The pose of the rest shape: the one whose bone transforms are the identity, or the nearest to it."""
        rotations, translations, _ = self.skeleton.local(invert_affine(self.inverse_bind))
        return Pose(rotations, translations)

    @cached_property
    def normals(self) -> Floats:
        """(N, 3) unit normals of the rest shape."""
        return self.mesh.normals()

    def dense_weights(self) -> Floats:
        """Return the weights as (N, J), one column per joint."""
        dense = np.zeros((len(self.mesh.points), len(self.skeleton)))
        rows = np.broadcast_to(np.arange(len(dense))[:, None], self.influences.shape)
        np.add.at(dense, (rows, self.influences), self.weights)
        return dense

    def transforms(self, pose: Pose | Motion) -> Floats:
        """Return the bone transforms (J, 3, 4) of a pose, or (P, J, 3, 4) of a motion: rest to posed space."""
        joints, expected = pose.rotations.shape[-2], len(self.skeleton)
        if joints != expected:
            raise InputError(f"pose: expected {expected} joints as in the rig, got {joints}")
        with np.errstate(over="ignore", invalid="ignore"):
            world = self.skeleton.world(pose.rotations.astype(np.float64), pose.translations)
            moved: Floats = (world @ self.inverse_bind)[..., :3, :]
        check.ordinary("bone transforms", moved)
        return moved

    def blend(self, pose: Pose) -> Floats:
        """Return each vertex's blended transform M (N, 3, 4)."""
        require_pose("rig", pose)
        return BLENDINGS[self.blending](self.transforms(pose), self.influences, self.weights)

    def skin(self, pose: Pose, displacements: Floats | None = None) -> Floats:
        """Plain skinning: the posed points (N, 3); `displacements` (N, 3) are added in the rest shape first."""
        rest = self.mesh.points if displacements is None else self.mesh.points + displacements
        return skinning.apply(self.blend(pose), rest)

    def residual(self, pose: Pose, observed: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the displacements in the rest shape with which skinning gives the observed shape.

        Parameters
        ----------
        pose : the pose of the observed shape
        observed : (N, 3) posed points

        Returns
        -------
        displacements : (N, 3)
        damped : (N,) bool, vertices whose blend is close to losing rank; their displacement is damped, not exact
        """
        shape = check.floats("observed shape", observed, self.mesh.points.shape)
        blend = self.blend(pose)
        inverse, damped = skinning.invert(blend)
        return skinning.residual(blend, inverse, self.mesh.points, shape), damped

    def normal_residual(self, pose: Pose, observed: ArrayLike) -> Floats:
        """Return the displacements (N, 3) of the rest normals with which skinning gives observed unit normals."""
        normals = check.floats("observed normals", observed, self.mesh.points.shape)
        back = np.einsum("nji,nj->ni", self.blend(pose)[:, :, :3], normals)
        length = np.linalg.norm(back, axis=1, keepdims=True)
        unit = np.where(length > 1e-12, back / np.where(length > 1e-12, length, 1.0), self.normals)
        difference: Floats = unit - self.normals
        return difference


def pack_weights(dense: Floats, most: int | None = None) -> tuple[Ints, Floats]:
    """Keep each row's largest nonzero weights of (N, J), strongest first: joints (N, K) and weights (N, K).

    K is the largest number of joints that moves a vertex, or `most` where that is less.
    """
    widest = int((dense > 0).sum(axis=1).max(initial=1))
    slots = max(1, widest if most is None else min(most, widest))
    order = np.argsort(-dense, axis=1, kind="stable")[:, :slots].astype(np.int32)
    return order, np.take_along_axis(dense, order, axis=1)


def _normalized(weights: Floats, influences: Ints, skeleton: Skeleton) -> tuple[Floats, Ints]:
    if not weights.shape[1]:
        raise InputError("rig weights: expected at least one influence per vertex, got none")
    if len(weights) and weights.min() < 0:
        vertex = int(weights.min(axis=1).argmin())
        raise InputError(f"rig weights: expected weights of at least 0, got {weights[vertex].min()} at vertex {vertex}")
    total = weights.sum(axis=1, dtype=np.float64)
    unbound = total <= 0
    if unbound.any() or np.abs(total - 1).max(initial=0.0) > 1e-6:
        weights, influences = weights / np.where(unbound, 1, total)[:, None], influences.copy()
        root = int(np.flatnonzero(skeleton.parents < 0)[0])
        weights[unbound, 0], influences[unbound, 0] = 1, root
    weights.flags.writeable = influences.flags.writeable = False
    return weights, influences
