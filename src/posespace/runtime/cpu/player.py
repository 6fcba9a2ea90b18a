"""The player on the processor: compiled loops over blocks of eight vertices, on one core or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Self

import numba
import numpy as np
from numpy.typing import NDArray

from posespace import check
from posespace.check import Floats, Floats32
from posespace.errors import InputError
from posespace.motion import Motion
from posespace.runtime import cores
from posespace.runtime.bones.dual_quaternions import dual_palette
from posespace.runtime.bones.learned import PosedBones
from posespace.runtime.cpu import frames
from posespace.runtime.cpu.blocks import BlockEntries, Blocks, blocks_of
from posespace.runtime.cpu.bone_corrections import CorrectedRest
from posespace.runtime.cpu.lanes import LANES
from posespace.runtime.cpu.loops import BlockBasis, Frame, RestBlocks
from posespace.runtime.detail.detail import PosedDetail
from posespace.runtime.detail.surface_normals import SurfaceNormals
from posespace.runtime.drive.drive import drive, drive_again, require_ordinary
from posespace.runtime.drive.tables import TRANSFORM
from posespace.runtime.entries import owned
from posespace.runtime.player import Player, Shape
from posespace.skin.skin import Skin

# How far off whole-number sums may be: points as a fraction of the box's diagonal, normals of their length.
_TOLERANCE, _NORMAL_TOLERANCE = 5e-6, 1e-4
# Vertices from which several cores are used by default: waking them takes as long as 50,000 vertices do.
_MANY = 100_000
_AT_ONCE = 16

WriteFrame = Callable[[Floats32, Floats32 | None], None]
WriteBatch = Callable[[Floats, Frame, Floats32, Floats32 | None], None]


class CPUPlayer(Player):
    """Poses a skin on the processor.

    What a frame does is chosen when the player is made: `_skin` writes points and carried normals, by linear or dual
    quaternion blending, and `_frame` is `_skin` and whatever comes after it, normals of the surface or detail.

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
        self.blocks = blocks_of(skin, self._drive)
        worth = threads != 1 and (threads is not None or self.vertices >= _MANY) and cores.cores_work()
        self.threads = (threads or numba.get_num_threads()) if worth else 1
        self._alone = threads == 1
        self._loops = frames.ON_ALL_CORES if self.threads > 1 else frames.ALONE
        self._linear = skin.rig.blending == "linear"
        self._rest = _rest_blocks(self.blocks, self._linear, self.threads)
        self._basis, self._normal_basis = _bases(self.blocks, skin.rig.mesh.diagonal)
        if not self._linear:
            # Displacements are added by the same loops as linear blending, every vertex on one bone that stays.
            self._still = np.eye(3, 4, dtype=np.float32).ravel()
            self._weights = skin.rig.weights.astype(np.float64)
            self._influences = owned("rig influences", skin.rig.influences, len(skin.rig.skeleton))
        self._bones = None if skin.bones is None else PosedBones(skin, self.threads)
        added = None if skin.bones is None else skin.bones.corrections
        self._corrected: CorrectedRest | None = None
        if added is not None:
            self._corrected = CorrectedRest(self.blocks, np.asarray(added), skin.correction_limits, self.threads)
        detail = skin.detail
        self._detail = None if detail is None else PosedDetail(skin, detail, self._drive.detail, self.threads)
        on_surface = self.normals and not self._carried and detail is None
        self._surface_normals = SurfaceNormals(skin.mesh, self.threads) if on_surface else None
        self._make_room()
        # The loops are compiled, or read from disk, now and not at the first frame.
        self(skin.rig.rest.rotations)

    @property
    def nbytes(self) -> int:
        """Bytes that a frame reads and writes: bones, skinned points, detail."""
        parts = (self.blocks, self._bones, self._corrected, self._detail, self._surface_normals)
        return sum(part.nbytes for part in parts if part is not None)

    def _make_room(self) -> None:
        super()._make_room()
        if self.threads > 1:
            self._lock = cores.TURN
        self._work = self._made_frame(())
        self._scratch = self._work.scratch
        self._palette = self._work.palette
        self._amounts: Floats32 | None = None
        if self._corrected is not None:
            self._rest = self._rest._replace(rest=self._rest.rest.copy())
        self._skin = self._skin_function()
        self._frame = self._frame_function()
        # A clone has its own batch: this one's writes where this one works.
        self.__dict__.pop("_batch", None)

    def clone(self) -> Self:
        """Return a player for another thread: it shares the tables of this one and has its own room to work in."""
        other = super().clone()
        other._surface_normals = self._surface_normals and self._surface_normals.clone()
        other._detail = self._detail and self._detail.clone()
        return other

    def after_fork(self, one_core: bool) -> None:
        """Go on in a forked process, on one core where the threads of the others are lost."""
        super().after_fork(one_core)
        if one_core:
            self.threads, self._loops = 1, frames.ALONE
            self.__dict__.pop("_batch", None)
            self._alone = True
            for part in (self._surface_normals, self._detail, self._bones, self._corrected):
                if part is not None:
                    part.on_one_core()

    def _skin_function(self) -> WriteFrame:
        if not self._linear:
            return self._skin_dual
        return self._skin_both if self._carried else self._skin_points

    def _frame_function(self) -> WriteFrame:
        if self._detail is not None:
            return self._write_detail
        return self._skin if self._surface_normals is None else self._write_surface

    @cached_property
    def _batch(self) -> WriteBatch:
        """What a batch does; chosen at the first one, as looking for a parallel layer would slow down every start."""
        self._batch_turn: AbstractContextManager[object] = nullcontext()
        if self._bones is not None:
            return self._write_learned
        if not self._linear or self.skin.detail is not None:
            return self._write_singly
        # A batch is long enough for all cores, whatever the mesh.
        self._batch_loops = frames.ALONE if self._alone or not cores.cores_work() else frames.ON_ALL_CORES
        if self._batch_loops is frames.ON_ALL_CORES and self._lock is not cores.TURN:
            self._batch_turn = cores.TURN
        if self._carried:
            return self._write_many_both
        return self._write_many_surfaces if self.normals else self._write_many_points

    def _made_frame(self, poses: tuple[int, ...]) -> Frame:
        columns = self._drive.columns
        return Frame(
            np.zeros((*poses, self._drive.scratch)),
            np.zeros((*poses, TRANSFORM * len(self.skin.rig.skeleton)), np.float32),
            np.zeros((*poses, columns)),
            np.zeros((*poses, 2, columns), np.float32),
            np.zeros((*poses, 2, 2, columns), np.int32),
        )

    def _driven(self) -> tuple[Floats32, Floats]:
        self._pose_bones()
        drive(self._drive.tables, self._pose, self._work.scratch, self._work.palette, self._work.coordinates)
        require_ordinary(self._scratch.item(-1))
        return self._palette, self._work.coordinates

    def _pose_bones(self) -> None:
        """Where bones are learned, find their transforms, and go on with the pose as they see it."""
        if self._bones is not None:
            palettes, amounts = self._bones.palettes(self._pose[None])
            self._take(palettes[0], amounts[0])

    def _take(self, palette: Floats32, amounts: Floats32) -> None:
        """Go on with the transforms of learned bones, and their amounts of corrections and detail."""
        self._palette, self._amounts = palette, amounts
        if self._corrected is not None:
            self._corrected.write(amounts, self._rest.rest)

    def redrive(self, times: int) -> None:
        """Drive the last pose `times` times, for what the first stage alone costs within a frame."""
        work = self._work
        drive_again(self._drive.tables, self._pose, work.scratch, work.palette, work.coordinates, times)

    def _play(self, points: Floats32, normals: Floats32 | None) -> None:
        self._pose_bones()
        self._frame(points, normals)
        require_ordinary(self._scratch.item(-1))

    def _skin_points(self, points: Floats32, normals: Floats32 | None) -> None:
        del normals  # None, or written later from the surface.
        self._loops.frame_points(
            self._drive.tables, self._pose, self._rest, self._basis, self._work, self._palette, points
        )

    def _skin_both(self, points: Floats32, normals: Floats32 | None) -> None:
        bases, palette = (self._basis, self._normal_basis), self._palette
        self._loops.frame_both(self._drive.tables, self._pose, self._rest, *bases, self._work, palette, points, normals)

    def _skin_dual(self, points: Floats32, normals: Floats32 | None) -> None:
        turned = np.empty_like(points) if normals is None else normals
        bases = self._basis, self._normal_basis
        self._loops.frame_both(
            self._drive.tables, self._pose, self._rest, *bases, self._work, self._still, points, turned
        )
        bones = dual_palette(self._work.palette)
        self._loops.carry(self.threads, bones, self._influences, self._weights, points, turned)

    def _write_surface(self, points: Floats32, normals: Floats32 | None) -> None:
        assert normals is not None
        assert self._surface_normals is not None
        self._skin(points, normals)
        self._surface_normals.write(points, normals)

    def _write_detail(self, points: Floats32, normals: Floats32 | None) -> None:
        coarse = np.empty((self.blocks.vertices, 3), np.float32)
        self._skin(coarse, None)
        assert self._detail is not None
        self._detail.add(coarse, self._work.coordinates, points, normals, self._amounts)

    def _stream(self, motion: Motion, points: Floats32 | None, normals: Floats32 | None) -> Iterator[Shape]:
        shape = (min(len(motion), _AT_ONCE), self.vertices, 3)
        own = np.empty(shape, np.float32) if points is None else None
        own_normals = np.empty(shape, np.float32) if self.normals and normals is None else None
        poses, works = np.zeros((shape[0], self._drive.pose_size)), self._made_frame(shape[:1])
        for first in range(0, len(motion), _AT_ONCE):
            last = min(first + _AT_ONCE, len(motion))
            out = own[: last - first] if points is None else points[first:last]  # type: ignore[index]
            given = own_normals if normals is None else normals[first:last]
            normals_out = given[: last - first] if self.normals and given is not None else None
            self._drive.write_poses(motion, first, last, poses)
            write = self._batch
            with self._lock, self._batch_turn:
                write(poses[: last - first], works, out, normals_out)
            for k in range(last - first):
                yield out[k], None if normals_out is None else normals_out[k]

    def _write_singly(self, poses: Floats, works: Frame, out: Floats32, normals: Floats32 | None) -> None:
        del works
        for row, pose in enumerate(poses):
            self._pose[:] = pose
            self._play(out[row], None if normals is None else normals[row])

    def _write_learned(self, poses: Floats, works: Frame, out: Floats32, normals: Floats32 | None) -> None:
        del works
        assert self._bones is not None
        palettes, amounts = self._bones.palettes(poses)
        for row, pose in enumerate(poses):
            self._pose[:] = pose
            self._take(palettes[row], amounts[row])
            self._frame(out[row], None if normals is None else normals[row])
            require_ordinary(self._scratch.item(-1))

    def _write_many_points(self, poses: Floats, works: Frame, out: Floats32, normals: Floats32 | None) -> None:
        del normals
        made = self._drive_many(poses, works)
        self._batch_loops.many_points(self._rest, self._basis.entries, works, *made, out)

    def _write_many_both(self, poses: Floats, works: Frame, out: Floats32, normals: Floats32 | None) -> None:
        made = self._drive_many(poses, works)
        entries = self._basis.entries, self._normal_basis.entries
        self._batch_loops.many_both(self._rest, *entries, works, *made, out, normals)

    def _drive_many(self, poses: Floats, works: Frame) -> tuple[Floats, NDArray[np.bool_]]:
        """Drive poses; return the units of their factors, and whether they are exact."""
        units, exact = np.zeros((len(poses), 3)), np.zeros((len(poses), 2), np.bool_)
        own, normal = self._basis, self._normal_basis
        factors = (own.scales, own.bounds, normal.scales, normal.bounds)
        self._batch_loops.drive_many(self._drive.tables, poses, *factors, works, units, exact)
        require_ordinary(works.scratch[: len(poses), -1].max())
        return units, exact

    def _write_many_surfaces(self, poses: Floats, works: Frame, out: Floats32, normals: Floats32 | None) -> None:
        assert normals is not None
        assert self._surface_normals is not None
        self._write_many_points(poses, works, out, None)
        for points, own in zip(out, normals, strict=True):
            self._surface_normals.write(points, own)


def _bases(blocks: Blocks, diagonal: float) -> tuple[BlockBasis, BlockBasis]:
    """The displacements of points and those of normals, with how far off their sums may be."""
    tolerance = _TOLERANCE * max(diagonal, 1e-30)
    points = BlockBasis(blocks.points, blocks.scales, np.array([blocks.most, tolerance]))
    entries = blocks.normal_points or _no_entries(blocks.count)
    return points, BlockBasis(entries, blocks.normal_scales, np.array([blocks.normal_most, _NORMAL_TOLERANCE]))


def _no_entries(blocks: int) -> BlockEntries:
    zeros = np.zeros(blocks + 1, np.int32)
    return BlockEntries(zeros, np.zeros(0, np.int32), np.zeros((0, 3, LANES), np.float32))


def _rest_blocks(blocks: Blocks, linear: bool, parts: int) -> RestBlocks:
    bones = blocks.bones
    if not linear:
        count = blocks.count
        ones = np.ones((count, LANES), np.float32)
        bones = BlockEntries(np.arange(count + 1, dtype=np.int32), np.zeros(count, np.int32), ones)
    full = np.array([blocks.vertices // LANES if blocks.in_order else 0])
    return RestBlocks(blocks.rest, blocks.normals, blocks.order, full, blocks.shares(parts), bones)
