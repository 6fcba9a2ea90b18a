"""A skin as a glTF 2.0 file: the rig, a morph target for each component of its layers, and clips as animations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from posespace.check import Floats
from posespace.errors import InputError
from posespace.formats.gltf import meshopt
from posespace.formats.gltf.extension import EXTENSION
from posespace.formats.gltf.grid import QUANTIZED, Grid
from posespace.formats.gltf.write.animations import Clips
from posespace.formats.gltf.write.buffers import Output
from posespace.formats.gltf.write.conversion import UPS, Conversion
from posespace.formats.gltf.write.drivers import file_drivers
from posespace.formats.gltf.write.fallback import fallback_of
from posespace.formats.gltf.write.joints import make_nodes
from posespace.formats.gltf.write.looks import look_objects
from posespace.formats.gltf.write.morph_targets import Target, make_targets, stretched
from posespace.formats.gltf.write.node_rig import NodeRig
from posespace.formats.gltf.write.surfaces import make_surfaces
from posespace.formats.scene import Scene
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.rig import Rig
from posespace.skin.skin import Skin


def write(path: Path, scene: Scene) -> list[str]:
    """Write a scene to a `.glb` or `.gltf` file; returns one line on each thing that glTF cannot hold."""
    if scene.examples is not None:
        raise InputError("examples: only a page shows them; give a file that ends in .html")
    skin, compression = scene.skin, scene.compression
    if not len(skin.rig.mesh.triangles):
        raise InputError("skin: expected a mesh with triangles, got none")
    rigged = NodeRig.of(skin)
    clips = Clips(scene.clips, skin.rig, scene.rate, rigged.cost)
    conversion = Conversion(scene.metres, UPS[scene.up])
    moved, targets, notes = _played(rigged, clips, scene.is_for_all)
    grid = None
    if compression != "none":
        grid = _grid(skin.rig, targets, conversion)
        targets = stretched(targets, grid.size / conversion.scale)
    output, nodes = Output(), make_nodes(conversion.rig(rigged.rig))
    surfaces = make_surfaces(output, path.stem, rigged, targets, conversion, grid)
    joints = rigged.skin_joints
    bind = nodes.inverse_bind[joints] if grid is None else grid.bind(nodes.inverse_bind[joints])
    first, drivers = len(nodes.nodes), partial(file_drivers, output, skin, nodes, conversion, scene.up, grid)
    parts: dict[str, Any] = {
        "scene": 0,
        "scenes": [{"nodes": [0, *range(first, first + len(surfaces))]}],
        "nodes": [
            *nodes.nodes,
            *({"name": surface.mesh["name"], "mesh": k, "skin": 0} for k, surface in enumerate(surfaces)),
        ],
        **_extended(look_objects(output, skin.rig.mesh.look), drivers(), compression),
        "meshes": [surface.mesh for surface in surfaces],
        "skins": [
            {
                "joints": [nodes.joints[joint] for joint in joints],
                "skeleton": 0,
                "inverseBindMatrices": _matrices(output, bind),
            }
        ],
    }
    if moved is not None:
        targets_of = [surface.targets for surface in surfaces]
        parts["animations"] = clips.animations(output, moved, nodes, targets_of, conversion.scale)
    output.save(path, parts, compressed=compression == "meshopt")
    return [*_left_out(skin, scene.is_for_all), *notes]


def _played(rigged: NodeRig, clips: Clips, is_for_all: bool) -> tuple[Motion | None, list[Target], list[str]]:
    """The motion of all nodes in the frames of the clips, None without clips; the morph targets; and notes on them."""
    skin, rest = rigged.skin, Motion.from_poses([Pose.rest(rigged.skin.rig.skeleton)])
    frames = clips.frames
    if frames is None:
        return None, make_targets(skin, rest, None), []
    if not is_for_all:
        return rigged.unbaked(frames), make_targets(skin, rest, frames), []
    moved, amounts = rigged.baked(frames)
    fallback = fallback_of(skin, rigged.baked(rest)[1][0], amounts)
    return moved, make_targets(skin, rest, frames, fallback.components), fallback.notes()


def _grid(rig: Rig, targets: Sequence[Target], conversion: Conversion) -> Grid:
    """The grid on which the positions and displacements of a file are whole numbers."""
    return Grid.around(
        conversion.rig(rig).mesh.points,
        (conversion.offsets(target.points) for target in targets if target.points is not None),
    )


def _extended(objects: dict[str, Any], drivers: dict[str, Any], compression: str) -> dict[str, Any]:
    """Return the file's objects with its extensions; no player must know the one that drives its targets."""
    needed = {"none": [], "quantized": [QUANTIZED], "meshopt": [QUANTIZED, meshopt.EXTENSION]}[compression]
    required = [*objects.get("extensionsRequired", []), *needed]
    used = [*objects.get("extensionsUsed", []), *needed, EXTENSION]
    extended = {**objects, "extensionsUsed": used, "extensions": {EXTENSION: drivers}}
    return {**extended, "extensionsRequired": required} if required else extended


def _left_out(skin: Skin, is_for_all: bool) -> list[str]:
    """Lines on what programs do not show of a skin: all of them, or those that know its drivers."""
    notes = []
    if skin.detail is not None and is_for_all:
        notes.append("viewers that do not know POSESPACE_drivers show the surface without the skin's detail")
    if skin.rig.blending != "linear":
        notes.append("glTF blends bones linearly: the skin's dual-quaternion blending is left out")
    return notes


def _matrices(output: Output, matrices: Floats) -> int:
    return output.add(np.swapaxes(matrices, 1, 2).reshape(-1, 16).astype(np.float32))
