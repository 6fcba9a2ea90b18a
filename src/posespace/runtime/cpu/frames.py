"""Whole frames, compiled: a pose driven and its blocks posed, on one core or on all, one pose or many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from posespace.check import Floats, Floats32
from posespace.runtime.bones.dual_quaternions import carry
from posespace.runtime.compiled import compiled, on_all_cores
from posespace.runtime.cpu.blocks import BlockEntries
from posespace.runtime.cpu.loops import BlockBasis, Frame, RestBlocks, factor, shrinking, skin_both, skin_points
from posespace.runtime.drive.drive import drive
from posespace.runtime.drive.tables import DriveTables

# Blocks that are posed in many poses while the cache holds them.
_TILE = 64


def _frame_points(
    tables: DriveTables,
    pose: Floats,
    blocks: RestBlocks,
    basis: BlockBasis,
    frame: Frame,
    palette: Floats32,
    out: Floats32,
) -> None:  # pragma: no cover - compiled
    """Write a pose's points, skinned with `palette`: the frame's own, or another one; each core takes some blocks."""
    drive(tables, pose, frame.scratch, frame.palette, frame.coordinates)
    unit, exact = factor(basis.scales, basis.bounds, 0, frame)
    # Only plain arrays can enter a parallel loop.
    rest, normals, order, full, cuts, (bone_starts, bones, weights) = blocks
    (starts, columns, values), _, _ = basis
    scratch, _, coordinates, factors, halves = frame
    for share in prange(len(cuts) - 1):
        skin_points(
            cuts[share],
            cuts[share + 1],
            RestBlocks(rest, normals, order, full, cuts, BlockEntries(bone_starts, bones, weights)),
            BlockEntries(starts, columns, values),
            Frame(scratch, palette, coordinates, factors, halves),
            unit,
            exact,
            out,
        )


def _frame_both(
    tables: DriveTables,
    pose: Floats,
    blocks: RestBlocks,
    basis: BlockBasis,
    normal_basis: BlockBasis,
    frame: Frame,
    palette: Floats32,
    out: Floats32,
    normals_out: Floats32,
) -> None:  # pragma: no cover - compiled
    """Write a pose's points and carried normals, skinned with `palette`: the frame's own, or another one."""
    drive(tables, pose, frame.scratch, frame.palette, frame.coordinates)
    unit, exact = factor(basis.scales, basis.bounds, 0, frame)
    normal_unit, normal_exact = factor(normal_basis.scales, normal_basis.bounds, 1, frame)
    shrink = shrinking(palette)
    rest, normals, order, full, cuts, (bone_starts, bones, weights) = blocks
    (starts, columns, values), _, _ = basis
    (normal_starts, normal_columns, normal_values), _, _ = normal_basis
    scratch, _, coordinates, factors, halves = frame
    for share in prange(len(cuts) - 1):
        skin_both(
            cuts[share],
            cuts[share + 1],
            RestBlocks(rest, normals, order, full, cuts, BlockEntries(bone_starts, bones, weights)),
            BlockEntries(starts, columns, values),
            BlockEntries(normal_starts, normal_columns, normal_values),
            Frame(scratch, palette, coordinates, factors, halves),
            (unit, normal_unit),
            (exact, normal_exact),
            shrink,
            out,
            normals_out,
        )


def _drive_many(
    tables: DriveTables,
    poses: Floats,
    scales: Floats,
    bounds: Floats,
    normal_scales: Floats,
    normal_bounds: Floats,
    frames: Frame,
    units: Floats,
    exact: NDArray[np.bool_],
) -> None:  # pragma: no cover - compiled
    """Drive poses (P, ...); `frames` has a row per pose, and so have `units` (P, 3) and `exact` (P, 2) of the factors.

    It is apart from the loops over blocks, so that each is compiled once.
    """
    links, joints, heads, slots, numbers, entries, lengths, longest = tables
    scratch, palette, coordinates, factors, halves = frames
    for k in prange(len(poses)):
        own = DriveTables(links, joints, heads, slots, numbers, entries, lengths, longest)
        drive(own, poses[k], scratch[k], palette[k], coordinates[k])
        frame = Frame(scratch[k], palette[k], coordinates[k], factors[k], halves[k])
        units[k, 0], exact[k, 0] = factor(scales, bounds, 0, frame)
        units[k, 1], exact[k, 1] = factor(normal_scales, normal_bounds, 1, frame)
        units[k, 2] = shrinking(palette[k])


def _many_points(
    blocks: RestBlocks,
    entries: BlockEntries,
    frames: Frame,
    units: Floats,
    exact: NDArray[np.bool_],
    out: Floats32,
) -> None:  # pragma: no cover - compiled
    """Write the points (P, N, 3) of poses that were driven.

    A few blocks are posed in all poses before the next few: so their tables are read from memory once.
    """
    rest, normals, order, full, cuts, (bone_starts, bones, weights) = blocks
    starts, columns, values = entries
    scratch, palette, coordinates, factors, halves = frames
    count = len(rest)
    for tile in prange((count + _TILE - 1) // _TILE):
        for k in range(len(out)):
            skin_points(
                tile * _TILE,
                min(count, (tile + 1) * _TILE),
                RestBlocks(rest, normals, order, full, cuts, BlockEntries(bone_starts, bones, weights)),
                BlockEntries(starts, columns, values),
                Frame(scratch[k], palette[k], coordinates[k], factors[k], halves[k]),
                units[k, 0],
                exact[k, 0],
                out[k],
            )


def _many_both(
    blocks: RestBlocks,
    entries: BlockEntries,
    normal_entries: BlockEntries,
    frames: Frame,
    units: Floats,
    exact: NDArray[np.bool_],
    out: Floats32,
    normals_out: Floats32,
) -> None:  # pragma: no cover - compiled
    """Write the points and carried normals (P, N, 3) of poses that were driven, as `_many_points` does."""
    rest, normals, order, full, cuts, (bone_starts, bones, weights) = blocks
    starts, columns, values = entries
    normal_starts, normal_columns, normal_values = normal_entries
    scratch, palette, coordinates, factors, halves = frames
    count = len(rest)
    for tile in prange((count + _TILE - 1) // _TILE):
        for k in range(len(out)):
            skin_both(
                tile * _TILE,
                min(count, (tile + 1) * _TILE),
                RestBlocks(rest, normals, order, full, cuts, BlockEntries(bone_starts, bones, weights)),
                BlockEntries(starts, columns, values),
                BlockEntries(normal_starts, normal_columns, normal_values),
                Frame(scratch[k], palette[k], coordinates[k], factors[k], halves[k]),
                (units[k, 0], units[k, 1]),
                (exact[k, 0], exact[k, 1]),
                units[k, 2],
                out[k],
                normals_out[k],
            )


class Loops(NamedTuple):
    """The loops that a player calls; none is compiled, or read from disk, before its first call.

    Parameters
    ----------
    frame_points, frame_both : one pose; points alone, or points and carried normals
    drive_many : many poses driven
    many_points, many_both : the same of many poses that were driven
    carry : points and normals moved by dual quaternions
    """

    frame_points: Callable[..., None]
    frame_both: Callable[..., None]
    drive_many: Callable[..., None]
    many_points: Callable[..., None]
    many_both: Callable[..., None]
    carry: Callable[..., None]


def _loops(how: Callable[[Any], Any]) -> Loops:
    return Loops(*map(how, (_frame_points, _frame_both, _drive_many, _many_points, _many_both, carry)))


ON_ALL_CORES, ALONE = _loops(on_all_cores), _loops(compiled)
