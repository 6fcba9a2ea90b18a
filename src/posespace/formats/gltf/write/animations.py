"""Motions as glTF animations, one per clip, of the joints, the bones and the morph targets' weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from posespace.check import Floats
from posespace.errors import InputError
from posespace.formats.gltf.write.buffers import Output
from posespace.formats.gltf.write.frames import in_order, with_frames
from posespace.formats.gltf.write.joints import JointNodes
from posespace.formats.gltf.write.morph_targets import Target
from posespace.formats.gltf.write.names import short_names
from posespace.motion import Motion, joined
from posespace.rig import Rig

Json = dict[str, Any]


class Clips:
    """The clips of a file, with frames between their keys.

    Parameters
    ----------
    motions : by name, each played from its first pose
    rig : whose joints they move
    rate : about so many frames per second are written between poses that are farther apart
    cost : of one such frame, in frames of a skeleton
    """

    def __init__(self, motions: Mapping[str, Motion], rig: Rig, rate: float, cost: int = 1) -> None:
        self._names = short_names(motions)
        self._keys: list[Motion] = []
        self._frames: list[Motion] = []
        for name, motion in motions.items():
            try:
                self._keys.append(in_order(motion, rig))
                self._frames.append(with_frames(self._keys[-1], rate, cost))
            except InputError as error:
                raise InputError(f"clip {name!r}: {error}" if len(motions) > 1 else str(error)) from None

    @property
    def frames(self) -> Motion | None:
        """The frames of all clips, one after the other; None where there is no clip."""
        return joined(self._frames) if self._frames else None

    def animations(
        self, output: Output, moved: Motion, nodes: JointNodes, targets: Sequence[Sequence[Target]], scale: float
    ) -> list[Json]:
        """Return the animations.

        Parameters
        ----------
        output : where their arrays go
        moved : `frames` of all joints that are nodes
        nodes : these joints
        targets : those of each mesh, made for `frames`
        scale : of translations
        """
        made: list[Json] = []
        first = 0
        for name, keys, frames in zip(self._names, self._keys, self._frames, strict=True):
            rows = slice(first, first := first + len(frames))
            weights = [np.stack([target.weights[rows] for target in moving], axis=1) for moving in targets if moving]
            numbers = [len(nodes.nodes) + k for k, moving in enumerate(targets) if moving]
            played = dict(zip(numbers, weights, strict=True))
            made.append({"name": name, **_animation(output, moved[rows], nodes, played, scale), **_pose_names(keys)})
        return made


def _animation(output: Output, frames: Motion, nodes: JointNodes, weights: Mapping[int, Floats], scale: float) -> Json:
    """Return the animation of the joints, and of the `weights` (P, targets) of the meshes of some nodes."""
    samplers, channels = list[Json](), list[Json]()
    times = output.add(frames.times.astype(np.float32), bounds=True)

    def play(node: int, path: str, values: Floats) -> None:
        samplers.append({"input": times, "output": output.add(values.astype(np.float32)), "interpolation": "LINEAR"})
        channels.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": path}})

    rotates = (frames.rotations != nodes.rest_rotations).any(axis=(0, 2))
    rotates[0] |= not rotates.any()  # an animation has at least one channel
    translates = (frames.translations != 0).any(axis=(0, 2))
    for joint, node in enumerate(nodes.joints):
        if rotates[joint]:
            play(node, "rotation", frames.rotations[:, joint])
        if translates[joint]:
            play(node, "translation", nodes.origins[joint] + scale * frames.translations[:, joint])
    for node, values in weights.items():
        play(node, "weights", values.reshape(-1))
    return {"samplers": samplers, "channels": channels}


def _pose_names(keys: Motion) -> Json:
    """Return the names of the poses and when they are, where they have names of their own."""
    if all(name.isdecimal() for name in keys.names):
        return {}
    return {"extras": {"poseNames": list(keys.names), "poseTimes": [float(time) for time in keys.times]}}
