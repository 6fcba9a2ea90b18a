"""glTF files whose primitives have vertices of their own, as programs write them that split vertices at seams."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

EXTENSION = "POSESPACE_drivers"
TYPES = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
Json = dict[str, Any]


def split(content: Json, primitive: int) -> None:
    """Give each triangle of a primitive of the first mesh three vertices of its own; the mesh lists whose they are."""
    mesh = content["meshes"][0]
    own = mesh["primitives"][primitive]
    corners = values(content, own["indices"])[:, 0]
    part = mesh.setdefault("extensions", {}).setdefault(EXTENSION, {"targets": []})
    vertices = part.get("vertices")
    numbers = np.arange(content["extensions"][EXTENSION]["vertices"]) if vertices is None else None
    rows = [numbers if vertices is None else values(content, at)[:, 0] for at in vertices or mesh["primitives"]]
    rows[primitive] = rows[primitive][corners]
    part["vertices"] = [add(content, row.astype("<u4")[:, None]) for row in rows]
    own["attributes"] = {name: add(content, values(content, at)[corners]) for name, at in own["attributes"].items()}
    own["indices"] = add(content, np.arange(len(corners), dtype="<u4")[:, None])


def values(content: Json, accessor: int) -> NDArray[Any]:
    """The rows of an accessor that is not sparse."""
    entry = content["accessors"][accessor]
    view = content["bufferViews"][entry["bufferView"]]
    data = base64.b64decode(content["buffers"][view["buffer"]]["uri"].split(",")[1])
    start, width = view.get("byteOffset", 0) + entry.get("byteOffset", 0), WIDTHS[entry["type"]]
    kind = np.dtype(TYPES[entry["componentType"]])
    return np.frombuffer(data, kind, entry["count"] * width, start).reshape(-1, width)


def add(content: Json, rows: NDArray[Any]) -> int:
    """Add an accessor; return its number."""
    data = np.ascontiguousarray(rows).tobytes()
    uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    content["buffers"].append({"byteLength": len(data), "uri": uri})
    content["bufferViews"].append({"buffer": len(content["buffers"]) - 1, "byteLength": len(data)})
    (kind,) = (code for code, name in TYPES.items() if np.dtype(name) == rows.dtype)
    (shape,) = (name for name, width in WIDTHS.items() if width == rows.shape[1])
    entry = {"bufferView": len(content["bufferViews"]) - 1, "componentType": kind, "type": shape, "count": len(rows)}
    content["accessors"].append(entry)
    return len(content["accessors"]) - 1
