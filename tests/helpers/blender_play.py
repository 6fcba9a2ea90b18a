"""Plays glTF files in Blender, in a process and environment of its own that has `bpy`.

Its one argument is a JSON file: a list of jobs {file, times, out}; the positions of all vertices at each time go to
`out` as float32, one frame after the other, in the file's axes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import bpy
import numpy as np

FRAMES_PER_SECOND = 30


def positions() -> np.ndarray:
    """All vertices (N, 3) as the modifiers and shape keys leave them, from Blender's axes back to glTF's."""
    graph = bpy.context.evaluated_depsgraph_get()
    found = []
    for thing in bpy.context.scene.objects:
        # The importer adds a small ball to draw joints with.
        if thing.type != "MESH" or not thing.modifiers:
            continue
        shown = thing.evaluated_get(graph)
        mesh = shown.to_mesh()
        points = np.empty(3 * len(mesh.vertices), np.float32)
        mesh.vertices.foreach_get("co", points)
        world = np.array(shown.matrix_world, np.float64)
        found.append(points.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3])
        shown.to_mesh_clear()
    x, y, z = np.concatenate(found).T
    return np.stack([x, z, -y], axis=1).astype(np.float32)


for job in json.loads(Path(sys.argv[1]).read_text()):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = FRAMES_PER_SECOND
    bpy.ops.import_scene.gltf(filepath=job["file"], merge_vertices=False)
    frames = []
    for time in job["times"]:
        whole, part = divmod(time * FRAMES_PER_SECOND, 1)
        scene.frame_set(int(whole), subframe=part)
        frames.append(positions())
    Path(job["out"]).write_bytes(np.stack(frames).tobytes())
