"""In which order tiles of patches and blocks of vertices are worked on, and how long what they compute is kept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from posespace.runtime.compiled import Ints32, Ints64
from posespace.runtime.cpu.lanes import LANES
from posespace.runtime.detail.fans import Fans

TILE = 64
"""Blocks of coarse triangles in a tile."""


class Windows(NamedTuple):
    """The blocks of vertices that each tile needs, and those that it completes.

    Parameters
    ----------
    firsts : (V,) int32, the first tile that each block needs for its normals
    raise_ends, finish_ends : (tiles,) int32, see `Patches`
    hub_ends : (tiles,) int32, see `Patches`
    raised : rows of the window of raised points: a vertex is at its number modulo that
    sums : rows of the window of sums, without those of none, which is zero, and of hubs; a slot is at its number modulo
        that
    none : how many slots there are in all; also the number that stands for none
    """

    firsts: Ints32
    raise_ends: Ints32
    finish_ends: Ints32
    hub_ends: Ints32
    raised: int
    sums: int
    none: int

    def rows(self, places: Ints32) -> Ints32:
        """Return the rows of the window of sums where slots are, none, and hubs."""
        after = self.sums + places - self.none
        return np.where(places < self.none, places % self.sums, after).astype(np.int32)

    def parts(self, count: int) -> Ints64:
        """Return (count, 3), for each of equal parts of the work: the first tile to sum, to finish, and to leave.

        A part sums some tiles of the one before again, those that its first blocks need, so that no part waits for
        another.
        """
        cuts = np.arange(count + 1) * len(self.raise_ends) // count
        blocks = np.concatenate([[0], self.finish_ends])[cuts]
        firsts = [
            self.firsts[begin:end].min(initial=cut)
            for begin, end, cut in zip(blocks[:-1], blocks[1:], cuts[:-1], strict=True)
        ]
        return np.stack([firsts, cuts[:-1], cuts[1:]], axis=1).astype(np.int64)


def windows_of(sums: Fans, blocks: int, slots: int) -> Windows:
    """Return the windows of blocks of vertices whose normals are sums over slots.

    Parameters
    ----------
    sums : the slots of the vertices, numbered (T, P, 8); the blocks are in the order of the last tile that they need
    blocks, slots : T and P
    """
    starts, places, none = sums.starts, sums.rows, sums.none
    tiles, size = max(-(-blocks // TILE), 1), TILE * slots * LANES
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    hub_firsts, hub_lasts = (end.reduceat(sums.hubs, sums.hub_starts[:-1]) // size for end in (np.minimum, np.maximum))
    first_tiles = np.where(places < none, places // size, tiles)
    last_tiles = np.where(places < none, places // size, 0)
    first_tiles[places > none] = hub_firsts[places[places > none] - none - 1]
    last_tiles[places > none] = hub_lasts[places[places > none] - none - 1]
    firsts, lasts = np.full(len(starts) - 1, tiles - 1), np.zeros(len(starts) - 1, np.int64)
    np.minimum.at(firsts, owner, first_tiles.min(axis=1, initial=tiles))
    np.maximum.at(lasts, owner, last_tiles.max(axis=1, initial=0))
    firsts = np.minimum(firsts, lasts)
    finish_ends = np.searchsorted(lasts, np.arange(tiles), side="right")
    needed = np.zeros(tiles, np.int64)
    np.maximum.at(needed, firsts, np.arange(len(firsts)) + 1)
    raise_ends = np.maximum.accumulate(needed)
    kept = (raise_ends - np.concatenate([[0], finish_ends[:-1]])).max()
    span = min(int((lasts - firsts).max(initial=0) + 1) * TILE, max(blocks, 1))
    return Windows(
        firsts.astype(np.int32),
        raise_ends.astype(np.int32),
        finish_ends.astype(np.int32),
        np.searchsorted(hub_lasts, np.arange(tiles), side="right").astype(np.int32),
        raised=max(int(kept), 1) * LANES,
        sums=span * slots * LANES,
        none=none,
    )
