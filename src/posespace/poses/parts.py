"""Parts: what each joint adds to a pose, relative to the joint it is linked to. The motion of the whole is in none."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Ints
from posespace.geometry import rotations
from posespace.skeleton import Skeleton, parents_first


class Posed(Protocol):
    """A pose, or poses over time: rotations (..., J, 4) and translations (..., J, 3)."""

    @property
    def rotations(self) -> Floats:
        """Each joint's own rotation."""

    @property
    def translations(self) -> Floats:
        """Each joint's shift from rest, in its frame."""


class Parts:
    """How joints turn and shift relative to the joints they are linked to, `Skeleton.links`.

    A joint linked to its parent has its own rotation and shift for a part. One linked to none rests: what it does is
    the rigid motion of the whole. Scale is left out.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        self._skeleton = skeleton
        self.links: Ints = skeleton.parents if skeleton.links is None else skeleton.links
        """(J,) the joint that each joint is linked to, or -1."""

    def of(self, pose: Posed) -> tuple[Floats, Floats]:
        """Return the parts of a pose or a motion.

        Returns
        -------
        turns : (..., J, 4) unit quaternions, float64; in the rest pose `rest`
        shifts : (..., J, 3) float64, along the axes of the joint linked to; in the rest pose zero
        """
        own, moved = pose.rotations.astype(np.float64), pose.translations.astype(np.float64)
        turns, shifts, free = own.copy(), moved.copy(), self.links < 0
        turns[..., free, :], shifts[..., free, :] = self.rest[free], 0.0
        if len(self.rerouted):
            world, places = self._world(own), self._skeleton.world(own, moved)[..., :3, 3]
            turns[..., self.rerouted, :] = self._from_links(world)
            shifts[..., self.rerouted, :] = self._offsets(world, places) - self.offsets[self.rerouted]
        return turns, shifts

    def angles(self, turns: Floats) -> Floats:
        """Return the angles (..., J, 3) in radians by which parts (..., J, 4) are turned from rest about the axes."""
        return self._skeleton.angles_from(self.rest, turns)

    def turned(self, angles: Floats) -> Floats:
        """Return the parts (..., J, 4) that are turned from rest by `angles` (..., J, 3); undoes `angles`."""
        return self._skeleton.rotated_from(self.rest, angles)

    @cached_property
    def rerouted(self) -> Ints:
        """The joints that are linked to another joint than their parent."""
        return np.flatnonzero((self.links != self._skeleton.parents) & (self.links >= 0)).astype(np.int32)

    @cached_property
    def rest(self) -> Floats:
        """(J, 4) the rotations of the parts in the rest pose."""
        found = self._skeleton.rest_rotations.astype(np.float64)
        if len(self.rerouted):
            found = found.copy()
            found[self.rerouted] = self._from_links(self._world(self._skeleton.rest_rotations.astype(np.float64)))
        return found

    @cached_property
    def offsets(self) -> Floats:
        """(J, 3) where rerouted joints are in the rest pose, as seen from those they are linked to; else zero."""
        found = np.zeros((len(self._skeleton), 3))
        if len(self.rerouted):
            world = self._world(self._skeleton.rest_rotations.astype(np.float64))
            found[self.rerouted] = self._offsets(world, self._skeleton.rest_world[..., :3, 3])
        return found

    @cached_property
    def local_frame_rotations(self) -> Floats:
        """(J, 4) the rotations of the skeleton's frames."""
        return rotations.polar(self._skeleton.local_frames[:, :3, :3].astype(np.float64))[0]

    @cached_property
    def oriented(self) -> NDArray[np.bool_]:
        """(J,) whose rotation to the world is needed: rerouted joints, those they are linked to, and all above."""
        needed = np.zeros(len(self.links), dtype=bool)
        needed[self.rerouted] = needed[self.links[self.rerouted]] = True
        for joint in reversed(self._skeleton.order):
            if needed[joint] and self._skeleton.parents[joint] >= 0:
                needed[self._skeleton.parents[joint]] = True
        return needed

    def undone(self, turns: Floats, shifts: Floats) -> tuple[Floats, Floats]:
        """Undo `of`: return rotations (..., J, 4) and translations (..., J, 3), the whole as at rest."""
        if not len(self.rerouted):
            return turns, shifts
        skeleton = self._skeleton
        world = np.broadcast_to(skeleton.rest_world, (*turns.shape[:-1], 4, 4)).copy()
        world[..., :3, :3] = rotations.matrices(self._world(skeleton.rest_rotations.astype(np.float64)))
        own = np.zeros((*turns.shape[:-1], 4, 4))
        own[..., :3, :3], own[..., :3, 3], own[..., 3, 3] = rotations.matrices(turns), shifts, 1.0
        for joint in parents_first(self.links, skeleton.names, "links"):
            link, step = self.links[joint], own[..., joint, :, :]
            if link < 0:
                continue
            if link == skeleton.parents[joint]:
                step = skeleton.local_frames[joint] @ step
            else:
                step[..., :3, 3] += self.offsets[joint]
            world[..., joint, :, :] = world[..., link, :, :] @ step
        if skeleton.stretches is not None:
            world[..., :3, :3] = world[..., :3, :3] @ skeleton.stretches
        return skeleton.local(world)[:2]

    def _world(self, local: Floats) -> Floats:
        """The rotations (..., J, 4) of joints to the world."""
        own = rotations.multiply(self.local_frame_rotations, local)
        for joint in self._skeleton.order:
            parent = self._skeleton.parents[joint]
            if parent >= 0:
                own[..., joint, :] = rotations.multiply(own[..., parent, :], own[..., joint, :])
        return own

    def _from_links(self, world: Floats) -> Floats:
        above = world[..., self.links[self.rerouted], :]
        return rotations.multiply(rotations.inverse(above), world[..., self.rerouted, :])

    def _offsets(self, world: Floats, places: Floats) -> Floats:
        above = self.links[self.rerouted]
        away = places[..., self.rerouted, :] - places[..., above, :]
        return np.asarray(np.einsum("...jba,...jb->...ja", rotations.matrices(world[..., above, :]), away))


_KEPT = "_parts"


def parts_of(skeleton: Skeleton) -> Parts:
    """Return what each joint of a skeleton adds to a pose, relative to the joint it is linked to.

    They are made once and kept with the skeleton, as a cached property would be: a table of skeletons would keep all of
    them alive.
    """
    kept = vars(skeleton)
    if _KEPT not in kept:
        kept[_KEPT] = Parts(skeleton)
    parts: Parts = kept[_KEPT]
    return parts
