"""Gaps of a take: short ones are interpolated; over long ones control points are held and fade to rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from posespace import check
from posespace.budget import Budget
from posespace.check import Floats
from posespace.errors import InputError
from posespace.geometry.smoothstep import smoothstep
from posespace.markers.markers import Markers

_SLOPE = 3
"""Frames beside a gap over which its speed is measured: one alone would pass its noise on."""
_GAPS_A_STEP = 2
UNGAPPED = "omit the markers that are hardly seen"
"""The remedy for too many gaps."""


def trimmed(markers: Markers, seconds: float) -> Markers:
    """Return the take with its gaps widened by `seconds` on both sides.

    A marker that is about to be hidden, or has just come back, is seen by few cameras and then jumps.
    """
    if not 0 <= check.number("trim", seconds) < np.inf:
        raise InputError(f"trim: expected seconds, at least 0, got {seconds}")
    seen, frames = markers.seen.copy(), int(min(seconds * markers.rate + 0.5, len(markers)))
    for marker, start, end in markers.gaps.tolist():
        seen[max(start - frames, 0) : end + frames, marker] = False
    return replace(markers, seen=seen)


def filled(markers: Markers, longest: float = 0.25, how: str = "cubic") -> Markers:
    """Return the take with its short gaps filled; longer ones, and those at its ends, stay.

    Parameters
    ----------
    markers : the take
    longest : seconds; a gap is filled if no more time lies between the frames beside it, at least 0
    how : "linear", or "cubic", which keeps the speed on both sides
    """
    if not 0 <= check.number("longest", longest) < np.inf:
        raise InputError(f"longest: expected seconds, at least 0, got {longest}")
    check.choice("how", how, ("linear", "cubic"))
    Budget(markers.positions.nbytes, "take").work(len(markers.gaps) // _GAPS_A_STEP, "gaps", UNGAPPED)
    positions, seen = markers.positions.copy(), markers.seen.copy()
    for marker, start, end in markers.gaps.tolist():
        inside = start > 0 and end < len(markers)
        if inside and (end - start + 1) / markers.rate <= longest + 1e-9:
            track, known = markers.positions[:, marker], markers.seen[:, marker]
            positions[start:end, marker] = _bridge(track, known, start - 1, end, how)
            seen[start:end, marker] = True
    return replace(markers, positions=positions, seen=seen)


def _bridge(track: Floats, known: NDArray[np.bool_], before: int, after: int, how: str) -> Floats:
    """Return the positions (n, 3) between two frames of a marker that is known there: `track` (F, 3), `known` (F,)."""
    count = after - before
    t = (np.arange(1, count) / count)[:, None]
    a, b = track[before], track[after]
    line: Floats = a + t * (b - a)
    if how == "linear":
        return line
    leaving = _speed(track, known, before, -1, (b - a) / count) * count - (b - a)
    arriving = _speed(track, known, after, 1, (b - a) / count) * count - (b - a)
    # Hermite's cubic is the line and what the speeds at both ends add to it.
    bent: Floats = line + t * (1 - t) ** 2 * leaving - t**2 * (1 - t) * arriving
    return bent


def _speed(track: Floats, known: NDArray[np.bool_], frame: int, step: int, otherwise: Floats) -> Floats:
    """Return a marker's velocity (3,) per frame beside a gap, on the side of `step`; seen only once, `otherwise`."""
    count = 0
    while count < _SLOPE and 0 <= frame + step * (count + 1) < len(track) and known[frame + step * (count + 1)]:
        count += 1
    if not count:
        return otherwise
    return np.asarray((track[frame + step * count] - track[frame]) / (step * count))


def bridged(
    translations: Floats, seen: NDArray[np.bool_], rate: float, hold: float = 0.25, fade: float = 0.5
) -> Floats:
    """Return translations (F, M, 3) from rest, known where `seen` (F, M), for every frame.

    In a gap a translation goes smoothly from the value before to the value after. Once the gap has lasted `hold`
    seconds it fades to zero, which is rest, within `fade` seconds, and returns as smoothly before the marker does. At
    the ends of the take there is only one value, which fades likewise. A marker that was never seen is at rest.
    """
    for name, value in (("hold", hold), ("fade", fade)):
        if not 0 <= check.number(name, value) < np.inf:
            raise InputError(f"{name}: expected seconds, at least 0, got {value}")
    held, faded = hold * rate, max(fade * rate, 1.0)
    result = np.where(seen[..., None], translations, 0.0)
    whole = Markers(tuple(str(k) for k in range(seen.shape[1])), result, seen)
    for marker, start, end in whole.gaps.tolist():
        frames = np.arange(start, end, dtype=np.float64)
        left, right = start > 0, end < len(translations)
        since = frames - (start - 1) if left else np.full(len(frames), np.inf)
        until = end - frames if right else np.full(len(frames), np.inf)
        if not (left or right):
            continue
        a = translations[start - 1, marker] if left else translations[end, marker]
        b = translations[end, marker] if right else a
        along = smoothstep(since / (since + until))[:, None] if left and right else np.zeros((len(frames), 1))
        rest = smoothstep(np.clip((np.minimum(since, until) - held) / faded, 0, 1))[:, None]
        result[start:end, marker] = (1 - rest) * (a + along * (b - a))
    return np.asarray(result)
