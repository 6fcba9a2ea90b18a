"""Look: how a mesh is drawn: its parts, materials, images, vertex attributes and blend shapes.

Nothing here moves with a pose. It is kept so that a skin leaves the library as its rig came in. Materials and textures
are JSON objects in glTF's words, without anything that points outside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError

Json = dict[str, Any]
Bytes = NDArray[np.uint8]

WIDTHS = {"NORMAL": 3, "TANGENT": 4, "TEXCOORD": 2, "COLOR": 4}
"""Numbers per vertex, of each kind of attribute."""


@dataclass(frozen=True, eq=False)
class Piece:
    """Triangles of one of the joined meshes that are drawn with one material.

    Parameters
    ----------
    mesh : number of the joined mesh
    material : number of the material, -1 for none
    vertices, triangles : which rows of the mesh's arrays; pieces of one mesh may share their vertices
    """

    mesh: int
    material: int
    vertices: slice
    triangles: slice


@dataclass(frozen=True, eq=False)
class Look:
    """How a mesh of N vertices and T triangles is drawn.

    Parameters
    ----------
    meshes : names of the meshes of the file that it was joined from
    blocks : (B, 2) int32, the mesh and the number of vertices of each block; blocks follow one another
    groups : (G, 3) int32, the block, the material (-1: none) and the number of triangles of each group, likewise
    attributes : (N, width) float32 by glTF's name: NORMAL, TANGENT, TEXCOORD_0, COLOR_0, ...; zero where there is none
    materials : in glTF's words; the index of a texture is one of `textures`
    textures : "source", one of `images`, and "sampler", an object
    images : (bytes,) uint8, each a whole PNG, JPEG or WebP file
    morphs : blend shapes by name: vertices (S,), ascending, and their displacements (S, 3)
    omitted : names of the other meshes of the file, which other joints or none move
    """

    meshes: tuple[str, ...]
    blocks: Ints
    groups: Ints
    attributes: Mapping[str, Floats] = field(default_factory=dict)
    materials: tuple[Json, ...] = ()
    textures: tuple[Json, ...] = ()
    images: tuple[Bytes, ...] = ()
    morphs: Mapping[str, tuple[Ints, Floats]] = field(default_factory=dict)
    omitted: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        blocks = check.indices("look blocks", self.blocks, ("B", 2), below=2**31)
        groups = check.indices("look groups", self.groups, ("G", 3), below=2**31, least=-1)
        below = (("meshes", blocks[:, 0], self.meshes), ("blocks", groups[:, 0], blocks))
        for what, numbers, known in (*below, ("materials", groups[:, 1], self.materials)):
            if len(numbers) and numbers.max() >= len(known):
                raise InputError(f"look {what}: expected numbers below {len(known)}, got {numbers.max()}")
        if groups[:, [0, 2]].min(initial=0) < 0:
            raise InputError("look groups: expected blocks and triangles of at least 0, got a negative number")
        put = object.__setattr__
        put(self, "blocks", blocks)
        put(self, "groups", groups)
        count = self.vertex_count
        checked = {
            name: check.floats(f"look {name}", values, (count, width_of(name)))
            for name, values in self.attributes.items()
        }
        put(self, "attributes", checked)
        put(self, "morphs", {name: _checked_morph(name, *morph, count) for name, morph in self.morphs.items()})

    @classmethod
    def plain(cls, vertices: int, triangles: int) -> Look:
        """Return the look of one mesh without a name or a material, of so many vertices and triangles."""
        return cls(("",), np.array([[0, vertices]]), np.array([[0, -1, triangles]]))

    @property
    def vertex_count(self) -> int:
        """How many vertices its mesh has."""
        return int(self.blocks[:, 1].sum(dtype=np.int64))

    @property
    def triangle_count(self) -> int:
        """How many triangles its mesh has."""
        return int(self.groups[:, 2].sum(dtype=np.int64))

    def pieces(self) -> Iterator[Piece]:
        """Return each group with its rows of the mesh's arrays."""
        ends, starts = np.cumsum(self.blocks[:, 1]), np.cumsum(self.blocks[:, 1]) - self.blocks[:, 1]
        first = 0
        for block, material, triangles in self.groups.tolist():
            rows = slice(int(starts[block]), int(ends[block]))
            yield Piece(int(self.blocks[block, 0]), material, rows, slice(first, first := first + triangles))


def width_of(attribute: str) -> int:
    """Return how many numbers a vertex has of an attribute that is kept."""
    kind, underscore, number = attribute.partition("_")
    if (
        kind not in WIDTHS
        or bool(underscore) != (kind in ("TEXCOORD", "COLOR"))
        or (underscore and not number.isdigit())
    ):
        raise InputError(f"look: expected attributes such as TEXCOORD_0, got {attribute[:40]!r}")
    return WIDTHS[kind]


def _checked_morph(name: str, rows: Ints, values: Floats, count: int) -> tuple[Ints, Floats]:
    vertices = check.indices(f"morph {name!r}", rows, ("S",), below=count)
    if (np.diff(vertices) <= 0).any():
        raise InputError(f"morph {name!r}: expected ascending vertices, each once")
    return vertices, check.floats(f"morph {name!r}", values, (len(vertices), 3))
