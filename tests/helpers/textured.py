"""A small glTF rig that has all there is to see: two meshes, materials, textures, colours, tangents, a blend shape."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
from helpers.gltf_files import TRIANGLE, Builder, skinned


def png(red: int, green: int, blue: int) -> bytes:
    """A PNG of one pixel."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    rows = zlib.compress(bytes([0, red, green, blue]))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def textured() -> Builder:
    """A body of two primitives and materials with the blend shape "smile", and a coloured hat, on two joints."""
    made = skinned()
    bound = made.json["meshes"][0]["primitives"][0]["attributes"]
    up = made.add([[0, 0, 1]] * 3)

    def triangle(height: float, **more: int) -> dict[str, Any]:
        place = np.asarray(TRIANGLE) + np.array([0, 0, height])
        return {**bound, "POSITION": made.add(place), "NORMAL": up, **more}

    smile = made.add([[0, 0, 0], [0, 0.1, 0], [0, 0, 0]])
    still = made.add(np.zeros((3, 3)))
    coordinates, tangents = made.add([[0, 0], [1, 0], [0, 1]]), made.add([[1, 0, 0, -1]] * 3)
    skin = triangle(0, TEXCOORD_0=coordinates, TANGENT=tangents)
    shirt = triangle(1)
    colours = made.add([[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255]], np.uint8, normalized=True)
    hat = triangle(2, COLOR_0=colours)
    made.json["meshes"] = [
        {
            "name": "body",
            "primitives": [
                {"attributes": skin, "material": 2, "targets": [{"POSITION": smile}]},
                {"attributes": shirt, "material": 0, "targets": [{"POSITION": still}]},
            ],
            "extras": {"targetNames": ["smile"]},
        },
        {"name": "hat", "primitives": [{"attributes": hat, "material": 0}]},
    ]
    made.json["nodes"][0]["name"] = "body"
    made.json["nodes"].append({"mesh": 1, "skin": 0, "name": "hat"})
    made.json["images"] = [
        {"bufferView": made.view(png(9, 9, 9)), "mimeType": "image/png"},
        {"bufferView": made.view(png(200, 100, 50)), "mimeType": "image/png", "name": "bark"},
    ]
    made.json["samplers"] = [{"wrapS": 33071, "minFilter": 9987}]
    made.json["textures"] = [{"source": 0}, {"source": 1, "sampler": 0}]
    made.json["materials"] = [
        {
            "name": "red",
            "pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1]},
            "extensions": {"KHR_materials_unlit": {}},
        },
        {"name": "unused", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}},
        {
            "name": "skin",
            "pbrMetallicRoughness": {"baseColorTexture": {"index": 1, "texCoord": 0}, "metallicFactor": 0},
            "normalTexture": {"index": 1, "scale": 0.5, "extensions": {"KHR_texture_transform": {"offset": [0.5, 0]}}},
            "doubleSided": True,
            "extensions": {"OTHER_toon": {"bands": 3}},
        },
    ]
    made.json["extensionsUsed"] = ["KHR_materials_unlit", "KHR_texture_transform", "OTHER_toon"]
    return made
