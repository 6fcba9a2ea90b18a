"""Markers: the positions of the markers of a take in each frame, and in which frames they were seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from posespace import check
from posespace.budget import FRAMES, NUMBERS
from posespace.check import Floats, Ints
from posespace.errors import InputError, quoted, suggestion

FASTEST = 10_000.0
"""Frames per second that a take may have, and be brought to."""
_A_COORDINATE = 4
"""Numbers of a budget that a coordinate takes on the way to another rate."""
_ON_FRAME = 1e-6
"""A time closer to a frame than this, in frames, is that frame."""


@dataclass(frozen=True, eq=False)
class Markers:
    """A take of markers.

    Parameters
    ----------
    names : M names, each once
    positions : (F, M, 3) float64 in the unit of the take; where a marker was not seen they become zero
    seen : (F, M) bool, whether the marker was seen in the frame. None: all were
    rate : frames per second
    unit : metres per unit of length
    """

    names: tuple[str, ...]
    positions: Floats
    seen: NDArray[np.bool_] = None  # type: ignore[assignment]  # None becomes all true
    rate: float = 100.0
    unit: float = 0.001

    def __post_init__(self) -> None:
        put = object.__setattr__
        names = check.names("marker names", self.names, len(self.names))
        positions = np.asarray(self.positions, dtype=np.float64)
        shape = positions.shape[:2]
        seen = np.ones(shape, dtype=bool) if self.seen is None else np.array(self.seen, dtype=bool)
        if positions.ndim != 3 or seen.shape != shape:
            raise InputError(
                f"markers: expected positions (F, M, 3) and seen (F, M), got {positions.shape}, {seen.shape}"
            )
        known_positions = np.where(seen[..., None], positions, 0.0)
        put(self, "names", names)
        put(self, "positions", check.floats("marker positions", known_positions, ("F", len(names), 3), check.LARGEST))
        seen.flags.writeable = False
        put(self, "seen", seen)
        if not 0 < check.number("marker rate", self.rate) <= FASTEST:
            raise InputError(
                f"marker rate: expected frames per second, above 0 and at most {FASTEST:g}, got {self.rate}"
            )
        if not 0 < check.number("marker unit", self.unit) < math.inf:
            raise InputError(f"marker unit: expected metres per unit, above 0, got {self.unit}")

    def __repr__(self) -> str:
        return f"Markers({len(self.names)} markers, {len(self)} frames at {self.rate:g} per second)"

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def times(self) -> Floats:
        """(F,) seconds from the first frame."""
        return np.asarray(np.arange(len(self)) / self.rate)

    @cached_property
    def gaps(self) -> Ints:
        """(G, 3) each stretch in which a marker was not seen: marker, first missing frame, first frame after it."""
        missing = np.zeros((len(self) + 2, len(self.names)), dtype=np.int8)
        missing[1:-1] = ~self.seen
        # Transposed, so that starts and ends come in the same order: marker by marker.
        change = np.diff(missing, axis=0).T
        marker, start = np.nonzero(change == 1)
        end = np.nonzero(change == -1)[1]
        return np.stack([marker, start, end], axis=1).astype(np.int32)

    def index(self, name: str) -> int:
        """Return the number of the marker called `name`."""
        if name not in self.names:
            raise InputError(f"marker {quoted(name)}: not in the take{suggestion(name, self.names)}")
        return self.names.index(name)

    def chosen(self, names: Sequence[str]) -> Markers:
        """Return some of the markers, in the order given."""
        columns = [self.index(name) for name in names]
        return replace(self, names=tuple(names), positions=self.positions[:, columns], seen=self.seen[:, columns])

    def resampled(self, rate: float) -> Markers:
        """Return the take at another rate, linear between its frames; nothing is filtered.

        Between two frames a marker is seen if it was seen in both of them.
        """
        if not 0 < check.number("rate", rate) <= FASTEST:
            raise InputError(f"rate: expected frames per second, above 0 and at most {FASTEST:g}, got {rate}")
        if not len(self) or rate == self.rate:
            return self
        count = int((len(self) - 1) / self.rate * rate + _ON_FRAME) + 1
        more, numbers = count - len(self), _A_COORDINATE * 3 * count * len(self.names)
        if more > FRAMES.of(self.positions.nbytes) or numbers > NUMBERS.of(self.positions.nbytes):
            raise InputError(
                f"rate: {rate:g} would make {count:,} frames of this take, which are too many; give a lower one"
            )
        at = np.arange(count) * (self.rate / rate)
        before = np.minimum((at + _ON_FRAME).astype(np.int64), len(self) - 1)
        along = np.maximum(at - before, 0.0)
        after = np.where(along > _ON_FRAME, np.minimum(before + 1, len(self) - 1), before)
        mixed = self.positions[before] + along[:, None, None] * (self.positions[after] - self.positions[before])
        return replace(self, positions=mixed, seen=self.seen[before] & self.seen[after], rate=float(rate))
