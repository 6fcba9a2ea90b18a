"""Learned bones baked into joints and their motion, for formats without learned bones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from posespace.formats.gltf.write.frames import in_order, with_frames
from posespace.formats.scene import Scene
from posespace.motion import Motion
from posespace.rig import Rig
from posespace.skeleton import Skeleton
from posespace.skin.bones.learned import ROOT
from posespace.skin.skin import Skin

_COST = 10
"""Cost of a frame of learned bones in ordinary frames: they are posed one by one."""


def baked(scene: Scene) -> tuple[Scene, list[str]]:
    """Return a scene whose learned bones are joints of plain skinning, its clips baked into frames of these joints.

    With it come lines on what is left out.
    """
    skin = scene.skin
    assert skin.bones is not None
    influences, weights, count = skin.binding
    rest = np.tile(np.eye(4), (count + 1, 1, 1))
    rest[1:, :3, 3] = skin.bones.centres
    names = [ROOT, *(f"bone{k}" for k in range(1, count + 1))]
    skeleton = Skeleton.from_world(names, [-1, *([0] * count)], rest)
    rig = Rig(skin.rig.mesh, skeleton, influences + 1, weights)
    notes = ["the control points are left out: the file has the bones that they move, and the motion of these"]
    if skin.detail is not None:
        notes.append("the skin's detail is left out: the file has the surface without it")
    if skin.bones.corrections is not None:
        notes.append("the corrections of the bones are left out: the file has what the bones alone give")
    if skin.layers:
        notes.append("the skin's layers are left out: they are driven by control points")
    clips = {name: _frames(skin, motion, scene.rate, skeleton) for name, motion in scene.clips.items()}
    return replace(scene, skin=Skin(rig), clips=clips, has_control_points=True), notes


def _frames(skin: Skin, motion: Motion, rate: float, skeleton: Skeleton) -> Motion:
    """The frames of a motion of control points as poses of the joints that stand for the bones."""
    frames = with_frames(in_order(motion, skin.rig), rate, _COST)
    world = np.tile(np.eye(4), (len(frames), len(skeleton), 1, 1))
    for row, pose in enumerate(frames):
        world[row, 1:, :3] = skin.transforms(pose)
    return Motion.from_world(skeleton, world @ skeleton.rest_world, frames.times, frames.names)
