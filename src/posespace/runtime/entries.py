"""A skin's bones and displacements as entries, one per vertex and column: what every player lays out for itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posespace import check
from posespace.check import Floats, Ints
from posespace.runtime.drive.tables import DriverTables
from posespace.skin.basis import Basis, PackedBasis
from posespace.skin.skin import Skin


class Entries(NamedTuple):
    """Numbers of some vertices: (E,) the vertex, (E,) the column, (E, ...) the value."""

    vertices: NDArray[np.integer]
    columns: NDArray[np.integer]
    values: NDArray[Any]


def owned(name: str, indices: NDArray[np.integer], below: int) -> Ints:
    """Return a copy of indices, checked: loops without checks go by them, and an array of a caller's may change."""
    return check.indices(name, np.array(indices, order="C"), indices.shape, below)


def bone_entries(skin: Skin) -> Entries:
    """Return the bones of every vertex and their weights, without those of zero."""
    influences, weights, count = skin.binding
    vertices, slots = np.nonzero(weights)
    bones = owned("bones' influences", influences[vertices, slots], count)
    return Entries(vertices, bones, weights[vertices, slots].astype(np.float32))


def point_entries(skin: Skin, drivers: DriverTables) -> tuple[Entries, Floats]:
    """Return the displacements of all layers' points in one type, and the scale (C,) of each column."""
    columns = zip(skin.layers, drivers.layers, strict=True)
    bases = [(layer.support, layer.basis, first) for layer, (first, _) in columns]
    return _entries(bases, drivers.columns, len(skin.rig.mesh.points))


def normal_entries(skin: Skin, drivers: DriverTables) -> tuple[Entries, Floats] | None:
    """Return the same of the layers' normals, or None where no layer corrects them."""
    columns = zip(skin.layers, drivers.layers, strict=True)
    bases = [
        (layer.support, layer.normal_basis, first) for layer, (_, first) in columns if layer.normal_basis is not None
    ]
    return _entries(bases, drivers.columns, len(skin.rig.mesh.points)) if bases else None


def _entries(
    layers: Iterable[tuple[NDArray[np.integer], Basis, int]], columns: int, vertices: int
) -> tuple[Entries, Floats]:
    """Displacements of supports, bases and first columns; what is stored in few bits stays so."""
    packed = [
        (support, basis if isinstance(basis, PackedBasis) else PackedBasis.pack(basis, 32), first)
        for support, basis, first in layers
    ]
    kinds = {basis.values.dtype.type for _, basis, _ in packed}
    kind = kinds.pop() if len(kinds) == 1 else np.float32 if np.float32 in kinds or not kinds else np.int16
    scales = np.ones(columns)
    entries = [Entries(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 3), kind))]
    for support, basis, first in packed:
        rows = np.repeat(np.arange(len(basis.scales)), np.diff(basis.starts))
        moved = owned("layer support", support[owned("basis rows", basis.entry_rows, len(support))], vertices)
        entries.append(Entries(moved, first + rows, basis.values.astype(kind)))
        scales[first : first + len(basis.scales)] = basis.scales
    return Entries(*(np.concatenate(arrays) for arrays in zip(*entries, strict=True))), scales
