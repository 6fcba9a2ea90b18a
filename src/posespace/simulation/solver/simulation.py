"""A body ready to be posed: its tetrahedra, the solver, and the path from one pose to another."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from posespace.check import Floats, Ints
from posespace.geometry import rotations, skinning
from posespace.pose import Pose
from posespace.rig import Rig, pack_weights
from posespace.simulation.mesh.tetmesh import TetMesh
from posespace.simulation.settings import Tissue
from posespace.simulation.solver.contact import SkinContact
from posespace.simulation.solver.elements import rest_gradients, to_quadratic
from posespace.simulation.solver.material import Material
from posespace.simulation.solver.solve import Solution, Solver

STEP = 20.0
"""Degrees that a joint may rotate in one load step; a step that fails is halved further."""


_PATIENCE = 4
"""A path that fails is tried again with this many times the usual Newton iterations: pressed flesh converges slowly."""


@dataclass(frozen=True, eq=False)
class Posed:
    """A solved pose.

    Parameters
    ----------
    skin : (V, 3) posed skin vertices
    nodes : (N, 3) posed nodes of the tetrahedra
    solution : the solver's result; its counts and seconds are those of the whole path
    """

    skin: Floats
    nodes: Floats
    solution: Solution


class Simulation:
    """Solves poses of one body.

    A shape depends on its pose alone, by one rule: all joints rotate at once from rest straight to the pose, in
    steps of at most `STEP` degrees, with 4-node elements. Ten-node elements, if asked for, are then solved
    from the shape at the end of that path: with straight sides both have the same shape to begin with.
    """

    def __init__(self, rig: Rig, mesh: TetMesh, tissue: Tissue) -> None:
        self.rig, self.tissue = rig, tissue
        self._contact = None if tissue.contact is None else SkinContact.of(rig.mesh, tissue.contact)
        joint_of_bone = np.array([bone.joint for bone in mesh.bones], dtype=np.int32)
        tets = mesh.tets.astype(np.int64)
        weights = _harmonic_weights(mesh.points, tets, mesh.bone_of, joint_of_bone, len(rig.skeleton))
        self._linear = _Flesh(rig, mesh.points, tets, joint_of_bone, mesh.bone_of, weights)
        self._path_solver = self._solver(self._linear, mesh, 1)
        self._flesh, self.solver = self._linear, self._path_solver
        if tissue.order == 2:
            points, tets, self._ends = to_quadratic(mesh.points, tets)
            one, other = mesh.bone_of[self._ends].T
            bone_of = np.concatenate([mesh.bone_of, np.where(one == other, one, -1)])
            weights = np.concatenate([weights, weights[self._ends].mean(axis=1)])
            self._flesh = _Flesh(rig, points, tets, joint_of_bone, bone_of, weights)
            self.solver = self._solver(self._flesh, mesh, 2)
        self.rest_nodes, self._skin = self._flesh.points, mesh.embedding(tissue.order)

    def _solver(self, flesh: _Flesh, mesh: TetMesh, order: int) -> Solver:
        tissue, embedding = self.tissue, None
        if self._contact is not None:
            embedding = mesh.embedding(order)[self.rig.mesh.weld.first]
        return Solver(
            flesh.points,
            flesh.tets,
            flesh.fixed,
            Material(tissue.law, tissue.poisson),
            contact=self._contact,
            embedding=embedding,
            skin=tissue.skin * self.rig.mesh.diagonal,
        )

    def solve(self, pose: Pose) -> Posed:
        """Solve a pose by the rule above."""
        solution = _follow(self._path_solver, self._linear, self.rig.rest, self._linear.points, pose)
        if self._flesh is not self._linear and solution.converged:
            corners = solution.points
            start = np.concatenate([corners, corners[self._ends].mean(axis=1)])
            settled = self.solver.settle(start, self._flesh.prescribed(pose, start))
            solution = replace(
                settled,
                newton=(*solution.newton, *settled.newton),
                load_steps=solution.load_steps + settled.load_steps,
                seconds=solution.seconds + settled.seconds,
            )
        elif self._flesh is not self._linear:
            solution = replace(solution, points=self.rest_nodes)
        return Posed(self._skin @ solution.points, solution.points, solution)

    def follow(self, begin: Pose, nodes: Floats, pose: Pose) -> Posed:
        """Solve `pose` starting from another one, solved with `nodes` (N, 3): shows where the path matters."""
        solution = _follow(self.solver, self._flesh, begin, nodes, pose)
        return Posed(self._skin @ solution.points, solution.points, solution)


class _Flesh:
    """Tetrahedra of one order around the bones, and plain skinning of their nodes.

    Parameters
    ----------
    rig : whose pose moves the bones
    points, tets : (N, 3) nodes at rest, (T, 4) or (T, 10)
    joint_of_bone : (B,)
    bone_of : (N,) the bone that holds each node, -1 for a free one
    weights : (N, J) smooth weights of the joints
    """

    def __init__(
        self, rig: Rig, points: Floats, tets: NDArray[np.int64], joint_of_bone: Ints, bone_of: Ints, weights: Floats
    ) -> None:
        self.rig, self.points, self.tets = rig, points, tets
        self.fixed = bone_of >= 0
        self._joint = joint_of_bone[bone_of[self.fixed]]
        self._influences, self._weights = pack_weights(weights, most=8)
        self._weights = self._weights / self._weights.sum(axis=1, keepdims=True)

    def prescribed(self, pose: Pose, nodes: Floats) -> Floats:
        """Return `nodes` (N, 3) with those on bones moved to their positions in the pose."""
        held: Floats = nodes.copy()
        held[self.fixed] = skinning.apply(self.rig.transforms(pose)[self._joint], self.points[self.fixed])
        return held

    def skinned(self, nodes: Floats, before: Pose, after: Pose) -> Floats:
        """Return `nodes` (N, 3) moved by the change of plain skinning from one pose to another."""
        then, now = (
            skinning.blend_linear(self.rig.transforms(pose), self._influences, self._weights)
            for pose in (before, after)
        )
        inverse, _ = skinning.invert(then)
        back = np.einsum("nij,nj->ni", inverse, nodes - then[:, :, 3])
        return skinning.apply(now, back)


def _follow(solver: Solver, flesh: _Flesh, begin: Pose, nodes: Floats, pose: Pose) -> Solution:
    """Rotate all joints at once from one pose to another, in a step per `STEP` degrees of the largest rotation."""
    half = np.abs((begin.rotations * pose.rotations).sum(axis=1)).clip(0, 1).min()
    steps = max(1, int(np.ceil(np.degrees(2 * np.arccos(half)) / STEP - 0.01)))

    def prescribed(fraction: float) -> Floats:
        return flesh.prescribed(_between(begin, pose, fraction), nodes)

    def skinned(current: Floats, before: float, after: float) -> Floats:
        return flesh.skinned(current, _between(begin, pose, before), _between(begin, pose, after))

    solution = solver.solve(nodes, prescribed, skinned, steps)
    return solution if solution.converged else solver.solve(nodes, prescribed, skinned, steps, _PATIENCE)


def _between(begin: Pose, end: Pose, fraction: float) -> Pose:
    if fraction >= 1:
        return end
    rotated = rotations.slerp(begin.rotations, end.rotations, np.full(len(begin.rotations), fraction))
    return Pose(rotated, (1 - fraction) * begin.translations + fraction * end.translations)


def _harmonic_weights(
    points: Floats, tets: NDArray[np.int64], bone_of: Ints, joint_of_bone: Ints, joints: int
) -> Floats:
    """Smooth weights (N, J) of all nodes: one on the joint's bones, harmonic between, for skinning the nodes."""
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
