"""NodeRig: the joints of a skin and the bones that move its vertices, as one skeleton of glTF nodes.

Of a skeleton the joints are the bones. Learned bones are nodes of their own beside the control points: their motion is
baked into clips, for programs that know no drivers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from posespace.check import Floats
from posespace.formats.contents import unique
from posespace.formats.gltf.write.frames import continuous
from posespace.geometry import rotations
from posespace.motion import Motion
from posespace.rig import Rig
from posespace.skeleton import Skeleton, invert_affine
from posespace.skin.skin import Skin

_BAKED_COST = 10
"""Cost of a frame of learned bones in ordinary frames: they are posed one by one."""


@dataclass(frozen=True, eq=False)
class NodeRig:
    """A rig whose skeleton has all nodes that move.

    Parameters
    ----------
    skin : the skin whose nodes they are
    rig : its skeleton has the joints that make a pose and the bones; `influences` are bones
    bones : which joints of that skeleton are bones
    cost : of a frame of a clip, in frames of a skeleton
    """

    skin: Skin
    rig: Rig
    bones: range
    cost: int = 1

    @classmethod
    def of(cls, skin: Skin) -> NodeRig:
        """Return the nodes of a skin."""
        joints, centres = len(skin.rig.skeleton), skin.bones.centres
        if not len(centres):
            return cls(skin, skin.rig, range(joints))
        influences, weights, count = skin.binding
        skeleton = _with_bones(skin.rig.skeleton, centres)
        rig = Rig(skin.rig.mesh, skeleton, influences + joints, weights)
        return cls(skin, rig, range(joints, joints + count), _BAKED_COST)

    @property
    def has_baked_bones(self) -> bool:
        """Whether the bones are other nodes than the joints that make a pose."""
        return self.bones.start > 0

    @property
    def skin_joints(self) -> list[int]:
        """The joints that the glTF skin lists: the bones, and last the root above them, which no vertex is bound to.

        Many programs read the motion of these joints and of no other nodes.
        """
        return [*self.bones, *([0] if self.has_baked_bones else [])]

    def unbaked(self, frames: Motion) -> Motion:
        """Return the motion of all nodes in frames of the joints; bones that are other nodes stay at rest."""
        count = len(self.rig.skeleton) - frames.rotations.shape[1]
        rest = np.tile(rotations.IDENTITY, (len(frames), count, 1))
        return _beside(frames, rest, np.zeros((len(frames), count, 3)))

    def baked(self, frames: Motion) -> tuple[Motion, Floats]:
        """Return the motion of all nodes in frames of the joints, and the bones' amounts (P, B, A)."""
        if not self.has_baked_bones:
            return frames, np.zeros((len(frames), len(self.bones), 0))
        skeleton, bones, count = self.rig.skeleton, slice(self.bones.start, None), len(self.bones)
        turned, shifted = np.zeros((len(frames), count, 4)), np.zeros((len(frames), count, 3))
        amounts = []
        world = np.tile(np.eye(4), (len(skeleton), 1, 1))
        for row, pose in enumerate(frames):
            transforms, bone_amounts = self.skin.bones.drive(pose, self.skin.rig)
            world[: bones.start] = self.skin.rig.skeleton.world(pose.rotations, pose.translations)
            world[bones, :3] = transforms @ skeleton.rest_world[bones]
            local_rotations, local_translations, _ = skeleton.local(world)
            turned[row], shifted[row] = local_rotations[bones], local_translations[bones]
            amounts.append(bone_amounts)
        return _beside(frames, continuous(turned), shifted), np.stack(amounts)


def _beside(frames: Motion, quaternions: Floats, translations: Floats) -> Motion:
    """Frames of joints with those of bones after them: rotations (P, B, 4) and translations (P, B, 3)."""
    return replace(
        frames,
        rotations=np.concatenate([frames.rotations, quaternions], axis=1),
        translations=np.concatenate([frames.translations, translations], axis=1),
    )


def _with_bones(skeleton: Skeleton, centres: Floats) -> Skeleton:
    """The skeleton with a joint below its root at the centre (B, 3) of each bone."""
    count = len(centres)
    rest = np.tile(np.eye(4), (count, 1, 1))
    rest[:, :3, 3] = centres
    names = unique([*skeleton.names, *(f"bone{k}" for k in range(1, count + 1))], "bone")
    axes, limits = skeleton.axes, skeleton.limits
    return Skeleton(
        tuple(names),
        np.concatenate([skeleton.parents, np.zeros(count, np.int32)]),
        np.concatenate([skeleton.local_frames, invert_affine(skeleton.rest_world[0]) @ rest]),
        np.concatenate([skeleton.rest_rotations, np.tile(rotations.IDENTITY, (count, 1))]),
        axes=None if axes is None else np.concatenate([axes, np.tile(np.eye(3), (count, 1, 1))]),
        limits=None if limits is None else np.concatenate([limits, np.tile([-np.inf, np.inf], (count, 3, 1))]),
    )
