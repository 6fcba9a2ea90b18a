"""A subdivided surface as the compiled loops read it: coarse triangles and fine vertices in blocks of eight.

The fine vertices in and around a coarse triangle are its patch; each has a slot there, the same in every patch. What
the fine triangles of a patch add to the normals of its vertices is summed in the patch, without looking elsewhere;
a normal is the sum over the few patches that its vertex is in.

Patches are worked on in tiles. Vertices are in the order of the last tile that has them: it is the one after which
their normals are known. Raised points and sums are kept only as long as some tile needs them, in windows that the
cache holds.

Where many vertices with many triangles share a normal, at a hub, what is there is summed once, in a row of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from posespace.check import Ints
from posespace.geometry.local_order import LocalOrder, local_order
from posespace.geometry.subdivision import levels_of
from posespace.runtime.compiled import Ints32, Ints64
from posespace.runtime.cpu.lanes import LANES
from posespace.runtime.detail.fans import fans_of
from posespace.runtime.detail.windows import TILE, Windows, windows_of
from posespace.runtime.entries import owned
from posespace.skin.skin import Skin


class Patches(NamedTuple):
    """A coarse surface of N vertices and its subdivision, in an order in which neighbours are near each other.

    The unused lanes of the last block of triangles are triangles of no area, those of vertices repeat the last one.

    Parameters
    ----------
    coarse_order : (N,) int32, the skin's number of each coarse vertex
    order : (8 V,) int32, the skin's number of each fine vertex
    rounds : (levels or 1,) int64, how many vertices each level but the last has, beginning with the coarse one
    middles : (M, 2) int32, the vertices between which each vertex after the first N lies, on all levels but the last
    ends : (V, 2, 8) int32, the same of all fine vertices; those of the level before have themselves
    corners : (T, 3, 8) int32, the coarse vertices of triangles
    vertices : (T, P, 8) int32, the fine vertices of their patches, as rows of the window of raised points
    pattern : (4**levels, 3) int32, the slots of each fine triangle of a patch
    flat_starts, flat : (V + 1,) and (E, 8) int32, the coarse triangles around each fine vertex, by the area that they
        have there; 8 T for none, and from there on the hubs
    sum_starts, sums : (V + 1,) and (E, 8) int32, the slots that each fine vertex has, as rows of the window of sums;
        the row after these for none, and from there on the hubs
    flat_hub_starts, flat_hubs : (H + 1,) and (E,) int32, the coarse triangles of each hub, as in `flat`
    sum_hub_starts, sum_hubs : (H + 1,) and (E,) int32, its slots, as in `sums`
    hub_ends : (tiles,) int32, up to which hub the sums are known after a tile
    tile : blocks of coarse triangles in a tile
    raise_ends, finish_ends : (tiles,) int32, up to which block points are raised before a tile, and up to which normals
        are known after it
    """

    coarse_order: Ints32
    order: Ints32
    rounds: Ints64
    middles: Ints32
    ends: Ints32
    corners: Ints32
    vertices: Ints32
    pattern: Ints32
    flat_starts: Ints32
    flat: Ints32
    sum_starts: Ints32
    sums: Ints32
    flat_hub_starts: Ints32
    flat_hubs: Ints32
    sum_hub_starts: Ints32
    sum_hubs: Ints32
    hub_ends: Ints32
    tile: int
    raise_ends: Ints32
    finish_ends: Ints32


def patches_of(skin: Skin, levels: int) -> tuple[Patches, Windows]:
    """Lay out the surface of a skin that is subdivided `levels` times, and return its windows too."""
    rest, groups = skin.rig.mesh, skin.mesh.shading.groups
    local = local_order(rest.triangles, len(rest.points), levels, rest.shading.groups)
    pattern = np.arange(3, dtype=np.int32).reshape(1, 3)
    if levels:
        pattern = levels_of(pattern, 3, levels)[-1].triangles
    corners = owned("mesh triangles", local.triangles, len(rest.points))
    edges = [owned("edges", level.edges, len(local.order)) for level in local.levels]
    vertices = _patch_vertices(local, pattern)
    sorting = _by_last_tile(groups[local.order], vertices)
    order = owned("order", local.order, len(skin.mesh.points))[sorting]
    vertices = np.argsort(sorting).astype(np.int32)[vertices]
    flat, sums = fans_of(groups[order], vertices, pattern)
    windows = windows_of(sums, blocks=-(-len(corners) // LANES), slots=vertices.shape[1])
    none = np.zeros((0, 2), np.int32)
    patches = Patches(
        coarse_order=local.order[: len(rest.points)],
        order=_filled(order),
        rounds=(len(rest.points) + np.cumsum([0, *map(len, edges[:-1])])).astype(np.int64),
        middles=np.concatenate([none, *edges[:-1]]),
        ends=_in_lanes(_filled(_ends(len(order), edges[-1] if levels else none)[sorting])),
        corners=_in_lanes(_filled(corners, 0)),
        vertices=_in_lanes(_filled(vertices, 0)) % windows.raised,
        pattern=pattern,
        flat_starts=flat.starts,
        flat=flat.rows,
        sum_starts=sums.starts,
        sums=windows.rows(sums.rows),
        flat_hub_starts=flat.hub_starts,
        flat_hubs=flat.hubs,
        sum_hub_starts=sums.hub_starts,
        sum_hubs=windows.rows(sums.hubs),
        hub_ends=windows.hub_ends,
        tile=TILE,
        raise_ends=windows.raise_ends,
        finish_ends=windows.finish_ends,
    )
    return patches, windows


def _patch_vertices(local: LocalOrder, pattern: Ints32) -> Ints32:
    """The fine vertices (T, P) of each patch."""
    fine = local.levels[-1].triangles if local.levels else local.triangles
    vertices = np.zeros((len(local.triangles), pattern.max() + 1), np.int32)
    vertices[:, pattern] = owned("fine triangles", fine, len(local.order)).reshape(-1, *pattern.shape)
    return vertices


def _by_last_tile(groups: Ints, vertices: Ints32) -> Ints64:
    """Sort the fine vertices (F,) by the last tile that has their normal, then by how many patches do.

    Parameters
    ----------
    groups : (F,) the vertices that share a normal have one number
    vertices : (T, P) of the patches
    """
    owner = groups[vertices]
    last = np.zeros(int(groups.max(initial=-1)) + 1, np.int64)
    np.maximum.at(last, owner, np.arange(len(vertices))[:, None] // (TILE * LANES))
    counts = np.bincount(owner.ravel(), minlength=len(last))
    return np.lexsort((counts[groups], last[groups]))


def _ends(count: int, edges: Ints32) -> Ints32:
    """The ends (F, 2) of all `count` vertices of a level whose last ones are middles of edges (E, 2)."""
    before = np.arange(count - len(edges), dtype=np.int32)
    return np.concatenate([np.stack([before, before], axis=1), edges])


def _filled(rows: Ints32, value: int | None = None) -> Ints32:
    """Rows (R, ...) up to full blocks, filled with a value or, by default, with the last row."""
    missing = -len(rows) % LANES
    filling = np.repeat(rows[-1:], missing, axis=0)
    return np.concatenate([rows, filling if value is None else np.full_like(filling, value)])


def _in_lanes(rows: Ints32) -> Ints32:
    """Rows (8 R, C) as (R, C, 8)."""
    return np.ascontiguousarray(np.swapaxes(rows.reshape(-1, LANES, rows.shape[1]), 1, 2))
