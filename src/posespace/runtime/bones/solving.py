"""Positions of learned bones from their rotations, and the transforms of both, by compiled loops."""

from __future__ import annotations

from numba import prange

from posespace.check import Floats, Floats32
from posespace.runtime.bones.tables import BoneTables
from posespace.runtime.compiled import on_all_cores, relaxed
from posespace.runtime.pointers import pointer


@relaxed
def add_up_some(
    begin: int, end: int, tables: BoneTables, translations: Floats, rotations: Floats, row: int, out: Floats
) -> None:  # pragma: no cover - compiled
    """Write some of the right-hand side of the positions' equations, as rows 3 row to 3 row + 2 of (..., B)."""
    columns, levers, drawn = pointer(tables.columns), pointer(tables.levers), pointer(tables.drawn)
    turned, moved, points = pointer(rotations), pointer(translations), len(translations)
    for bone in range(begin, end):
        x = y = z = 0.0
        for entry in range(tables.starts[bone], tables.starts[bone + 1]):
            r, a, b, c = 9 * columns[entry], levers[3 * entry], levers[3 * entry + 1], levers[3 * entry + 2]
            x += (turned[r] - 1.0) * a + turned[r + 1] * b + turned[r + 2] * c
            y += turned[r + 3] * a + (turned[r + 4] - 1.0) * b + turned[r + 5] * c
            z += turned[r + 6] * a + turned[r + 7] * b + (turned[r + 8] - 1.0) * c
        for m in range(points):
            share = drawn[bone * points + m]
            x, y, z = x + share * moved[3 * m], y + share * moved[3 * m + 1], z + share * moved[3 * m + 2]
        out[3 * row, bone], out[3 * row + 1, bone], out[3 * row + 2, bone] = x, y, z


@on_all_cores
def add_up(
    parts: int, tables: BoneTables, translations: Floats, rotations: Floats, row: int, out: Floats
) -> None:  # pragma: no cover - compiled
    """Write the right-hand side of a pose."""
    count = len(tables.near)
    for part in prange(parts):
        add_up_some(part * count // parts, (part + 1) * count // parts, tables, translations, rotations, row, out)


@relaxed
def solve_some(begin: int, end: int, inverse: Floats, sums: Floats, out: Floats) -> None:  # pragma: no cover - compiled
    """Write some columns of how far centres move (R, B): rows of the inverse (B, B) times right-hand sides (R, B).

    In double precision: the lower `beta` is, the larger are the numbers of the inverse, and they cancel in the sum.
    """
    for bone in range(begin, end):
        for row in range(len(sums)):
            total = 0.0
            for other in range(inverse.shape[1]):
                total += inverse[bone, other] * sums[row, other]
            out[row, bone] = total


@on_all_cores
def solve(parts: int, inverse: Floats, sums: Floats, out: Floats) -> None:  # pragma: no cover - compiled
    """Write how far the centres of all bones move.

    A library's product would leave threads behind that the other loops wait for.
    """
    count = len(inverse)
    for part in prange(parts):
        solve_some(part * count // parts, (part + 1) * count // parts, inverse, sums, out)


@relaxed
def compose(
    centres: Floats, rotations: Floats, moved: Floats, row: int, whole: Floats, translation: Floats, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Write transforms (12 B,): rotated about the centres, which are moved, then moved as the whole is."""
    for bone in range(len(centres)):
        r = rotations[bone]
        for i in range(3):
            last = translation[i]
            for j in range(3):
                last += whole[i, j] * (centres[bone, j] + moved[3 * row + j, bone])
            for j in range(3):
                value = whole[i, 0] * r[j] + whole[i, 1] * r[3 + j] + whole[i, 2] * r[6 + j]
                out[12 * bone + 4 * i + j] = value
                last -= value * centres[bone, j]
            out[12 * bone + 4 * i + 3] = last
