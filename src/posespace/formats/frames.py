"""Frames of a clip: the times at which its keys are sampled, and what is known of a clip before its poses are made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posespace import check
from posespace.budget import ASKED_FOR, FRAME, FRAME_NUMBERS
from posespace.check import Floats
from posespace.errors import InputError
from posespace.geometry import rotations
from posespace.motion import Motion

Rate = float | Literal["keys", "markers"] | None
"""Frames per second; "keys": the file's own keys alone; "markers": its pose markers alone; None: the keys where they
are dense, else a usual rate."""


class PoseMarker(NamedTuple):
    """A moment of a clip that has a name, in seconds."""

    name: str
    time: float


_USUAL = (30.0, 24.0, 25.0, 60.0, 50.0, 120.0)
"""The first of these at which every key is a frame is taken, so that no pose that an artist made is lost."""
_DENSE = 23.9
"""Regular keys with this many per second need none between them."""
_FASTEST = 1000.0
_ENDLESS = 1e15
"""No clip has more frames than this: times may be so large that their number overflows."""
_NEAR = 0.02
"""A key this close to a frame, in frames, is that frame: files round their times."""
_AT_MARKER = 2e-3
"""A frame this close to a pose marker, in seconds, has its name."""


@dataclass(frozen=True)
class Clip:
    """A clip of a file.

    Parameters
    ----------
    name : what the file calls it
    seconds : the time of its last key
    keys : how many times have keys
    poses : how many frames it is read as
    rate : frames per second; None for a single key, and for keys that are not regular and are read as they are
    is_too_long : there are no frames between its keys, because they lie too far apart
    markers : its pose markers, in the order of time
    """

    name: str
    seconds: float
    keys: int
    poses: int
    rate: float | None
    is_too_long: bool = False
    markers: tuple[PoseMarker, ...] = ()


@dataclass(frozen=True)
class Wanted:
    """Which clips of a file become motions, and at which frames.

    Parameters
    ----------
    which : "all", "first" or "none"
    names : of the clips that are wanted; empty for those of `which`
    rate : see `Rate`
    """

    which: Literal["all", "first", "none"] = "all"
    names: tuple[str, ...] = ()
    rate: Rate = None

    def wants(self, name: str, made: int) -> bool:
        """Whether the clip called `name` is to become a motion after `made` others did."""
        if self.names:
            return name in self.names
        return self.which == "all" or (self.which == "first" and not made)


EVERYTHING = Wanted()


@dataclass(frozen=True, eq=False)
class Frames:
    """The frames of a clip.

    Parameters
    ----------
    keys : (n,) seconds, the times of its keys
    rate : frames per second; None: the keys are the frames
    is_too_long : the keys are sparse, but too many frames would be between them
    markers : its pose markers, in the order of time
    at_markers : the markers are the frames, and nothing else is
    """

    keys: Floats
    rate: float | None = None
    is_too_long: bool = False
    markers: tuple[PoseMarker, ...] = ()
    at_markers: bool = False

    @property
    def count(self) -> int:
        """How many frames there are."""
        if self.at_markers:
            return len(self.markers)
        if self.rate is None:
            return len(self.keys)
        end = min(float(self.keys[-1] - self.keys[0]) * self.rate, _ENDLESS)
        whole = int(end + _NEAR)
        return max(2, whole + 1 + (end - whole > _NEAR))

    @property
    def times(self) -> Floats:
        """Seconds (P,): evenly spaced from the first key, and the last key."""
        if self.at_markers:
            return np.array([marker.time for marker in self.markers])
        if self.rate is None:
            return self.keys
        grid: Floats = self.keys[0] + np.arange(self.count) / self.rate
        grid[-1] = self.keys[-1]
        after = np.clip(np.searchsorted(self.keys, grid), 1, len(self.keys) - 1)
        before = after - 1
        nearest = np.where(grid - self.keys[before] < self.keys[after] - grid, before, after)
        near = np.abs(self.keys[nearest] - grid) * self.rate < _NEAR
        return np.where(near, self.keys[nearest], grid)

    def clip(self, name: str) -> Clip:
        """Return what is known of the clip called `name` that has these frames."""
        rate = _own_rate(self.keys) if self.rate is None else self.rate
        seconds = float(self.keys[-1]) if len(self.keys) else 0.0
        # Rounded as files round their times: 30, not 29.9999993.
        shown = None if rate is None else round(rate, 3)
        return Clip(name, round(seconds, 6), len(self.keys), self.count, shown, self.is_too_long, self.markers)

    def names(self, clip: str) -> list[str]:
        """Return the names of the frames: of the markers that they are at, of the clip if it is one, else numbers."""
        if self.at_markers:
            return [marker.name for marker in self.markers]
        if self.count == 1 and not self.markers:
            return [clip]
        names = [str(k) for k in range(self.count)]
        times = self.times
        for marker in self.markers if len(times) else ():
            nearest = int(np.abs(times - marker.time).argmin())
            if abs(times[nearest] - marker.time) <= _AT_MARKER:
                names[nearest] = marker.name
        return names

    def note(self) -> str | None:
        """Return one line about frames that are not the keys, or that are missing between them."""
        if self.is_too_long:
            return "the keys of a clip lie too far apart to fill in frames: its keys alone are read"
        return None if self.rate is None else f"a clip is sampled at {self.rate:g} frames per second between its keys"


def checked_rate(value: Any) -> Rate:
    """Return `value` if it is a rate."""
    if value is None or value in ("keys", "markers"):
        return value  # type: ignore[no-any-return]
    if isinstance(value, str) or not 0 < check.number("rate", value) <= _FASTEST:
        words = f"above 0 and at most {_FASTEST:g}, 'keys' or 'markers'"
        raise InputError(f"rate: expected frames per second {words}, got {value!r}")
    return float(value)


def frames_of(
    keys: Floats,
    rate: Rate,
    size: int,
    what: str,
    left: int = FRAME_NUMBERS.any_file,
    markers: tuple[PoseMarker, ...] = (),
) -> Frames:
    """Return the frames of a clip.

    Parameters
    ----------
    keys : (n,) seconds at which it has keys, increasing
    rate : see `Rate`
    size : how many numbers a frame takes
    what : the clip, for messages
    left : how many numbers frames between the keys may take; a `rate` that asks for far more raises
    markers : its pose markers, in the order of time
    """
    if rate == "markers":
        # A clip of one key is one pose, whose name is the clip's.
        if not markers and len(keys) > 1:
            raise InputError(
                f"{what}: has no pose markers; take its {len(keys)} keys with `rate='keys'`, or give a rate"
            )
        return Frames(keys, markers=markers, at_markers=bool(markers))
    if rate == "keys" or len(keys) < 2 or not keys[-1] > keys[0] or (rate is None and _is_dense(keys)):
        return Frames(keys, markers=markers)
    usual = next((usual for usual in _USUAL if _on_grid(keys, usual)), _USUAL[0])
    frames = Frames(keys, rate or usual, markers=markers)
    most = left // (size + FRAME) * (1 if rate is None else ASKED_FOR)
    if frames.count <= max(most, len(keys)):
        return frames
    if rate is None:
        return Frames(keys, is_too_long=True, markers=markers)
    much = f"{frames.count:.3g} frames in {keys[-1] - keys[0]:.3g} s are too many"
    raise InputError(f"{what}: rate {rate:g}: {much}; give a lower rate, or 'keys' for its {len(keys)} keys")


def resampled(motion: Motion, times: Floats) -> Motion:
    """Return the poses of a motion at `times` (P,), linear between its own, whose times increase."""
    last = len(motion) - 1
    before: NDArray[np.intp] = np.clip(np.searchsorted(motion.times, times, side="right") - 1, 0, last)
    after = np.minimum(before + 1, last)
    span = motion.times[after] - motion.times[before]
    along = np.clip((times - motion.times[before]) / np.where(span > 0, span, 1), 0, 1)

    def mixed(values: Floats) -> Floats:
        part: Floats = along.reshape(-1, *(1,) * (values.ndim - 1))
        result: Floats = values[before] + part * (values[after] - values[before])
        return result

    return replace(
        motion,
        rotations=rotations.slerp(motion.rotations[before], motion.rotations[after], along[:, None]),
        translations=mixed(motion.translations),
        times=times,
        names=None,  # type: ignore[arg-type]  # numbered again
        controls=mixed(motion.controls),
    )


def _own_rate(keys: Floats) -> float | None:
    """Return how many keys there are per second; None where they are not regular."""
    gaps = np.diff(keys)
    if not len(gaps) or not gaps.min() >= 0.5 * gaps.mean() > 0:
        return None
    return float(1 / gaps.mean()) if gaps.max() <= 1.5 * gaps.mean() else None


def _is_dense(keys: Floats) -> bool:
    rate = _own_rate(keys)
    return rate is not None and rate >= _DENSE


def _on_grid(keys: Floats, rate: float) -> bool:
    at = (keys - keys[0]) * rate
    return bool((np.abs(at - at.round()) < _NEAR).all())
