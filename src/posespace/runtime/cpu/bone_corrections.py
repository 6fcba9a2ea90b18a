"""Corrections of learned bones: the rest shape displaced, block by block, before it is skinned."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange

from posespace.check import Floats, Floats32
from posespace.runtime.compiled import Ints32, on_all_cores, relaxed
from posespace.runtime.cpu.blocks import Blocks
from posespace.runtime.cpu.lanes import LANES, fma, load, minus, pick, put, root_inverse, splat, times
from posespace.runtime.drive.tables import TRANSFORM
from posespace.runtime.pointers import pointer

_BLOCK = 3 * LANES


class CorrectionTables(NamedTuple):
    """What the loops read: the blocks' rest (B, 3, 8), the bones of blocks, corrections (B, K, 3, 8), and the
    most that each vertex may be displaced (B, 8)."""

    rest: Floats32
    starts: Ints32
    bones: Ints32
    values: Floats32
    corrections: Floats32
    limits: Floats32


class CorrectedRest:
    """The rest shape of a player's blocks with corrections added, by the amounts of each bone.

    Parameters
    ----------
    blocks : of the skin
    corrections : (K, N, 3)
    limits : (N,) the most that each vertex may be displaced
    threads : how many cores work on a frame

    Attributes
    ----------
    nbytes : bytes that a frame reads and writes
    """

    def __init__(self, blocks: Blocks, corrections: Floats, limits: Floats, threads: int) -> None:
        self._threads = threads
        bones = blocks.bones
        lanes = corrections[:, blocks.order].reshape(len(corrections), -1, LANES, 3)
        blocked = np.ascontiguousarray(lanes.transpose(1, 0, 3, 2), dtype=np.float32)
        most = np.ascontiguousarray(limits[blocks.order].reshape(-1, LANES), dtype=np.float32)
        self._tables = CorrectionTables(
            blocks.rest, bones.starts, bones.columns // TRANSFORM, bones.values, blocked, most
        )
        self.nbytes = blocked.nbytes + 2 * blocks.rest.nbytes

    def on_one_core(self) -> None:
        """Use one core from now on."""
        self._threads = 1

    def write(self, amounts: Floats32, out: Floats32) -> None:
        """Write the displaced rest (B, 3, 8) of the bones' amounts (bones, K)."""
        if self._threads > 1:
            _displace(self._threads, self._tables, amounts, out)
        else:
            _displace_some(0, len(out), self._tables, amounts, out)


@relaxed
def _displace_some(
    first: int, last: int, tables: CorrectionTables, amounts: Floats32, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Add to some blocks each correction times its amounts in the bones of their vertices."""
    starts, bones, weights = pointer(tables.starts), pointer(tables.bones), pointer(tables.values)
    rest, limits, displaced = pointer(tables.rest), pointer(tables.limits), pointer(out)
    corrections, count = pointer(tables.corrections), tables.corrections.shape[1]
    numbers, stride, one = pointer(amounts), amounts.shape[1], splat(1.0)
    for block in range(first, last):
        x = y = z = splat(0.0)
        for k in range(count):
            share = splat(0.0)
            for entry in range(starts[block], starts[block + 1]):
                amount = numbers[bones[entry] * stride + k]
                share = fma(load(weights, entry * LANES), splat(amount), share)
            at = (block * count + k) * _BLOCK
            x = fma(load(corrections, at), share, x)
            y = fma(load(corrections, at + LANES), share, y)
            z = fma(load(corrections, at + 2 * LANES), share, z)
        size = times(load(limits, block * LANES), root_inverse(fma(x, x, fma(y, y, times(z, z)))))
        # At most the limit: a displacement of no length has no size either.
        within = pick(minus(one, size), size, one)
        at = block * _BLOCK
        put(displaced, at, fma(x, within, load(rest, at)))
        put(displaced, at + LANES, fma(y, within, load(rest, at + LANES)))
        put(displaced, at + 2 * LANES, fma(z, within, load(rest, at + 2 * LANES)))


@on_all_cores
def _displace(
    parts: int, tables: CorrectionTables, amounts: Floats32, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Add corrections to all blocks."""
    count = len(out)
    for part in prange(parts):
        _displace_some(part * count // parts, (part + 1) * count // parts, tables, amounts, out)
