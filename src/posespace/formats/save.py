"""Meshes and poses written to files, chosen by their ending: what `load` reads."""

from __future__ import annotations

import importlib
from pathlib import Path

from numpy.typing import ArrayLike

from posespace.errors import FileError, InputError
from posespace.formats import pose_json
from posespace.formats.load import POSE_FILES
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.skeleton import Skeleton

MESH_WRITERS = {".obj": "obj", ".ply": "ply", ".glb": "gltf.write.mesh", ".gltf": "gltf.write.mesh"}


def save_mesh(path: str | Path, mesh: Mesh, points: ArrayLike | None = None) -> None:
    """Write a mesh, its vertices in their order; `load_mesh` reads it back.

    Parameters
    ----------
    path : `.obj` has 9 significant digits, which is all of single precision; `.ply` keeps every number as it is;
        `.glb` and `.gltf` hold single precision, normals and triangles, the others polygons too
    mesh : the mesh, e.g. `rig.mesh`
    points : (N, 3) another shape of it, e.g. `skin.pose(pose)[0]`; None for its own
    """
    if not isinstance(mesh, Mesh):
        remedy = "; pass rig.mesh" if hasattr(mesh, "mesh") else "; make one with ps.Mesh(points, triangles)"
        raise InputError(f"mesh: expected a Mesh, got {type(mesh).__name__}{remedy}")
    file = Path(path)
    writer = MESH_WRITERS.get(file.suffix.lower())
    if writer is None:
        raise FileError(file, f"cannot be written; meshes are written to {' '.join(MESH_WRITERS)}")
    shaped = mesh if points is None else mesh.with_points(points)
    if not len(shaped.points):
        raise InputError("mesh: expected at least one vertex, got none")
    importlib.import_module(f"posespace.formats.{writer}").write(file, shaped)


def save_poses(path: str | Path, motion: Motion, skeleton: Skeleton) -> None:
    """Write poses as JSON, by the names of poses and joints; `load_motion` gives back every number to the last bit.

    Parameters
    ----------
    path : `.json`
    motion : the poses; joints at rest are left out
    skeleton : whose poses they are
    """
    if not isinstance(motion, Motion):
        remedy = "; pass Motion.from_poses([pose])" if type(motion).__name__ == "Pose" else ""
        raise InputError(f"motion: expected a Motion, got {type(motion).__name__}{remedy}")
    if not isinstance(skeleton, Skeleton):
        remedy = "; pass rig.skeleton" if hasattr(skeleton, "skeleton") else ""
        raise InputError(f"skeleton: expected a Skeleton, got {type(skeleton).__name__}{remedy}")
    file = Path(path)
    if file.suffix.lower() not in POSE_FILES:
        raise FileError(file, f"cannot be written; poses are written to {' '.join(POSE_FILES)}")
    pose_json.write(file, motion, skeleton)
