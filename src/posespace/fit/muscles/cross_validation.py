"""What a clip's own frames say about settings: runs of them are left out in turn and predicted from the others.

All errors come from the products of the frames with each other, so that none of this touches a vertex.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.fit.gram import principal
from posespace.fit.regression import RUNS, TRIED, LeftOut, Places, Trial, principal_coordinates
from posespace.motion import Motion
from posespace.poses.active import space_of
from posespace.rig import Rig

_TRIAL_FRAMES = 60
_CANDIDATES = 2


@dataclass(frozen=True, eq=False)
class Clip:
    """Frames of a clip: where they lie, and their products with each other.

    Parameters
    ----------
    rig, motion : whose P frames they are
    gram : (P, P) products of the frames' displacements
    """

    rig: Rig
    motion: Motion
    gram: Floats

    def places(self, names: Sequence[str]) -> Places:
        """Return where the frames lie in the space of some joints and controls, by name."""
        known = self.rig.skeleton.names
        movers = frozenset(known.index(name) if name in known else name for name in names)
        return Places.of(self.rig, self.motion, space_of(self.rig, movers, self.motion, "freedoms"))

    def thinned(self, most: int) -> Clip:
        """Return at most `most` of the frames, spread evenly."""
        chosen = np.unique(np.linspace(0, len(self.gram) - 1, min(most, len(self.gram))).round().astype(int))
        return Clip(self.rig, self.motion[chosen], self.gram[np.ix_(chosen, chosen)])


@dataclass(frozen=True, eq=False)
class _Run:
    """Frames that are left out, R of them, and what the others span.

    Parameters
    ----------
    frames, kept : their numbers, and those of the K others
    values : (K, S) the principal coordinates of the others
    truth : (R, S) where the left-out frames lie in the same coordinates
    total : the summed squares of the left-out frames
    """

    frames: NDArray[np.int64]
    kept: NDArray[np.int64]
    values: Floats
    truth: Floats
    total: float

    @classmethod
    def of(cls, gram: Floats, frames: NDArray[np.int64], most: int) -> _Run:
        kept = np.setdiff1d(np.arange(len(gram)), frames)
        sizes, rows = principal(gram[np.ix_(kept, kept)], most)
        truth = gram[np.ix_(frames, kept)] @ (rows / sizes[:, None]).T
        return cls(frames, kept, (sizes[:, None] * rows).T, truth, float(np.trace(gram[np.ix_(frames, frames)])))


def errors_by_signals(clip: Clip, names: Sequence[str], choice: LeftOut, centres: int, most: int) -> Floats:
    """Return (R, K) the summed squared error of each run, predicted from the others with 1, 2, ... K signals.

    Signals of any kind that span the same predict the same, since a regression is linear in its values. Beyond the rank
    of the kept frames there is nothing more to add.
    """
    clip = clip.thinned(TRIED)
    places = clip.places(names)
    runs = [run for run in np.array_split(np.arange(len(clip.gram)), min(RUNS, len(clip.gram))) if len(run)]
    found = np.empty((len(runs), most))
    for row, frames in zip(found, runs, strict=True):
        run = _Run.of(clip.gram, frames, most)
        fitted = choice.regression(places.some(run.kept), centres)
        out = replace(fitted, places=places.some(run.frames)).features
        guess = choice.shrink * out @ (fitted.operator @ run.values)
        gained = np.cumsum([0.0, *(run.truth**2 - (guess - run.truth) ** 2).sum(axis=0)])
        row[:] = run.total - gained[np.minimum(np.arange(1, most + 1), len(gained) - 1)]
    return np.maximum(found, 0.0)


def typical(errors: Floats) -> Floats:
    """Return the geometric mean over runs of their errors (R, ...): one run that nothing predicts does not decide."""
    floor = 1e-12 * float(errors.max(initial=0.0)) + 1e-300
    return np.asarray(np.exp(np.log(np.maximum(errors, floor)).mean(axis=0)))


def choose_joints(clip: Clip, names: Sequence[str], most: int) -> tuple[str, ...]:
    """Return up to `most` of the joints and controls that predict the frames best, in the order of `names`.

    They are added one at a time from those that predict left-out frames best alone; then one is exchanged for another
    as long as that helps.
    """
    if len(names) <= most:
        return tuple(names)
    thin = clip.thinned(_TRIAL_FRAMES)
    values = principal_coordinates(thin.gram)

    @cache
    def error(joints: frozenset[str]) -> float:
        return Trial(thin.places([name for name in names if name in joints])).best(values).error

    able = sorted(names, key=lambda name: error(frozenset([name])))[: _CANDIDATES * most]
    chosen = frozenset(able[:1])
    while True:
        others = [frozenset([name]) for name in able if name not in chosen]
        if len(chosen) < most:
            tried = [chosen | other for other in others]
        else:
            tried = [chosen - {name} | other for name in sorted(chosen) for other in others]
        best = min(tried, key=error)
        if error(best) >= error(chosen):
            return tuple(name for name in names if name in chosen)
        chosen = best
