"""Meshes and poses written to files, by the module that the registry names for the ending."""

from __future__ import annotations

from pathlib import Path

from numpy.typing import ArrayLike

from posespace.errors import InputError
from posespace.formats import registry
from posespace.formats.files import require_path_last
from posespace.formats.registry import MESH, POSES
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.skeleton import Skeleton


def save_mesh(mesh: Mesh, path: str | Path, points: ArrayLike | None = None) -> None:
    """Write a mesh, its vertices in their order; `load_mesh` reads it back.

    Parameters
    ----------
    mesh : the mesh, e.g. `rig.mesh`
    path : `.obj` has 9 significant digits, which is all of single precision; `.ply` keeps every number as it is;
        `.glb` and `.gltf` hold single precision, normals and triangles, the others polygons too
    points : (N, 3) another shape of it, e.g. `skin.pose(pose)[0]`; None for its own
    """
    require_path_last("save_mesh(mesh, path)", mesh)
    if not isinstance(mesh, Mesh):
        remedy = "; pass rig.mesh" if hasattr(mesh, "mesh") else "; make one with ps.Mesh(points, triangles)"
        raise InputError(f"mesh: expected a Mesh, got {type(mesh).__name__}{remedy}")
    file = Path(path)
    module = registry.writer(file, MESH, "meshes are written")
    shape = mesh if points is None else mesh.with_points(points)
    if not len(shape.points):
        raise InputError("mesh: expected at least one vertex, got none")
    module.write(file, shape)


def save_poses(motion: Motion, skeleton: Skeleton, path: str | Path) -> None:
    """Write poses as JSON, by the names of poses and joints; `load_motion` gives back every number to the last bit.

    Parameters
    ----------
    motion : the poses; joints at rest are left out
    skeleton : whose poses they are
    path : `.json`
    """
    require_path_last("save_poses(motion, skeleton, path)", motion)
    if not isinstance(motion, Motion):
        remedy = "; pass Motion.from_poses([pose])" if type(motion).__name__ == "Pose" else ""
        raise InputError(f"motion: expected a Motion, got {type(motion).__name__}{remedy}")
    if not isinstance(skeleton, Skeleton):
        remedy = "; pass rig.skeleton" if hasattr(skeleton, "skeleton") else ""
        raise InputError(f"skeleton: expected a Skeleton, got {type(skeleton).__name__}{remedy}")
    file = Path(path)
    registry.writer(file, POSES, "poses are written").write(file, motion, skeleton)
