"""Non-rigid registration: the template is bent by landmarks, then onto closest points in steps of rising weight."""

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
"""Weight of landmarks: nothing moves them by more than a hundred-thousandth."""


@dataclass(frozen=True)
class FitStep:
    """A step of the fit: how closely the template follows the scan, and the number of solves.

    Lengths are fractions of the diagonal, so that they mean the same on coarse and fine meshes.

    Parameters
    ----------
    wave : differences from the scan of this wavelength are halved, longer ones followed, shorter ones smoothed
    stiff : beyond this wavelength triangles are kept rigid rather than their gradients smooth
    rounds : solves
    reach : largest distance of a closest point
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
    targets : (L, 3) their positions on the scan
    """

    mixture: sparse.csr_array
    targets: Floats


def bend_by_landmarks(energy: Energy, pins: Pins, step: FitStep, size: float) -> Floats:
    """Return positions (N + T, 3) of the template with its landmarks on their targets, its triangles almost rigid."""
    energy.weigh(step.rigidity(energy.edge / size), pins.mixture, np.full(len(pins.targets), _EXACT))
    positions: Floats = energy.with_normals(energy.points)
    gradients: Floats = np.tile(np.eye(3), (len(energy.triangles), 1, 1))
    for _ in range(step.rounds):
        positions = energy.solve(pins.targets, positions, gradients)
        gradients = nearest_rotations(energy.gradients(positions))
    return positions


def bend_onto(
    energy: Energy, positions: Floats, scan: Target, pins: Pins, steps: Sequence[FitStep], size: float
) -> Floats:
    """Return positions (N + T, 3) of the template, fitted to a scan from `positions`; `size` is the diagonal."""
    count = len(energy.points)
    for step in steps:
        weight, rigidity = step.weight(energy.edge / size), step.rigidity(energy.edge / size)
        for _ in range(step.rounds):
            points = positions[:count]
            normals = vertex_normals(points, energy.triangles)
            closest, valid = scan.closest(points, normals, step.reach * size)
            rows = np.flatnonzero(valid)
            chosen = sparse.csr_array((np.ones(len(rows)), (np.arange(len(rows)), rows)), shape=(len(rows), count))
            weights = np.repeat([_EXACT * max(weight, 1.0), weight], [len(pins.targets), len(rows)])
            energy.weigh(rigidity, sparse.vstack([pins.mixture, chosen], format="csr"), weights)
            gradients = nearest_rotations(energy.gradients(positions))
            positions = energy.solve(np.concatenate([pins.targets, closest.points[rows]]), positions, gradients)
    return positions
