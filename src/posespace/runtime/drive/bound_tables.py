"""What the bounds of a skin's drivers measure, as flat tables: each vertex's displacements over its limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats32
from posespace.skin.basis import PackedBasis
from posespace.skin.bound import Bound, DrivenBasis

BLOCK = 16
"""Vertices that are passed over together where their longest entries cannot add up to their limits."""


class BoundEntries(NamedTuple):
    """The entries of several bounds, one after the other.

    Parameters
    ----------
    vertices : (I,) how many vertices each bound has
    starts : (I,) where each bound begins in `entries`
    entries : for each bound, where the entries of each vertex begin, and where the last ones end; then their columns
    lengths : (3 E,) displacements per unit of a column, over the limit of the vertex
    blocks : (I,) where each bound begins in `longest`
    longest : for each bound, of each block of `BLOCK` vertices the longest entry of each column
    """

    vertices: NDArray[np.int64]
    starts: NDArray[np.int64]
    entries: NDArray[np.int64]
    lengths: Floats32
    blocks: NDArray[np.int64]
    longest: Floats32


def bound_entries(bounds: Sequence[Bound]) -> BoundEntries:
    """Lay out bounds one after the other."""
    vertices, starts, entries, lengths = [], [0], [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
    blocks, longest = [0], [np.zeros(0, np.float32)]
    for bound in bounds:
        rows, columns, values = _by_vertex(bound.moved)
        count = sum(len(moved.limits) for moved in bound.moved)
        first = sum(map(len, lengths)) // 3
        begin = first + np.searchsorted(rows, np.arange(count + 1))
        vertices.append(count)
        entries += [begin, columns]
        lengths.append(values.ravel())
        starts.append(starts[-1] + len(begin) + len(columns))
        width = bound.moved[0].basis.shape[0] if bound.moved else 0
        block = np.zeros((-(-count // BLOCK), width), np.float32)
        np.maximum.at(block, (rows // BLOCK, columns), np.linalg.norm(values, axis=1))
        longest.append(block.ravel())
        blocks.append(blocks[-1] + block.size)
    return BoundEntries(
        np.array(vertices, np.int64),
        np.array(starts[:-1], np.int64),
        np.concatenate(entries),
        np.concatenate(lengths),
        np.array(blocks[:-1], np.int64),
        np.concatenate(longest),
    )


def _by_vertex(moved: Sequence[DrivenBasis]) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats32]:
    """The vertex (E,), the column (E,) and the displacement over the limit (E, 3) of all entries, by vertex."""
    rows, columns, values = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros((0, 3), np.float32)]
    first = 0
    for basis, limits in moved:
        packed = basis if isinstance(basis, PackedBasis) else PackedBasis.pack(basis, 32)
        column = np.repeat(np.arange(len(packed.scales)), np.diff(packed.starts))
        row = packed.entry_rows.astype(np.int64)
        values.append((packed.values * (packed.scales[column] / limits[row])[:, None]).astype(np.float32))
        rows.append(first + row)
        columns.append(column)
        first += len(limits)
    order = np.argsort(np.concatenate(rows), kind="stable")
    return np.concatenate(rows)[order], np.concatenate(columns)[order], np.concatenate(values)[order]
