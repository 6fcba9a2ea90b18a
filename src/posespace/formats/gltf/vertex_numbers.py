"""Which vertex of the skin each vertex of a file is: bones and detail number them, so the order must be kept."""

from __future__ import annotations

import numpy as np

from posespace.errors import InputError
from posespace.formats import gltf
from posespace.formats.checked_json import Fields
from posespace.formats.gltf.extension import EXTENSION


def require_order(opened: gltf.Opened, fields: Fields) -> None:
    """Raise unless the vertices of the file, one mesh after the other, are those of the skin in its order."""
    parts = opened.bindings[0].parts
    count, expected = sum(part.mesh.size for part in parts), fields.integer("vertices")
    if count != expected:
        raise InputError(f"{EXTENSION}: vertices: expected the {count} of the file, got {expected}")
    meshes = opened.document.root.parts("meshes", "mesh")
    first = 0
    for part in parts:
        extension = meshes[part.number].part("extensions", {}).part(EXTENSION, {})
        if "vertices" in extension:
            _require_numbers(opened, extension, part.mesh.primitive_rows(first))
        first += part.mesh.size


def _require_numbers(opened: gltf.Opened, extension: Fields, rows: list[range]) -> None:
    """Raise unless the primitives of a mesh have the numbers `rows`."""
    document = opened.document
    listed = extension.integers("vertices", document.accessor_count)
    if len(listed) != len(rows):
        raise InputError(f"{EXTENSION}: vertices: expected those of {len(rows)} primitives, got {len(listed)}")
    for accessor, numbers in zip(listed, rows, strict=True):
        stored = document.integers(accessor, "SCALAR", f"{EXTENSION}: vertices", len(numbers))[:, 0]
        if not np.array_equal(stored, np.arange(numbers.start, numbers.stop)):
            raise InputError(f"{EXTENSION}: vertices: expected the skin's in their order; export the skin again")
