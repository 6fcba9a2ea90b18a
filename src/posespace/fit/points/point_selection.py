"""Selection of control points: spread over the surface, denser where it moves more."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.geometry.geodesics import Geodesics
from posespace.geometry.rigid import rigid

_STILL = 0.3
"""Factor on distances where nothing moves, relative to where the surface moves most: points are sparser there."""


def mean_displacements(examples: Examples) -> Floats:
    """Return (N,) the root mean square displacement of each vertex from rest, without the rigid motion of the whole."""
    rest = examples.rig.mesh.points.astype(np.float64)
    even = np.full(len(rest), 1 / len(rest))
    squares = np.zeros(len(rest))
    for row in range(len(examples)):
        shape = np.asarray(examples.shapes[row], dtype=np.float64)
        rotation, translation = rigid(rest, shape, even)
        squares += (((shape - translation) @ rotation - rest) ** 2).sum(axis=1)
    return np.asarray(np.sqrt(squares / len(examples)))


def select_points(geodesics: Geodesics, displacements: Floats, count: int) -> list[int]:
    """Return `count` vertices by farthest-point sampling, with distances weighted by how far a vertex moves.

    Parameters
    ----------
    geodesics : distances over the surface
    displacements : (N,) how far each vertex moves over the examples
    count : number of points
    """
    largest = float(displacements.max(initial=0.0))
    density = _STILL + (1 - _STILL) * (displacements / largest if largest > 0 else np.ones_like(displacements))
    gaps = np.full(len(displacements), np.inf)
    chosen: list[int] = []
    vertex = int(displacements.argmax())
    while len(chosen) < count:
        chosen.append(vertex)
        gaps = np.minimum(gaps, geodesics([vertex])[0])
        finite = np.where(np.isfinite(gaps), gaps, 0.0)
        if not np.isfinite(gaps).all():
            # Another connected component of the surface has no point yet: it comes first.
            vertex = int(np.where(np.isfinite(gaps), -1.0, density).argmax())
            continue
        if not finite.max() > 0 and len(chosen) < count:
            raise InputError(f"points: expected at most {len(chosen)}, the distinct positions of the mesh, got {count}")
        vertex = int((finite * density).argmax())
    return chosen
