"""Causes: why a shape is far from plain skinning, where another unit, axes, pose or vertex order explains it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from posespace.check import Floats
from posespace.gathering.conventions import POSITIONS, UPS, axes_matrix
from posespace.geometry.edges import edges_of
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.rig import Rig

_LENGTHS = (10.0, 100.0, 1000.0, 2.54, 25.4, 39.3700787, 3.2808399, 30.48)
"""Tens; inches in centimetres and millimetres; metres in inches and feet; feet in centimetres."""

UNITS = (1.0, *_LENGTHS, *(1 / length for length in _LENGTHS))

_EXPLAINED = 0.4
"""Another unit, other axes or another order explain a shape if its distance falls to at most this fraction."""

_OTHER_POSE = 0.5
"""Another pose fits a shape better if the distance falls to at most this fraction."""

_MOST_SAMPLES, _FEWEST_SAMPLES, _SAMPLED = 500, 30, 300_000
"""Vertices that poses are compared on: fewer, the more poses there are."""


@dataclass(frozen=True)
class Cause:
    """What explains why a shape is far from plain skinning; what does not explain it has its default.

    Parameters
    ----------
    unit : factor that scales the shape to the rig
    up : axes that align the shape with the rig, see `Conventions`; empty: its own
    pose : name of the pose that it fits better
    reordered : whether its vertices are in another order
    """

    unit: float = 1.0
    up: str = ""
    pose: str = ""
    reordered: bool = False

    def __str__(self) -> str:
        reasons = []
        if self.unit != 1.0:
            size = f"{1 / self.unit:.4g} times too large" if self.unit < 1 else f"{self.unit:.4g} times too small"
            reasons.append(f"another unit: it is {size}")
        if self.up:
            usual = {"z": "z is up in it, not y", "y": "y is up in it, not z"}
            mirrored = np.linalg.det(axes_matrix(self.up)) < 0
            reasons.append(usual.get(self.up, "it is mirrored" if mirrored else "it has other axes"))
        if self.pose:
            reasons.append(f"it fits pose {self.pose!r} better than its own")
        if self.reordered:
            reasons.append("its vertices are in another order")
        return "; ".join(reasons)

    @property
    def remedy(self) -> dict[str, float | str]:
        """The settings of `Conventions` that correct the shape; empty where only another name for it would."""
        settings: dict[str, float | str] = {}
        if self.unit != 1.0:
            settings["unit"] = float(f"{self.unit:.9g}")
        if self.up:
            settings["up"] = self.up
        return settings | ({"match": POSITIONS} if self.reordered else {})

    def remedy_for(self, poses: Sequence[str]) -> dict[str, float | str | dict[str, float | str]]:
        """Return the remedy for the shapes of these poses alone."""
        # The vertex order has no setting per pose.
        return {name: value if name == "match" else dict.fromkeys(poses, value) for name, value in self.remedy.items()}


class CauseSearch:
    """Searches for the cause that explains a shape, among units, axes, vertex orders and the poses of a motion.

    Parameters
    ----------
    rig : the rig
    motion : P poses, each of which a shape may have been taken for
    """

    def __init__(self, rig: Rig, motion: Motion) -> None:
        self._names = motion.names
        self._axes = _all_axes()
        self._matrices = np.stack([axes_matrix(axes or "x,y,z") for axes in self._axes])
        count, most = len(rig.mesh.points), _SAMPLED // max(1, len(motion))
        size = min(count, max(_FEWEST_SAMPLES, min(_MOST_SAMPLES, most)))
        self._sample = np.random.default_rng(0).permutation(count)[:size]
        sampled = _sampled(rig, self._sample)
        self._posed = np.stack([sampled.skin(pose).ravel() for pose in motion]).astype(np.float32)
        ends = edges_of(rig.mesh.triangles).ends
        self._ends = ends[ends[:, 0] != ends[:, 1]]

    def find(self, shape: Floats, skinned: Floats, gap: float, reordered: bool) -> Cause | None:
        """Return what explains a shape, or None.

        Parameters
        ----------
        shape : (N, 3) its points
        skinned : (N, 3) plain skinning at its pose
        gap : the root mean square distance of the two
        reordered : whether the faces of the shape's file contradict its order
        """
        if reordered:
            return Cause(reordered=True)
        # Many scales and axes bring a shape nearer that is merely translated: they must do better than a translation.
        translated = float(np.linalg.norm((shape - skinned).std(axis=0)))
        linear, residual = self._linear(shape, skinned, gap)
        pose, pose_residual = self._other_pose(shape)
        if pose_residual <= _OTHER_POSE * min(gap, translated) and pose_residual < residual:
            return Cause(pose=pose)
        if residual <= _EXPLAINED * min(gap, translated):
            return linear
        return Cause(reordered=True) if self._shuffled(shape, skinned, gap) else None

    def _linear(self, shape: Floats, skinned: Floats, gap: float) -> tuple[Cause, float]:
        """Return the unit and axes that bring a shape nearest to plain skinning, and its distance then."""
        points, target = shape.astype(np.float64), skinned.astype(np.float64)
        # |u A p - t|^2 = |t|^2 - 2 u A.(t p^T) + u^2 |p|^2, summed over vertices, for every unit u and axes A at once.
        products = np.einsum("kij,ij->k", self._matrices, target.T @ points)
        units = np.array(UNITS)
        squares = (target**2).sum() - 2 * np.outer(products, units) + (points**2).sum() * units**2
        residuals = np.sqrt(np.maximum(squares, 0.0) / max(1, len(points)))
        least = float(residuals.min())
        # Rounding and flat shapes make several axes equally good: the usual ones are meant.
        axes, unit = np.argwhere(residuals <= least + 1e-3 * gap)[0]
        return Cause(unit=float(units[unit]), up=self._axes[axes]), least

    def _other_pose(self, shape: Floats) -> tuple[str, float]:
        """Return the pose whose plain skinning a shape is nearest to, and the root mean square distance."""
        squares = ((self._posed - shape[self._sample].ravel().astype(np.float64)) ** 2).sum(axis=1)
        nearest = int(squares.argmin())
        return self._names[nearest], float(np.sqrt(squares[nearest] / max(1, len(self._sample))))

    def _shuffled(self, shape: Floats, skinned: Floats, gap: float) -> bool:
        """Whether vertices are at positions of plain skinning, but neighbours are as far apart as any two."""
        if not len(self._ends):
            return False
        any_two = np.linalg.norm(shape[self._sample] - shape[np.roll(self._sample, 1)], axis=1)
        if np.median(self._lengths(shape)) < max(0.5 * np.median(any_two), 2 * np.median(self._lengths(skinned))):
            return False
        to_shape = np.asarray(KDTree(shape).query(skinned[self._sample])[0])
        to_skinned = np.asarray(KDTree(skinned).query(shape[self._sample])[0])
        return bool(np.sqrt(max((to_shape**2).mean(), (to_skinned**2).mean())) <= _EXPLAINED * gap)

    def _lengths(self, points: Floats) -> Floats:
        return np.asarray(np.linalg.norm(points[self._ends[:, 0]] - points[self._ends[:, 1]], axis=1))


def _all_axes() -> list[str]:
    """The 48 conversions of axes, the usual ones first: none, z up, y up, rotated, mirrored."""
    every = [
        ",".join(sign + axis for sign, axis in zip(signs, axes, strict=True))
        for axes in permutations("xyz")
        for signs in product(("", "-"), repeat=3)
    ]
    short = {axes: name for name, axes in UPS.items()} | {"x,y,z": ""}
    return sorted((short.get(axes, axes) for axes in every), key=_unusual)


def _unusual(axes: str) -> tuple[int, bool, int]:
    """Sort key: how unusual these axes are; shapes are rotated more often than mirrored."""
    mirrored = np.linalg.det(axes_matrix(axes or "x,y,z")) < 0
    return {"": 0, "z": 1, "y": 2}.get(axes, 3), bool(mirrored), axes.count("-")


def _sampled(rig: Rig, vertices: NDArray[np.int64]) -> Rig:
    """The rig with some of its vertices only, and no faces."""
    mesh = Mesh(rig.mesh.points[vertices], np.zeros((0, 3), np.int32))
    return Rig(mesh, rig.skeleton, rig.influences[vertices], rig.weights[vertices], rig.inverse_bind, rig.blending)
