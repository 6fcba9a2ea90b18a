"""Plays glTF files in Blender, in a process and environment of its own that has `bpy`.

Its one argument is a JSON file: a list of jobs {file, times, out}; the positions of all vertices at each time go to
`out` as float32, one frame after the other, in the file's axes. A job may also have a `picture`, the PNG file that the
first of its times is rendered to, and `size`, its width and height.
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


def render(points: np.ndarray, picture: str, size: tuple[int, int]) -> None:
    """Render the scene from the front and a little from the side, by its colours alone: no light falls on it."""
    scene = bpy.context.scene
    for material in bpy.data.materials:
        _show_colours(material)
    low, high = points.min(axis=0), points.max(axis=0)
    centre, radius = (low + high) / 2, float(np.linalg.norm(high - low)) / 2
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    scene.collection.objects.link(camera)
    camera.data.type, camera.data.ortho_scale = "ORTHO", 2 * radius
    turn = 0.5
    away = np.array([np.sin(turn), -np.cos(turn), 0.0]) * 3 * radius
    camera.location = np.array([centre[0], -centre[2], centre[1]]) + away
    camera.rotation_euler = (np.pi / 2, 0, turn)
    camera.data.clip_end = 10 * radius
    scene.camera = camera
    scene.render.engine, scene.cycles.samples, scene.cycles.device = "CYCLES", 8, "CPU"
    scene.render.resolution_x, scene.render.resolution_y = size
    scene.render.film_transparent = True
    scene.view_settings.view_transform = "Standard"
    scene.render.filepath = picture
    bpy.ops.render.render(write_still=True)


def _show_colours(material: object) -> None:
    """Make a material glow in its own base colour."""
    nodes, links = material.node_tree.nodes, material.node_tree.links
    shaders = [node for node in nodes if node.type == "BSDF_PRINCIPLED"]
    outputs = [node for node in nodes if node.type == "OUTPUT_MATERIAL"]
    if not shaders or not outputs:
        return
    colour, glow = shaders[0].inputs["Base Color"], nodes.new("ShaderNodeEmission")
    if colour.is_linked:
        links.new(colour.links[0].from_socket, glow.inputs["Color"])
    else:
        glow.inputs["Color"].default_value = colour.default_value
    links.new(glow.outputs[0], outputs[0].inputs["Surface"])


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
        if "picture" in job and len(frames) == 1:
            render(frames[0], job["picture"], job["size"])
    Path(job["out"]).write_bytes(np.stack(frames).tobytes())
