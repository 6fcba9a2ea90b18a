"""How virtual bones are turned in each example: by the vertices that each moves, whatever the other bones do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from posespace.check import Floats, Ints
from posespace.geometry import rotations


class Turned(NamedTuple):
    """Rotations (S, B, 4) of bones, the middles (B, 3) of what they move at rest, and how much (B,) they move."""

    turns: Floats
    centres: Floats
    sizes: Floats


def bone_turns(rest: Floats, shapes: Floats, influences: Ints, weights: Floats, count: int) -> Turned:
    """Return how bones are turned in shapes.

    Neighbouring bones that are turned together against each other may fit the examples more closely, but nothing can
    be predicted from that.

    Parameters
    ----------
    rest : (N, 3)
    shapes : (S, N, 3)
    influences, weights : (N, K) the bones of each vertex, and how much they move it
    count : B
    """
    rows = np.repeat(np.arange(len(rest)), influences.shape[1])
    moved = csr_array((weights.ravel().astype(np.float64), (influences.ravel(), rows)), shape=(count, len(rest)))
    total: Floats = np.asarray(moved.sum(axis=1)).ravel()
    share = 1 / np.where(total > 0, total, 1.0)
    centres = (moved @ rest) * share[:, None]
    centres[total <= 0] = rest.mean(axis=0)
    turns = np.empty((len(shapes), count, 4))
    for row, shape in enumerate(shapes):
        middles = (moved @ shape) * share[:, None]
        products = (shape[:, :, None] * rest[:, None, :]).reshape(len(rest), 9)
        spread = (moved @ products).reshape(count, 3, 3) * share[:, None, None]
        spread -= middles[:, :, None] * centres[:, None, :]
        turns[row] = rotations.polar(spread)[0]
    return Turned(turns, centres, total)
