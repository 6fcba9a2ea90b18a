"""Parts: the rotation and translation of each joint relative to the joint it is linked to."""

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
        """Each joint's local rotation."""

    @property
    def translations(self) -> Floats:
        """Each joint's translation from rest, in its local frame."""


class Parts:
    """Rotations and translations of joints relative to the joints they are linked to, `Skeleton.links`.

    The part of a joint linked to its parent is its local rotation and translation. A joint linked to none has the part
    of the rest pose: its motion is the rigid motion of the whole. Scale is left out.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        self._skeleton = skeleton
        self.links: Ints = skeleton.parents if skeleton.links is None else skeleton.links
        """(J,) the joint that each joint is linked to, or -1."""

    def of(self, pose: Posed) -> tuple[Floats, Floats]:
        """Return the parts of a pose or a motion.

        Returns
        -------
        quaternions : (..., J, 4) float64; in the rest pose `rest`
        translations : (..., J, 3) float64, along the axes of the joint linked to; in the rest pose zero
        """
        local, moved = pose.rotations.astype(np.float64), pose.translations.astype(np.float64)
        quaternions, translations, free = local.copy(), moved.copy(), self.links < 0
        quaternions[..., free, :], translations[..., free, :] = self.rest[free], 0.0
        if len(self.rerouted):
            world, positions = self._world(local), self._skeleton.world(local, moved)[..., :3, 3]
            quaternions[..., self.rerouted, :] = self._from_links(world)
            translations[..., self.rerouted, :] = self._offsets(world, positions) - self.offsets[self.rerouted]
        return quaternions, translations

    def angles(self, quaternions: Floats) -> Floats:
        """Return the angles (..., J, 3) in radians about the joints' axes, from rest, of parts (..., J, 4)."""
        return self._skeleton.angles_from(self.rest, quaternions)

    def rotated(self, angles: Floats) -> Floats:
        """Return the parts (..., J, 4) rotated from rest by `angles` (..., J, 3): the inverse of `angles`."""
        return self._skeleton.rotated_from(self.rest, angles)

    @cached_property
    def rerouted(self) -> Ints:
        """The joints that are linked to another joint than their parent."""
        return np.flatnonzero((self.links != self._skeleton.parents) & (self.links >= 0)).astype(np.int32)

    @cached_property
    def rest(self) -> Floats:
        """(J, 4) the rotations of the parts in the rest pose."""
        local = self._skeleton.rest_rotations.astype(np.float64)
        if not len(self.rerouted):
            return local
        rest = local.copy()
        rest[self.rerouted] = self._from_links(self._world(local))
        return rest

    @cached_property
    def offsets(self) -> Floats:
        """(J, 3) positions of rerouted joints in the rest pose, relative to those they are linked to; else zero."""
        offsets = np.zeros((len(self._skeleton), 3))
        if len(self.rerouted):
            world = self._world(self._skeleton.rest_rotations.astype(np.float64))
            offsets[self.rerouted] = self._offsets(world, self._skeleton.rest_world[..., :3, 3])
        return offsets

    @cached_property
    def local_frame_rotations(self) -> Floats:
        """(J, 4) the rotations of the joints' local frames."""
        return rotations.polar(self._skeleton.local_frames[:, :3, :3].astype(np.float64))[0]

    @cached_property
    def oriented(self) -> NDArray[np.bool_]:
        """(J,) the joints whose rotation to the world is needed: rerouted joints, their links, and all above."""
        needed = np.zeros(len(self.links), dtype=bool)
        needed[self.rerouted] = needed[self.links[self.rerouted]] = True
        for joint in reversed(self._skeleton.order):
            if needed[joint] and self._skeleton.parents[joint] >= 0:
                needed[self._skeleton.parents[joint]] = True
        return needed

    def to_pose(self, quaternions: Floats, translations: Floats, whole: Posed | None = None) -> tuple[Floats, Floats]:
        """Inverse of `of`: return rotations (..., J, 4) and translations (..., J, 3) of a pose.

        The whole is where it is in the pose `whole`; None: at rest.
        """
        skeleton = self._skeleton
        local, moved = skeleton.rest_rotations.astype(np.float64), np.zeros((len(skeleton), 3))
        if whole is not None:
            local, moved = whole.rotations.astype(np.float64), whole.translations.astype(np.float64)
        if not len(self.rerouted):
            free = self.links[:, None] < 0
            return np.where(free, local, quaternions), np.where(free, moved, translations)
        world = np.broadcast_to(skeleton.world(local, moved), (*quaternions.shape[:-1], 4, 4)).copy()
        world[..., :3, :3] = rotations.matrices(self._world(local))
        parts = np.zeros((*quaternions.shape[:-1], 4, 4))
        parts[..., :3, :3], parts[..., :3, 3], parts[..., 3, 3] = rotations.matrices(quaternions), translations, 1.0
        for joint in parents_first(self.links, skeleton.names, "links"):
            link, step = self.links[joint], parts[..., joint, :, :]
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
        world = rotations.multiply(self.local_frame_rotations, local)
        for joint in self._skeleton.order:
            parent = self._skeleton.parents[joint]
            if parent >= 0:
                world[..., joint, :] = rotations.multiply(world[..., parent, :], world[..., joint, :])
        return world

    def _from_links(self, world: Floats) -> Floats:
        above = world[..., self.links[self.rerouted], :]
        return rotations.multiply(rotations.inverse(above), world[..., self.rerouted, :])

    def _offsets(self, world: Floats, positions: Floats) -> Floats:
        above = self.links[self.rerouted]
        gaps = positions[..., self.rerouted, :] - positions[..., above, :]
        return np.asarray(np.einsum("...jba,...jb->...ja", rotations.matrices(world[..., above, :]), gaps))


_KEPT = "_parts"


def parts_of(skeleton: Skeleton) -> Parts:
    """Return the parts of a skeleton, made once.

    They are kept with the skeleton, as a cached property would be: a table of skeletons would keep all of them alive.
    """
    kept = vars(skeleton)
    if _KEPT not in kept:
        kept[_KEPT] = Parts(skeleton)
    parts: Parts = kept[_KEPT]
    return parts
