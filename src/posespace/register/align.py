"""Rigid alignment by landmarks, with a change of unit where the two are plainly in different ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posespace.check import Floats
from posespace.errors import InputError
from posespace.mesh import UNITS

_LEAST = 3
_FLAT = 0.02
"""Landmarks whose spread across their longest line is below this share of the spread along it lie on one line."""

_SAME_UNIT = 1.8
"""Sizes that differ by less than this factor are the same unit: a fist is smaller than an open hand."""

_NEAR_TEN, _NEAR_UNIT = 1.5, 1.15
"""A measured scale within this factor of a power of ten, or of another scale between usual units, is that one."""


@dataclass(frozen=True, eq=False)
class Alignment:
    """The similarity transform from a scan to the template: scale · R · point + translation.

    Parameters
    ----------
    scale : factor on the scan's lengths; 1 where the units agree
    rotation : (3, 3)
    translation : (3,)
    """

    scale: float
    rotation: Floats
    translation: Floats

    def moved(self, points: Floats) -> Floats:
        """Return points (..., 3) of the scan in the template's space."""
        moved: Floats = self.scale * points @ self.rotation.T + self.translation
        return moved


def align(scan: Floats, template: Floats) -> Alignment:
    """Return the transform from landmarks `scan` (L, 3) to `template` (L, 3), by least squares."""
    require_spread(scan, "on the scan")
    scan_centre, template_centre = scan.mean(axis=0), template.mean(axis=0)
    a, b = scan - scan_centre, template - template_centre
    scale = _unit_scale(float(np.sqrt((b**2).sum() / (a**2).sum())))
    left, _, right = np.linalg.svd(b.T @ a)
    sign = np.sign(np.linalg.det(left @ right))
    rotation = left @ np.diag([1, 1, sign]) @ right
    return Alignment(scale, rotation, template_centre - scale * rotation @ scan_centre)


def require_spread(positions: Floats, where: str) -> None:
    """Raise unless there are at least three landmarks (L, 3), not on one line: else the rotation is undetermined."""
    if len(positions) < _LEAST:
        raise InputError(f"landmarks: expected at least {_LEAST} {where}, got {len(positions)}")
    spread = np.linalg.svd(positions - positions.mean(axis=0), compute_uv=False)
    if not spread[1] > _FLAT * spread[0]:
        raise InputError(f"landmarks: the {len(positions)} {where} lie on one line; add one well beside it")


def _unit_scale(ratio: float) -> float:
    """The scale for a ratio of sizes: 1, that between two usual units, or the ratio itself."""
    if 1 / _SAME_UNIT < ratio < _SAME_UNIT:
        return 1.0
    usual = {one / other for one in UNITS.values() for other in UNITS.values() if one != other}
    nearest = min(usual, key=lambda known: abs(np.log(known / ratio)))
    # Powers of ten are far apart and meant more often than inches.
    near = _NEAR_TEN if abs(np.log10(nearest) % 1) < 1e-9 else _NEAR_UNIT
    return nearest if 1 / near < nearest / ratio < near else ratio
