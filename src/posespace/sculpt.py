"""Sculpt: a shape at a pose; sculpts and their radii at one time, and the journal that can undo and redo changes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Protocol

from posespace.check import LARGEST, Floats
from posespace.errors import InputError
from posespace.pose import Pose

MOST_STEPS = 50
"""Changes that can be undone; older ones are forgotten."""

EVERY = "*"
Radii = Mapping[str | tuple[str, ...], float]
"""Radii of influence by name: of a joint or control, for its axis in every layer; of several, as a sorted tuple, for
the layer they span; of `EVERY`, for all others."""


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


@dataclass(frozen=True, eq=False)
class SculptState:
    """Sculpts at one time: all that a change of them changes.

    Parameters
    ----------
    sculpts : by name, in the order in which they were added
    control_radii : of all sculpts, by joint, control or layer
    """

    sculpts: Mapping[str, Sculpt] = field(default_factory=dict)
    control_radii: Radii = field(default_factory=dict)


class Journal(Protocol):
    """Records the state after each change, so that it can be undone, and redone until another change is made."""

    def stored(self, shape: Floats) -> Floats:
        """Return a shape (N, 3) as it is when it comes back from where the journal keeps it."""

    def keep(self, did: str, state: SculptState) -> None:
        """Keep the state after the change that `did` names; what was undone before is forgotten."""

    def undo(self) -> tuple[str, SculptState]:
        """Return what the last change was and the state before it, which is kept from now on."""

    def redo(self) -> tuple[str, SculptState]:
        """Return what was undone last and the state after it, which is kept from now on."""

    @property
    def steps(self) -> tuple[str, ...]:
        """The changes that can be undone, the oldest first."""

    @property
    def undone(self) -> tuple[str, ...]:
        """The changes that can be redone, the first to be redone last."""


class MemoryJournal:
    """A journal that ends with the session."""

    def __init__(self) -> None:
        self._now = SculptState()
        self._before: list[tuple[str, SculptState]] = []
        self._undone: list[tuple[str, SculptState]] = []

    def stored(self, shape: Floats) -> Floats:
        """Return the shape (N, 3) as it is: nothing is rounded in memory."""
        return shape

    def keep(self, did: str, state: SculptState) -> None:
        """Keep the state after the change that `did` names; what was undone before is forgotten."""
        self._before = [*self._before[1 - MOST_STEPS :], (did, self._now)]
        self._now, self._undone = state, []

    def undo(self) -> tuple[str, SculptState]:
        """Return what the last change was and the state before it."""
        if not self._before:
            raise InputError("undo: there is no change to undo")
        did, before = self._before.pop()
        self._undone.append((did, self._now))
        self._now = before
        return did, before

    def redo(self) -> tuple[str, SculptState]:
        """Return what was undone last and the state after it."""
        if not self._undone:
            raise InputError("redo: there is no change to redo")
        did, after = self._undone.pop()
        self._before.append((did, self._now))
        self._now = after
        return did, after

    @property
    def steps(self) -> tuple[str, ...]:
        """The changes that can be undone, the oldest first."""
        return tuple(did for did, _ in self._before)

    @property
    def undone(self) -> tuple[str, ...]:
        """The changes that can be redone, the first to be redone last."""
        return tuple(did for did, _ in self._undone)


def checked_radius(whose: str, value: object) -> float:
    """Return a radius; raise, saying whose it is, unless it is a number above 0 that files and fits can hold."""
    radius = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if not 1 / LARGEST <= radius <= LARGEST:
        allowed = f"{1 / LARGEST:g} to {LARGEST:g}"
        wanted = f"expected a finite number above 0, got {value!r}; files hold {allowed}"
        raise InputError(f"radius of {whose}: {wanted}")
    return radius


def radius_label(name: str | tuple[str, ...]) -> str:
    """Return what people read for a name of `Radii`; the names that span a layer are joined by " + "."""
    return name if isinstance(name, str) else " + ".join(name)


def radii_by_label(radii: Radii) -> dict[str, float]:
    """Return radii by what people read for their names."""
    return {radius_label(name): radius for name, radius in radii.items()}
