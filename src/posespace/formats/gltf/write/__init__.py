"""A skin as a glTF 2.0 file: the rig, a morph target for each component of its layers, and a motion as animation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from posespace.check import Floats
from posespace.errors import InputError
from posespace.formats.gltf import meshopt
from posespace.formats.gltf.extension import EXTENSION
from posespace.formats.gltf.grid import QUANTIZED, Grid
from posespace.formats.gltf.write.buffers import Output
from posespace.formats.gltf.write.drivers import file_drivers
from posespace.formats.gltf.write.frames import in_order, with_frames
from posespace.formats.gltf.write.joints import Bones, make_nodes
from posespace.formats.gltf.write.looks import look_objects
from posespace.formats.gltf.write.morph_targets import Target, make_targets, stretched
from posespace.formats.gltf.write.placement import UPS, Placement
from posespace.formats.gltf.write.surfaces import make_surfaces
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.rig import Rig
from posespace.skin import Skin


def write(
    path: Path,
    skin: Skin,
    motion: Motion | None = None,
    rate: float = 30.0,
    unit: float | None = None,
    up: str = "y",
    compression: str = "none",
) -> list[str]:
    """Write a skin, and a motion of it, to a `.glb` or `.gltf` file; returns one line on each thing it cannot hold.

    The settings are those of `formats.export.export`, `unit` in metres.
    """
    if not len(skin.rig.mesh.triangles):
        raise InputError("skin: expected a mesh with triangles, got none")
    keys = None if motion is None else in_order(motion, skin.rig)
    frames = None if keys is None else with_frames(keys, rate)
    place = Placement(skin.rig.mesh.unit if unit is None else unit, UPS[up])
    rig, look = place.rig(skin.rig), skin.rig.mesh.look
    targets = make_targets(skin, Motion.from_poses([Pose.rest(skin.rig.skeleton)]), frames)
    output, bones = Output(), make_nodes(rig)
    grid = None
    if compression != "none":
        grid = _grid(rig, targets, place)
        targets = stretched(targets, grid.size / place.scale)
    surfaces = make_surfaces(output, path.stem, rig, look, targets, place, grid)
    bind = bones.inverse_bind if grid is None else grid.bind(bones.inverse_bind)
    first = len(bones.nodes)
    parts: dict[str, Any] = {
        "scene": 0,
        "scenes": [{"nodes": [0, *range(first, first + len(surfaces))]}],
        "nodes": [
            *bones.nodes,
            *({"name": each.mesh["name"], "mesh": k, "skin": 0} for k, each in enumerate(surfaces)),
        ],
        **_extended(look_objects(output, look), file_drivers(output, skin, bones, place, up, grid), compression),
        "meshes": [each.mesh for each in surfaces],
        "skins": [{"joints": bones.joints, "skeleton": 0, "inverseBindMatrices": _matrices(output, bind)}],
    }
    if keys is not None and frames is not None:
        moved = [each.targets for each in surfaces]
        animation = _animation(output, frames, rig, bones, moved, place.scale)
        parts["animations"] = [{**animation, **_pose_names(keys)}]
    output.save(path, parts, compressed=compression == "meshopt")
    return _left_out(skin)


def _grid(rig: Rig, targets: Sequence[Target], place: Placement) -> Grid:
    """The grid on which the positions and displacements of a file are whole numbers."""
    return Grid.around(rig.mesh.points, (place.offsets(each.points) for each in targets if each.points is not None))


def _extended(objects: dict[str, Any], drivers: dict[str, Any], compression: str) -> dict[str, Any]:
    """Return the file's objects with its extensions; no player must know the one that drives its targets."""
    needed = {"none": [], "quantized": [QUANTIZED], "meshopt": [QUANTIZED, meshopt.EXTENSION]}[compression]
    required = [*objects.get("extensionsRequired", []), *needed]
    used = [*objects.get("extensionsUsed", []), *needed, EXTENSION]
    found = {**objects, "extensionsUsed": used, "extensions": {EXTENSION: drivers}}
    return {**found, "extensionsRequired": required} if required else found


def _left_out(skin: Skin) -> list[str]:
    notes = []
    if skin.detail is not None:
        notes.append("glTF has no relief on a subdivided surface: the skin's detail is left out")
    if skin.rig.blending != "linear":
        notes.append("glTF blends bones linearly: the skin's dual-quaternion blending is left out")
    return notes


def _matrices(output: Output, matrices: Floats) -> int:
    return output.add(np.swapaxes(matrices, 1, 2).reshape(-1, 16).astype(np.float32))


def _animation(
    output: Output, frames: Motion, rig: Rig, bones: Bones, targets: Sequence[Sequence[Target]], scale: float
) -> dict[str, Any]:
    """Return the animation of the joints and of each mesh's `targets`; `scale` is that of shifts."""
    samplers, channels = list[dict[str, Any]](), list[dict[str, Any]]()
    times = output.add(frames.times.astype(np.float32), bounds=True)

    def play(node: int, path: str, values: Floats) -> None:
        samplers.append({"input": times, "output": output.add(values.astype(np.float32)), "interpolation": "LINEAR"})
        channels.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": path}})

    turns = (frames.rotations != rig.skeleton.rest_rotations).any(axis=(0, 2))
    turns[0] |= not turns.any()  # an animation has at least one channel
    shifts = (frames.translations != 0).any(axis=(0, 2))
    for joint, node in enumerate(bones.joints):
        if turns[joint]:
            play(node, "rotation", frames.rotations[:, joint])
        if shifts[joint]:
            play(node, "translation", bones.origins[joint] + scale * frames.translations[:, joint])
    for k, moved in enumerate(targets):
        if moved:
            play(len(bones.nodes) + k, "weights", np.stack([target.weights for target in moved], axis=1).reshape(-1))
    return {"name": "motion", "samplers": samplers, "channels": channels}


def _pose_names(keys: Motion) -> dict[str, Any]:
    """Return the names of the poses and when they are, where they have names of their own."""
    if all(name.isdecimal() for name in keys.names):
        return {}
    return {"extras": {"poseNames": list(keys.names), "poseTimes": [float(time) for time in keys.times]}}
