"""The template bent onto a scan: by landmarks alone, then onto closest points with a weight raised in steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from posespace.check import Floats
from posespace.geometry.gradients import rotations_in
from posespace.geometry.normals import vertex_normals
from posespace.register.energy import Energy
from posespace.register.scan import Target

_EXACT = 1e5
"""Weight of landmarks: nothing else moves them by more than a ten-thousandth of what it would."""


@dataclass(frozen=True)
class Stage:
    """One weight of closest points, and how often they are looked for with it.

    Parameters
    ----------
    weight : of closest points; a wave on the surface of about 6 / weight^¼ edges is followed by half
    rigidity : of each gradient to the rotation in it
    rounds : solves
    reach : how far a closest point may be, as a fraction of the diagonal
    """

    weight: float
    rigidity: float
    rounds: int
    reach: float


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


def bend_by_landmarks(energy: Energy, pins: Pins, rigidity: float, rounds: int) -> Floats:
    """Return places (N + T, 3) of the template with its landmarks on their targets, each triangle kept almost rigid."""
    energy.weigh(1.0, rigidity, pins.mixture, np.full(len(pins.targets), _EXACT))
    places = energy.whole(energy.points)
    near = np.tile(np.eye(3), (len(energy.triangles), 1, 1))
    for _ in range(rounds):
        places = energy.solve(pins.targets, places, near)
        near = rotations_in(energy.gradients(places))
    return places


def bend_onto(energy: Energy, places: Floats, scan: Target, pins: Pins, stages: Sequence[Stage], size: float) -> Floats:
    """Return places (N + T, 3) of the template brought from `places` onto a scan; `size` is the diagonal."""
    count = len(energy.points)
    for stage in stages:
        for _ in range(stage.rounds):
            points = places[:count]
            normals = vertex_normals(points, energy.triangles)
            found, valid = scan.closest(points, normals, stage.reach * size)
            rows = np.flatnonzero(valid)
            chosen = sparse.csr_array((np.ones(len(rows)), (np.arange(len(rows)), rows)), shape=(len(rows), count))
            weights = np.concatenate([np.full(len(pins.targets), _EXACT), np.full(len(rows), stage.weight)])
            energy.weigh(1.0, stage.rigidity, sparse.vstack([pins.mixture, chosen], format="csr"), weights)
            near = rotations_in(energy.gradients(places))
            places = energy.solve(np.concatenate([pins.targets, found.points[rows]]), places, near)
    return places
