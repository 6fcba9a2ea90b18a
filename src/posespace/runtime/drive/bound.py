"""Drive, compiled: coordinates scaled so that no vertex is displaced beyond its limit; see `posespace.skin.bound`."""

from __future__ import annotations

import math

from posespace.runtime.compiled import relaxed
from posespace.runtime.drive.bound_tables import BLOCK
from posespace.runtime.drive.tables import BLOCKS, COLUMNS, ENTRIES, NORM, VERTICES
from posespace.runtime.pointers import Pointer, after


@relaxed
def keep_within(
    head: Pointer, numbers: Pointer, entries: Pointer, lengths: Pointer, longest: Pointer, coordinates: Pointer
) -> None:  # pragma: no cover - compiled
    """Scale an interpolant's columns so that no vertex is displaced beyond its limit."""
    columns, vertices = head[COLUMNS], head[VERTICES]
    if vertices == 0 or (head[NORM] >= 0 and _norm(columns, after(numbers, head[NORM]), coordinates) <= 1.0):
        return
    starts, block_longest = after(entries, head[ENTRIES]), after(longest, head[BLOCKS])
    entry_columns = after(starts, vertices + 1 - starts[0])
    largest = 1.0
    for block in range((vertices + BLOCK - 1) // BLOCK):
        most = 0.0
        for k in range(columns):
            most += abs(coordinates[k]) * block_longest[block * columns + k]
        # The lengths of all entries together are at least the length of their sum.
        if most * most <= largest:
            continue
        for vertex in range(BLOCK * block, min(BLOCK * (block + 1), vertices)):
            x, y, z = 0.0, 0.0, 0.0
            for entry in range(starts[vertex], starts[vertex + 1]):
                amount, length = coordinates[entry_columns[entry]], after(lengths, 3 * entry)
                x, y, z = x + amount * length[0], y + amount * length[1], z + amount * length[2]
            largest = max(largest, x * x + y * y + z * z)
    if largest > 1.0:
        for k in range(columns):
            coordinates[k] /= math.sqrt(largest)


@relaxed
def _norm(columns: int, norm: Pointer, coordinates: Pointer) -> float:  # pragma: no cover - compiled
    """The sum of the magnitudes of a matrix times the coordinates."""
    most = 0.0
    for row in range(columns):
        total = 0.0
        for k in range(columns):
            total += norm[row * columns + k] * coordinates[k]
        most += abs(total)
    return most
