"""A fitted skin written as GLB with a clip, which engines and viewers play, and read back to check it.

Run: python examples/export_for_engines.py
It writes arm.glb into the current folder.
"""

import numpy as np

import posespace as ps
from posespace.formats.load import read

train, unseen = ps.datasets.bending_arm(rings=36, sides=20)
skin = ps.PSD().fit(train)
ps.export(skin, "arm.glb", motion=unseen.motion)

contents = read("arm.glb")  # what any glTF reader finds: rig, morph targets, animation
(rig,), (clip,) = contents.rigs.values(), contents.motions.values()
print(f"{len(rig.mesh.points)} vertices, {len(contents.morphs)} morph targets, {len(clip)} key frames")

off = 0.0
for wanted, pose in zip(unseen.motion, clip, strict=True):
    morphed = sum(pose.controls[name] * target for name, target in contents.morphs.items())
    off = max(off, np.abs(rig.skin(pose, morphed) - skin.pose(wanted)[0]).max())  # morphs first, then bones
print(f"largest difference from the skin, as a fraction of the box diagonal: {off / rig.mesh.diagonal:.1e}")
