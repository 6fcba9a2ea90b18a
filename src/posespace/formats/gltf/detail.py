"""The detail of a skin read back from a file's `POSESPACE_drivers`: heights over the subdivided surface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError
from posespace.formats.checked_json import Fields
from posespace.formats.gltf.accessors import Accessors
from posespace.formats.gltf.buffers import Document
from posespace.formats.gltf.extension import EXTENSION
from posespace.formats.gltf.write.conversion import Conversion
from posespace.geometry.subdivision import MOST_LEVELS, fine_vertex_count
from posespace.mesh import Mesh
from posespace.skin.detail import Detail
from posespace.skin.driver import Driver

_NUMBERS_A_VERTEX = 80
"""Numbers that are held for a vertex of the subdivided surface: edges, triangles, points, normals."""
_VERTICES_A_STEP = 60


def read_detail(
    document: Document,
    fields: Fields,
    mesh: Mesh,
    drivers: Sequence[Driver],
    amounts: int,
    conversion: Conversion,
) -> Detail | None:
    """Return the detail of a file, or None.

    Parameters
    ----------
    document, fields : the file, and its part of the extension
    mesh : the surface that is subdivided
    drivers : of the file
    amounts : components of which learned bones give amounts
    conversion : brings the file's lengths back to the skin's
    """
    if "detail" not in fields:
        return None
    part = fields.part("detail", where=f"{EXTENSION}: detail")
    number = part.reference("driver", len(drivers))
    driver = None if number is None else drivers[number]
    components = amounts if driver is None else driver.components
    if not components:
        raise InputError(f"{part.where}: expected a driver, or bones that give amounts of it")
    accessors = Accessors(document, part)
    count = accessors.axis("heights", components)
    document.budget.hold((_NUMBERS_A_VERTEX + 2 * components) * count, part.where)
    document.budget.work(count // _VERTICES_A_STEP, "detail", "export the skin again")
    levels = part.integer("levels", below=MOST_LEVELS + 1)
    expected = fine_vertex_count(mesh.triangles, len(mesh.points), levels)
    if count != expected:
        raise InputError(f"{part.where}: heights: expected {expected} vertices after {levels} levels, got {count}")
    return Detail(levels, driver, *_heights(accessors, part, (components, count), conversion.scale))


def _heights(
    accessors: Accessors, part: Fields, shape: tuple[int, int], scale: float
) -> tuple[NDArray[Any], Floats | None]:
    """The heights (D, F) as the skin has them: lengths, or whole numbers and the length of one step of each."""
    bits = check.bits(part.integer("bits"))
    if bits == 32:
        return scale * accessors.real("heights", shape), None
    return accessors.steps("heights", shape, bits), scale * accessors.real("scales", shape[:1]).astype(np.float64)
