"""Hand-made glTF files for the tests, and the specification's formulas by plain matrices."""

from __future__ import annotations

import base64
import copy
import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from posespace.errors import FileError
from posespace.formats import gltf
from posespace.formats.contents import Contents
from posespace.formats.frames import Rate, Wanted
from posespace.rig import Rig

Array = NDArray[Any]
CODES = {"int8": 5120, "uint8": 5121, "int16": 5122, "uint16": 5123, "uint32": 5125, "float32": 5126}
KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
TRIANGLE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
HALF = math.sqrt(0.5)


class Builder:
    """Collects accessors and objects, and writes them as a .gltf or a .glb."""

    def __init__(self, **parts: Any) -> None:
        self.json: dict[str, Any] = {"asset": {"version": "2.0"}, "accessors": [], "bufferViews": [], **parts}
        self.data = bytearray()

    def view(self, raw: bytes, **more: Any) -> int:
        self.data.extend(b"\0" * (-len(self.data) % 4))
        entry = {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(raw), **more}
        self.json["bufferViews"].append(entry)
        self.data.extend(raw)
        return len(self.json["bufferViews"]) - 1

    def add(self, values: ArrayLike, dtype: Any = np.float32, **more: Any) -> int:
        array = np.asarray(values, dtype)
        array = array[:, None] if array.ndim == 1 else array
        return self.describe(
            array.dtype, KINDS[array.shape[1]], len(array), bufferView=self.view(array.tobytes()), **more
        )

    def describe(self, dtype: Any, kind: str, count: int, **more: Any) -> int:
        entry = {"componentType": CODES[np.dtype(dtype).name], "type": kind, "count": count, **more}
        self.json["accessors"].append(entry)
        return len(self.json["accessors"]) - 1

    def read(self, folder: Path, glb: bool = False, rate: Rate = "keys") -> Contents:
        return gltf.read(self.write(folder, glb), Wanted(rate=rate))

    def write(self, folder: Path, glb: bool = False) -> Path:
        whole = copy.deepcopy(self.json)
        uri = {} if glb else {"uri": "data:application/octet-stream;base64," + base64.b64encode(self.data).decode()}
        whole.setdefault("buffers", [{"byteLength": len(self.data), **uri}])
        path = folder / ("made.glb" if glb else "made.gltf")
        path.write_bytes(as_glb(json.dumps(whole).encode(), bytes(self.data)) if glb else json.dumps(whole).encode())
        return path


def as_glb(text: bytes, binary: bytes) -> bytes:
    chunks = b""
    for kind, fill, body in ((0x4E4F534A, b" ", text), (0x004E4942, b"\0", binary)):
        padded = body + fill * (-len(body) % 4)
        chunks += struct.pack("<II", len(padded), kind) + padded
    return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks


def one_mesh(**primitive: Any) -> Builder:
    """A file with one unskinned node whose mesh has one primitive; `attributes` and the like are the caller's."""
    return Builder(nodes=[{"mesh": 0}], meshes=[{"primitives": [{"attributes": {}, **primitive}]}])


def skinned(joints: ArrayLike = ((0, 0, 0, 0),) * 3, weights: ArrayLike = ((1, 0, 0, 0),) * 3) -> Builder:
    """A triangle on a skin of two joints: node 1 and its child, node 2, which stands one unit along x."""
    made = Builder(
        nodes=[
            {"mesh": 0, "skin": 0},
            {"name": "arm", "children": [2]},
            {"name": "hand", "translation": [1, 0, 0]},
        ],
        skins=[{"joints": [1, 2]}],
    )
    attributes = {
        "POSITION": made.add(TRIANGLE),
        "JOINTS_0": made.add(joints, np.uint8),
        "WEIGHTS_0": made.add(weights),
    }
    made.json["meshes"] = [{"primitives": [{"attributes": attributes}]}]
    made.json["skins"][0]["inverseBindMatrices"] = made.add([shift(0), shift(-1)])
    return made


def shift(x: float) -> list[float]:
    """The column-major matrix that moves along x."""
    return [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, 0, 0, 1]


def animate(made: Builder, *channels: tuple[int, str, str, ArrayLike, int]) -> None:
    """Add an animation; a channel is node, path, interpolation, times and the accessor of its values."""
    samplers, listed = [], []
    for node, path, interpolation, times, output in channels:
        samplers.append({"input": made.add(times), "output": output, "interpolation": interpolation})
        listed.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": path}})
    made.json.setdefault("animations", []).append({"samplers": samplers, "channels": listed})


def only(contents: Contents) -> Rig:
    (rig,) = contents.rigs.values()
    return rig


def refused(path: Path) -> str:
    """Read a file that must be refused; returns the one line without the path."""
    with pytest.raises(FileError) as caught:
        gltf.read(path)
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith(f"{path}: ")
    return text.removeprefix(f"{path}: ")


def readable(path: Path) -> bool:
    """Whether a file is read; one that is not must be refused in one line."""
    try:
        gltf.read(path)
    except FileError as error:
        return "\n" in str(error) and pytest.fail(f"two lines: {error}")
    return True


# The specification's own formulas, written out once more as plainly as possible.


def matrix(node: dict[str, Any]) -> Array:
    if "matrix" in node:
        return np.array(node["matrix"], float).reshape(4, 4).T
    x, y, z, w = node.get("rotation", (0, 0, 0, 1))
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    result = np.eye(4)
    result[:3, :3] = turn @ np.diag(node.get("scale", (1, 1, 1)))
    result[:3, 3] = node.get("translation", (0, 0, 0))
    return result


def world(nodes: list[dict[str, Any]], wanted: int) -> Array:
    total = matrix(nodes[wanted])
    for parent, node in enumerate(nodes):
        if wanted in node.get("children", ()):
            return world(nodes, parent) @ total
    return total


def spec_skinning(nodes: list[dict[str, Any]], joints: list[int], bind: Array, rig: Rig) -> Array:
    """Each vertex through the weighted sum of global joint transform times inverse bind matrix."""
    bones = [world(nodes, node) @ bind[k] for k, node in enumerate(joints)]
    result = []
    for point, where, weights in zip(rig.mesh.points, rig.influences, rig.weights, strict=True):
        blend = sum(weight * bones[joint] for joint, weight in zip(where, weights, strict=True))
        result.append((blend @ [*point, 1.0])[:3])
    return np.array(result)


def stretched_chain() -> Builder:
    """Root above → joint with uneven scale → plain node → joint given by a matrix → joint."""
    made = skinned(joints=[[0, 1, 2, 0]] * 3, weights=[[0.5, 0.3, 0.2, 0], [0.2, 0.2, 0.6, 0], [0, 1, 0, 0]])
    sheared = [0.9, 0.3, 0, 0, -0.4, 1.1, 0.2, 0, 0, 0.1, 1.3, 0, 0.2, 0.7, -0.1, 1]
    made.json["nodes"] = [
        {"mesh": 0, "skin": 0, "translation": [9, 9, 9]},
        {"children": [2], "rotation": [0, HALF, 0, HALF], "scale": [2, 1, 1], "translation": [1, 2, 3]},
        {"children": [3], "rotation": [0.5, 0.5, 0.5, 0.5], "scale": [1, 2, 3], "translation": [0, 1, 0]},
        {"children": [4], "rotation": [HALF, 0, 0, HALF], "scale": [0.5, 1, 2], "translation": [0, 0, 1]},
        {"children": [5], "matrix": sheared},
        {"translation": [0.3, 0, 0], "scale": [1, 1, 0.5]},
    ]
    bind = np.array([shift(0.5), shift(-1), shift(0.25)])
    bind[1, [0, 5, 6]] += 0.1
    made.json["skins"] = [{"joints": [2, 5, 4], "inverseBindMatrices": made.add(bind)}]
    return made


def everything() -> Builder:
    """A small file that uses every part of the reader."""
    made = stretched_chain()
    primitive = made.json["meshes"][0]["primitives"][0]
    sparse = {
        "count": 1,
        "indices": {"bufferView": made.view(b"\1"), "componentType": 5121},
        "values": {"bufferView": made.view(np.ones(3, np.float32).tobytes())},
    }
    primitive["targets"] = [{"POSITION": made.describe(np.float32, "VEC3", 3, sparse=sparse)}]
    primitive["indices"] = made.add([0, 1, 2], np.uint16)
    made.json["meshes"][0] |= {"extras": {"targetNames": ["bulge"]}, "weights": [0.25], "name": "body"}
    made.json["nodes"] += [{"mesh": 0, "name": "loose"}, {"mesh": 0, "skin": 1, "weights": [1]}]
    made.json["skins"].append(
        {"joints": [4, 2, 3], "inverseBindMatrices": made.add([shift(x) for x in (0.25, 0.5, 0)])}
    )
    made.json["nodes"][2]["extras"] = {"posespace_limits": {"x": [-10, 80], "z": [0, 0]}, "of others": 3}
    made.json["nodes"][3]["extras"] = {
        "posespace_limits": {"y": [-30, 30]},
        "posespace_axes": [0, 1, 0, 1, 0, 0, 0, 0, 0],
    }
    turn = [[0, 0, 0, 1], [1, 0, 0, 0]]
    animate(
        made,
        (2, "rotation", "CUBICSPLINE", [0, 1], made.add(turn * 3)),
        (5, "translation", "LINEAR", [0, 2], made.add([[0, 0, 0], [1, 1, 1]])),
        (0, "weights", "STEP", [0, 1], made.add([0, 1])),
    )
    return made
