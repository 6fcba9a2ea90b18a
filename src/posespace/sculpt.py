"""Sculpt: a shape at a pose; and the journal that can undo changes of sculpts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Protocol

from posespace.check import LARGEST, Floats
from posespace.errors import InputError, quoted
from posespace.pose import Pose

MOST_STEPS = 50
"""Changes that can be undone; older ones are forgotten."""


@dataclass(frozen=True, eq=False)
class Sculpt:
    """A shape at a pose.

    Parameters
    ----------
    pose : the pose it was sculpted in
    shape : (N, 3) in posed space
    muted : it is kept, but fits ignore it
    radius : of its influence, in radians or the controls' unit; None: that of its layer
    """

    pose: Pose
    shape: Floats
    muted: bool = False
    radius: float | None = None


class Journal(Protocol):
    """Records the sculpts after each change, so that it can be undone."""

    def keep(self, did: str, sculpts: Mapping[str, Sculpt]) -> None:
        """Keep the sculpts as they are after the change that `did` names."""

    def undo(self) -> tuple[str, dict[str, Sculpt]]:
        """Return what the last change was and the sculpts before it, which are kept from now on."""

    @property
    def steps(self) -> tuple[str, ...]:
        """The changes that can be undone, the oldest first."""


class MemoryJournal:
    """A journal that ends with the session."""

    def __init__(self) -> None:
        self._now: dict[str, Sculpt] = {}
        self._before: list[tuple[str, dict[str, Sculpt]]] = []

    def keep(self, did: str, sculpts: Mapping[str, Sculpt]) -> None:
        """Keep the sculpts as they are after the change that `did` names."""
        self._before = [*self._before[1 - MOST_STEPS :], (did, self._now)]
        self._now = dict(sculpts)

    def undo(self) -> tuple[str, dict[str, Sculpt]]:
        """Return what the last change was and the sculpts before it."""
        if not self._before:
            raise InputError("undo: there is no change to undo")
        did, self._now = self._before.pop()
        return did, dict(self._now)

    @property
    def steps(self) -> tuple[str, ...]:
        """The changes that can be undone, the oldest first."""
        return tuple(did for did, _ in self._before)


def checked_radius(name: str, value: object) -> float:
    """Return the radius of the sculpt `name`; raise unless it is a number above 0 that files and fits can hold."""
    radius = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if not 1 / LARGEST <= radius <= LARGEST:
        allowed = f"{1 / LARGEST:g} to {LARGEST:g}"
        wanted = f"expected a finite number above 0, got {value!r}; files hold {allowed}"
        raise InputError(f"radius of sculpt {quoted(name)}: {wanted}")
    return radius
