"""Corrections of learned bones: the rest shape displaced, block by block, before it is skinned."""

from __future__ import annotations

import numpy as np
from numba import prange

from posespace.check import Floats, Floats32
from posespace.runtime.compiled import Ints32, compiled, on_all_cores, relaxed
from posespace.runtime.cpu.blocks import Blocks
from posespace.runtime.cpu.lanes import LANES
from posespace.runtime.drive_tables import TRANSFORM


class CorrectedRest:
    """The rest shape of a player's blocks with corrections added, each bone its own amounts.

    Parameters
    ----------
    blocks : of the skin
    corrections : (K, N, 3)
    threads : how many cores work on a frame

    Attributes
    ----------
    nbytes : bytes that a frame reads and writes
    """

    def __init__(self, blocks: Blocks, corrections: Floats, threads: int) -> None:
        self._threads = threads
        self._rest, self._bones = blocks.rest, blocks.bones
        lanes = corrections[:, blocks.order].reshape(len(corrections), -1, LANES, 3)
        self._lanes: Floats32 = np.ascontiguousarray(lanes.transpose(1, 0, 3, 2), dtype=np.float32)
        self.nbytes = self._lanes.nbytes + 2 * self._rest.nbytes

    def on_one_core(self) -> None:
        """Use one core from now on."""
        self._threads = 1

    def write(self, amounts: Floats32, out: Floats32) -> None:
        """Write the displaced rest (B, 3, 8) of the bones' amounts (bones, K)."""
        bones, displace = self._bones, _displace_all if self._threads > 1 else _displace_alone
        displace(self._threads, self._rest, bones.starts, bones.columns, bones.values, self._lanes, amounts, out)


@relaxed
def _displace_some(
    first: int,
    last: int,
    rest: Floats32,
    starts: Ints32,
    columns: Ints32,
    values: Floats32,
    lanes: Floats32,
    amounts: Floats32,
    out: Floats32,
) -> None:  # pragma: no cover - compiled
    """Add to some blocks each correction times what the bones of their vertices have of it."""
    share = np.empty((lanes.shape[1], LANES), np.float32)
    for block in range(first, last):
        share[:] = 0.0
        for entry in range(starts[block], starts[block + 1]):
            own = amounts[columns[entry] // TRANSFORM]
            for k in range(len(share)):
                for lane in range(LANES):
                    share[k, lane] += own[k] * values[entry, lane]
        for axis in range(3):
            for lane in range(LANES):
                out[block, axis, lane] = rest[block, axis, lane]
            for k in range(len(share)):
                for lane in range(LANES):
                    out[block, axis, lane] += share[k, lane] * lanes[block, k, axis, lane]


def _displace(
    parts: int,
    rest: Floats32,
    starts: Ints32,
    columns: Ints32,
    values: Floats32,
    lanes: Floats32,
    amounts: Floats32,
    out: Floats32,
) -> None:  # pragma: no cover - compiled
    """Add corrections to all blocks."""
    count = len(rest)
    for part in prange(parts):
        first, last = part * count // parts, (part + 1) * count // parts
        _displace_some(first, last, rest, starts, columns, values, lanes, amounts, out)


_displace_all, _displace_alone = on_all_cores(_displace), compiled(_displace)
