"""Checks of corresponding points on two bodies: finds reversed, swapped, misplaced and mirrored ones.

Bodies bend, so only distances between points that are near each other over the surface are expected to stay.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posespace.check import Floats
from posespace.errors import quoted
from posespace.geometry.rigid import rigid

SWAPPED = 0.3
"""Two points are swapped where that lowers the deviation of their distances by more than this fraction of it."""

MISPLACED = 0.5
"""A point is misplaced where its deviation is lower by more than this fraction where its neighbours expect it..."""

TOO_FAR = 1.5
"""...and it is more than this many times as far from them as the surface is long: a bend only brings them closer."""

UNRELATED = 0.37
"""Where the distances of all points deviate by more than this fraction of them, most are wrong."""

MIRRORED = -0.5
"""Handedness of the neighbourhoods, between -1 and 1, below which they are mirrored."""

_ALLOWED = 0.1
"""Deviation, as a fraction of the distances, that is always allowed: a bend or another build has as much."""

_FEW = 4
"""Points with fewer others that they are connected to are not judged, nor are sets of no more."""

_FLAT = 1e-3
"""What a neighbourhood must be out of one plane, as a share of its size squared, to have a handedness."""

_NEAR = 6
"""Neighbours that a point is expected from, and whose handedness is compared."""


class Pairing:
    """Points of one body, and the corresponding points of another.

    Parameters
    ----------
    one : (L, 3) on the first body
    other : (L, 3) on the second, in the same unit
    lengths : (L, L) distances over the surface of the first, infinite where it is not connected; None: straight ones
    """

    def __init__(self, one: Floats, other: Floats, lengths: Floats | None = None) -> None:
        self._lengths, self._unscaled = lengths, other
        self._distances = _distances(one, one)
        apart = self._distances if lengths is None else np.maximum(lengths, self._distances)
        self._apart = np.where(np.eye(len(one), dtype=bool), np.inf, apart)
        usable = np.isfinite(self._apart) & (self._apart > 0)
        self._weights = np.where(usable, 1 / np.where(usable, self._apart, 1.0), 0.0)
        self._judged = np.isfinite(self._apart).sum(axis=1) >= _FEW
        self._allowed = _ALLOWED * (self._weights * self._distances).sum(axis=1)
        self._one, self._other = one, other / _scale(self._distances, _distances(other, other), self._weights)
        # Row i, column k: deviation of the distances of point i if it were at point k.
        gaps = _distances(self._other, self._other)
        self._moved = np.stack([self._deviation(i, gaps) for i in range(len(one))]) if len(one) else gaps
        # Two that are swapped stay as far from each other as they are.
        self._moved += self._weights * (np.abs(gaps - self._distances) - self._distances)
        self._given = np.diagonal(self._moved)

    def problem(self, names: Sequence[str], what: str) -> str:
        """Return what is wrong, with the names of the points of this kind ("landmark"); "" where nothing is."""
        if self._judged.sum() <= _FEW:
            return ""
        if self.level() > UNRELATED:
            reversed_pairing = Pairing(self._one, self._unscaled[::-1], self._lengths)
            if reversed_pairing.level() < UNRELATED:
                return f"the {what}s of one are in the reverse order of the other's"
            return f"most {what}s are elsewhere on the other; check that their names are the same on both"
        swap = self.swap()
        if swap is not None:
            first, second = (quoted(names[k]) for k in swap)
            return f"{what}s {first} and {second} seem to be swapped"
        if self.handedness() < MIRRORED:
            return f"the {what}s are mirrored: left and right are exchanged, or one of the two is of the other side"
        off = self.misplaced()
        return "" if off is None else f"{what} {quoted(names[off])} seems to be misplaced, far from where it should be"

    def level(self) -> float:
        """Return the deviation of all distances, as a fraction of them."""
        expected = (self._weights * self._distances).sum()
        return float(self._given.sum() / expected) if expected > 0 else 0.0

    def swap(self) -> tuple[int, int] | None:
        """Return the two points that seem to be swapped, if any do."""
        before = self._given[:, None] + self._given
        lower = (before - self._moved - self._moved.T) / (before + self._allowed[:, None] + self._allowed + 1e-300)
        lower[~self._judged], lower[:, ~self._judged] = 0.0, 0.0
        first, second = np.unravel_index(lower.argmax(), lower.shape)
        return (int(first), int(second)) if lower[first, second] > SWAPPED else None

    def misplaced(self) -> int | None:
        """Return the point that seems to be misplaced, if one does: farther off than any bend can bring it."""
        lower = np.zeros(len(self._one))
        for i in map(int, np.flatnonzero(self._judged)):
            if self._farther(i) > TOO_FAR:
                gaps = np.linalg.norm(self._other - self._expected(i), axis=1)
                there = self._deviation(i, gaps[None])[0]
                lower[i] = (self._given[i] - there) / (self._given[i] + self._allowed[i] + 1e-300)
        worst = int(lower.argmax())
        return worst if lower[worst] > MISPLACED else None

    def _farther(self, point: int) -> float:
        """How many times the length over the surface a point is from its nearest neighbours: the median of four."""
        near = self._neighbours(point)[:_FEW]
        gaps = np.linalg.norm(self._other[near] - self._other[point], axis=1)
        return float(np.sort(gaps / np.maximum(self._apart[point, near], 1e-300))[len(near) // 2])

    def handedness(self) -> float:
        """Return how much neighbourhoods have the same handedness on both: 1 all, -1 none, as in a mirror image."""
        signed, whole = 0.0, _FLAT * len(self._one)
        for i in map(int, np.flatnonzero(self._judged)):
            near = [i, *self._neighbours(i)]
            product = _unit_size(self._other[near]).T @ _unit_size(self._one[near])
            least = float(np.linalg.svd(product, compute_uv=False)[2])
            signed, whole = signed + float(np.sign(np.linalg.det(product))) * least, whole + least
        return signed / whole

    def _neighbours(self, point: int) -> list[int]:
        order = np.argsort(self._apart[point], kind="stable")[:_NEAR]
        return [int(k) for k in order if np.isfinite(self._apart[point, k])]

    def _expected(self, point: int) -> Floats:
        """The position (3,) that the rigid motion of its neighbours gives a point."""
        near = self._neighbours(point)
        shares = self._weights[point, near] / self._weights[point, near].sum()
        rotation, translation = rigid(self._one[near], self._other[near], shares)
        return np.asarray(rotation @ self._one[point] + translation)

    def _deviation(self, point: int, gaps: Floats) -> Floats:
        """Deviation (K,) of the distances `gaps` (K, L) of K positions from all points from those of a point."""
        deviation: Floats = np.abs(gaps - self._distances[point]) @ self._weights[point]
        return deviation


def _distances(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.linalg.norm(one[:, None] - other, axis=2))


def _scale(one: Floats, other: Floats, weights: Floats) -> float:
    """How much larger the second body is: the weighted median of the ratios of distances (L, L).

    It is between 1 and the ratio of the spreads of all points, which does not depend on which is which.
    """
    usable = (weights > 0) & (one > 0)
    if not usable.any():
        return 1.0
    ratios, shares = other[usable] / one[usable], (weights * one)[usable]
    order = np.argsort(ratios)
    middle = float(ratios[order][np.searchsorted(np.cumsum(shares[order]), shares.sum() / 2)])
    spread = float(np.sqrt((other**2).sum() / (one**2).sum()))
    return max(min(middle, max(spread, 1.0)), min(spread, 1.0))


def _unit_size(points: Floats) -> Floats:
    apart = points - points.mean(axis=0)
    return np.asarray(apart / max(float(np.sqrt((apart**2).sum())), 1e-300))
