"""A surface with small separate pieces: tetrahedra beside it, each of which translates with a vertex."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import posespace as ps
from posespace.check import Floats

_CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
_SIDES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def with_pieces(examples: ps.Examples, count: int = 20, size: float = 0.05) -> ps.Examples:
    """Examples with so many pieces, `size` of the box's diagonal large, after their own vertices."""
    mesh = examples.rig.mesh
    followed = np.linspace(0, len(mesh.points) - 1, count).astype(int)
    corners = mesh.diagonal * (size * _CORNERS + 0.02)
    sides = len(mesh.points) + 4 * np.arange(count)[:, None, None] + _SIDES
    triangles: NDArray[np.int32] = np.concatenate([mesh.triangles, sides.reshape(-1, 3)]).astype(np.int32)

    def beside(points: Floats) -> Floats:
        return np.concatenate([points, (points[followed][:, None] + corners).reshape(-1, 3)])

    rig = ps.Rig.from_mesh(ps.Mesh(beside(mesh.points), triangles, unit=mesh.unit))
    still = ps.Motion(np.tile([0.0, 0.0, 0.0, 1.0], (len(examples), 1, 1)))
    return ps.Examples.from_shapes(rig, still, np.stack([beside(np.asarray(shape)) for shape in examples.shapes]))
