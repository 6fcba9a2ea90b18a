"""Skins for programs that know no learned bones: their bones as joints, and a motion as what these do."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from posespace.formats.gltf.write.frames import in_order, with_frames
from posespace.motion import Motion
from posespace.rig import Rig
from posespace.skeleton import Skeleton
from posespace.skin.bones.learned import ROOT
from posespace.skin.skin import Skin

_COST = 10
"""Ordinary frames that one of learned bones is worth: they are posed one by one."""


def baked(skin: Skin, clips: Mapping[str, Motion], rate: float) -> tuple[Skin, dict[str, Motion], list[str]]:
    """Return a skin with learned bones as plain skinning by as many joints, and the clips' frames, of these joints.

    With them come lines on what is left out.
    """
    assert skin.bones is not None
    influences, weights, count = skin.binding
    rest = np.tile(np.eye(4), (count + 1, 1, 1))
    rest[1:, :3, 3] = skin.bones.centres
    names = [ROOT, *(f"bone{k}" for k in range(1, count + 1))]
    skeleton = Skeleton.from_world(names, [-1, *([0] * count)], rest)
    rig = Rig(skin.rig.mesh, skeleton, influences + 1, weights)
    notes = ["the control points are left out: the file has the bones that they move, and the motion of these"]
    if skin.detail is not None:
        notes.append("the skin's detail is left out: the file has the surface that it lies on")
    if skin.bones.corrections is not None:
        notes.append("the corrections of the bones are left out: the file has what the bones alone give")
    if skin.layers:
        notes.append("the skin's layers are left out: they are driven by control points")
    return Skin(rig), {name: _frames(skin, motion, rate, skeleton) for name, motion in clips.items()}, notes


def _frames(skin: Skin, motion: Motion, rate: float, skeleton: Skeleton) -> Motion:
    """The frames of a motion of control points as poses of the joints that stand for the bones."""
    frames = with_frames(in_order(motion, skin.rig), rate, _COST)
    world = np.tile(np.eye(4), (len(frames), len(skeleton), 1, 1))
    for row, pose in enumerate(frames):
        world[row, 1:, :3] = skin.transforms(pose)
    return Motion.from_world(skeleton, world @ skeleton.rest_world, frames.times, frames.names)
