"""A skin as a glTF 2.0 file: the rig, a morph target for each component of its layers, and a motion as animation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.errors import InputError
from posespace.formats.gltf.write.buffers import INDICES, VERTICES, Output, smallest_type
from posespace.formats.gltf.write.joints import Bones, make_nodes
from posespace.formats.gltf.write.morph_targets import Targets, make_targets
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.rig import Rig
from posespace.skin import Skin

_CLAY = {"baseColorFactor": [0.75, 0.64, 0.55, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.7}


def write(path: Path, skin: Skin, motion: Motion | None = None) -> list[str]:
    """Write a skin, and a motion of it, to a `.glb` or `.gltf` file; returns one line on each thing it cannot hold."""
    rig = skin.rig
    if not len(rig.mesh.triangles):
        raise InputError("skin: expected a mesh with triangles, got none")
    keys = None if motion is None else _in_order(motion, rig)
    output, bones = Output(), make_nodes(rig)
    targets = make_targets(output, skin, Motion.from_poses([Pose.rest(rig.skeleton)]), keys)
    parts: dict[str, Any] = {
        "scene": 0,
        "scenes": [{"nodes": [0, len(bones.nodes)]}],
        "nodes": [*bones.nodes, {"name": path.stem, "mesh": 0, "skin": 0}],
        "materials": [{"name": "clay", "pbrMetallicRoughness": _CLAY}],
        "meshes": [_mesh(output, path.stem, rig, targets)],
        "skins": [
            {"joints": bones.joints, "skeleton": 0, "inverseBindMatrices": _matrices(output, bones.inverse_bind)}
        ],
    }
    if keys is not None:
        parts["animations"] = [_animation(output, keys, rig, bones, targets)]
    output.save(path, parts)
    return _left_out(skin)


def _left_out(skin: Skin) -> list[str]:
    notes = []
    if skin.detail is not None:
        notes.append("glTF has no relief on a subdivided surface: the skin's detail is left out")
    if skin.rig.blending != "linear":
        notes.append("glTF blends bones linearly: the skin's dual-quaternion blending is left out")
    return notes


def _in_order(motion: Motion, rig: Rig) -> Motion:
    """The motion sorted by time, from 0 or later, as an animation must be."""
    have, want = motion.rotations.shape[1], len(rig.skeleton)
    if have != want or not len(motion):
        raise InputError(f"motion: expected poses of {want} joints as in the rig, got {len(motion)} poses of {have}")
    sorted_by_time = motion[np.argsort(motion.times, kind="stable")]
    times = np.asarray(sorted_by_time.times, dtype=np.float64)
    times = (times - min(times[0], 0.0)).astype(np.float32)
    if (np.diff(times) <= 0).any():
        raise InputError("motion times: expected each time once, got two poses at the same time")
    turn = sorted_by_time.rotations.copy()
    # Of the two quaternions of a rotation, the one closer to the pose before: not all players take the shortest way.
    flips = np.where((turn[1:] * turn[:-1]).sum(axis=2) < 0, -1.0, 1.0)
    turn[1:] *= np.cumprod(flips, axis=0)[..., None]
    return Motion(
        turn,
        sorted_by_time.translations,
        times,
        controls=sorted_by_time.controls,
        control_names=sorted_by_time.control_names,
    )


def _mesh(output: Output, name: str, rig: Rig, targets: Targets) -> dict[str, Any]:
    mesh = rig.mesh
    count = len(mesh.points)
    attributes = {
        "POSITION": output.add(mesh.points.astype(np.float32), VERTICES, bounds=True),
        "NORMAL": output.add(_unit(rig.normals), VERTICES),
    }
    joints, weights = _influences(rig)
    for k in range(joints.shape[1] // 4):
        four = slice(4 * k, 4 * k + 4)
        attributes[f"JOINTS_{k}"] = output.add(joints[:, four], VERTICES)
        attributes[f"WEIGHTS_{k}"] = output.add(weights[:, four], VERTICES)
    corners = mesh.triangles.astype(smallest_type(count)).reshape(-1)
    primitive = {"attributes": attributes, "indices": output.add(corners, INDICES), "material": 0}
    if not targets.names:
        return {"name": name, "primitives": [primitive]}
    primitive["targets"] = targets.accessors
    extras = {"targetNames": targets.names, "coordinateScales": targets.scales.tolist()}
    return {"name": name, "primitives": [primitive], "weights": targets.shown.tolist(), "extras": extras}


def _influences(rig: Rig) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Joints and weights (N, 4 k), strongest first, no joint twice, each row summing to one in single precision."""
    joints, weights = rig.influences.copy(), rig.weights.astype(np.float64)
    slots = weights.shape[1]
    for first in range(slots):
        for second in range(first + 1, slots):
            same = joints[:, first] == joints[:, second]
            weights[same, first] += weights[same, second]
            weights[same, second] = 0
    order = np.argsort(-weights, axis=1, kind="stable")
    joints, weights = np.take_along_axis(joints, order, axis=1), np.take_along_axis(weights, order, axis=1)
    used = int((weights > 0).any(axis=0).sum())
    wide = -(-used // 4) * 4
    single = np.zeros((len(weights), wide), np.float32)
    single[:, :used] = weights[:, :used]
    single[:, 0] = 1 - single[:, 1:].sum(axis=1, dtype=np.float64)
    small = np.uint8 if len(rig.skeleton) <= 2**8 else np.uint16
    where = np.zeros(single.shape, small)
    where[:, :used] = joints[:, :used]
    return np.where(single > 0, where, 0).astype(small), single


def _unit(normals: Floats) -> NDArray[np.float32]:
    """Unit normals (N, 3); a vertex in no triangle has none and gets the z axis."""
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    given = np.where(length > 0, normals / np.where(length > 0, length, 1), (0.0, 0.0, 1.0))
    return given.astype(np.float32)


def _matrices(output: Output, matrices: Floats) -> int:
    return output.add(np.swapaxes(matrices, 1, 2).reshape(-1, 16).astype(np.float32))


def _animation(output: Output, keys: Motion, rig: Rig, bones: Bones, targets: Targets) -> dict[str, Any]:
    samplers, channels = list[dict[str, Any]](), list[dict[str, Any]]()
    times = output.add(keys.times.astype(np.float32), bounds=True)

    def play(node: int, path: str, values: Floats) -> None:
        samplers.append({"input": times, "output": output.add(values.astype(np.float32)), "interpolation": "LINEAR"})
        channels.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": path}})

    turns = (keys.rotations != rig.skeleton.rest_rotations).any(axis=(0, 2))
    turns[0] |= not turns.any()  # an animation has at least one channel
    shifts = (keys.translations != 0).any(axis=(0, 2))
    for joint, node in enumerate(bones.joints):
        if turns[joint]:
            play(node, "rotation", keys.rotations[:, joint])
        if shifts[joint]:
            play(node, "translation", bones.origins[joint] + keys.translations[:, joint])
    if targets.names:
        play(len(bones.nodes), "weights", targets.weights.reshape(-1))
    return {"name": "motion", "samplers": samplers, "channels": channels}
