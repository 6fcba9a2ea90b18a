"""Where a take lies: its rigid motion, found from markers that keep their distances, is taken out of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from posespace.budget import Budget
from posespace.check import Floats
from posespace.errors import InputError
from posespace.geometry import rotations
from posespace.geometry.rigid import equal_shares, rigid, spans_plane
from posespace.markers.markers import Markers

_ENDLESS = 1e15
"""No window has more frames than this: seconds may be so large that their number overflows."""
_A_WINDOW = 50
"""Numbers of a budget that a frame of a window takes; two frames that are multiplied take one."""


@dataclass(frozen=True, eq=False)
class TakeAlignment:
    """The rigid motion that brings each frame of a take to one place.

    Parameters
    ----------
    turns : (F, 4) unit quaternions
    shifts : (F, 3) after the turn
    known : (F,) bool; in other frames too few markers were seen, and the motion is between those of its neighbours
    misfit : (F,) root mean square distance of the markers from where they should be, zero where not known
    """

    turns: Floats
    shifts: Floats
    known: NDArray[np.bool_]
    misfit: Floats

    def __call__(self, positions: Floats) -> Floats:
        """Return positions (F, M, 3) of each frame, brought to the place."""
        return np.asarray(positions @ np.swapaxes(rotations.matrices(self.turns), 1, 2) + self.shifts[:, None])

    def back(self, positions: Floats) -> Floats:
        """Return positions (F, M, 3) at the place, brought to where the frames lie."""
        return np.asarray((positions - self.shifts[:, None]) @ rotations.matrices(self.turns))


def align_take(
    markers: Markers, target: Floats, whole: bool = False, smooth: float = 0.0, weights: Floats | None = None
) -> TakeAlignment:
    """Return the rigid motion that brings all markers of a take nearest to places that stay, `target` (M, 3).

    In frames in which fewer than three are seen, or all in a line, the place is interpolated between the nearest
    frames in which it is known; before the first and after the last of them it is that of the first or the last.

    Parameters
    ----------
    markers : the take, with only the markers that the place is found from
    target : (M, 3) where they should be
    whole : one motion for the whole take, instead of one per frame
    smooth : seconds over which the motion is averaged, at least 0: where markers are close together, a jump of one of
        them by a millimetre moves what is far from them by several
    weights : (F, M) how much each marker counts in each frame, zero where it is not seen; None: all seen ones alike
    """
    shares = equal_shares(markers.seen)
    if weights is not None:
        shares = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    goal = np.broadcast_to(target, markers.positions.shape)
    known = spans_plane(goal, shares) & spans_plane(markers.positions, shares)
    if not known.any():
        names = ", ".join(markers.names[:4])
        raise InputError(f"markers {names}: no frame shows three of them off one line, so the take cannot be placed")
    # The motion is found backwards, from the place to the frame, because that is what passes smoothly over a gap.
    if whole:
        turn, shift = rigid(goal.reshape(-1, 3), markers.positions.reshape(-1, 3), equal_shares(markers.seen.ravel()))
        turns, shifts = np.tile(rotations.from_matrices(turn), (len(markers), 1)), np.tile(shift, (len(markers), 1))
        known = np.ones(len(markers), dtype=bool)
    else:
        turns, shifts = np.tile(rotations.IDENTITY, (len(markers), 1)), np.zeros((len(markers), 3))
        turn, shifts[known] = rigid(goal[known], markers.positions[known], shares[known])
        turns[known] = rotations.from_matrices(turn)
        turns, centres = _between(turns, shifts, known, target.mean(axis=0))
        window = round(min(smooth * markers.rate, _ENDLESS))
        budget = Budget(markers.positions.nbytes, "take")
        budget.hold(window * (_A_WINDOW + len(markers) // 2), f"smooth: {smooth:g} s", "give fewer seconds")
        turns, centres = _smoothed(turns, centres, window)
        shifts = centres - rotations.matrices(turns) @ target.mean(axis=0)
    back = rotations.inverse(turns)
    found = TakeAlignment(
        back, -np.einsum("fij,fj->fi", rotations.matrices(back), shifts), known, np.zeros(len(markers))
    )
    apart = ((found(markers.positions) - goal) ** 2).sum(axis=2)
    return replace(found, misfit=np.sqrt((shares * apart).sum(axis=1)) * known)


def _between(turns: Floats, shifts: Floats, known: NDArray[np.bool_], middle: Floats) -> tuple[Floats, Floats]:
    """Return the turns (F, 4), and where the `middle` (3,) of the place goes (F, 3).

    In frames that are not `known` (F,) both are between those of their neighbours.
    """
    frames, have = np.arange(len(known)), np.flatnonzero(known)
    after = np.clip(np.searchsorted(have, frames), 0, len(have) - 1)
    before = np.clip(np.searchsorted(have, frames, side="right") - 1, 0, len(have) - 1)
    a, b = have[before], have[after]
    along = np.clip((frames - a) / np.maximum(b - a, 1), 0, 1)
    turn = np.where(known[:, None], turns, rotations.slerp(turns[a], turns[b], along))
    centres = np.einsum("fij,j->fi", rotations.matrices(turns), middle) + shifts
    return turn, centres[a] + along[:, None] * (centres[b] - centres[a])


def _smoothed(turns: Floats, centres: Floats, frames: int) -> tuple[Floats, Floats]:
    """Return turns (F, 4) and places (F, 3) averaged over so many frames on both sides, the nearest counting most."""
    if frames < 1 or len(turns) < 2:
        return turns, centres
    # Of the two quaternions of a rotation, the one that is nearer to that of the frame before.
    agree = np.sign((turns[1:] * turns[:-1]).sum(axis=1))
    signs = np.cumprod(np.concatenate([[1.0], np.where(agree == 0, 1.0, agree)]))
    values = np.concatenate([turns * signs[:, None], centres], axis=1)
    window = 1 - (np.arange(-frames, frames + 1) / (frames + 1)) ** 2
    # Beyond its ends a take goes on as it came, turned about its last frame, so that its ends stay where they are.
    padded = np.pad(values, ((frames, frames), (0, 0)), mode="reflect", reflect_type="odd")
    mean = np.stack([np.convolve(column, window / window.sum(), mode="valid") for column in padded.T], axis=1)
    return rotations.normalize(mean[:, :4]), mean[:, 4:]
