"""The player on the processor: compiled loops over blocks of eight vertices, on several cores."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cached_property

import numba
import numpy as np
from numba import prange

from posespace import check
from posespace.check import Floats, Floats32
from posespace.errors import InputError
from posespace.motion import Motion
from posespace.runtime import dual_quaternions, surface_normals
from posespace.runtime.compiled import on_all_cores
from posespace.runtime.cpu import frames
from posespace.runtime.cpu.blocks import Layout, Table, layout_of
from posespace.runtime.cpu.kernels import Basis, Surface, Work
from posespace.runtime.cpu.lanes import LANES
from posespace.runtime.drive import drive, drive_again
from posespace.runtime.player import Player, Shape
from posespace.skin import Skin

# What whole-number sums may be off: points as a part of the box's diagonal, normals as a part of their length.
_TOLERANCE, _NORMAL_TOLERANCE = 5e-6, 1e-4
# Vertices from which several cores are worth their while by default: to wake them takes as long as 50,000 vertices.
_MANY = 100_000
_AT_ONCE = 16


class CPUPlayer(Player):
    """Poses a skin on the processor.

    Parameters
    ----------
    skin : what it plays
    normals : whether it gives normals too
    threads : how many cores work on a frame; None: all that numba may use for 100,000 vertices and more, else one
    """

    def __init__(self, skin: Skin, normals: bool = True, threads: int | None = None) -> None:
        super().__init__(skin, normals)
        most = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
        if threads is not None and not 1 <= check.whole("threads", threads) <= most:
            raise InputError(f"threads: expected 1 to {most}, got {threads}")
        points, normal_points = ([entry[k] for entry in self._drive.layers] for k in (0, 1))
        self.layout = layout_of(skin, points, normal_points, self._drive.columns)
        worth = threads != 1 and (threads is not None or self.layout.vertices >= _MANY) and _cores_work()
        self.threads = (threads or numba.get_num_threads()) if worth else 1
        self._alone = threads == 1
        self._work = self._made_work(())
        tolerance = _TOLERANCE * max(skin.rig.mesh.diagonal, 1e-30)
        self._basis = _basis(self.layout.points, self.layout.scales, self.layout.most, tolerance)
        table = self.layout.normal_points or _empty(self.layout.blocks)
        self._normal_basis = _basis(table, self.layout.normal_scales, self.layout.normal_most, _NORMAL_TOLERANCE)
        self._linear = skin.rig.blending == "linear"
        self._surface = _surface(self.layout, self._linear, self.threads)
        if not self._linear:
            # Displacements are added by the same loops, every vertex on one bone that stays.
            self._still = self._work._replace(palette=np.eye(3, 4, dtype=np.float32).ravel())
        # The loops are compiled, or read from disk, now and not at the first frame.
        self(skin.rig.rest.rotations)

    @cached_property
    def _several(self) -> bool:
        """Whether batches are played on all cores; they are long enough for it, whatever the mesh."""
        return not self._alone and _cores_work()

    @cached_property
    def _fans(self) -> surface_normals.Fans:
        return surface_normals.fans_of(self.skin.mesh)

    @cached_property
    def _weights(self) -> Floats:
        return self.skin.rig.weights.astype(np.float64)

    def _made_work(self, poses: tuple[int, ...]) -> Work:
        columns = self._drive.columns
        return Work(
            np.zeros((*poses, self._drive.scratch)),
            np.zeros((*poses, 12 * len(self.skin.rig.skeleton)), np.float32),
            np.zeros((*poses, columns)),
            np.zeros((*poses, 2, columns), np.float32),
            np.zeros((*poses, 2, 2, columns), np.int32),
        )

    def _driven(self) -> tuple[Floats32, Floats]:
        drive(self._drive.tables, self._pose, self._work.scratch, self._work.palette, self._work.coordinates)
        return self._work.palette, self._work.coordinates

    def redrive(self, times: int) -> None:
        """Drive the last pose again and again, for what the first stage alone costs within a frame."""
        work = self._work
        drive_again(self._drive.tables, self._pose, work.scratch, work.palette, work.coordinates, times)

    def _play(self, points: Floats32, normals: Floats32 | None) -> None:
        if self._relief is not None:
            coarse = np.empty((len(self.skin.rig.mesh.points), 3), np.float32)
            self._play_coarse(coarse)
            self._relief.add(self.threads, coarse, self._work.coordinates, points, normals)
            return
        if not self._linear:
            self._play_dual(points, normals)
        elif normals is not None and self._carried:
            bases = self._basis, self._normal_basis
            frame = frames.frame_both if self.threads > 1 else frames.frame_both_alone
            frame(self._drive.tables, self._pose, self._surface, *bases, self._work, points, normals)
        else:
            self._play_points(points)
        if normals is not None and not self._carried:
            surface_normals.write_normals(self.threads, self._fans, points, normals)

    def _play_coarse(self, points: Floats32) -> None:
        if self._linear:
            self._play_points(points)
        else:
            self._play_dual(points, None)

    def _play_points(self, points: Floats32) -> None:
        frame = frames.frame_points if self.threads > 1 else frames.frame_points_alone
        frame(self._drive.tables, self._pose, self._surface, self._basis, self._work, points)

    def _play_dual(self, points: Floats32, normals: Floats32 | None) -> None:
        palette, _ = self._driven()
        turned = np.empty_like(points) if normals is None else normals
        args = (self._surface, self._basis, self._normal_basis, self._still, points, turned)
        pose, carry = (
            (frames.pose_both, dual_quaternions.carry)
            if self.threads > 1
            else (frames.pose_both_alone, dual_quaternions.carry_alone)
        )
        pose(*args)
        bones = dual_quaternions.dual_palette(palette)
        carry(self.threads, bones, self.skin.rig.influences, self._weights, points, turned)

    def _stream(self, motion: Motion, points: Floats32 | None, normals: Floats32 | None) -> Iterator[Shape]:
        shape = (min(len(motion), _AT_ONCE), self.vertices, 3)
        rows = self.normals
        own = np.empty(shape, np.float32) if points is None else None
        own_normals = np.empty(shape, np.float32) if rows and normals is None else None
        poses, works = np.zeros((shape[0], self._drive.pose_size)), self._made_work(shape[:1])
        for first in range(0, len(motion), _AT_ONCE):
            last = min(first + _AT_ONCE, len(motion))
            out = own[: last - first] if points is None else points[first:last]  # type: ignore[index]
            given = own_normals if normals is None else normals[first:last]
            normals_out = given[: last - first] if rows and given is not None else None
            self._play_some(motion, range(first, last), poses, works, out, normals_out)
            for k in range(last - first):
                yield out[k], None if normals_out is None else normals_out[k]

    def _play_some(
        self, motion: Motion, which: range, poses: Floats, works: Work, out: Floats32, normals: Floats32 | None
    ) -> None:
        """Write the shapes of a few poses of a motion."""
        self._drive.write_poses(motion, which.start, which.stop, poses)
        simple = self._linear and self._relief is None
        if not simple:
            for row in range(len(which)):
                self._pose[:] = poses[row]
                self._play(out[row], None if normals is None else normals[row])
            return
        tables, used = self._drive.tables, poses[: len(which)]
        if normals is not None and self._carried:
            run = frames.many_both if self._several else frames.many_both_alone
            run(tables, used, self._surface, self._basis, self._normal_basis, works, out, normals)
            return
        alone = frames.many_points if self._several else frames.many_points_alone
        alone(tables, used, self._surface, self._basis, works, out)
        if normals is not None:
            for row in range(len(which)):
                surface_normals.write_normals(self.threads, self._fans, out[row], normals[row])


def _basis(table: Table, scales: Floats, most: float, tolerance: float) -> Basis:
    return Basis(table, scales, np.array([most, tolerance]))


def _empty(blocks: int) -> Table:
    zeros = np.zeros(blocks + 1, np.int32)
    return Table(zeros, np.zeros(0, np.int32), np.zeros((0, 3, LANES), np.float32))


def _surface(layout: Layout, linear: bool, parts: int) -> Surface:
    bones = layout.bones
    if not linear:
        blocks = layout.blocks
        ones = np.ones((blocks, LANES), np.float32)
        bones = Table(np.arange(blocks + 1, dtype=np.int32), np.zeros(blocks, np.int32), ones)
    full = np.array([layout.vertices // LANES if layout.in_order else 0])
    return Surface(layout.rest, layout.normals, layout.order, full, layout.shares(parts), bones)


@on_all_cores
def _sum_of(count: int) -> float:  # pragma: no cover - compiled
    total = 0.0
    for k in prange(count):
        total += k
    return total


def _cores_work() -> bool:
    """Whether numba can run a loop on several cores here; without its parallel layer one core does the work."""
    try:
        return bool(_sum_of(4) == 6.0)
    except (ValueError, RuntimeError, ImportError) as error:
        warnings.warn(f"one core is used: {str(error).splitlines()[0]}", stacklevel=3)
        return False
