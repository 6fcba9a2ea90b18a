"""The looks of a glTF file's meshes: names, materials, images and attributes, as far as they are used.

A look is no reason to refuse a file: what is wrong in it is left out with a note.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from posespace.check import Floats
from posespace.errors import InputError
from posespace.formats.checked_json import Fields
from posespace.formats.gltf.buffers import Document
from posespace.formats.gltf.meshes import MeshNode, Primitive
from posespace.formats.images import kind_of
from posespace.formats.materials import checked_material, checked_sampler
from posespace.look import WIDTHS, Bytes, Look, width_of

_MOST_SETS = 8
"""Sets of texture coordinates or colours that are kept."""


class Looks:
    """Reads the looks of a file; an image or attribute that several meshes share is read once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._materials, self.textures, self._images, self._samplers = (
            self._objects(kind) for kind in ("material", "texture", "image", "sampler")
        )
        self._loaded: dict[int, Bytes | None] = {}
        self._read: dict[tuple[int, str], Floats | None] = {}

    def look(self, parts: Sequence[MeshNode], names: Sequence[str]) -> Look | None:
        """Return the look of joined meshes, called `names`, in their order; None where it says nothing."""
        blocks, groups = list[tuple[int, int]](), list[tuple[int, int, int]]()
        for number, part in enumerate(parts):
            groups += [(len(blocks) + block, material, count) for block, material, count in part.mesh.groups]
            blocks += [(number, len(primitive.points)) for primitive in part.mesh.primitives]
        attributes = self._attributes(parts, sum(count for _, count in blocks))
        kept = _Kept(self)
        numbers: dict[int, int] = {-1: -1}
        materials: list[dict[str, Any]] = []
        for used in sorted({material for _, material, _ in groups} - {-1}):
            loaded = self._material(used, kept)
            numbers[used] = -1 if loaded is None else len(materials)
            materials += [] if loaded is None else [loaded]
        renumbered = [(block, numbers[material], count) for block, material, count in groups]
        if len(groups) == 1 and not (materials or attributes):
            return None
        return Look(
            tuple(names),
            np.array(blocks, np.int32).reshape(-1, 2),
            np.array(renumbered, np.int32).reshape(-1, 3),
            attributes,
            tuple(materials),
            tuple(kept.textures),
            tuple(kept.images),
        )

    def texture(self, number: int) -> tuple[int, dict[str, Any]] | None:
        """Return the image and the sampler of a texture; None where there is no such image."""
        fields = self.textures[number]
        try:
            webp = fields.part("extensions", {}).part("EXT_texture_webp", {})
            image = (webp if "source" in webp else fields).reference("source", len(self._images))
            sampler = fields.reference("sampler", len(self._samplers))
            settings = {} if sampler is None else checked_sampler(self._samplers[sampler])
        except InputError as error:
            self._document.note(f"{error}: it is left out")
            return None
        if image is None:
            self._document.note("textures in a format of an extension are left out")
            return None
        return None if self.image(image) is None else (image, settings)

    def image(self, number: int) -> Bytes | None:
        """Return the bytes of an image file; None where they are missing or no image."""
        if number not in self._loaded:
            self._loaded[number] = self._image(self._images[number])
        return self._loaded[number]

    def _objects(self, kind: str) -> list[Fields]:
        try:
            return self._document.root.parts(f"{kind}s", kind, ())
        except InputError as error:
            self._document.note(f"{error}: all {kind}s are left out")
            return []

    def _image(self, fields: Fields) -> Bytes | None:
        try:
            data = self._document.bytes_of(fields)
        except InputError as error:
            self._document.note(f"{fields.where} is left out: {error}")
            return None
        if kind_of(bytes(data[:16])) is None:
            self._document.note(f"{fields.where} is not a PNG, JPEG or WebP image: it is left out")
            return None
        return np.frombuffer(bytes(data), np.uint8)

    def _material(self, number: int, kept: _Kept) -> dict[str, Any] | None:
        if number >= len(self._materials):
            self._document.note(f"material {number} is not in the file: it is left out")
            return None
        try:
            return checked_material(self._materials[number], kept)
        except InputError as error:
            self._document.note(f"{error}: the material is left out")
            return None

    def _attributes(self, parts: Sequence[MeshNode], count: int) -> dict[str, Floats]:
        """Return the attributes (N, width) that any block has; colours are white elsewhere, all others zero."""
        attributes: dict[str, Floats] = {}
        start = 0
        for part in parts:
            for primitive in part.mesh.primitives:
                rows = slice(start, start := start + len(primitive.points))
                for name in primitive.others:
                    values = self._attribute(primitive, name)
                    if values is None:
                        continue
                    if name not in attributes:
                        self._document.budget.hold(count * width_of(name), name)
                        attributes[name] = np.full((count, width_of(name)), float(name.startswith("COLOR")), np.float32)
                    attributes[name][rows] = _moved(name, values, part.move)
        return attributes

    def _attribute(self, primitive: Primitive, name: str) -> Floats | None:
        key = (id(primitive), name)
        if key not in self._read:
            kind, _, number = name.partition("_")
            known = kind in WIDTHS and (number in map(str, range(_MOST_SETS)) or name in ("NORMAL", "TANGENT"))
            try:
                self._read[key] = self._values(primitive, name) if known else None
            except InputError as error:
                self._document.note(f"{error}: it is left out")
                self._read[key] = None
        return self._read[key]

    def _values(self, primitive: Primitive, name: str) -> Floats:
        accessor, width = primitive.others[name], width_of(name)
        if name.startswith("COLOR") and self._document.kind(accessor) == "VEC3":
            width = 3
        values = self._document.floats(accessor, f"VEC{width}", f"{primitive.where} {name}", len(primitive.points))
        if width < width_of(name):
            return np.concatenate([values, np.ones((len(values), 1), np.float32)], axis=1)
        if name in ("NORMAL", "TANGENT") and not values[:, :3].any(axis=1).all():
            raise InputError(f"{primitive.where} {name}: expected directions, got some of no length")
        return values


class _Kept(Sequence[int | None]):
    """The numbers that textures get as a look begins to use them; None for those that are left out."""

    def __init__(self, looks: Looks) -> None:
        self._looks = looks
        self._numbers: dict[int, int | None] = {}
        self._image_numbers: dict[int, int] = {}
        self.textures: list[dict[str, Any]] = []
        self.images: list[Bytes] = []

    def __len__(self) -> int:
        return len(self._looks.textures)

    def __getitem__(self, number: Any) -> Any:
        if number not in self._numbers:
            self._numbers[number] = self._keep(number)
        return self._numbers[number]

    def _keep(self, number: int) -> int | None:
        texture = self._looks.texture(number)
        if texture is None:
            return None
        image, sampler = texture
        if image not in self._image_numbers:
            data = self._looks.image(image)
            assert data is not None
            self._image_numbers[image] = len(self.images)
            self.images.append(data)
        self.textures.append({"source": self._image_numbers[image], "sampler": sampler})
        return len(self.textures) - 1


def _moved(name: str, values: Floats, move: Floats) -> Floats:
    """Return directions rotated with the mesh; other attributes stay as they are."""
    linear = move[:3, :3]
    if name not in ("NORMAL", "TANGENT") or np.array_equal(linear, np.eye(3)):
        return values
    reflected = np.linalg.det(linear) < 0
    carry = np.linalg.inv(linear).T if name == "NORMAL" else linear
    directions = values[:, :3] @ carry.T
    length = np.linalg.norm(directions, axis=1, keepdims=True)
    unit = directions / np.where(length > 0, length, 1)
    return np.concatenate([unit, values[:, 3:] * (-1 if reflected else 1)], axis=1).astype(np.float32)
