"""A mesh's look as objects of a glTF file: materials, textures, samplers, images, and attributes of vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.formats.gltf.write.buffers import VERTICES, Output
from posespace.formats.gltf.write.conversion import Conversion
from posespace.formats.gltf.write.names import shader_name
from posespace.formats.images import kind_of
from posespace.formats.materials import extensions_of, texture_infos
from posespace.look import Look

Json = dict[str, Any]

_CLAY = {"baseColorFactor": [0.75, 0.64, 0.55, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.7}
_WEBP = "EXT_texture_webp"


def look_objects(output: Output, look: Look | None) -> Json:
    """Return the file's materials and what they use; without any, one material of clay."""
    if look is None or not look.materials:
        return {"materials": [{"name": "clay", "pbrMetallicRoughness": _CLAY}]}
    kinds = [kind_of(image[:16].tobytes()) for image in look.images]
    images = [
        {"bufferView": output.add_bytes(image.tobytes()), "mimeType": kind}
        for image, kind in zip(look.images, kinds, strict=True)
    ]
    samplers: list[Json] = []
    textures: list[Json] = []
    for texture in look.textures:
        webp = kinds[texture["source"]] == "image/webp"
        source = {"source": texture["source"]}
        textures.append({"extensions": {_WEBP: source}} if webp else dict(source))
        if texture["sampler"]:
            if texture["sampler"] not in samplers:
                samplers.append(texture["sampler"])
            textures[-1]["sampler"] = samplers.index(texture["sampler"])
    used = [*extensions_of(look.materials), *([_WEBP] if "image/webp" in kinds else [])]
    objects: Json = {
        "materials": [_named(material) for material in look.materials],
        "textures": textures,
        "samplers": samplers,
        "images": images,
    }
    objects |= {"extensionsUsed": used, "extensionsRequired": [_WEBP] if _WEBP in used else []}
    return {key: values for key, values in objects.items() if values}


def _named(material: Json) -> Json:
    """The material with a name that is no code in a shader."""
    return {**material, "name": shader_name(material["name"])} if "name" in material else material


def look_attributes(output: Output, look: Look, rows: slice, conversion: Conversion) -> Json:
    """Return the accessors of what the look says of some vertices, besides normals."""
    attributes: Json = {}
    for name, values in look.attributes.items():
        stored = values[rows].astype(np.float32)
        if name == "NORMAL" or not _says_something(name, stored, look, rows):
            continue
        if name == "TANGENT":
            tangents = unit(conversion.directions(stored[:, :3]))
            stored = np.concatenate([tangents, np.where(stored[:, 3:] < 0, -1, 1)], axis=1).astype(np.float32)
        attributes[name] = output.add(np.clip(stored, 0, 1) if name.startswith("COLOR") else stored, VERTICES)
    return attributes


def _says_something(name: str, values: NDArray[np.float32], look: Look, rows: slice) -> bool:
    """Whether some vertices have an attribute, rather than another block of the mesh."""
    if name == "TANGENT":
        return bool(values[:, :3].any(axis=1).all())
    if name.startswith("COLOR"):
        return bool((values != 1).any())
    drawn = [piece.material for piece in look.pieces() if piece.vertices == rows and piece.material >= 0]
    return bool(values.any()) or any(texture_infos(look.materials[material]) for material in drawn)


def unit(directions: NDArray[Any]) -> NDArray[np.float32]:
    """Return directions (N, 3) of length one; one that has no length gets the z axis."""
    length = np.linalg.norm(directions.astype(np.float64), axis=1, keepdims=True)
    units = np.where(length > 0, directions / np.where(length > 0, length, 1), (0.0, 0.0, 1.0))
    return units.astype(np.float32)
