"""Whole frames, compiled: a pose driven and its blocks posed, on one core or several, one pose or many."""

from __future__ import annotations

import numpy as np
from numba import prange

from posespace.check import Floats, Floats32
from posespace.runtime.compiled import compiled, on_all_cores
from posespace.runtime.cpu.blocks import Table
from posespace.runtime.cpu.kernels import Basis, Surface, Work, factor, shrinking, skin_both, skin_points
from posespace.runtime.drive import drive
from posespace.runtime.drive_tables import DriveTables

# Blocks that are posed in many poses while the cache holds them.
_TILE = 64


def _pose_points(surface: Surface, basis: Basis, work: Work, out: Floats32) -> None:  # pragma: no cover - compiled
    """Write the points of the transforms and coordinates in `work`, each core a part."""
    unit, exact = factor(basis, 0, work)
    # What goes into a parallel loop must be plain arrays.
    rest, normals, order, full, cuts, (bone_starts, bones, weights) = surface
    (starts, columns, values), _, _ = basis
    scratch, palette, coordinates, factors, halves = work
    for part in prange(len(cuts) - 1):
        skin_points(
            cuts[part],
            cuts[part + 1],
            Surface(rest, normals, order, full, cuts, Table(bone_starts, bones, weights)),
            Table(starts, columns, values),
            Work(scratch, palette, coordinates, factors, halves),
            unit,
            exact,
            out,
        )


def _pose_both(
    surface: Surface, basis: Basis, normal_basis: Basis, work: Work, out: Floats32, normals_out: Floats32
) -> None:  # pragma: no cover - compiled
    """Write points and carried normals of the transforms and coordinates in `work`, each core a part."""
    unit, exact = factor(basis, 0, work)
    normal_unit, normal_exact = factor(normal_basis, 1, work)
    shrink = shrinking(work.palette)
    rest, normals, order, full, cuts, (bone_starts, bones, weights) = surface
    (starts, columns, values), _, _ = basis
    (normal_starts, normal_columns, normal_values), _, _ = normal_basis
    scratch, palette, coordinates, factors, halves = work
    for part in prange(len(cuts) - 1):
        skin_both(
            cuts[part],
            cuts[part + 1],
            Surface(rest, normals, order, full, cuts, Table(bone_starts, bones, weights)),
            Table(starts, columns, values),
            Table(normal_starts, normal_columns, normal_values),
            Work(scratch, palette, coordinates, factors, halves),
            (unit, normal_unit),
            (exact, normal_exact),
            shrink,
            out,
            normals_out,
        )


pose_points, pose_points_alone = on_all_cores(_pose_points), compiled(_pose_points)
pose_both, pose_both_alone = on_all_cores(_pose_both), compiled(_pose_both)


@compiled
def frame_points(
    tables: DriveTables, pose: Floats, surface: Surface, basis: Basis, work: Work, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Write a pose's points, on several cores."""
    drive(tables, pose, work.scratch, work.palette, work.coordinates)
    pose_points(surface, basis, work, out)


@compiled
def frame_points_alone(
    tables: DriveTables, pose: Floats, surface: Surface, basis: Basis, work: Work, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Write a pose's points, on one core; code for several is not even loaded."""
    drive(tables, pose, work.scratch, work.palette, work.coordinates)
    pose_points_alone(surface, basis, work, out)


@compiled
def frame_both(
    tables: DriveTables,
    pose: Floats,
    surface: Surface,
    basis: Basis,
    normal_basis: Basis,
    work: Work,
    out: Floats32,
    normals_out: Floats32,
) -> None:  # pragma: no cover - compiled
    """Write a pose's points and carried normals, on several cores."""
    drive(tables, pose, work.scratch, work.palette, work.coordinates)
    pose_both(surface, basis, normal_basis, work, out, normals_out)


@compiled
def frame_both_alone(
    tables: DriveTables,
    pose: Floats,
    surface: Surface,
    basis: Basis,
    normal_basis: Basis,
    work: Work,
    out: Floats32,
    normals_out: Floats32,
) -> None:  # pragma: no cover - compiled
    """Write a pose's points and carried normals, on one core."""
    drive(tables, pose, work.scratch, work.palette, work.coordinates)
    pose_both_alone(surface, basis, normal_basis, work, out, normals_out)


def _many_points(
    tables: DriveTables, poses: Floats, surface: Surface, basis: Basis, works: Work, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Write the points (P, N, 3) of poses (P, ...); `works` has a row a pose.

    A few blocks are posed in all poses before the next: so what is stored of them is read from memory once.
    """
    links, joints, heads, slots, numbers = tables
    rest, normals, order, full, cuts, (bone_starts, bones, weights) = surface
    (starts, columns, values), scales, bounds = basis
    scratch, palette, coordinates, factors, halves = works
    units, exact = np.zeros(len(poses)), np.zeros(len(poses), np.bool_)
    for k in prange(len(poses)):
        drive(DriveTables(links, joints, heads, slots, numbers), poses[k], scratch[k], palette[k], coordinates[k])
        work = Work(scratch[k], palette[k], coordinates[k], factors[k], halves[k])
        units[k], exact[k] = factor(Basis(Table(starts, columns, values), scales, bounds), 0, work)
    blocks = len(rest)
    for tile in prange((blocks + _TILE - 1) // _TILE):
        for k in range(len(poses)):
            skin_points(
                tile * _TILE,
                min(blocks, (tile + 1) * _TILE),
                Surface(rest, normals, order, full, cuts, Table(bone_starts, bones, weights)),
                Table(starts, columns, values),
                Work(scratch[k], palette[k], coordinates[k], factors[k], halves[k]),
                units[k],
                exact[k],
                out[k],
            )


def _many_both(
    tables: DriveTables,
    poses: Floats,
    surface: Surface,
    basis: Basis,
    normal_basis: Basis,
    works: Work,
    out: Floats32,
    normals_out: Floats32,
) -> None:  # pragma: no cover - compiled
    """Write the points and carried normals (P, N, 3) of poses (P, ...), as `_many_points` does."""
    links, joints, heads, slots, numbers = tables
    rest, normals, order, full, cuts, (bone_starts, bones, weights) = surface
    (starts, columns, values), scales, bounds = basis
    (normal_starts, normal_columns, normal_values), normal_scales, normal_bounds = normal_basis
    scratch, palette, coordinates, factors, halves = works
    units, exact = np.zeros((len(poses), 3)), np.zeros((len(poses), 2), np.bool_)
    for k in prange(len(poses)):
        drive(DriveTables(links, joints, heads, slots, numbers), poses[k], scratch[k], palette[k], coordinates[k])
        work = Work(scratch[k], palette[k], coordinates[k], factors[k], halves[k])
        units[k, 0], exact[k, 0] = factor(Basis(Table(starts, columns, values), scales, bounds), 0, work)
        own = Basis(Table(normal_starts, normal_columns, normal_values), normal_scales, normal_bounds)
        units[k, 1], exact[k, 1] = factor(own, 1, work)
        units[k, 2] = shrinking(palette[k])
    blocks = len(rest)
    for tile in prange((blocks + _TILE - 1) // _TILE):
        for k in range(len(poses)):
            skin_both(
                tile * _TILE,
                min(blocks, (tile + 1) * _TILE),
                Surface(rest, normals, order, full, cuts, Table(bone_starts, bones, weights)),
                Table(starts, columns, values),
                Table(normal_starts, normal_columns, normal_values),
                Work(scratch[k], palette[k], coordinates[k], factors[k], halves[k]),
                (units[k, 0], units[k, 1]),
                (exact[k, 0], exact[k, 1]),
                units[k, 2],
                out[k],
                normals_out[k],
            )


many_points, many_points_alone = on_all_cores(_many_points), compiled(_many_points)
many_both, many_both_alone = on_all_cores(_many_both), compiled(_many_both)
