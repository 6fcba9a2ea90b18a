"""Frames, compiled: poses driven, then displaced and blended, on one core or on all."""

from __future__ import annotations

import numpy as np
from numba import prange

from posespace.check import Floats, Floats32
from posespace.runtime.compiled import Ints64, compiled, on_all_cores
from posespace.runtime.cpu.loops import (
    BlockTables,
    FrameBuffers,
    Units,
    scale_coordinates,
    shrink,
    skin_both,
    skin_points,
)
from posespace.runtime.drive.drive import drive
from posespace.runtime.drive.tables import DriverArrays


def _write_frames(
    drivers: DriverArrays,
    poses: Floats,
    units: Units,
    tables: BlockTables,
    cuts: Ints64,
    buffers: FrameBuffers,
    palettes: Floats32,
    points: Floats32,
    normals: Floats32,
) -> float:  # pragma: no cover - compiled
    """Write the points (P, N, 3) of poses (P, ...), and the normals that the bones carry, (P, N, 3) or (0, 0, 3).

    Parameters
    ----------
    drivers, poses : what `drive` reads
    units, tables : what the loops over blocks read
    cuts : blocks at which the work is cut: the blocks of a part are written in all poses before those of the next, so
        that their tables are read from memory once; parts are shared among the cores
    buffers : at least P rows to work in
    palettes : (P, 12 bones) transforms to blend: those of the buffers, which driving writes, or others

    Returns
    -------
    how many transforms and coordinates are too large, see `require_ordinary`
    """
    count = len(poses)
    # Only plain arrays and numbers can enter a parallel loop.
    links, joints, heads, slots, numbers, entries, lengths, longest = drivers
    scales, bounds = units
    scratch, palette, coordinates, factors, halves, steps, exact = buffers
    if count == 1:
        # Waking the other cores takes longer than driving one pose.
        drive(drivers, poses[0], scratch[0], palette[0], coordinates[0])
        scale_coordinates(units, buffers, count - 1)
    else:
        for row in prange(count):
            arrays = DriverArrays(links, joints, heads, slots, numbers, entries, lengths, longest)
            drive(arrays, poses[row], scratch[row], palette[row], coordinates[row])
            rows = FrameBuffers(scratch, palette, coordinates, factors, halves, steps, exact)
            scale_coordinates(Units(scales, bounds), rows, np.int64(row))  # type: ignore[arg-type]
    beyond = 0.0
    for row in range(count):
        beyond += scratch[row, -1]
        if len(normals) > 0:
            steps[row, 2] = shrink(palettes[row])
    rest, rest_normals, order, ordered, bone_starts, bones, weights = tables[:7]
    stored, starts, columns, values, normals_stored, normal_starts, normal_columns, normal_values = tables[7:]
    for part in prange(len(cuts) - 1):
        first, last = cuts[part], cuts[part + 1]
        blocks = BlockTables(
            rest,
            rest_normals,
            order,
            ordered,
            bone_starts,
            bones,
            weights,
            stored,
            starts,
            columns,
            values,
            normals_stored,
            normal_starts,
            normal_columns,
            normal_values,
        )
        rows = FrameBuffers(scratch, palette, coordinates, factors, halves, steps, exact)
        for row in range(count):
            if len(normals) > 0:
                skin_both(first, last, blocks, rows, palettes[row], row, points[row], normals[row])
            else:
                skin_points(first, last, blocks, rows, palettes[row], row, points[row])
    return beyond


write_frames, write_frames_on_all_cores = compiled(_write_frames), on_all_cores(_write_frames)
"""The same frames, on one core and on all; neither is compiled, or read from disk, before its first call."""
