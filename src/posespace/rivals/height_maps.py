"""Other methods for detail, over the same surface of control points: a constant height map, and regressions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.geometry import rotations
from posespace.interpolate.kernel_cca import centred_kernels, leave_one_out, median_distances, ridge_weights
from posespace.pose import Pose
from posespace.poses.control_points import motion_from_shapes
from posespace.poses.digests import pose_digests
from posespace.rig import Rig
from posespace.rivals.unsaved import Unsaved
from posespace.skin.bones.learned import learned_bones
from posespace.skin.detail import Detail
from posespace.skin.skin import Skin

FEATURES = ("bones", "points")

_WIDTH = 4.0
"""Of the kernels, relative to the median distance between the examples."""

_RIDGES = (1e-3, 1e-2, 1e-1)
"""Ridges tried; that of least leave-one-out error is taken."""


@dataclass(frozen=True)
class StaticMap:
    """A constant displacement map, as in games: the heights of the rest shape, whatever the pose.

    Parameters
    ----------
    surface : a skin of control points without detail
    """

    surface: Skin

    def fit(self, examples: Examples) -> Skin:
        """Return the surface with the heights of the example whose points are nearest to the rest."""
        heights, bones = _heights(examples), learned_bones(self.surface.bones, "surface")
        aligned = self.surface.aligned(motion_from_shapes(examples, self.surface.rig, bones.points))[0]
        nearest = int((aligned.translations**2).sum(axis=(1, 2)).argmin())
        detail = Detail(examples.levels, None, heights[nearest : nearest + 1])
        return replace(self.surface, bones=bones.with_constant(), detail=detail)


@dataclass(frozen=True)
class RegressedHeights:
    """Height maps by kernel regression on the whole pose.

    Parameters
    ----------
    surface : a skin of control points without detail
    features : what they are learned from; "bones": the rotations of the bones, in a cascade; "points": the positions of
        all points, as Huang et al. 2011
    """

    surface: Skin
    features: str = field(default="bones", metadata={"choices": FEATURES})

    def __post_init__(self) -> None:
        check.choice("features", self.features, FEATURES)

    def fit(self, examples: Examples) -> RegressedSurface:
        """Return the surface and its heights."""
        skin, heights = self.surface, _heights(examples)
        motion = motion_from_shapes(examples, skin.rig, skin.points)
        samples = np.stack([_features(skin, self.features, pose) for pose in motion])
        squares = ((samples[:, None] - samples) ** 2).sum(axis=2)
        width = np.asarray(_WIDTH * median_distances(squares))
        mean = heights.mean(axis=0)
        values = (heights - mean)[None]
        errors = [float((leave_one_out(squares[None], values, width[None], ridge) ** 2).sum()) for ridge in _RIDGES]
        kernels, row = centred_kernels(squares, width)
        weights = ridge_weights(kernels, values[0], _RIDGES[int(np.argmin(errors))])
        learned = (samples, float(width), mean - row @ weights, weights)
        return RegressedSurface(
            skin, examples.levels, self.features, *learned, tuple(pose_digests(motion, skin.rig.skeleton))
        )


@dataclass(frozen=True, eq=False)
class RegressedSurface(Unsaved):
    """A surface driven by control points, and heights over it.

    Parameters
    ----------
    skin : the surface
    levels : subdivisions of the surface that the heights are on
    features : "bones" or "points"
    samples : (S, X) the features of the examples
    width : of the kernels
    offset, weights : (F,) and (S, F), the heights per unit of each example's kernel
    poses : digests of the poses it was fitted on
    """

    skin: Skin
    levels: int
    features: str
    samples: Floats
    width: float
    offset: Floats
    weights: Floats
    poses: tuple[str, ...]

    @property
    def rig(self) -> Rig:
        """The rig of the control points."""
        return self.skin.rig

    @property
    def points(self) -> check.Ints:
        """(M,) the vertices of the control points."""
        return self.skin.points

    @property
    def tables(self) -> tuple[Floats, ...]:
        """What its heights store; the surface below is not counted."""
        return (self.samples, self.offset, self.weights)

    def pose(self, pose: Pose) -> tuple[Floats, Floats]:
        """Return the posed points (N, 3) and unit normals (N, 3) of the surface without heights."""
        return self.skin.pose(pose)

    def heights(self, pose: Pose) -> Floats:
        """Return the heights (F,) in a pose."""
        gaps = self.samples - _features(self.skin, self.features, pose)
        return np.asarray(self.offset + np.exp(-0.5 * (gaps**2).sum(axis=1) / self.width**2) @ self.weights)


def _heights(examples: Examples) -> Floats:
    """The heights (S, F) of all examples."""
    if examples.heights is None:
        raise InputError("examples: expected heights, got none; registered scans have them")
    return np.stack([np.asarray(examples.heights[k], dtype=np.float64) for k in range(len(examples))])


def _features(skin: Skin, kind: str, pose: Pose) -> Floats:
    """The features (X,) of a pose, without the rigid motion of the whole."""
    translations = skin.aligned(pose)[0].translations[1:]
    if kind == "points":
        return np.asarray(translations, dtype=np.float64).ravel()
    return np.asarray(rotations.same_side(learned_bones(skin.bones, "surface").predict(translations)[0])).ravel()
