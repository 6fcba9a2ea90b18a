"""PlayedBones: the first stage of a player, from the numbers of poses to the transforms and amounts of bones.

`skeleton.py` and `learned.py` have the two kinds, as in `posespace.skin.bones`.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from posespace.check import Floats, Floats32
from posespace.skin.bones.learned import LearnedBones
from posespace.skin.skin import Skin


class DrivenBones(NamedTuple):
    """What bones make of the numbers of P poses.

    Parameters
    ----------
    poses : (P, ...) the numbers of the poses without the rigid motion of the whole, see `DriverTables`
    palettes : (P, 12 B) transforms of the bones, rest to posed space; those of a skeleton are written by `drive`
    amounts : (P, B, K + D) of corrections and of detail
    """

    poses: Floats
    palettes: Floats32
    amounts: Floats32


class PlayedBones(Protocol):
    """The bones of a skin, as players drive them."""

    @property
    def joint_numbers(self) -> int:
        """The size of the palettes that `drive` writes: 12 for each joint that is a bone."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes that a frame reads."""
        ...

    def drive(self, poses: Floats, joint_palettes: Floats32) -> DrivenBones:
        """Drive the bones in poses (P, ...), which stay as they are.

        `joint_palettes` (P, joint_numbers) is where `posespace.runtime.drive` will write the transforms of joints.
        """
        ...

    def on_one_core(self) -> None:
        """Use one core from now on."""
        ...


def played_bones(skin: Skin, threads: int) -> PlayedBones:
    """Return the bones of a skin, with only their module loaded: a start takes less time.

    `threads` is how many cores work on a frame.
    """
    if isinstance(skin.bones, LearnedBones):
        from posespace.runtime.bones.learned import PlayedLearnedBones

        return PlayedLearnedBones(skin.bones, skin.rig.mesh, threads)
    from posespace.runtime.bones.skeleton import PlayedSkeleton

    return PlayedSkeleton(skin.rig.skeleton)
