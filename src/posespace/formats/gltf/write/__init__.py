"""A skin as a glTF 2.0 file: the rig, a morph target for each component of its layers, and clips as animations."""

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
from posespace.formats.gltf.write.animations import Clips
from posespace.formats.gltf.write.buffers import Output
from posespace.formats.gltf.write.conversion import UPS, Conversion
from posespace.formats.gltf.write.drivers import file_drivers
from posespace.formats.gltf.write.joints import make_nodes
from posespace.formats.gltf.write.looks import look_objects
from posespace.formats.gltf.write.morph_targets import Target, make_targets, stretched
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
    skin, up, compression = scene.skin, scene.up, scene.compression
    if not len(skin.rig.mesh.triangles):
        raise InputError("skin: expected a mesh with triangles, got none")
    played = Clips(scene.clips, skin.rig, scene.rate)
    conversion = Conversion(scene.metres, UPS[up])
    rig, look = conversion.rig(skin.rig), skin.rig.mesh.look
    targets = make_targets(skin, Motion.from_poses([Pose.rest(skin.rig.skeleton)]), played.frames)
    output, bones = Output(), make_nodes(rig)
    grid = None
    if compression != "none":
        grid = _grid(rig, targets, conversion)
        targets = stretched(targets, grid.size / conversion.scale)
    surfaces = make_surfaces(output, path.stem, rig, look, targets, conversion, grid)
    bind = bones.inverse_bind if grid is None else grid.bind(bones.inverse_bind)
    first = len(bones.nodes)
    parts: dict[str, Any] = {
        "scene": 0,
        "scenes": [{"nodes": [0, *range(first, first + len(surfaces))]}],
        "nodes": [
            *bones.nodes,
            *({"name": surface.mesh["name"], "mesh": k, "skin": 0} for k, surface in enumerate(surfaces)),
        ],
        **_extended(look_objects(output, look), file_drivers(output, skin, bones, conversion, up, grid), compression),
        "meshes": [surface.mesh for surface in surfaces],
        "skins": [{"joints": bones.joints, "skeleton": 0, "inverseBindMatrices": _matrices(output, bind)}],
    }
    if scene.clips:
        targets_of = [surface.targets for surface in surfaces]
        parts["animations"] = played.animations(output, rig, bones, targets_of, conversion.scale)
    output.save(path, parts, compressed=compression == "meshopt")
    return _left_out(skin)


def _grid(rig: Rig, targets: Sequence[Target], conversion: Conversion) -> Grid:
    """The grid on which the positions and displacements of a file are whole numbers."""
    return Grid.around(
        rig.mesh.points, (conversion.offsets(target.points) for target in targets if target.points is not None)
    )


def _extended(objects: dict[str, Any], drivers: dict[str, Any], compression: str) -> dict[str, Any]:
    """Return the file's objects with its extensions; no player must know the one that drives its targets."""
    needed = {"none": [], "quantized": [QUANTIZED], "meshopt": [QUANTIZED, meshopt.EXTENSION]}[compression]
    required = [*objects.get("extensionsRequired", []), *needed]
    used = [*objects.get("extensionsUsed", []), *needed, EXTENSION]
    extended = {**objects, "extensionsUsed": used, "extensions": {EXTENSION: drivers}}
    return {**extended, "extensionsRequired": required} if required else extended


def _left_out(skin: Skin) -> list[str]:
    """Lines on what glTF cannot hold of a skin."""
    notes = []
    if skin.detail is not None:
        notes.append("glTF has no height map on a subdivided surface: the skin's detail is left out")
    if skin.rig.blending != "linear":
        notes.append("glTF blends bones linearly: the skin's dual-quaternion blending is left out")
    return notes


def _matrices(output: Output, matrices: Floats) -> int:
    return output.add(np.swapaxes(matrices, 1, 2).reshape(-1, 16).astype(np.float32))
