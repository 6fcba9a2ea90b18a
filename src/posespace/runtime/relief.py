"""The third stage for any player: the posed surface subdivided and moved along its normals, on the processor."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats, Floats32
from posespace.geometry.subdivision import levels_of
from posespace.layer import Detail
from posespace.runtime.surface_normals import fans_of, write_normals
from posespace.skin import Skin


class Relief:
    """The detail of a skin.

    Parameters
    ----------
    skin : its rig is what is subdivided
    detail : the skin's
    first : where the detail's coordinates begin among all
    """

    def __init__(self, skin: Skin, detail: Detail, first: int) -> None:
        self._levels = levels_of(skin.rig.mesh.triangles, len(skin.rig.mesh.points), detail.levels)
        self._fans = fans_of(skin.mesh)
        self._heights = detail.heights
        self._own = slice(first, first + detail.driver.components)

    def add(
        self, threads: int, coarse: Floats32, coordinates: Floats, points: Floats32, normals: Floats32 | None
    ) -> None:
        """Write the fine points, and their normals if asked for, of the coarse points and all coordinates."""
        fine: Floats = coarse
        for level in self._levels:
            fine = level.refine(fine)
        along = np.empty_like(points) if normals is None else normals
        write_normals(threads, self._fans, fine, along)
        points[:] = fine + (coordinates[self._own] @ self._heights)[:, None] * along
        if normals is not None:
            write_normals(threads, self._fans, points, normals)
