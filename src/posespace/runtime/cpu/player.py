"""The player on the processor: every step of a frame in order, each one a compiled loop, on one core or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import NamedTuple, Self

import numba
import numpy as np

from posespace import check
from posespace.check import Floats, Floats32
from posespace.errors import InputError
from posespace.motion import Motion
from posespace.runtime import cores
from posespace.runtime.bones.stage import played_bones
from posespace.runtime.compiled import Ints64
from posespace.runtime.cpu.blocks import block_tables, blocks_of, tiles
from posespace.runtime.cpu.frame import write_frames, write_frames_on_all_cores
from posespace.runtime.cpu.loops import FrameBuffers
from posespace.runtime.cpu.stages import Stages
from posespace.runtime.drive.drive import drive_again, require_ordinary
from posespace.runtime.player import DriveRoom, Player, Shape
from posespace.skin.skin import Skin

# Vertices from which several cores are used by default: waking them takes as long as 50,000 vertices do.
_MANY = 100_000
# Poses of a motion that are played together.
_AT_ONCE = 16
_NO_NORMALS = np.zeros((0, 0, 3), np.float32)
_STILL = np.tile(np.eye(3, 4, dtype=np.float32).ravel(), (_AT_ONCE, 1))
"""For each pose the transform of the one bone that displaced points stay on until dual quaternions move them."""


class Loop(NamedTuple):
    """The compiled loop that drives, displaces and blends, and the blocks (K,) at which its work is cut."""

    write: Callable[..., float]
    cuts: Ints64


class CPUPlayer(Player):
    """Poses a skin on the processor. What a frame does is in `_write_frames`.

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
        self.blocks = blocks_of(skin, self._drivers)
        worth = threads != 1 and (threads is not None or self.vertices >= _MANY) and cores.cores_work()
        self.threads = (threads or numba.get_num_threads()) if worth else 1
        self._one_core = threads == 1
        self._bones = played_bones(skin, self.threads)
        self._stages = Stages.of(self.blocks, skin, self._drivers, self.normals and not self._carried, self.threads)
        self._tables = block_tables(self.blocks, skin.rig.mesh.diagonal, self._stages.dual is None)
        self._make_room()
        # The loops are compiled, or read from disk, now and not at the first frame.
        self(skin.rig.rest.rotations)

    @property
    def nbytes(self) -> int:
        """Bytes that a frame reads and writes: bones, skinned points, detail."""
        return self._bones.nbytes + self.blocks.nbytes + self._stages.nbytes

    def _make_room(self) -> None:
        super()._make_room()
        self._buffers = self._made_buffers(1, self._room)
        write = write_frames if self.threads == 1 else write_frames_on_all_cores
        self._loop = Loop(write, self.blocks.shares(self.threads))
        self._batch_loop: Loop | None = None
        if self.threads > 1:
            self._lock = cores.PARALLEL
        if self._stages.corrections is not None:
            self._tables = self._tables._replace(rest=self._tables.rest.copy())
        detailed = self._stages.detail is not None
        self._coarse = np.empty((1, self.blocks.vertices if detailed else 0, 3), np.float32)

    def clone(self) -> Self:
        """Return a player for another thread: it shares the tables of this one and has its own room to work in."""
        other = super().clone()
        other._stages = self._stages.clone()
        return other

    def after_fork(self, one_core: bool) -> None:
        """Go on in a forked process, on one core where the threads of the others are lost."""
        super().after_fork(one_core)
        if one_core:
            self.threads, self._one_core = 1, True
            self._loop, self._batch_loop = Loop(write_frames, self.blocks.shares(1)), None
            self._bones.on_one_core()
            self._stages.on_one_core()

    def _made_buffers(self, poses: int, room: DriveRoom) -> FrameBuffers:
        """What P poses are played in; `room` is where they are driven."""
        columns = self._drivers.columns
        return FrameBuffers(
            *room,
            np.zeros((poses, 2, columns), np.float32),
            np.zeros((poses, 2, 2, columns), np.int32),
            np.zeros((poses, 3)),
            np.zeros((poses, 2), np.bool_),
        )

    def _play(self, points: Floats32, normals: Floats32 | None) -> None:
        normals_out = None if normals is None else normals[None]
        self._write_frames(self._loop, self._pose[None], self._buffers, points[None], normals_out)

    def _write_frames(
        self, loop: Loop, poses: Floats, buffers: FrameBuffers, points: Floats32, normals: Floats32 | None
    ) -> None:
        """Write the frames of P poses: all that happens to a frame, in order.

        Parameters
        ----------
        poses : (P, ...) the numbers of the poses, see `DriverTables`
        buffers : P rows to work in
        points, normals : (P, N, 3) to write to
        """
        stages, tables = self._stages, self._tables
        # 1. The bones. Those of a skeleton are driven in step 3, along with the coordinates of the layers.
        bones = self._bones.drive(poses, buffers.palette)
        palettes = bones.palettes if stages.dual is None else _STILL
        for first, last in stages.batches(len(poses)):
            # 2. Corrections displace the rest shape by amounts of the bones.
            if stages.corrections is not None:
                stages.corrections.write(bones.amounts[first], tables.rest)
            # 3. One compiled call drives the poses, adds the layers' displacements, and blends the bones.
            coarse = points[first:last] if stages.detail is None else self._coarse
            carried = normals[first:last] if normals is not None and self._carried else _NO_NORMALS
            driven = self._drivers.arrays, tables, loop.cuts, bones.poses, buffers, palettes, first
            require_ordinary(loop.write(*driven, coarse, carried))
            # Dual quaternions blend what was displaced above, and stayed at rest.
            if stages.dual is not None:
                stages.dual.move(bones.palettes[first], coarse[0], carried.reshape(-1, 3))
            # 4. Normals that the bones do not carry are those of the posed surface.
            if stages.surface_normals is not None and normals is not None:
                for row in range(first, last):
                    stages.surface_normals.write(points[row], normals[row])
            # 5. Detail subdivides the surface and moves it along its normals.
            if stages.detail is not None:
                fine_normals = None if normals is None else normals[first]
                coordinates, amounts = buffers.coordinates[first], bones.amounts[first]
                stages.detail.add(coarse[0], coordinates, points[first], fine_normals, amounts)

    def drive_again(self, times: int) -> None:
        """Drive the last pose `times` times, for what the first stage alone costs within a frame."""
        scratch, palette, coordinates = self._room
        drive_again(self._drivers.arrays, self._pose, scratch[0], palette[0], coordinates[0], times)

    def _stream(self, motion: Motion, points: Floats32 | None, normals: Floats32 | None) -> Iterator[Shape]:
        count = min(len(motion), _AT_ONCE)
        shape = (count, self.vertices, 3)
        room = np.empty(shape, np.float32) if points is None else None
        normal_room = np.empty(shape, np.float32) if self.normals and normals is None else None
        poses = np.zeros((count, self._drivers.pose_size))
        buffers = self._made_buffers(count, self._drive_room(count))
        for first in range(0, len(motion), _AT_ONCE):
            last = min(first + _AT_ONCE, len(motion))
            out = _rows(points, room, first, last)
            normals_out = _rows(normals, normal_room, first, last) if self.normals else None
            assert out is not None
            self._drivers.write_poses(motion, first, last, poses)
            loop = self._loop_of_batches()
            parallel = loop.write is write_frames_on_all_cores and self._lock is not cores.PARALLEL
            with self._lock, cores.PARALLEL if parallel else nullcontext():
                self._write_frames(loop, poses[: last - first], buffers, out, normals_out)
            for row in range(last - first):
                yield out[row], None if normals_out is None else normals_out[row]

    def _loop_of_batches(self) -> Loop:
        """A batch is long enough for all cores, whatever the mesh, if its poses are written together.

        Chosen at the first batch, as looking for a parallel layer would slow down every start.
        """
        if self._batch_loop is None:
            write = write_frames if self._one_core or not cores.cores_work() else write_frames_on_all_cores
            self._batch_loop = Loop(write, tiles(self.blocks)) if self._stages.together else self._loop
        return self._batch_loop


def _rows(out: Floats32 | None, room: Floats32 | None, first: int, last: int) -> Floats32 | None:
    """Where to write poses `first` to `last`: rows of the caller's array, or of `room`, which is reused."""
    if out is not None:
        return out[first:last]
    return None if room is None else room[: last - first]
