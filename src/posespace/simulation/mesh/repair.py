"""Repairs the surface of any rig: one closed surface that faces outwards, or an error with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.ndimage import distance_transform_edt
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from posespace.check import Floats, Ints
from posespace.errors import InputError, require
from posespace.geometry.edges import edges_of
from posespace.geometry.surface import Surface, position_text
from posespace.mesh import Mesh
from posespace.simulation.bodies.body import Bone, Cut

_SMALL_HOLE = 12
"""A hole of at most this many edges is a flaw; one larger hole may be a cut, e.g. at a wrist."""

_RIM = 0.05
"""Distance beyond its rim up to which a cut fixes the skin, as a fraction of the rim's radius."""

_MOST_CELLS = 20_000_000


def closed_surface(mesh: Mesh, bones: Sequence[Bone]) -> tuple[Surface, list[str]]:
    """Return a closed surface of `mesh` that faces out, and a note for each thing that was repaired.

    Seams are welded, empty triangles and pieces without bones dropped, triangles flipped to agree, small holes
    and one cut end capped. Raises where there are larger or more holes, or no volume.
    """
    if not len(mesh.triangles):
        raise InputError("surface: expected triangles, got none; export the rig with its faces")
    notes: list[str] = []
    points, triangles = _welded(mesh, notes)
    if edges_of(triangles).counts.max(initial=0) > 2:
        # Sheets that meet in one edge have no inside that could be followed; their winding numbers still tell it.
        spacing = _spacing(points, triangles)
        notes.append("more than two triangles meet in an edge: wrapped in a surface where two do")
        return wrapped(Surface(points, triangles), spacing), notes
    triangles = _one_winding(triangles)
    points, triangles = _capped(points, triangles, notes)
    skin = _with_bones(points, triangles, bones, notes)
    if skin.volume <= 1e-4 * skin.area**1.5 / 10:
        raise InputError(
            f"surface: expected one that encloses a volume, got {skin.volume:.3g} for area {skin.area:.3g}; "
            "give it thickness"
        )
    return skin, notes


def cut_ends(mesh: Mesh) -> tuple[Cut, ...]:
    """Return the cut end that `closed_surface` caps, e.g. at a wrist; none for a surface without one."""
    points, triangles = _welded(mesh, [])
    if edges_of(triangles).counts.max(initial=0) > 2:
        return ()
    cuts = []
    for loop in _loops(_one_winding(triangles)):
        if len(loop) > _SMALL_HOLE:
            rim = points[loop]
            middle = rim.mean(axis=0)
            # The rim runs along its triangles: seen from outside the body it runs clockwise.
            across = -np.cross(rim - middle, np.roll(rim, -1, axis=0) - middle).sum(axis=0)
            outward = across / np.linalg.norm(across)
            # A rim that is not flat is held as far in as it reaches.
            inmost = float(((rim - middle) @ outward).min())
            reach = float(np.linalg.norm(rim - middle, axis=1).max())
            cuts.append(Cut(middle + (inmost - _RIM * reach) * outward, outward, (1 + _RIM) * reach))
    return tuple(cuts)


def wrapped(skin: Surface, spacing: float) -> Surface:
    """Return a surface around all that `skin` winds about, by marching cubes on a grid of about `spacing`."""
    measure: Any = require("skimage.measure", "simulate", "repairing a surface that crosses itself")
    low, high = skin.points.min(axis=0) - 3 * spacing, skin.points.max(axis=0) + 3 * spacing
    spacing = max(spacing, float((np.prod(high - low) / _MOST_CELLS) ** (1 / 3)))
    shape = np.ceil((high - low) / spacing).astype(int) + 1
    grid = low + spacing * np.stack(np.meshgrid(*(np.arange(n) for n in shape), indexing="ij"), axis=-1)
    # Exact values only near the surface: farther away no step of the grid can change side.
    near, _ = cKDTree(_samples(skin, spacing)).query(grid.reshape(-1, 3), distance_upper_bound=2.5 * spacing)
    band = np.isfinite(near).reshape(shape)
    field = np.full(shape, 2.5 * spacing)
    field[band] = skin.signed_distance(grid[band])
    _, nearest = distance_transform_edt(~band, return_indices=True)
    field[~band] *= np.sign(field[tuple(nearest[:, ~band])])
    if not (field.min() < 0 < field.max()):
        raise InputError("surface: expected one that encloses a volume, got one whose sides cancel out; repair it")
    points, triangles, _, _ = measure.marching_cubes(field, 0.0)
    flat = Mesh(low + spacing * points.astype(np.float64), triangles[:, ::-1])
    result = _largest(*_welded(flat, []))
    if not Mesh(result.points, result.triangles).is_watertight:
        raise InputError("surface: it crosses itself, and the surface wrapped around it is not closed; untangle it")
    return result


def _spacing(points: Floats, triangles: Ints) -> float:
    """A grid spacing that keeps what the triangles show: half their typical edge, at least 1/150 of the whole."""
    edges = edges_of(triangles).ends
    typical = float(np.median(np.linalg.norm(points[edges[:, 1]] - points[edges[:, 0]], axis=1)))
    return max(0.5 * typical, float(np.ptp(points, axis=0).max()) / 150)


def _samples(skin: Surface, spacing: float) -> Floats:
    """Points all over the triangles, about `spacing` apart."""
    corners = skin.corners
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    parts = []
    steps = np.ceil(longest / spacing).astype(int).clip(1, 400)
    for count in np.unique(steps):
        u, v = np.meshgrid(np.arange(count + 1) / count, np.arange(count + 1) / count)
        inside = u + v <= 1 + 1e-9
        weights = np.stack([1 - u - v, u, v], axis=-1)[inside]
        parts.append(np.einsum("sk,tki->tsi", weights, corners[steps == count]).reshape(-1, 3))
    return np.concatenate(parts)


def _welded(mesh: Mesh, notes: list[str]) -> tuple[Floats, Ints]:
    """Points and triangles with seams closed, exactly or, where that leaves holes, within a millionth of the box."""
    groups = mesh.weld.groups
    points = np.asarray(mesh.points, dtype=np.float64)[mesh.weld.first]
    triangles = _distinct(groups[mesh.triangles])
    if (edges_of(triangles).counts == 1).any():
        pairs = cKDTree(points).query_pairs(1e-6 * mesh.diagonal, output_type="ndarray")
        if len(pairs):
            graph = sparse.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(points),) * 2)
            _, label = connected_components(graph, directed=False)
            _, first = np.unique(label, return_index=True)
            points, triangles = points[first], _distinct(label[triangles])
    dropped = len(mesh.triangles) - len(triangles)
    if dropped:
        notes.append(f"{dropped} empty or repeated triangle{'s' if dropped > 1 else ''} left out")
    if not len(triangles):
        raise InputError(
            "surface: expected one that encloses a volume, got triangles that are empty or cancel out; repair it"
        )
    return points, triangles


def _distinct(triangles: NDArray[np.integer[Any]]) -> Ints:
    """Drop triangles with a repeated corner, repeats of a triangle, and both of a pair that faces opposite ways."""
    whole: Ints = triangles.astype(np.int32)[(triangles != np.roll(triangles, 1, axis=1)).all(axis=1)]
    if not len(whole):
        return whole
    lowest = whole.argmin(axis=1)
    canonical = np.take_along_axis(whole, (np.arange(3) + lowest[:, None]) % 3, axis=1)
    _, first = np.unique(canonical, axis=0, return_index=True)
    kept = whole[np.sort(first)]
    _, inverse, count = np.unique(np.sort(kept, axis=1), axis=0, return_inverse=True, return_counts=True)
    single: Ints = kept[count[inverse.ravel()] == 1]
    return single


def _one_winding(triangles: Ints) -> Ints:
    """Flip triangles until neighbours agree; edges have at most two triangles.

    Each triangle is two nodes of a graph, as it is and flipped; neighbours link the nodes that agree. What is
    connected then agrees, and a one-sided surface connects a triangle with itself flipped.
    """
    sides = edges_of(triangles).sides
    order = np.argsort(sides.ravel(), kind="stable")
    pair = np.flatnonzero(np.diff(sides.ravel()[order]) == 0)
    one, other = order[pair], order[pair + 1]
    rising = (triangles < np.roll(triangles, -1, axis=1)).ravel()
    clash = (rising[one] == rising[other]).astype(np.int64)
    count = len(triangles)
    a, b = one // 3, other // 3
    rows = np.concatenate([a, a + count])
    columns = np.concatenate([b + count * clash, b + count * (1 - clash)])
    graph = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(2 * count, 2 * count))
    _, label = connected_components(graph, directed=False)
    if (label[:count] == label[count:]).any():
        raise InputError("surface: expected one with an inside and an outside, got a one-sided band; repair it")
    flipped = label[:count] > label[count:]
    result = triangles.copy()
    result[flipped] = result[flipped][:, ::-1]
    return result


def _capped(points: Floats, triangles: Ints, notes: list[str]) -> tuple[Floats, Ints]:
    """Close small holes and one cut end, each by a fan around its middle."""
    loops = _loops(triangles)
    if not loops:
        return points, triangles
    loops.sort(key=len)
    large = [loop for loop in loops if len(loop) > _SMALL_HOLE]
    middle = points[loops[-1]].mean(axis=0)
    where = f"the largest of {len(loops[-1])} edges at {position_text(middle)}"
    if len(large) > 1:
        raise InputError(f"surface has {len(loops)} holes, {where}; close all but one")
    for loop in loops:
        after = np.roll(loop, -1)
        triangles = np.vstack([triangles, np.stack([after, loop, np.full(len(loop), len(points))], axis=1)])
        points = np.vstack([points, points[loop].mean(axis=0)])
    notes.append(f"{len(loops)} hole{'s' if len(loops) > 1 else ''} capped, {where}")
    return points, triangles.astype(np.int32)


def _loops(triangles: Ints) -> list[Ints]:
    """The holes' vertices, each in the direction of the triangles that border it."""
    _, sides, count = edges_of(triangles)
    open_side = count[sides] == 1
    start, end = triangles[open_side], np.roll(triangles, -1, axis=1)[open_side]
    following = dict(zip(start.tolist(), end.tolist(), strict=True))
    if len(following) < len(start):
        meeting = "vertices where two holes meet in a point"
        raise InputError(f"surface has {len(start)} open edges and {meeting}; close the holes")
    loops = []
    while following:
        first, vertex = next(iter(following.items()))
        loop = [first]
        del following[first]
        while vertex != first:
            loop.append(vertex)
            vertex = following.pop(vertex)
        loops.append(np.array(loop, dtype=np.int32))
    return loops


def _pieces(points: Floats, triangles: Ints) -> list[Surface]:
    """The connected pieces of a surface, each facing out, the largest volume first."""
    ends = edges_of(triangles).ends
    graph = sparse.coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(points), len(points)))
    _, label = connected_components(graph, directed=False)
    pieces = []
    for piece in np.unique(label[triangles[:, 0]]):
        used, renumbered = np.unique(triangles[label[triangles[:, 0]] == piece], return_inverse=True)
        surface = Surface(points[used], renumbered.reshape(-1, 3))
        pieces.append(surface if surface.volume >= 0 else Surface(surface.points, surface.triangles[:, ::-1]))
    return sorted(pieces, key=lambda surface: -surface.volume)


def _largest(points: Floats, triangles: Ints) -> Surface:
    return _pieces(points, triangles)[0]


def _with_bones(points: Floats, triangles: Ints, bones: Sequence[Bone], notes: list[str]) -> Surface:
    """The pieces that hold a bone, as one surface; the largest where none does."""
    pieces = _pieces(points, triangles)
    if len(pieces) == 1:
        return pieces[0]
    middles = np.array([(bone.start + bone.end) / 2 for bone in bones])
    kept = [piece for piece in pieces if (piece.winding(middles) > 0.5).any()] or pieces[:1]
    if len(kept) < len(pieces):
        notes.append(f"{len(pieces) - len(kept)} of {len(pieces)} pieces hold no bone: their vertices follow the rest")
    start = np.cumsum([0, *(len(piece.points) for piece in kept)])
    return Surface(
        np.vstack([piece.points for piece in kept]),
        np.vstack([piece.triangles + first for piece, first in zip(kept, start, strict=False)]),
    )
