"""A mesh's look as a JSON object and named arrays, and back: a part of what the library's own files hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.errors import InputError
from posespace.formats.checked_json import Fields
from posespace.formats.images import kind_of
from posespace.formats.materials import checked_material, checked_texture
from posespace.look import Look, width_of

Json = dict[str, Any]


def write(look: Look, put: Callable[..., None]) -> Json:
    """Return the JSON of a look; its arrays go to `put` by name."""
    put(look_blocks=look.blocks, look_groups=look.groups)
    put(**{f"look_{name}": values for name, values in look.attributes.items()})
    put(**{f"look_image_{k}": image for k, image in enumerate(look.images)})
    sizes = [len(rows) for rows, _ in look.morphs.values()]
    if sizes:
        rows, values = (np.concatenate(parts) for parts in zip(*look.morphs.values(), strict=True))
        put(look_morph_starts=np.cumsum([0, *sizes], dtype=np.int32), look_morph_rows=rows, look_morph_values=values)
    return {
        "meshes": list(look.meshes),
        "attributes": list(look.attributes),
        "materials": list(look.materials),
        "textures": list(look.textures),
        "images": len(look.images),
        "morphs": list(look.morphs),
        **({"omitted": list(look.omitted)} if look.omitted else {}),
    }


def read(fields: Fields, array: Callable[[str], NDArray[Any]]) -> Look:
    """Return the look that `write` made JSON and arrays of; both may have been tampered with."""
    images = [array(f"look_image_{k}") for k in range(fields.integer("images", below=10_000))]
    for k, image in enumerate(images):
        if image.dtype != np.uint8 or image.ndim != 1 or kind_of(image[:16].tobytes()) is None:
            raise InputError(f"array look_image_{k}: expected the bytes of a PNG, JPEG or WebP image")
    textures = [checked_texture(record, len(images)) for record in fields.parts("textures", "texture")]
    materials = fields.parts("materials", "material")
    return Look(
        tuple(fields.texts("meshes")),
        array("look_blocks"),
        array("look_groups"),
        {name: array(f"look_{name}") for name in fields.texts("attributes") if width_of(name)},
        tuple(checked_material(record, range(len(textures))) for record in materials),
        tuple(textures),
        tuple(images),
        _read_morphs(fields.texts("morphs"), array),
        tuple(fields.texts("omitted", ())),
    )


def _read_morphs(names: list[str], array: Callable[[str], NDArray[Any]]) -> dict[str, tuple[Any, Any]]:
    if not names:
        return {}
    starts, rows, values = (array(f"look_morph_{part}") for part in ("starts", "rows", "values"))
    fits = starts.shape == (len(names) + 1,) and starts.dtype.kind in "iu" and rows.ndim == 1
    if not fits or starts[0] != 0 or (np.diff(starts) < 0).any() or starts[-1] != len(rows):
        raise InputError("array look_morph_starts: does not fit the other arrays")
    spans = zip(names, starts[:-1], starts[1:], strict=True)
    return {name: (rows[first:last], values[first:last]) for name, first, last in spans}
