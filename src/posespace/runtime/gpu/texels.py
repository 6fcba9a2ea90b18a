"""A skin as the GPU reads it: texels of four numbers for its vertices, bones, displacements and triangles.

The list of a vertex is a run of texels; in all but the last the bit `MORE` of one number is set, so that no list needs
a count. `skin.wgsl` reads them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.mesh import Mesh
from posespace.runtime.drive.tables import DriverTables
from posespace.runtime.entries import Entries, bone_entries, normal_entries, point_entries
from posespace.runtime.gpu.walks import ranks_of, walks_of
from posespace.skin.skin import Skin

Texels = NDArray[np.uint32]

MORE = np.uint32(1 << 31)
# Displacements in a texel, by their type, and the first column that is too high for it.
_IN_A_TEXEL: dict[type[np.generic], tuple[int, int]] = {
    np.int8: (4, 1 << 7),
    np.int16: (2, 1 << 15),
    np.float32: (1, 1 << 31),
}


@dataclass(frozen=True, eq=False)
class SkinTexels:
    """The tables of a skin.

    Parameters
    ----------
    rest : (N, 4) x y z, and the texel where the displacements begin
    rest_normals : (N, 4) x y z, and the texel where the corrections begin; or, where normals are those of the posed
        surface, the texel where the vertex's fan begins
    bones : (B N, 4) two bones per texel, strongest first: index among the frame's vectors and weight, twice
    displacements : (D, 4) those of points and of normals; the columns of normals come after all those of points
    corrections : (N K, 4) those of the bones, K for each vertex: x y z, and how far it may be displaced
    fans : (F, 4) walks around the vertices, four steps per texel
    entries : displacements in a texel, 0 where there are none
    bone_texels : B
    scales : (2, C) the length of one unit of each column's values, of points and of normals
    """

    rest: Texels
    rest_normals: Texels
    bones: Texels
    displacements: Texels
    corrections: Texels
    fans: Texels
    entries: int
    bone_texels: int
    scales: Floats


def texels_of(skin: Skin, drivers: DriverTables, rows: int, surface: bool) -> SkinTexels:
    """Lay a skin out.

    Parameters
    ----------
    skin, drivers : what is laid out, and where the coordinates of its layers are
    rows : how many vectors of four a bone has in a frame
    surface : whether normals are those of the posed surface
    """
    rig = skin.rig
    count = len(rig.mesh.points)
    points, normals, scales = _displacements(skin, drivers)
    both = Entries(*(np.concatenate(pair) for pair in zip(points, normals, strict=True)))
    per_texel, kind = _width(both.values.dtype.type, int(both.columns.max(initial=0)) + 1)
    lists = np.concatenate([points.vertices, count + normals.vertices])
    starts, displacements = _listed(lists, 2 * count, per_texel, both.columns, both.values.astype(kind))
    fan_starts, fans = _fans(rig.mesh) if surface else (starts[count:], np.zeros((1, 4), np.uint32))
    bones = _bones(skin, rows)
    return SkinTexels(
        rest=_vectors(rig.mesh.points, starts[:count]),
        rest_normals=_vectors(rig.normals, fan_starts),
        bones=bones.reshape(-1, 4),
        displacements=displacements,
        corrections=_corrections(skin),
        fans=fans,
        entries=per_texel if skin.layers else 0,
        bone_texels=bones.shape[1],
        scales=scales,
    )


def _displacements(skin: Skin, drivers: DriverTables) -> tuple[Entries, Entries, Floats]:
    """The entries of points and of normals, and their scales (2, C)."""
    points, scales = point_entries(skin, drivers)
    none = Entries(points.vertices[:0], points.columns[:0], points.values[:0])
    normals, normal_scales = normal_entries(skin, drivers) or (none, np.ones(drivers.columns))
    return points, normals._replace(columns=normals.columns + drivers.columns), np.stack([scales, normal_scales])


def _width(kind: type[np.generic], columns: int) -> tuple[int, type[np.generic]]:
    """How many displacements go in a texel, and their type: `kind`, or a larger one for many columns."""
    for wider, (width, above) in _IN_A_TEXEL.items():
        if np.can_cast(kind, wider) and columns <= above:
            return width, wider
    raise AssertionError


def _listed(
    lists: NDArray[np.integer], count: int, per_texel: int, columns: NDArray[np.integer], values: NDArray[np.generic]
) -> tuple[Texels, Texels]:
    """Where each list (count,) begins, and the texels of all; empty lists share the first, of zeros.

    Parameters
    ----------
    lists : (E,) the list of each entry
    columns, values : (E,) and (E, 3), what it holds
    """
    order = np.argsort(lists, kind="stable")
    lengths = np.bincount(lists, minlength=count)
    texels = -(-lengths // per_texel)
    starts = np.where(texels > 0, 1 + np.cumsum(texels) - texels, 0)
    index = np.repeat(starts, lengths) * per_texel + ranks_of(lengths)
    total = 1 + int(texels.sum())
    kept = np.zeros((total * per_texel, 3), values.dtype)
    kept[index] = values[order]
    named = np.zeros(total * per_texel, f"u{values.dtype.itemsize}")
    named[index] = columns[order]
    parts = [*(np.ascontiguousarray(axis).view(np.uint32) for axis in kept.T), named.view(np.uint32)]
    packed = np.stack(parts, axis=1)
    _mark(packed[:, 3], starts[texels > 0])
    return starts.astype(np.uint32), packed


def _mark(words: Texels, starts: NDArray[np.integer]) -> None:
    """Set the bit that announces another texel in all texels but the last of each list, and the first of all."""
    ends = np.append(starts[1:], len(words)) - 1
    follows = np.ones(len(words), bool)
    follows[0] = follows[ends] = False
    words[follows] |= MORE


def _bones(skin: Skin, rows: int) -> Texels:
    """Texels (N, B, 4) of two bones each, strongest first; one that is not there has no weight."""
    entries = bone_entries(skin)
    count = len(skin.rig.mesh.points)
    order = np.lexsort((-entries.values, entries.vertices))
    lengths = np.bincount(entries.vertices, minlength=count)
    texels = -(-lengths // 2)
    most = max(1, int(texels.max(initial=1)))
    rank = ranks_of(lengths)
    slots = np.zeros((count, 2 * most, 2), np.uint32)
    slots[entries.vertices[order], rank, 0] = rows * entries.columns[order]
    slots[entries.vertices[order], rank, 1] = entries.values[order].view(np.uint32)
    packed = slots.reshape(count, most, 4)
    packed[..., 0] |= np.where(np.arange(most) < texels[:, None] - 1, MORE, np.uint32(0))
    return packed


def _corrections(skin: Skin) -> Texels:
    """Texels (N K, 4) of the K corrections of each vertex: x y z, and how far the vertex may be displaced."""
    displacements, limits = skin.bones.corrections_of(skin.rig)
    rows = np.ones((len(limits), len(displacements), 4), np.float32)
    rows[..., :3] = np.swapaxes(displacements, 0, 1)
    rows[..., 3] = limits[:, None]
    return rows.reshape(-1, 4).view(np.uint32)


def _fans(mesh: Mesh) -> tuple[Texels, Texels]:
    """Where each vertex's walks (N,) begin, and the texels of all, four steps each."""
    walks, starts, groups = walks_of(mesh)
    _mark(walks[:, 3], starts[starts > 0])
    return starts[groups].astype(np.uint32), walks


def _vectors(values: Floats, last: Texels) -> Texels:
    """Vectors (N, 3) as float32, with a whole number after each."""
    return np.concatenate([values.astype(np.float32).view(np.uint32), last[:, None]], axis=1)
