"""A mesh alone as a glTF 2.0 file: positions, normals and triangles, the vertices in their order."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from posespace.errors import FileError
from posespace.formats.gltf.write.buffers import INDICES, VERTICES, Output, smallest_type
from posespace.mesh import Mesh


def write(path: Path, mesh: Mesh) -> None:
    """Write the mesh to a `.glb` or `.gltf` file, in single precision."""
    if not len(mesh.triangles):
        raise FileError(path, "glTF draws triangles, and the mesh has none; write it as .ply or .obj")
    with np.errstate(over="ignore"):
        points = mesh.points.astype(np.float32)
    if not np.isfinite(points).all():
        raise FileError(path, "the mesh is too large for the single precision of glTF; write it as .ply")
    output = Output()
    corners = mesh.triangles.astype(smallest_type(len(points))).reshape(-1)
    attributes = {
        "POSITION": output.add(points, VERTICES, bounds=True),
        "NORMAL": output.add(mesh.normals().astype(np.float32), VERTICES),
    }
    primitive = {"attributes": attributes, "indices": output.add(corners, INDICES)}
    parts = {
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"name": path.stem, "mesh": 0}],
        "meshes": [{"name": path.stem, "primitives": [primitive]}],
    }
    output.save(path, parts)
