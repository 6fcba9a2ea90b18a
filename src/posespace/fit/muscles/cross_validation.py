"""Cross-validation of a clip: errors of held-out runs of frames, by number of signals and by driving joints.

All errors come from the inner products of the frames, so their cost does not depend on the number of vertices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.fit.gram import principal
from posespace.fit.regression import (
    FOLDS,
    SAMPLED,
    CrossValidation,
    PoseCoordinates,
    RegressionChoice,
    evenly_spread,
    principal_coordinates,
)
from posespace.motion import Motion
from posespace.poses.active import space_of
from posespace.progress import track
from posespace.rig import Rig

_FRAMES_FOR_JOINTS = 60
"""Most frames that joints are chosen by."""

_CANDIDATES = 2
"""Candidates among the joints, per joint that is wanted."""


@dataclass(frozen=True, eq=False)
class Clip:
    """The poses of a clip's frames, and the inner products of their displacements.

    Parameters
    ----------
    rig, motion : the P poses
    gram : (P, P) inner products of the displacements
    """

    rig: Rig
    motion: Motion
    gram: Floats

    def coordinates(self, names: Sequence[str]) -> PoseCoordinates:
        """Return the frames in the pose space of the named joints and controls."""
        known = self.rig.skeleton.names
        movers = frozenset(known.index(name) if name in known else name for name in names)
        return PoseCoordinates.of(self.rig, self.motion, space_of(self.rig, movers, self.motion, "freedoms"))

    def thinned(self, most: int) -> Clip:
        """Return at most `most` of the frames, spread evenly."""
        chosen = evenly_spread(len(self.gram), most)
        return Clip(self.rig, self.motion[chosen], self.gram[np.ix_(chosen, chosen)])


@dataclass(frozen=True, eq=False)
class _Fold:
    """R held-out frames, and the span of the K others.

    Parameters
    ----------
    held_out, kept : indices of the frames, and of the others
    values : (K, S) principal coordinates of the kept frames
    truth : (R, S) the held-out frames in the same coordinates
    total : the summed squares of the held-out frames
    """

    held_out: NDArray[np.int64]
    kept: NDArray[np.int64]
    values: Floats
    truth: Floats
    total: float

    @classmethod
    def of(cls, gram: Floats, held_out: NDArray[np.int64], most: int) -> _Fold:
        kept = np.setdiff1d(np.arange(len(gram)), held_out)
        sizes, rows = principal(gram[np.ix_(kept, kept)], most)
        truth = gram[np.ix_(held_out, kept)] @ (rows / sizes[:, None]).T
        total = float(np.trace(gram[np.ix_(held_out, held_out)]))
        return cls(held_out, kept, (sizes[:, None] * rows).T, truth, total)


def errors_by_signals(clip: Clip, names: Sequence[str], choice: RegressionChoice, centres: int, most: int) -> Floats:
    """Return (R, K) the summed squared error of each held-out run, predicted with 1, 2, ... K signals.

    Signals of any kind that span the same space predict the same, since a regression is linear in its values. Beyond
    the rank of the kept frames further signals add nothing.
    """
    clip = clip.thinned(SAMPLED)
    samples = clip.coordinates(names)
    runs = [run for run in np.array_split(np.arange(len(clip.gram)), min(FOLDS, len(clip.gram))) if len(run)]
    errors = np.empty((len(runs), most))
    for row, run in zip(errors, track(runs, "cross-validation"), strict=True):
        fold = _Fold.of(clip.gram, run, most)
        regression = choice.regression(samples.subset(fold.kept), centres)
        features = replace(regression, samples=samples.subset(fold.held_out)).features
        predicted = choice.shrink * features @ (regression.operator @ fold.values)
        gained = np.cumsum([0.0, *(fold.truth**2 - (predicted - fold.truth) ** 2).sum(axis=0)])
        row[:] = fold.total - gained[np.minimum(np.arange(1, most + 1), len(gained) - 1)]
    return np.maximum(errors, 0.0)


def geometric_mean(errors: Floats) -> Floats:
    """Return the geometric mean over runs of errors (R, ...), so that one unpredictable run does not dominate."""
    floor = 1e-12 * float(errors.max(initial=0.0)) + 1e-300
    return np.asarray(np.exp(np.log(np.maximum(errors, floor)).mean(axis=0)))


def choose_joints(clip: Clip, names: Sequence[str], most: int) -> tuple[str, ...]:
    """Return up to `most` of the joints and controls that predict the frames best, in the order of `names`.

    Joints are added one at a time, starting from the one of least cross-validation error. Then one is exchanged for
    another as long as that lowers the error.
    """
    if len(names) <= most:
        return tuple(names)
    thin = clip.thinned(_FRAMES_FOR_JOINTS)
    values = principal_coordinates(thin.gram)

    @cache
    def error(joints: frozenset[str]) -> float:
        return CrossValidation(thin.coordinates([name for name in names if name in joints])).best(values).error

    candidates = sorted(names, key=lambda name: error(frozenset([name])))[: _CANDIDATES * most]
    chosen = frozenset(candidates[:1])
    while True:
        others = [frozenset([name]) for name in candidates if name not in chosen]
        if len(chosen) < most:
            tried = [chosen | other for other in others]
        else:
            tried = [chosen - {name} | other for name in sorted(chosen) for other in others]
        best = min(tried, key=error)
        if error(best) >= error(chosen):
            return tuple(name for name in names if name in chosen)
        chosen = best
