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
    first: int,
    points: Floats32,
    normals: Floats32,
) -> float:  # pragma: no cover - compiled
    """Write the points (F, N, 3) of F poses, and the normals that the bones carry, (F, N, 3) or (0, 0, 3).

    Parameters
    ----------
    drivers, tables : of the skin
    cuts : blocks at which the work is cut: the blocks of a part are written in all poses before those of the next, so
        that their tables are read from memory once; parts are shared among the cores
    poses : (P, ...) their numbers
    palettes : (P, 12 bones) transforms to blend: those of the buffers, which driving writes, or others
    buffers : P rows to work in
    first : which of the P poses is the first of the F

    Returns
    -------
    how many transforms and coordinates are too large, see `require_ordinary`
    """
    if len(points) == 1:
        # Waking the other cores takes longer than driving one pose.
        drive(drivers, poses[first], buffers.scratch[first], buffers.palette[first], buffers.coordinates[first])
        scale_coordinates(tables, buffers, first)
    else:
        for frame in prange(len(points)):
            row = first + frame
            drive(drivers, poses[row], buffers.scratch[row], buffers.palette[row], buffers.coordinates[row])
            # The index of a parallel loop is of another type: numba would compile the function a second time.
            scale_coordinates(tables, buffers, np.int64(row))  # type: ignore[arg-type]
    beyond = finish_driving(buffers, palettes, first, len(points), len(normals) > 0)
    for part in prange(len(cuts) - 1):
        begin, end = cuts[part], cuts[part + 1]
        for frame in range(len(points)):
            row = first + frame
            if len(normals) > 0:
                skin_both(begin, end, tables, buffers, palettes[row], row, points[frame], normals[frame])
            else:
                skin_points(begin, end, tables, buffers, palettes[row], row, points[frame])
    return beyond


write_frames, write_frames_on_all_cores = compiled(_write_frames), on_all_cores(_write_frames)
"""The same frames, on one core and on all; neither is compiled, or read from disk, before its first call."""
