"""Rigid skinning: each vertex bound to its nearest bone alone, so that everything else is learned."""

from __future__ import annotations

import numpy as np

from posespace.rig import Rig


def on_nearest_bone(rig: Rig) -> Rig:
    """Return the rig with every vertex bound to its nearest bone alone: the one with its largest weight.

    Weights tell better than distances which bone a vertex belongs to, e.g. where fingers touch; of equal weights the
    first joint's counts. Vertices that share a position at a seam share a bone.
    """
    weld = rig.mesh.weld
    bone = weld.gather(rig.dense_weights()).argmax(axis=1)[weld.groups].astype(np.int32)[:, None]
    return Rig(rig.mesh, rig.skeleton, bone, np.ones(bone.shape, dtype=np.float32), rig.inverse_bind)
