"""Regions of the skin, and the pose space that each depends on: of the joints near it, of a few more, or of all.

A region that depends on joints far away learns coincidences of its examples, so its pose space is chosen by
cross-validation: the narrowest one that predicts held-out runs of poses well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from posespace.check import Floats, Floats32
from posespace.fit.regression import CrossValidation, PoseCoordinates, RegressionChoice
from posespace.motion import Motion
from posespace.poses.active import Active, active_in_poses, changing, space_of
from posespace.poses.parts import parts_of
from posespace.rig import Rig

_SHARE = 0.01
"""A joint is near a region if it has at least this fraction of the region's skinning weights."""

_BETTER = 0.9
"""A wider space is taken if its squared error is at most this fraction of a narrower one's."""


@dataclass(frozen=True, eq=False)
class Region:
    """A part of the skin.

    Parameters
    ----------
    name : the joint it is around, or "all"
    mask : (N,) how much of each vertex belongs to it; the masks of all regions sum to one
    """

    name: str
    mask: Floats32


def by_joint(rig: Rig) -> list[Region]:
    """Return a region for each joint that moves skin; its mask is the joint's weights."""
    dense = rig.dense_weights().astype(np.float32)
    return [Region(name, dense[:, k]) for k, name in enumerate(rig.skeleton.names) if dense[:, k].any()]


def whole(rig: Rig) -> Region:
    """Return the whole skin as one region."""
    return Region("all", np.ones(len(rig.mesh.points), dtype=np.float32))


class SpaceChoice:
    """Chooses the pose space of a region by cross-validation.

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
        self._validation = cache(self._validation_over)

    def _validation_over(self, movers: Active) -> CrossValidation:
        space = space_of(self._rig, movers, self._motion, "freedoms")
        return CrossValidation(PoseCoordinates.of(self._rig, self._motion, space))

    def best(self, region: Region, values: Floats, exact: bool = False) -> tuple[PoseCoordinates, RegressionChoice]:
        """Return the poses in the space that predicts the `values` (P, K) of a region best, and its settings.

        With an exact fit only the widest space will do: in a narrow one different poses may coincide.
        """
        if exact:
            validation = self._validation(self.active)
            return validation.samples, validation.best(values, exact)
        best: tuple[PoseCoordinates, RegressionChoice] | None = None
        for movers in self._candidates(region):
            validation = self._validation(movers)
            choice = validation.best(values)
            if best is None or choice.error < _BETTER * best[1].error:
                best = validation.samples, choice
        assert best is not None
        return best

    def _candidates(self, region: Region) -> Iterator[Active]:
        """Sets of movers from narrow to wide: near joints, those and their neighbours, all; each once."""
        share = self._weights.T @ region.mask / max(float(region.mask.sum()), 1e-30)
        near = set(np.flatnonzero(share > _SHARE).tolist())
        previous: Active = frozenset()
        for _ in range(2):
            movers = frozenset(mover for mover in self.active if isinstance(mover, str) or mover in near)
            if movers and movers not in (previous, self.active):
                previous = movers
                yield movers
            near |= self._adjacent(near)
        yield self.active

    def _adjacent(self, joints: set[int]) -> set[int]:
        links = parts_of(self._rig.skeleton).links
        above = {int(links[joint]) for joint in joints if links[joint] >= 0}
        return above | set(np.flatnonzero(np.isin(links, list(joints))).tolist())
