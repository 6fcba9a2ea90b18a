"""Windows: every block is raised before it is needed, kept as long as it is, and finished once, by one part."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.tube import tube

import posespace as ps
from posespace.runtime.cpu.lanes import LANES
from posespace.runtime.detail.patches import patches_of
from posespace.runtime.detail.windows import TILE
from posespace.skeleton import Skeleton


def plain(mesh: ps.Mesh) -> ps.Skin:
    """A skin of one joint."""
    skeleton = Skeleton.from_world(["a"], [-1], np.eye(4)[None])
    return ps.Skin(ps.Rig(mesh, skeleton, np.zeros((len(mesh.points), 1), np.int32), np.ones((len(mesh.points), 1))))


def test_a_window_holds_a_small_part_of_a_long_surface() -> None:
    patches, windows = patches_of(plain(tube(200, 12)), 0)
    assert windows.raised < 0.3 * len(patches.order)
    assert windows.sums < 0.3 * windows.none


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_parts_finish_every_block_once_and_have_what_they_need(count: int) -> None:
    _, windows = patches_of(plain(tube(60, 24)), 0)
    parts = windows.parts(count)
    ends = np.concatenate([[0], windows.finish_ends])
    finished = [block for _, begin, end in parts for block in range(ends[begin], ends[end])]
    assert finished == list(range(len(windows.firsts)))
    for first, begin, end in parts:
        assert first <= begin <= end
        assert (windows.firsts[ends[begin] : ends[end]] >= first).all()


def test_what_a_tile_reads_is_in_the_window() -> None:
    """Played through: a row of the window has the vertex that the tile means."""
    patches, windows = patches_of(plain(tube(60, 24)), 0)
    kept, raised = np.full(windows.raised, -1), 0
    vertex = patches.order.reshape(-1, LANES)
    for tile, end in enumerate(windows.raise_ends):
        for block in range(raised, end):
            kept[(np.arange(LANES) + LANES * block) % windows.raised] = vertex[block]
        raised = max(raised, end)
        blocks = slice(tile * TILE, (tile + 1) * TILE)
        corners = patches.coarse_order[patches.corners[blocks]]
        used = (patches.corners[blocks] != 0).any(axis=1, keepdims=True)
        np.testing.assert_array_equal(np.where(used, kept[patches.vertices[blocks]], 0), np.where(used, corners, 0))
    assert raised == len(vertex)
