"""Materials and textures in glTF's words, checked: numbers in their ranges, references inside, nothing else kept."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from posespace.errors import InputError
from posespace.formats.checked_json import Fields

Json = dict[str, Any]

_FACTORS = {"metallicFactor": 1, "roughnessFactor": 1}
_TEXTURES = {"normalTexture": "scale", "occlusionTexture": "strength", "emissiveTexture": ""}
_MOST_NUMBERS = 16
_MODES = ("OPAQUE", "MASK", "BLEND")
_FILTERS, _WRAPS = (9728, 9729, 9984, 9985, 9986, 9987), (33071, 33648, 10497)
_SETTINGS = {"magFilter": _FILTERS[:2], "minFilter": _FILTERS, "wrapS": _WRAPS, "wrapT": _WRAPS}

Textures = Sequence[int | None]
"""The number that each texture of the file gets; None for one that is left out."""


def checked_material(fields: Fields, textures: Textures) -> Json:
    """Return a material with the textures that are kept; raise where it is not what glTF allows."""
    material: Json = {"name": fields.text("name")} if "name" in fields else {}
    if "pbrMetallicRoughness" in fields:
        material["pbrMetallicRoughness"] = _base(fields.part("pbrMetallicRoughness"), textures)
    for key, factor in _TEXTURES.items():
        if (info := _texture_info(fields, key, textures)) is not None:
            if factor and factor in fields.part(key):
                info[factor] = _number(fields.part(key), factor, 1 if factor == "strength" else None)
            material[key] = info
    if "emissiveFactor" in fields:
        material["emissiveFactor"] = _colour(fields, "emissiveFactor", 3)
    if "alphaMode" in fields:
        material["alphaMode"] = _one_of(fields, "alphaMode", fields.text("alphaMode"), _MODES)
    if material.get("alphaMode") == "MASK" and "alphaCutoff" in fields:
        material["alphaCutoff"] = _number(fields, "alphaCutoff", None)
    if fields.flag("doubleSided", False):
        material["doubleSided"] = True
    extensions = fields.part("extensions", {})
    kept = {
        name: _extension(extensions.part(name), textures)
        for name in extensions
        if name.startswith("KHR_materials_") and len(name) < 64
    }
    return material | ({"extensions": kept} if kept else {})


def checked_texture(fields: Fields, images: int) -> Json:
    """Return a texture of one of so many images; raise where its sampler is not what glTF allows."""
    sampler = fields.part("sampler", {})
    return {"source": fields.integer("source", below=images), "sampler": checked_sampler(sampler)}


def checked_sampler(fields: Fields) -> Json:
    """Return how a texture is sampled."""
    return {key: _one_of(fields, key, fields.integer(key), _SETTINGS[key]) for key in _SETTINGS if key in fields}


def texture_infos(material: Json) -> list[Json]:
    """Return the places of a checked material where a texture is named."""
    infos: list[Json] = []
    for value in material.values():
        if isinstance(value, dict):
            infos += [value] if "index" in value else texture_infos(value)
    return infos


def extensions_of(materials: Sequence[Json]) -> list[str]:
    """Return the extensions that checked materials use, each once."""
    names: dict[str, None] = {}
    for material in materials:
        names |= dict.fromkeys(material.get("extensions", {}))
        names |= dict.fromkeys(name for info in texture_infos(material) for name in info.get("extensions", {}))
    return list(names)


def _base(fields: Fields, textures: Textures) -> Json:
    base: Json = {}
    if "baseColorFactor" in fields:
        base["baseColorFactor"] = _colour(fields, "baseColorFactor", 4)
    base |= {key: _number(fields, key, most) for key, most in _FACTORS.items() if key in fields}
    for key in ("baseColorTexture", "metallicRoughnessTexture"):
        if (info := _texture_info(fields, key, textures)) is not None:
            base[key] = info
    return base


def _texture_info(fields: Fields, key: str, textures: Textures) -> Json | None:
    if key not in fields:
        return None
    info = fields.part(key)
    index = textures[info.integer("index", below=len(textures))]
    if index is None:
        return None
    texture: Json = {"index": index}
    if "texCoord" in info:
        texture["texCoord"] = info.integer("texCoord", below=8)
    moves = info.part("extensions", {})
    if "KHR_texture_transform" in moves:
        move, name = moves.part("KHR_texture_transform"), "KHR_texture_transform"
        kept: Json = {part: move.numbers(part, 2) for part in ("offset", "scale") if part in move}
        kept |= {"rotation": move.number("rotation")} if "rotation" in move else {}
        kept |= {"texCoord": move.integer("texCoord", below=8)} if "texCoord" in move else {}
        texture["extensions"] = {name: kept}
    return texture


def _extension(fields: Fields, textures: Textures) -> Json:
    """Return what a material's extension holds: numbers, lists of numbers, flags and textures."""
    extension: Json = {}
    for key in fields:
        value = fields.values[key]
        if isinstance(value, bool):
            extension[key] = value
        elif isinstance(value, int | float):
            extension[key] = fields.number(key)
        elif isinstance(value, list) and len(value) <= _MOST_NUMBERS:
            extension[key] = fields.numbers(key)
        elif isinstance(value, dict) and "index" in value and (info := _texture_info(fields, key, textures)):
            if "scale" in value:
                info["scale"] = fields.part(key).number("scale")
            extension[key] = info
    return extension


def _colour(fields: Fields, key: str, count: int) -> list[float]:
    values = fields.numbers(key, count)
    if not all(0 <= value <= 1 for value in values):
        raise InputError(f"{fields.where}: {key}: expected numbers from 0 to 1, got {values}")
    return values


def _number(fields: Fields, key: str, most: float | None) -> float:
    value = fields.number(key)
    if most is not None and not 0 <= value <= most:
        raise InputError(f"{fields.where}: {key}: expected a number from 0 to {most}, got {value}")
    return value


def _one_of(fields: Fields, key: str, value: Any, allowed: Container[Any]) -> Any:
    if value not in allowed:
        raise InputError(f"{fields.where}: {key}: expected one of glTF's values, got {value!r:.40}")
    return value
