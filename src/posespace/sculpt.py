"""Sculpt: a shape at a pose; and the journal that can undo and redo changes of sculpts."""

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
    """Records the sculpts after each change, so that it can be undone, and redone until another change is made."""

    def keep(self, did: str, sculpts: Mapping[str, Sculpt]) -> None:
        """Keep the sculpts as they are after the change that `did` names; what was undone before is forgotten."""

    def undo(self) -> tuple[str, dict[str, Sculpt]]:
        """Return what the last change was and the sculpts before it, which are kept from now on."""

    def redo(self) -> tuple[str, dict[str, Sculpt]]:
        """Return what was undone last and the sculpts after it, which are kept from now on."""

    @property
    def steps(self) -> tuple[str, ...]:
        """The changes that can be undone, the oldest first."""

    @property
    def undone(self) -> tuple[str, ...]:
        """The changes that can be redone, the first to be redone last."""


class MemoryJournal:
    """A journal that ends with the session."""

    def __init__(self) -> None:
        self._now: dict[str, Sculpt] = {}
        self._before: list[tuple[str, dict[str, Sculpt]]] = []
        self._undone: list[tuple[str, dict[str, Sculpt]]] = []

    def keep(self, did: str, sculpts: Mapping[str, Sculpt]) -> None:
        """Keep the sculpts as they are after the change that `did` names; what was undone before is forgotten."""
        self._before = [*self._before[1 - MOST_STEPS :], (did, self._now)]
        self._now, self._undone = dict(sculpts), []

    def undo(self) -> tuple[str, dict[str, Sculpt]]:
        """Return what the last change was and the sculpts before it."""
        if not self._before:
            raise InputError("undo: there is no change to undo")
        did, before = self._before.pop()
        self._undone.append((did, self._now))
        self._now = before
        return did, dict(before)

    def redo(self) -> tuple[str, dict[str, Sculpt]]:
        """Return what was undone last and the sculpts after it."""
        if not self._undone:
            raise InputError("redo: there is no change to redo")
        did, after = self._undone.pop()
        self._before.append((did, self._now))
        self._now = after
        return did, dict(after)

    @property
    def steps(self) -> tuple[str, ...]:
        """The changes that can be undone, the oldest first."""
        return tuple(did for did, _ in self._before)

    @property
    def undone(self) -> tuple[str, ...]:
        """The changes that can be redone, the first to be redone last."""
        return tuple(did for did, _ in self._undone)


def checked_radius(name: str, value: object) -> float:
    """Return the radius of the sculpt `name`; raise unless it is a number above 0 that files and fits can hold."""
    radius = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if not 1 / LARGEST <= radius <= LARGEST:
        allowed = f"{1 / LARGEST:g} to {LARGEST:g}"
        wanted = f"expected a finite number above 0, got {value!r}; files hold {allowed}"
        raise InputError(f"radius of sculpt {quoted(name)}: {wanted}")
    return radius
