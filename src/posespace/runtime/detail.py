"""Detail, the third stage of any player: the posed surface subdivided and moved along its normals, on the processor."""

from __future__ import annotations

from copy import copy

import numpy as np

from posespace.check import Floats, Floats32
from posespace.geometry.subdivision import levels_of
from posespace.layer import Detail
from posespace.runtime.surface_normals import SurfaceNormals
from posespace.skin import Skin


class PosedDetail:
    """The detail of a skin.

    Parameters
    ----------
    skin : the skin, whose rig's mesh is subdivided
    detail : its detail
    first : where the detail's coordinates begin among all
    threads : how many cores work on a frame
    """

    def __init__(self, skin: Skin, detail: Detail, first: int, threads: int) -> None:
        self._levels = levels_of(skin.rig.mesh.triangles, len(skin.rig.mesh.points), detail.levels)
        self._normals = SurfaceNormals(skin.mesh, threads)
        self._heights = detail.heights
        self._own = slice(first, first + detail.driver.components)

    def clone(self) -> PosedDetail:
        """Return the same with room of its own to work in, for another thread."""
        other = copy(self)
        other._normals = self._normals.clone()
        return other

    def on_one_core(self) -> None:
        """Use one core from now on."""
        self._normals.on_one_core()

    def add(self, coarse: Floats32, coordinates: Floats, points: Floats32, normals: Floats32 | None) -> None:
        """Write the fine points, and their normals if asked for, from the coarse points and all coordinates."""
        fine: Floats = coarse
        for level in self._levels:
            fine = level.refine(fine)
        along = np.empty_like(points) if normals is None else normals
        self._normals.write(fine, along)
        points[:] = fine + (coordinates[self._own] @ self._heights)[:, None] * along
        if normals is not None:
            self._normals.write(points, normals)
