"""A body ready to be posed: its tetrahedra, the solver, and the way from one pose to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from posespace import rotations, skinning
from posespace.check import Floats, Ints
from posespace.pose import Pose
from posespace.rig import Rig, pack_weights
from posespace.simulate.mesh.tetmesh import TetMesh
from posespace.simulate.settings import Tissue
from posespace.simulate.solver.contact import SkinContact
from posespace.simulate.solver.elements import rest_gradients, to_quadratic
from posespace.simulate.solver.solve import Solution, Solver

STEP = 20.0
"""Degrees that a joint may turn in one load step; a step that fails is halved further."""


@dataclass(frozen=True, eq=False)
class Posed:
    """A solved pose.

    Parameters
    ----------
    skin : (V, 3) posed skin vertices
    nodes : (N, 3) posed nodes of the tetrahedra, from which a neighbouring pose can start
    solution : how the solver fared
    """

    skin: Floats
    nodes: Floats
    solution: Solution


class Simulation:
    """Solves poses of one body."""

    def __init__(self, rig: Rig, mesh: TetMesh, tissue: Tissue) -> None:
        self.rig, self.tissue = rig, tissue
        joint_of_bone = np.array([bone.joint for bone in mesh.bones], dtype=np.int32)
        points, tets, bone_of = mesh.points, mesh.tets.astype(np.int64), mesh.bone_of
        weights = _harmonic_weights(points, tets, bone_of, joint_of_bone, len(rig.skeleton))
        if tissue.order == 2:
            points, tets, ends = to_quadratic(points, tets)
            weights = np.concatenate([weights, weights[ends].mean(axis=1)])
            same = bone_of[ends[:, 0]] == bone_of[ends[:, 1]]
            bone_of = np.concatenate([bone_of, np.where(same, bone_of[ends[:, 0]], -1)])
        self.rest_nodes = points
        self.fixed = bone_of >= 0
        self._joint = joint_of_bone[bone_of[self.fixed]]
        self._influences, self._weights = pack_weights(weights, most=8)
        self._weights = self._weights / self._weights.sum(axis=1, keepdims=True)
        self._skin = mesh.embedding(tissue.order)
        contact, embedding = None, None
        if tissue.contact is not None:
            embedding = self._skin[rig.mesh.weld.first]
            contact = SkinContact.of(rig.mesh, tissue.contact)
        self.solver = Solver(points, tets, self.fixed, tissue.law, tissue.poisson, contact=contact, embedding=embedding)

    def solve(self, pose: Pose, start: tuple[Pose, Floats] | None = None) -> Posed:
        """Solve `pose`, starting from a solved one: its pose and nodes (N, 3); None starts from rest.

        The way there has one load step per `STEP` degrees of the joint that turns farthest.
        """
        begin, nodes = start if start is not None else (self.rig.rest, self.rest_nodes)
        half = np.abs((begin.rotations * pose.rotations).sum(axis=1)).clip(0, 1).min()
        steps = max(1, int(np.ceil(np.degrees(2 * np.arccos(half)) / STEP - 0.01)))

        def placed(fraction: float) -> Floats:
            transforms = self.rig.transforms(_between(begin, pose, fraction))
            held: Floats = nodes.copy()
            held[self.fixed] = skinning.apply(transforms[self._joint], self.rest_nodes[self.fixed])
            return held

        def carried(current: Floats, before: float, after: float) -> Floats:
            """Move the nodes by the change of plain skinning."""
            blends = [self._blend(_between(begin, pose, fraction)) for fraction in (before, after)]
            inverse, _ = skinning.invert(blends[0])
            back = np.einsum("nij,nj->ni", inverse, current - blends[0][:, :, 3])
            return skinning.apply(blends[1], back)

        solution = self.solver.solve(nodes, placed, carried, steps)
        return Posed(self._skin @ solution.points, solution.points, solution)

    def _blend(self, pose: Pose) -> Floats:
        return skinning.blend_linear(self.rig.transforms(pose), self._influences, self._weights)


def _between(begin: Pose, end: Pose, fraction: float) -> Pose:
    if fraction >= 1:
        return end
    turn = rotations.slerp(begin.rotations, end.rotations, np.full(len(begin.rotations), fraction))
    return Pose(turn, (1 - fraction) * begin.translations + fraction * end.translations)


def _harmonic_weights(
    points: Floats, tets: NDArray[np.int64], bone_of: Ints, joint_of_bone: Ints, joints: int
) -> Floats:
    """Smooth weights (N, J) of all nodes: one on the joint's bones, harmonic between, for carrying nodes along."""
    slopes, volumes = rest_gradients(points, tets)
    local = np.einsum("eqai,eqaj,eq->eij", slopes, slopes, volumes)
    rows, columns = np.repeat(tets, 4, axis=1).ravel(), np.tile(tets, (1, 4)).ravel()
    stiffness = sp.csr_matrix((local.ravel(), (rows, columns)), shape=(len(points), len(points)))
    fixed = bone_of >= 0
    weights = np.zeros((len(points), joints))
    weights[fixed, joint_of_bone[bone_of[fixed]]] = 1.0
    free = ~fixed
    inner = sp.csc_matrix(stiffness[free][:, free])
    weights[free] = splu(inner).solve(-(stiffness[free][:, fixed] @ weights[fixed]))
    return np.clip(weights, 0, 1)
