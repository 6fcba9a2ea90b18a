"""Control points proposed by themselves: spread over the surface, denser where it moves more."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.geometry.geodesics import Geodesics
from posespace.geometry.rigid import rigid

_STILL = 0.3
"""How far apart points are counted where nothing moves, against where the surface moves most."""


def moved_most(examples: Examples) -> Floats:
    """Return (N,) how far each vertex moves over the examples, the rigid motion of the whole taken out."""
    rest = examples.rig.mesh.points.astype(np.float64)
    even = np.full(len(rest), 1 / len(rest))
    squares = np.zeros(len(rest))
    for row in range(len(examples)):
        shape = np.asarray(examples.shapes[row], dtype=np.float64)
        turn, shift = rigid(rest, shape, even)
        squares += (((shape - shift) @ turn - rest) ** 2).sum(axis=1)
    return np.asarray(np.sqrt(squares / len(examples)))


def propose(geodesics: Geodesics, moved: Floats, count: int) -> list[int]:
    """Return `count` vertices, each the farthest over the surface from those before, times how far it moves.

    Parameters
    ----------
    geodesics : distances over the surface
    moved : (N,) how far each vertex moves over the examples
    count : how many
    """
    most = float(moved.max(initial=0.0))
    dense = _STILL + (1 - _STILL) * (moved / most if most > 0 else np.ones_like(moved))
    gaps = np.full(len(moved), np.inf)
    chosen: list[int] = []
    here = int(moved.argmax())
    while len(chosen) < count:
        chosen.append(here)
        gaps = np.minimum(gaps, geodesics([here])[0])
        known = np.where(np.isfinite(gaps), gaps, 0.0)
        if not np.isfinite(gaps).all():
            # Another piece of the surface has no point yet: it comes first.
            here = int(np.where(np.isfinite(gaps), -1.0, dense).argmax())
            continue
        if not known.max() > 0 and len(chosen) < count:
            raise InputError(f"points: expected at most {len(chosen)}, as the surface has so many places, got {count}")
        here = int((known * dense).argmax())
    return chosen
