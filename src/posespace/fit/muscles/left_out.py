"""What a clip's own frames say about settings: runs of them are left out in turn and predicted from the others.

All errors come from the products of the frames with each other, so that none of this touches a vertex.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.fit.gram import principal
from posespace.fit.thin_plate import ThinPlate
from posespace.motion import Motion
from posespace.rig import Rig
from posespace.spaces import PoseSpace

RUNS = 15
"""Runs of frames that are left out in turn; with single frames, the next one of the clip would give too much away."""

FRAMES = 240
"""Frames, spread over the clip, that the choices are made on."""

_TRIAL_FRAMES, _TRIAL_CENTRES = 120, 40
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

    def places(self, space: PoseSpace) -> tuple[Floats, Floats]:
        """Return where the frames lie in a pose space (P, D), and where rest does (D,)."""
        skeleton = self.rig.skeleton
        return space.coordinates(self.motion, skeleton), space.coordinates(self.rig.rest, skeleton)

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


class LeftOut:
    """A clip with runs of frames left out in turn.

    Parameters
    ----------
    clip : the frames
    most : signals up to which errors are wanted
    """

    def __init__(self, clip: Clip, most: int) -> None:
        self.clip, self._most = clip, most
        runs = np.array_split(np.arange(len(clip.gram)), min(RUNS, len(clip.gram)))
        self._runs = [_Run.of(clip.gram, frames, most) for frames in runs]

    def errors(self, space: PoseSpace, smoothing: float, centres: int) -> Floats:
        """Return (R, K) the summed squared error of each run, predicted from the others with 1, 2, ... K signals.

        Signals of any kind that span the same predict the same, since a plate is linear in what it interpolates. Beyond
        the rank of the kept frames there is nothing more to add.
        """
        where, rest = self.clip.places(space)
        found = np.empty((len(self._runs), self._most))
        for row, run in zip(found, self._runs, strict=True):
            plate = ThinPlate.spread(where[run.kept], rest, centres)
            guess = plate.fit(where[run.kept], run.values, smoothing)(where[run.frames])
            gained = np.cumsum([0.0, *(run.truth**2 - (guess - run.truth) ** 2).sum(axis=0)])
            row[:] = run.total - gained[np.minimum(np.arange(1, self._most + 1), len(gained) - 1)]
        return np.maximum(found, 0.0)


def typical(errors: Floats) -> Floats:
    """Return the geometric mean over runs of their errors (R, ...): one run that nothing predicts does not decide."""
    floor = 1e-12 * float(errors.max(initial=0.0)) + 1e-300
    return np.asarray(np.exp(np.log(np.maximum(errors, floor)).mean(axis=0)))


def choose_joints(clip: Clip, names: Sequence[str], most: int, signals: int, smoothing: float) -> tuple[str, ...]:
    """Return up to `most` of the joints that predict the frames best, in the order of `names`.

    Joints are added one at a time from those that predict left-out frames best alone; then one is exchanged for another
    as long as that helps.
    """
    if len(names) <= most:
        return tuple(names)
    left_out = LeftOut(clip.thinned(_TRIAL_FRAMES), signals)

    @cache
    def error(joints: frozenset[str]) -> float:
        space = PoseSpace("quaternions", tuple(name for name in names if name in joints))
        return float(typical(left_out.errors(space, smoothing, _TRIAL_CENTRES))[-1])

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
