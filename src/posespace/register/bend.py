"""The template bent onto a scan: by landmarks alone, then onto closest points with a weight raised in steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from posespace.check import Floats
from posespace.geometry.gradients import nearest_rotations
from posespace.geometry.normals import vertex_normals
from posespace.register.energy import Energy
from posespace.register.scan import Target

_EXACT = 1e5
"""How much more landmarks weigh than anything else: nothing moves them by more than a hundred-thousandth."""


@dataclass(frozen=True)
class Stage:
    """How closely the template follows the scan, and how often closest points are looked for.

    Lengths are fractions of the diagonal, so that they mean the same on coarse and fine meshes.

    Parameters
    ----------
    wave : differences from the scan of this wavelength are halved, longer ones followed, shorter ones smoothed
    stiff : beyond this wavelength triangles are kept rigid rather than their gradients smooth
    rounds : solves
    reach : how far a closest point may be
    """

    wave: float
    stiff: float
    rounds: int
    reach: float

    def weight(self, edge: float) -> float:
        """Return the weight of closest points on a mesh whose mean edge is this fraction of the diagonal.

        A wave of wavenumber k per edge and height u costs k⁴u² in smoothness, and its distance u².
        """
        return float((2 * np.pi * edge / self.wave) ** 4)

    def rigidity(self, edge: float) -> float:
        """Return the weight of each gradient's distance from the rotation in it, which costs k²u²."""
        return float((2 * np.pi * edge / self.stiff) ** 2)


@dataclass(frozen=True, eq=False)
class Pins:
    """Landmarks on a template.

    Parameters
    ----------
    mixture : (L, N) from the template's vertices to the landmarks
    targets : (L, 3) where they are on the scan
    """

    mixture: sparse.csr_array
    targets: Floats


def bend_by_landmarks(energy: Energy, pins: Pins, stage: Stage, size: float) -> Floats:
    """Return places (N + T, 3) of the template with its landmarks on their targets, each triangle kept almost rigid."""
    energy.weigh(stage.rigidity(energy.edge / size), pins.mixture, np.full(len(pins.targets), _EXACT))
    places: Floats = energy.whole(energy.points)
    near: Floats = np.tile(np.eye(3), (len(energy.triangles), 1, 1))
    for _ in range(stage.rounds):
        places = energy.solve(pins.targets, places, near)
        near = nearest_rotations(energy.gradients(places))
    return places


def bend_onto(energy: Energy, places: Floats, scan: Target, pins: Pins, stages: Sequence[Stage], size: float) -> Floats:
    """Return places (N + T, 3) of the template brought from `places` onto a scan; `size` is the diagonal."""
    count = len(energy.points)
    for stage in stages:
        weight, rigidity = stage.weight(energy.edge / size), stage.rigidity(energy.edge / size)
        for _ in range(stage.rounds):
            points = places[:count]
            normals = vertex_normals(points, energy.triangles)
            found, valid = scan.closest(points, normals, stage.reach * size)
            rows = np.flatnonzero(valid)
            chosen = sparse.csr_array((np.ones(len(rows)), (np.arange(len(rows)), rows)), shape=(len(rows), count))
            weights = np.repeat([_EXACT * max(weight, 1.0), weight], [len(pins.targets), len(rows)])
            energy.weigh(rigidity, sparse.vstack([pins.mixture, chosen], format="csr"), weights)
            near = nearest_rotations(energy.gradients(places))
            places = energy.solve(np.concatenate([pins.targets, found.points[rows]]), places, near)
    return places
