"""Plain Zarr v3 arrays: written as any Zarr library reads them, mapped from disk once their description is checked."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.errors import FileError
from posespace.formats import files

_TYPES: dict[str, np.dtype[Any]] = {
    "float64": np.dtype("<f8"),
    "float32": np.dtype("<f4"),
    "int32": np.dtype("<i4"),
    "uint64": np.dtype("<u8"),
}
_MOST_DESCRIPTION = 100_000_000

ArrayForm = tuple[tuple[int, ...], tuple[int, ...], np.dtype[Any]]
"""Shape, chunk shape and dtype."""


def write_store(
    path: Path, attributes: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], empty: Mapping[str, ArrayForm]
) -> None:
    """Write a new Zarr folder.

    Parameters
    ----------
    path : the folder
    attributes : JSON of the group
    arrays : "group/name" to array, each stored as one plain chunk
    empty : name to (shape, chunk shape, dtype) of arrays whose chunks come later
    """
    _describe(path, {"attributes": attributes, "zarr_format": 3, "node_type": "group"})
    for group in sorted({name.rpartition("/")[0] for name in arrays} - {""}):
        _describe(path / group, {"attributes": {}, "zarr_format": 3, "node_type": "group"})
    for name, array in arrays.items():
        _describe(path / name, _array_description((array.shape, array.shape, array.dtype)))
        if array.size:
            chunk = _only_chunk(path / name, array.ndim)
            chunk.parent.mkdir(parents=True)
            chunk.write_bytes(array.astype(array.dtype.newbyteorder("<")).tobytes())
    for name, form in empty.items():
        _describe(path / name, _array_description(form))


def read_group(path: Path) -> dict[str, Any]:
    """Return the attributes of a Zarr group."""
    if not (path / "zarr.json").is_file():
        if path.is_dir():
            raise FileError(path, "is a folder, but not an example store (no zarr.json in it)")
        raise FileError(path, "is a file, not an example store" if path.exists() else "does not exist")
    found = _description(path, "group").get("attributes")
    return found if isinstance(found, dict) else {}


def map_array(path: Path) -> NDArray[Any]:
    """Map a one-chunk array as a read-only view; its description must agree with the size of its file."""
    description = _description(path, "array")
    shape, dtype = files.whole_numbers(description.get("shape")), _TYPES.get(str(description.get("data_type")))
    if not shape or dtype is None:
        raise FileError(path, "has a damaged description (shape or data type)")
    if not _is_one_plain_chunk(description, shape):
        raise FileError(path, "is not stored as one plain chunk; write the store again with posespace")
    if math.prod(shape) == 0:
        return np.zeros(shape, dtype)
    chunk = _only_chunk(path, len(shape))
    if files.size_of(chunk) != math.prod(shape) * dtype.itemsize:
        raise FileError(chunk, f"is cut short or damaged (expected an array of shape {tuple(shape)})")
    mapped: NDArray[Any] = np.memmap(chunk, dtype=dtype, mode="r", shape=tuple(shape))
    return mapped


def _array_description(form: ArrayForm) -> dict[str, Any]:
    shape, chunks, dtype = form
    return {
        "shape": list(shape),
        "data_type": dtype.name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(_whole(chunks))}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": dtype.type(0).item(),
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": {},
        "zarr_format": 3,
        "node_type": "array",
        "storage_transformers": [],
    }


def _describe(path: Path, description: Mapping[str, Any]) -> None:
    path.mkdir(parents=True, exist_ok=True)
    (path / "zarr.json").write_text(json.dumps(description, indent=2), encoding="ascii")


def _is_one_plain_chunk(description: dict[str, Any], shape: list[int]) -> bool:
    grid, codecs = description.get("chunk_grid"), description.get("codecs")
    settings = grid.get("configuration") if isinstance(grid, dict) else None
    chunks = settings.get("chunk_shape") if isinstance(settings, dict) else None
    if chunks != list(_whole(shape)) or not isinstance(codecs, list) or len(codecs) != 1:
        return False
    codec = codecs[0] if isinstance(codecs[0], dict) else {}
    order = codec.get("configuration") or {"endian": "little"}
    return codec.get("name") == "bytes" and isinstance(order, dict) and order.get("endian") == "little"


def _description(path: Path, kind: str) -> dict[str, Any]:
    file = path / "zarr.json"
    found = files.parse_json(file, files.read_bytes(file, _MOST_DESCRIPTION))
    if not isinstance(found, dict) or found.get("zarr_format") != 3 or found.get("node_type") != kind:
        raise FileError(file, f"is not the description of a Zarr v3 {kind}")
    return found


def _only_chunk(path: Path, axes: int) -> Path:
    return path.joinpath("c", *["0"] * axes)


def _whole(shape: tuple[int, ...] | list[int]) -> tuple[int, ...]:
    """One chunk for the whole array; Zarr takes no empty chunks."""
    return tuple(max(1, extent) for extent in shape)
