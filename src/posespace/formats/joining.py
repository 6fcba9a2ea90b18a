"""Several meshes of a file that one skeleton moves, joined into the one mesh of a rig; its morphs kept with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from posespace.check import Floats, Ints
from posespace.formats.contents import Contents
from posespace.look import Look
from posespace.mesh import Mesh
from posespace.rig import Rig


def join_meshes(meshes: Sequence[Mesh]) -> Mesh:
    """Return one mesh of several of one unit, in their order."""
    starts = np.cumsum([0, *(len(mesh.points) for mesh in meshes[:-1])])
    triangles = np.concatenate([mesh.triangles + start for mesh, start in zip(meshes, starts, strict=True)])
    sizes = [np.full(len(mesh.triangles), 3) if mesh.face_sizes is None else mesh.face_sizes for mesh in meshes]
    mixed = any(mesh.face_sizes is not None for mesh in meshes)
    points = np.concatenate([mesh.points for mesh in meshes])
    return Mesh(points, triangles, np.concatenate(sizes) if mixed else None, unit=meshes[0].unit)


def join_influences(parts: Sequence[tuple[Ints, Floats]]) -> tuple[Ints, Floats]:
    """Return the joints and weights of joined meshes; slots that no vertex needs are left out.

    Parameters
    ----------
    parts : joints (n, k) and weights (n, k) of each mesh; n and k may differ from mesh to mesh

    Returns
    -------
    influences : (N, K) int32 numbers of joints, strongest first
    weights : (N, K) float32
    """
    count, slots = sum(len(weights) for _, weights in parts), max(1, *(weights.shape[1] for _, weights in parts))
    influences, weights = np.zeros((count, slots), np.int32), np.zeros((count, slots), np.float32)
    start = 0
    for own_joints, own_weights in parts:
        rows, width = slice(start, start := start + len(own_weights)), own_weights.shape[1]
        influences[rows, :width], weights[rows, :width] = own_joints, own_weights
    order = np.argsort(-weights, axis=1, kind="stable")
    order = order[:, : max(1, int((weights != 0).sum(axis=1).max(initial=0)))]
    return np.take_along_axis(influences, order, axis=1), np.take_along_axis(weights, order, axis=1)


def keep_morphs(rigs: list[Rig], meshes: list[Mesh], morphs: Mapping[str, Floats]) -> None:
    """Put a file's morphs, (N, 3) by name, into the look of the mesh that has them: the first rig's, or the first."""
    if morphs and rigs:
        rigs[0] = replace(rigs[0], mesh=_keeping(rigs[0].mesh, morphs))
    elif morphs and meshes:
        meshes[0] = _keeping(meshes[0], morphs)


def _keeping(mesh: Mesh, morphs: Mapping[str, Floats]) -> Mesh:
    rows = {name: np.flatnonzero(moved.any(axis=1)).astype(np.int32) for name, moved in morphs.items()}
    kept = {name: (rows[name], moved[rows[name]]) for name, moved in morphs.items()}
    return replace(mesh, look=replace(_look(mesh), morphs=kept))


def name_omitted(contents: Contents) -> Contents:
    """Return what a file holds, each rig with the names of the meshes that are not part of it."""
    if len(contents.rigs) + len(contents.meshes) < 2:
        return contents
    rigs = {}
    for name, rig in contents.rigs.items():
        others = (*(other for other in contents.rigs if other != name), *contents.meshes)
        rigs[name] = replace(rig, mesh=replace(rig.mesh, look=replace(_look(rig.mesh), omitted=others)))
    return replace(contents, rigs=rigs)


def _look(mesh: Mesh) -> Look:
    return mesh.look or Look.plain(len(mesh.points), len(mesh.triangles))
