"""Rigid alignment of a take: the rigid motion of each frame, found from markers whose distances hardly change."""

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
    """The rigid motion that aligns each frame of a take to fixed target positions.

    Parameters
    ----------
    rotations : (F, 4) unit quaternions
    translations : (F, 3) after the rotation
    known : (F,) bool; in other frames too few markers were seen, and the motion is interpolated
    misfit : (F,) root mean square distance of the markers from their targets, zero where not known
    """

    rotations: Floats
    translations: Floats
    known: NDArray[np.bool_]
    misfit: Floats

    def __call__(self, positions: Floats) -> Floats:
        """Return positions (F, M, 3) of each frame, aligned to the targets."""
        return np.asarray(
            positions @ np.swapaxes(rotations.matrices(self.rotations), 1, 2) + self.translations[:, None]
        )

    def inverse(self, positions: Floats) -> Floats:
        """Return aligned positions (F, M, 3), moved back into the frames of the take."""
        return np.asarray((positions - self.translations[:, None]) @ rotations.matrices(self.rotations))


def align_take(
    markers: Markers, target: Floats, whole: bool = False, smooth: float = 0.0, weights: Floats | None = None
) -> TakeAlignment:
    """Return the rigid motion that aligns the markers of a take to fixed positions `target` (M, 3), by least squares.

    In frames in which fewer than three are seen, or all in a line, the motion is interpolated between the nearest
    frames in which it is known; before the first and after the last of them it is constant.

    Parameters
    ----------
    markers : the take, with only the markers that are aligned
    target : (M, 3) their target positions
    whole : one motion for the whole take, instead of one per frame
    smooth : seconds over which the motion is averaged, at least 0: where markers are close together, a jump of one of
        them by a millimetre moves what is far from them by several
    weights : (F, M) of each marker in each frame, zero where it is not seen; None: equal for all that are seen
    """
    shares = equal_shares(markers.seen)
    if weights is not None:
        shares = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    goal = np.broadcast_to(target, markers.positions.shape)
    known = spans_plane(goal, shares) & spans_plane(markers.positions, shares)
    if not known.any():
        names = ", ".join(markers.names[:4])
        raise InputError(f"markers {names}: no frame shows three of them off one line, so the take cannot be aligned")
    # The motion is found backwards, from the targets to the frame, because that interpolates smoothly over a gap.
    if whole:
        quaternions, translations = _one_motion(markers, goal)
        known = np.ones(len(markers), dtype=bool)
    else:
        quaternions, translations = _motions(markers, target, shares, known, smooth)
    inverse = rotations.inverse(quaternions)
    translations = -np.einsum("fij,fj->fi", rotations.matrices(inverse), translations)
    alignment = TakeAlignment(inverse, translations, known, np.zeros(len(markers)))
    squared = ((alignment(markers.positions) - goal) ** 2).sum(axis=2)
    return replace(alignment, misfit=np.sqrt((shares * squared).sum(axis=1)) * known)


def _one_motion(markers: Markers, goal: Floats) -> tuple[Floats, Floats]:
    """The rotation and translation from `goal` (F, M, 3) to all frames together, repeated for each frame."""
    shares = equal_shares(markers.seen.ravel())
    rotation, translation = rigid(goal.reshape(-1, 3), markers.positions.reshape(-1, 3), shares)
    return np.tile(rotations.from_matrices(rotation), (len(markers), 1)), np.tile(translation, (len(markers), 1))


def _motions(
    markers: Markers, target: Floats, shares: Floats, known: NDArray[np.bool_], smooth: float
) -> tuple[Floats, Floats]:
    """The rotations (F, 4) and translations (F, 3) from `target` (M, 3) to each frame, interpolated and smoothed."""
    quaternions, translations = np.tile(rotations.IDENTITY, (len(markers), 1)), np.zeros((len(markers), 3))
    goal = np.broadcast_to(target, markers.positions.shape)
    rotation, translations[known] = rigid(goal[known], markers.positions[known], shares[known])
    quaternions[known] = rotations.from_matrices(rotation)
    quaternions, centres = _between(quaternions, translations, known, target.mean(axis=0))
    window = round(min(smooth * markers.rate, _ENDLESS))
    budget = Budget(markers.positions.nbytes, "take")
    budget.hold(window * (_A_WINDOW + len(markers) // 2), f"smooth: {smooth:g} s", "give fewer seconds")
    quaternions, centres = _smoothed(quaternions, centres, window)
    return quaternions, centres - rotations.matrices(quaternions) @ target.mean(axis=0)


def _between(
    quaternions: Floats, translations: Floats, known: NDArray[np.bool_], middle: Floats
) -> tuple[Floats, Floats]:
    """Return the rotations (F, 4), and the moved position (F, 3) of the targets' `middle` (3,).

    In frames that are not `known` (F,) both are interpolated.
    """
    frames, aligned_frames = np.arange(len(known)), np.flatnonzero(known)
    after = np.clip(np.searchsorted(aligned_frames, frames), 0, len(aligned_frames) - 1)
    before = np.clip(np.searchsorted(aligned_frames, frames, side="right") - 1, 0, len(aligned_frames) - 1)
    a, b = aligned_frames[before], aligned_frames[after]
    along = np.clip((frames - a) / np.maximum(b - a, 1), 0, 1)
    mixed = np.where(known[:, None], quaternions, rotations.slerp(quaternions[a], quaternions[b], along))
    centres = np.einsum("fij,j->fi", rotations.matrices(quaternions), middle) + translations
    return mixed, centres[a] + along[:, None] * (centres[b] - centres[a])


def _smoothed(quaternions: Floats, centres: Floats, frames: int) -> tuple[Floats, Floats]:
    """Return rotations (F, 4) and positions (F, 3) averaged over `frames` on both sides, the nearest counting most."""
    if frames < 1 or len(quaternions) < 2:
        return quaternions, centres
    # Of the two quaternions of a rotation, the one that is nearer to that of the frame before.
    agree = np.sign((quaternions[1:] * quaternions[:-1]).sum(axis=1))
    signs = np.cumprod(np.concatenate([[1.0], np.where(agree == 0, 1.0, agree)]))
    values = np.concatenate([quaternions * signs[:, None], centres], axis=1)
    window = 1 - (np.arange(-frames, frames + 1) / (frames + 1)) ** 2
    # Beyond its ends a take is continued by odd reflection about its last frame, so that its ends do not move.
    padded = np.pad(values, ((frames, frames), (0, 0)), mode="reflect", reflect_type="odd")
    mean = np.stack([np.convolve(column, window / window.sum(), mode="valid") for column in padded.T], axis=1)
    return rotations.normalize(mean[:, :4]), mean[:, 4:]
