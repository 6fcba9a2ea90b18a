"""Frames, compiled: poses driven, then displaced and blended, on one core or on all."""

from __future__ import annotations

import numpy as np
from numba import prange

from posespace.check import Floats, Floats32
from posespace.runtime.compiled import Ints64, compiled, on_all_cores
from posespace.runtime.cpu.loops import (
    BlockTables,
    FrameBuffers,
    finish_driving,
    scale_coordinates,
    skin_both,
    skin_points,
)
from posespace.runtime.drive.drive import drive
from posespace.runtime.drive.tables import DriverArrays


def _write_frames(
    drivers: DriverArrays,
    tables: BlockTables,
    cuts: Ints64,
    poses: Floats,
    buffers: FrameBuffers,
    palettes: Floats32,
    points: Floats32,
    normals: Floats32,
) -> float:  # pragma: no cover - compiled
    """Write the points (P, N, 3) of poses (P, ...), and the normals that the bones carry, (P, N, 3) or (0, 0, 3).

    Parameters
    ----------
    drivers, tables : of the skin
    cuts : blocks at which the work is cut: the blocks of a part are written in all poses before those of the next, so
        that their tables are read from memory once; parts are shared among the cores
    buffers : at least P rows to work in
    palettes : (P, 12 bones) transforms to blend: those of the buffers, which driving writes, or others

    Returns
    -------
    how many transforms and coordinates are too large, see `require_ordinary`
    """
    if len(poses) == 1:
        # Waking the other cores takes longer than driving one pose.
        drive(drivers, poses[0], buffers.scratch[0], buffers.palette[0], buffers.coordinates[0])
        scale_coordinates(tables, buffers, len(poses) - 1)
    else:
        for row in prange(len(poses)):
            drive(drivers, poses[row], buffers.scratch[row], buffers.palette[row], buffers.coordinates[row])
            # The index of a parallel loop is of another type: numba would compile the function a second time.
            scale_coordinates(tables, buffers, np.int64(row))  # type: ignore[arg-type]
    beyond = finish_driving(buffers, palettes, len(points), len(normals) > 0)
    for part in prange(len(cuts) - 1):
        first, last = cuts[part], cuts[part + 1]
        for row in range(len(points)):
            if len(normals) > 0:
                skin_both(first, last, tables, buffers, palettes[row], row, points[row], normals[row])
            else:
                skin_points(first, last, tables, buffers, palettes[row], row, points[row])
    return beyond


write_frames, write_frames_on_all_cores = compiled(_write_frames), on_all_cores(_write_frames)
"""The same frames, on one core and on all; neither is compiled, or read from disk, before its first call."""
