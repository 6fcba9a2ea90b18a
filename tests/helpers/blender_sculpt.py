"""Sculpts OBJ files in Blender, in a process and environment of its own that has `bpy`, and saves them again.

Its arguments are the files. Every vertex is pushed up by a fiftieth of how far it is to the left, as the files see it.
"""

from __future__ import annotations

import sys

import bpy

for file in sys.argv[1:]:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.obj_import(filepath=file)
    for thing in bpy.context.scene.objects:
        for vertex in thing.data.vertices:
            # The importer turns the object, and not its vertices, to Blender's axes.
            vertex.co.y += 0.02 * max(vertex.co.x, 0)
    bpy.ops.wm.obj_export(filepath=file, export_materials=False)
