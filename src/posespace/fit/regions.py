"""Regions of the skin, and the pose space that each depends on: of the joints near it, of more around them, or of all.

A region that listens to joints far away learns coincidences of its examples. Which space it has is decided by how well
runs of poses that are left out are predicted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from posespace.check import Floats, Floats32
from posespace.fit.regression import LeftOut, Places, Trial
from posespace.motion import Motion
from posespace.poses.active import Active, active_in_poses, changing, space_of
from posespace.poses.parts import parts_of
from posespace.rig import Rig

_SHARE = 0.01
"""Fraction of a region's skin that a joint must move to be near it."""

_BETTER = 0.9
"""A wider space must have at most this fraction of the squared error of a narrower one to be taken instead."""


@dataclass(frozen=True, eq=False)
class Region:
    """Some of the skin.

    Parameters
    ----------
    name : the joint it is around, or "all"
    mask : (N,) how much of each vertex belongs to it; the masks of all regions sum to one
    """

    name: str
    mask: Floats32


def by_joint(rig: Rig) -> list[Region]:
    """Return a region per joint that moves skin: its weights."""
    dense = rig.dense_weights().astype(np.float32)
    return [Region(name, dense[:, k]) for k, name in enumerate(rig.skeleton.names) if dense[:, k].any()]


def whole(rig: Rig) -> Region:
    """Return the whole skin as one region."""
    return Region("all", np.ones(len(rig.mesh.points), dtype=np.float32))


class Listening:
    """Which pose spaces regions may depend on, and which of them predicts left-out poses best.

    Parameters
    ----------
    rig, motion : the poses
    active : the joints and controls that may drive a region; None: all that change
    """

    def __init__(self, rig: Rig, motion: Motion, active: Active | None = None) -> None:
        self._rig, self._motion = rig, motion
        if active is None:
            joints, controls = changing(rig, motion)
            # In a single pose nothing changes: what it moves from rest counts.
            active = frozenset((*map(rig.skeleton.index, joints), *controls)) or frozenset().union(
                *active_in_poses(rig, motion)
            )
        self.active = active
        self._weights = rig.dense_weights()
        self.trial = cache(self._trial)

    def _trial(self, active: Active) -> Trial:
        space = space_of(self._rig, active, self._motion, "freedoms")
        return Trial(Places.of(self._rig, self._motion, space))

    def best(self, region: Region, values: Floats, exact: bool = False) -> tuple[Trial, LeftOut]:
        """Return the space that predicts the `values` (P, K) of a region best, narrow ones first, and how well.

        With an exact fit only the widest space will do: in a narrow one different poses may lie at one place.
        """
        if exact:
            whole = self.trial(self.active)
            return whole, whole.best(values, exact)
        found: tuple[Trial, LeftOut] | None = None
        for active in self._candidates(region):
            trial = self.trial(active)
            choice = trial.best(values)
            if found is None or choice.error < _BETTER * found[1].error:
                found = trial, choice
        assert found is not None
        return found

    def _candidates(self, region: Region) -> Iterator[Active]:
        """What a region may listen to: near joints, those and the next, all that moves; each only if it is more."""
        share = self._weights.T @ region.mask / max(float(region.mask.sum()), 1e-30)
        near = set(np.flatnonzero(share > _SHARE).tolist())
        seen: Active = frozenset()
        for _ in range(2):
            wanted = frozenset(mover for mover in self.active if isinstance(mover, str) or mover in near)
            if wanted and wanted not in (seen, self.active):
                seen = wanted
                yield wanted
            near |= self._next_to(near)
        yield self.active

    def _next_to(self, joints: set[int]) -> set[int]:
        links = parts_of(self._rig.skeleton).links
        above = {int(links[joint]) for joint in joints if links[joint] >= 0}
        return above | set(np.flatnonzero(np.isin(links, list(joints))).tolist())
