"""Plain Zarr v3 arrays: written as any Zarr library reads them, mapped from disk once their description is checked."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.errors import FileError, InputError
from posespace.formats import files
from posespace.formats.checked_json import Fields, shown

_TYPES: dict[str, np.dtype[Any]] = {
    "float64": np.dtype("<f8"),
    "float32": np.dtype("<f4"),
    "int32": np.dtype("<i4"),
    "uint64": np.dtype("<u8"),
    "uint8": np.dtype("u1"),
}
_MOST_DESCRIPTION = 100_000_000
_MOST_ARRAYS = 100
_MOST_EMPTY = 2**31

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
    _describe(path, _group_description(attributes))
    write_arrays(path, arrays)
    for name, form in empty.items():
        _describe(path / name, _array_description(form))


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write new groups of arrays, "group/name" to array, to a Zarr folder."""
    for group in sorted({name.rpartition("/")[0] for name in arrays} - {""}):
        _describe(path / group, _group_description({}))
    for name, array in arrays.items():
        _describe(path / name, _array_description((array.shape, array.shape, array.dtype)))
        if array.size:
            chunk = path.joinpath(name, "c", *["0"] * array.ndim)
            chunk.parent.mkdir(parents=True)
            chunk.write_bytes(array.astype(array.dtype.newbyteorder("<")).tobytes())


def describe_arrays(path: Path, forms: Mapping[str, ArrayForm]) -> None:
    """Replace the descriptions of arrays of a Zarr folder, each whole: chunks may then be added, or taken away."""
    for name, form in forms.items():
        _replace(files.inside(path, name, "zarr.json"), _array_description(form))


def replace_attributes(path: Path, attributes: Mapping[str, Any]) -> None:
    """Replace the attributes of a Zarr folder, all at once."""
    _replace(files.inside(path, "zarr.json"), _group_description(attributes))


def read_group(store: Path) -> dict[str, Any]:
    """Return the attributes of a Zarr group."""
    if not store.is_dir():
        raise FileError(store, "is a file, not an example store" if store.exists() else "does not exist")
    if not os.path.lexists(store / "zarr.json"):
        raise FileError(store, "is a folder, but not an example store (it has no zarr.json)")
    file = files.inside(store, "zarr.json")
    with files.naming(file):
        return _description(file, "group").part("attributes", {}).values


def map_group(store: Path, group: str) -> dict[str, NDArray[Any]]:
    """Map the arrays of a group in a store, by "group/name"."""
    try:
        with os.scandir(files.inside(store, group)) as entries:
            # The first few are enough to see that there are too many.
            names = [entry.name for entry in itertools.islice(entries, _MOST_ARRAYS + 2)]
    except OSError as error:
        raise FileError(store / group, "is missing or cannot be read") from error
    if len(names) > _MOST_ARRAYS + 1:
        raise FileError(store / group, f"holds more than {_MOST_ARRAYS} arrays")
    return {f"{group}/{name}": map_array(store, group, name) for name in sorted(names) if name != "zarr.json"}


def map_array(store: Path, *names: str) -> NDArray[Any]:
    """Map a one-chunk array of a store as a read-only view; its description must agree with the size of its file."""
    file = files.inside(store, *names, "zarr.json")
    with files.naming(file):
        description = _description(file, "array")
        shape, kind = description.shape("shape"), description.text("data_type")
        if not shape or kind not in _TYPES:
            raise InputError(f"expected an array of {', '.join(_TYPES)} with axes, got {shown(kind)} {shape}")
        if not _is_one_plain_chunk(description, shape):
            raise InputError("is not stored as one plain chunk; write the store again with posespace")
    dtype = _TYPES[kind]
    if math.prod(shape) == 0:
        # NumPy makes an array of no bytes only if its other axes are ordinary.
        if max(shape) > _MOST_EMPTY:
            raise FileError(file, f"expected an array of ordinary size, got {shape}")
        return np.zeros(shape, dtype)
    return files.map_file(files.inside(store, *names, "c", *["0"] * len(shape)), dtype, shape)


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


def _group_description(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {"attributes": attributes, "zarr_format": 3, "node_type": "group"}


def _replace(file: Path, description: Mapping[str, Any]) -> None:
    with files.atomic_write(file) as temporary:
        temporary.write_text(json.dumps(description, indent=2), encoding="ascii")


def _describe(path: Path, description: Mapping[str, Any]) -> None:
    path.mkdir(parents=True, exist_ok=True)
    (path / "zarr.json").write_text(json.dumps(description, indent=2), encoding="ascii")


def _is_one_plain_chunk(description: Fields, shape: tuple[int, ...]) -> bool:
    chunks = description.part("chunk_grid").part("configuration").shape("chunk_shape")
    codecs = description.parts("codecs", "codec")
    if chunks != _whole(shape) or [codec.text("name") for codec in codecs] != ["bytes"]:
        return False
    return codecs[0].part("configuration", {}).text("endian", "little") == "little"


def _description(file: Path, node: str) -> Fields:
    description = Fields(files.parse_json(file, files.read_bytes(file, _MOST_DESCRIPTION)), "the file")
    if description.integer("zarr_format") != 3 or description.text("node_type") != node:
        raise FileError(file, f"is not the description of a Zarr v3 {node}")
    return description


def _whole(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of one chunk for the whole array; Zarr allows no empty chunks."""
    return tuple(max(1, extent) for extent in shape)
