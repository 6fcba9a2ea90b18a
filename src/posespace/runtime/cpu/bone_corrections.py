"""Corrections of learned bones: the rest shape displaced, block by block, before it is skinned."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange

from posespace.check import Floats, Floats32
from posespace.runtime.compiled import Ints32, on_all_cores, relaxed
from posespace.runtime.cpu.blocks import Blocks
from posespace.runtime.cpu.lanes import LANES
from posespace.runtime.drive.tables import TRANSFORM


class CorrectionTables(NamedTuple):
    """What the loops read: the blocks' rest (B, 3, 8), their bones as in `Blocks`, corrections (B, K, 3, 8), and the
    most that each vertex may be displaced (B, 8)."""

    rest: Floats32
    starts: Ints32
    columns: Ints32
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
        self._tables = CorrectionTables(blocks.rest, bones.starts, bones.columns, bones.values, blocked, most)
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
    rest, lanes = tables.rest, tables.corrections
    share = np.empty((lanes.shape[1], LANES), np.float32)
    for block in range(first, last):
        share[:] = 0.0
        for entry in range(tables.starts[block], tables.starts[block + 1]):
            bone_amounts = amounts[tables.columns[entry] // TRANSFORM]
            for k in range(len(share)):
                for lane in range(LANES):
                    share[k, lane] += bone_amounts[k] * tables.values[entry, lane]
        for axis in range(3):
            for lane in range(LANES):
                out[block, axis, lane] = 0.0
            for k in range(len(share)):
                for lane in range(LANES):
                    out[block, axis, lane] += share[k, lane] * lanes[block, k, axis, lane]
        for lane in range(LANES):
            x, y, z = out[block, 0, lane], out[block, 1, lane], out[block, 2, lane]
            over = max(np.float32(1.0), np.sqrt(x * x + y * y + z * z) / tables.limits[block, lane])
            for axis in range(3):
                out[block, axis, lane] = rest[block, axis, lane] + out[block, axis, lane] / over


@on_all_cores
def _displace(
    parts: int, tables: CorrectionTables, amounts: Floats32, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Add corrections to all blocks."""
    count = len(out)
    for part in prange(parts):
        _displace_some(part * count // parts, (part + 1) * count // parts, tables, amounts, out)
