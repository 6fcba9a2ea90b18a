"""Why a shape is far from plain skinning, where a simple reason explains it: another unit, axes, pose or order."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from posespace.check import Floats
from posespace.gathering.conform import UPS, axes_matrix
from posespace.geometry.edges import edges_of
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.rig import Rig

_LENGTHS = (10.0, 100.0, 1000.0, 2.54, 25.4, 39.3700787, 3.2808399, 30.48)
"""Tens; inches in centimetres and millimetres; metres in inches and feet; feet in centimetres."""

UNITS = (1.0, *_LENGTHS, *(1 / length for length in _LENGTHS))

_EXPLAINED = 0.4
"""Another unit, other axes or another order explain a shape if they leave at most this part of its distance."""

_OTHER_POSE = 0.5
"""Another pose fits a shape better if it is at most this part of the distance from it."""

_MOST_SAMPLES, _FEWEST_SAMPLES, _SAMPLED = 500, 30, 300_000
"""Vertices that poses are compared on: fewer, the more poses there are."""


@dataclass(frozen=True)
class Cause:
    """What would explain a shape; all that does not is as it is.

    Parameters
    ----------
    unit : the shape's numbers times this fit
    up : its axes so turned fit, see `Placing`
    pose : the name of the pose that it fits better
    reordered : its vertices are in another order
    """

    unit: float = 1.0
    up: str = ""
    pose: str = ""
    reordered: bool = False

    def __str__(self) -> str:
        found = []
        if self.unit != 1.0:
            size = f"{1 / self.unit:.4g} times too large" if self.unit < 1 else f"{self.unit:.4g} times too small"
            found.append(f"another unit: it is {size}")
        if self.up:
            usual = {"z": "z is up in it, not y", "y": "y is up in it, not z"}
            mirrored = np.linalg.det(axes_matrix(self.up)) < 0
            found.append(usual.get(self.up, "it is mirrored" if mirrored else "it is turned to other axes"))
        if self.pose:
            found.append(f"it fits pose {self.pose!r} better than its own")
        if self.reordered:
            found.append("its vertices are in another order")
        return "; ".join(found)

    def options(self, name: str = "") -> str:
        """Return the options that mend it: for all shapes, or for that of one pose. Nothing mends a wrong name."""
        only, quote = (f"{name}=", "'") if name else ("", "")
        found = [f"--unit {quote}{only}{self.unit:.9g}{quote}"] if self.unit != 1.0 else []
        found += [f"--up {quote}{only}{self.up}{quote}"] if self.up else []
        return " ".join([*found, *(["--match positions"] if self.reordered else [])])


class Causes:
    """Looks for what explains a shape, among the poses of a motion.

    Parameters
    ----------
    rig : the rig
    motion : P poses, each of which a shape may have been taken for
    """

    def __init__(self, rig: Rig, motion: Motion) -> None:
        self._names = motion.names
        self._turns = _turns()
        self._matrices = np.stack([axes_matrix(axes or "x,y,z") for axes in self._turns])
        count, most = len(rig.mesh.points), _SAMPLED // max(1, len(motion))
        size = min(count, max(_FEWEST_SAMPLES, min(_MOST_SAMPLES, most)))
        self._sample = np.random.default_rng(0).permutation(count)[:size]
        part = _sampled(rig, self._sample)
        self._posed = np.stack([part.skin(pose).ravel() for pose in motion]).astype(np.float32)
        ends = edges_of(rig.mesh.triangles).ends
        self._ends = ends[ends[:, 0] != ends[:, 1]]

    def find(self, shape: Floats, skinned: Floats, gap: float, reordered: bool) -> Cause | None:
        """Return what explains a shape (N, 3) that lies `gap`, root mean square, from plain skinning (N, 3), or None.

        Parameters
        ----------
        reordered : the faces of the shape's file contradict its order
        """
        if reordered:
            return Cause(reordered=True)
        # A shape that is merely elsewhere comes nearer by many a scale and turn: they must do better than a shift.
        shifted = float(np.linalg.norm((shape - skinned).std(axis=0)))
        linear, left = self._linear(shape, skinned, gap)
        pose, off = self._other_pose(shape)
        if off <= _OTHER_POSE * min(gap, shifted) and off < left:
            return Cause(pose=pose)
        if left <= _EXPLAINED * min(gap, shifted):
            return linear
        return Cause(reordered=True) if self._shuffled(shape, skinned, gap) else None

    def _linear(self, shape: Floats, skinned: Floats, gap: float) -> tuple[Cause, float]:
        """Return the unit and axes that bring a shape nearest to plain skinning, and how far it then is."""
        own, target = shape.astype(np.float64), skinned.astype(np.float64)
        both, size, aim = target.T @ own, float((own**2).sum()), float((target**2).sum())
        fits = np.einsum("kij,ij->k", self._matrices, both)
        units = np.array(UNITS)
        squares = aim - 2 * np.outer(fits, units) + size * units**2
        left = np.sqrt(np.maximum(squares, 0.0) / max(1, len(own)))
        best = float(left.min())
        # Rounding and flat shapes leave several turns equal: the usual one is meant.
        turn, unit = np.argwhere(left <= best + 1e-3 * gap)[0]
        return Cause(unit=float(units[unit]), up=self._turns[turn]), best

    def _other_pose(self, shape: Floats) -> tuple[str, float]:
        """Return the pose whose plain skinning a shape is nearest to, and how far it is, root mean square."""
        squares = ((self._posed - shape[self._sample].ravel().astype(np.float64)) ** 2).sum(axis=1)
        nearest = int(squares.argmin())
        return self._names[nearest], float(np.sqrt(squares[nearest] / max(1, len(self._sample))))

    def _shuffled(self, shape: Floats, skinned: Floats, gap: float) -> bool:
        """Whether the vertices lie where plain skinning has some, but neighbours are as far apart as any two."""
        if not len(self._ends):
            return False
        any_two = np.linalg.norm(shape[self._sample] - shape[np.roll(self._sample, 1)], axis=1)
        if np.median(self._lengths(shape)) < max(0.5 * np.median(any_two), 2 * np.median(self._lengths(skinned))):
            return False
        there = np.asarray(KDTree(shape).query(skinned[self._sample])[0])
        back = np.asarray(KDTree(skinned).query(shape[self._sample])[0])
        return bool(np.sqrt(max((there**2).mean(), (back**2).mean())) <= _EXPLAINED * gap)

    def _lengths(self, points: Floats) -> Floats:
        return np.asarray(np.linalg.norm(points[self._ends[:, 0]] - points[self._ends[:, 1]], axis=1))


def _turns() -> list[str]:
    """The 48 ways to take a shape's axes to the rig's, the usual ones first: as it is, z up, y up, turned, mirrored."""
    every = [
        ",".join(sign + axis for sign, axis in zip(signs, axes, strict=True))
        for axes in permutations("xyz")
        for signs in product(("", "-"), repeat=3)
    ]
    short = {axes: name for name, axes in UPS.items()} | {"x,y,z": ""}
    return sorted((short.get(axes, axes) for axes in every), key=_unusual)


def _unusual(axes: str) -> tuple[int, bool, int]:
    """How seldom a file needs these axes: shapes are turned more often than mirrored."""
    mirrored = np.linalg.det(axes_matrix(axes or "x,y,z")) < 0
    return {"": 0, "z": 1, "y": 2}.get(axes, 3), bool(mirrored), axes.count("-")


def _sampled(rig: Rig, vertices: NDArray[np.int64]) -> Rig:
    """The rig with some of its vertices only, and no faces."""
    mesh = Mesh(rig.mesh.points[vertices], np.zeros((0, 3), np.int32))
    return Rig(mesh, rig.skeleton, rig.influences[vertices], rig.weights[vertices], rig.inverse_bind, rig.blending)
