"""Landmarks of a mesh as positions: vertices looked up, positions checked to be on the surface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from posespace.check import Floats
from posespace.errors import InputError
from posespace.formats.landmarks import Spots
from posespace.geometry.surface import Surface

_OFF = 0.02
"""A landmark farther from the surface than this fraction of the diagonal is off the mesh."""


def landmark_positions(spots: Spots, points: Floats, surface: Surface, where: str) -> dict[str, Floats]:
    """Return the positions (3,) of landmarks on a mesh, each projected onto its surface.

    Parameters
    ----------
    spots : vertices or positions by name
    points : (N, 3) the vertices, as the file numbers them
    surface : of the mesh
    where : the name of the mesh in messages
    """
    names = list(spots)
    positions: list[Floats] = []
    for name, spot in spots.items():
        if isinstance(spot, int | np.integer):
            if not 0 <= spot < len(points):
                raise InputError(f"landmark {name!r}: {where} has vertices 0 to {len(points) - 1}, got {spot}")
            positions.append(np.asarray(points[int(spot)], dtype=np.float64))
        else:
            positions.append(_position(name, spot))
    stacked = np.array(positions, dtype=np.float64).reshape(-1, 3)
    if not len(stacked):
        return {}
    closest = surface.closest(stacked).points
    gaps = np.linalg.norm(closest - stacked, axis=1)
    size = float(np.linalg.norm(np.ptp(points, axis=0)))
    worst = int(gaps.argmax())
    if not gaps[worst] <= _OFF * size:
        far = f"{gaps[worst] / size:.1%} of its diagonal" if gaps[worst] < 100 * size else "far"
        raise InputError(f"landmark {names[worst]!r}: it lies {far} off the surface of {where}")
    return dict(zip(names, closest, strict=True))


def shared(template: Mapping[str, Floats], scan: Mapping[str, Floats]) -> tuple[list[str], Floats, Floats]:
    """Return the names of the landmarks that both have, and their positions (L, 3) on the template and on the scan."""
    both = [name for name in template if name in scan]
    one, other = (np.array([positions[name] for name in both]).reshape(-1, 3) for positions in (template, scan))
    return both, one, other


def _position(name: str, spot: Any) -> Floats:
    position = np.asarray(spot, dtype=np.float64)
    if position.shape != (3,) or not np.isfinite(position).all():
        raise InputError(f"landmark {name!r}: expected a vertex or three finite numbers, got {spot!r}")
    return position
