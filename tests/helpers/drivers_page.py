"""A player of version 1 of `POSESPACE_drivers`, written from docs/drivers.md alone, without the library."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def parsed(path: Path) -> tuple[dict[str, Any], bytes]:
    data = path.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    return json.loads(data[20 : 20 + length]), data[28 + length :]


def times(a: Any, b: Any) -> Any:
    (x, y, z, w), (p, q, r, s) = a, b
    return np.array(
        [
            w * p + x * s + y * r - z * q,
            w * q - x * r + y * s + z * p,
            w * r + x * q - y * p + z * s,
            w * s - x * p - y * q - z * r,
        ]
    )


def angles(joint: dict[str, Any], turn: Any) -> Any:
    x, y, z, w = joint["rest"]
    d = times((-x, -y, -z, w), turn)
    d = -d if d[3] < 0 else d
    size = np.linalg.norm(d[:3])
    vector = d[:3] * (2 * np.arctan2(size, d[3]) / size if size > 1e-12 else 2)
    return np.reshape(joint.get("axes", np.eye(3)), (3, 3)) @ vector


def coordinates_at(path: Path, turns: Any, shifts: Any, controls: dict[str, float]) -> list[Any]:
    """Coordinates of each driver at turns (J, 4) and shifts (J, 3) of joints that are linked to their parents."""
    content, binary = parsed(path)
    file = content["extensions"]["POSESPACE_drivers"]
    view = content["bufferViews"][file["numbers"]]
    numbers = np.frombuffer(binary, "<f8", view["byteLength"] // 8, view["byteOffset"])
    found = unbounded(file, numbers, turns, shifts, controls)
    driven = driven_targets(content, binary)
    for number, driver in enumerate(file["drivers"]):
        ratios = [ratio(driver, numbers, layer, found[number], driven) for layer in driven["drivers"][number]]
        found[number] = found[number] / max([1.0, *ratios])
    return found


def unbounded(file: dict[str, Any], numbers: Any, turns: Any, shifts: Any, controls: dict[str, float]) -> list[Any]:
    joints = file["joints"]
    assert all(joint["own"] or "link" not in joint for joint in joints)
    parts = [turn if joint["own"] else np.array(joint["rest"]) for joint, turn in zip(joints, turns, strict=True)]
    found = []
    for driver in file["drivers"]:
        if driver["kind"] in ("joint", "quaternions"):
            signed = [parts[k] * (-1 if parts[k] @ joints[k]["rest"] < 0 else 1) for k in driver["inputs"]]
            x = np.concatenate([parts[k] for k in driver["inputs"]] if driver["kind"] == "joint" else signed)
        elif driver["kind"] == "freedoms":
            pairs = np.reshape(driver["inputs"], (-1, 2))
            x = np.array(
                [
                    controls[file["controls"][axis]]
                    if k < 0
                    else angles(joints[k], parts[k])[axis]
                    if axis < 3
                    else shifts[k][axis - 3] / file["unit"]
                    for k, axis in pairs
                ]
            )
        else:
            x = np.array([controls[file["controls"][k]] for k in driver["inputs"]])
        found.append(values(driver, numbers, x))
    return found


def values(driver: dict[str, Any], numbers: Any, x: Any) -> Any:
    (at, samples), (start, columns), size = driver["centres"], driver["weights"], len(x)
    centres = numbers[at : at + samples * size].reshape(samples, size)
    turning = driver["kind"] == "joint"
    radius = numbers[driver["radius"] :][: size // 4 if turning else size]

    def distances(place: Any) -> Any:
        if not turning:
            return np.linalg.norm((place - centres) / radius, axis=1)
        a, b = place.reshape(1, -1, 4), centres.reshape(samples, -1, 4)
        s = np.minimum(((a - b) ** 2).sum(axis=2), ((a + b) ** 2).sum(axis=2))
        return np.linalg.norm(4 * np.arcsin(np.sqrt(s) / 2) / radius, axis=1)

    if "span" in driver:
        x = onto_span(driver, numbers, x, centres[0], radius)
    far = distances(x)[0] / driver.get("reach", np.inf)
    assert far <= 1 or not turning
    x = x if far <= 1 else centres[0] + (x - centres[0]) / far
    r = distances(x)
    kernels: dict[str, Callable[[Any], Any]] = {
        "gaussian": lambda r: np.exp(-(r**2) / 2),
        "exponential": lambda r: np.exp(-r),
        "multiquadric": lambda r: np.sqrt(1 + r**2),
        "thin_plate": lambda r: r**2 * np.log(np.where(r > 0, r, 1)),
        "linear": lambda r: r,
        "cubic": lambda r: r**3,
    }
    away = x - centres[0]
    if turning:
        blocks = x.reshape(-1, 4)
        sides = np.where((blocks * centres[0].reshape(-1, 4)).sum(axis=1) < 0, -1, 1)
        away = (blocks * sides[:, None]).ravel() - centres[0]
    tail = {"none": [], "constant": [1.0], "linear": [1.0, *away]}[driver["tail"]]
    terms = np.concatenate([kernels[driver["kernel"]](r), tail])
    return terms @ numbers[start : start + len(terms) * columns].reshape(len(terms), columns)


def onto_span(driver: dict[str, Any], numbers: Any, x: Any, o: Any, radius: Any) -> Any:
    at, count = driver["span"]
    size = 3 * len(radius) if driver["kind"] == "joint" else len(x)
    rows = numbers[at : at + count * size].reshape(count, size)
    if driver["kind"] != "joint":
        return o + radius * (rows.T @ (rows @ ((x - o) / radius)))
    firsts = o.reshape(-1, 4)
    seen = [times(first * [-1, -1, -1, 1], turn) for first, turn in zip(firsts, x.reshape(-1, 4), strict=True)]
    v = np.concatenate([d[:3] * (-1 if d[3] < 0 else 1) for d in seen])
    moved = []
    for first, vector in zip(firsts, (rows.T @ (rows @ v)).reshape(-1, 3), strict=True):
        a = vector * min(1.0, (1 - 1e-6) / max(np.linalg.norm(vector), 1e-30))
        moved.append(times(first, [*a, np.sqrt(1 - a @ a)]))
    return np.concatenate(moved)


def accessor(content: dict[str, Any], binary: bytes, number: int) -> Any:
    """The rows of an accessor, sparse or not."""
    accessor = content["accessors"][number]
    types = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]

    def read(part: dict[str, Any], kind: int, count: int) -> Any:
        start = content["bufferViews"][part["bufferView"]].get("byteOffset", 0) + part.get("byteOffset", 0)
        return np.frombuffer(binary, types[kind], count, start)

    count, kind = accessor["count"], accessor["componentType"]
    rows = np.zeros((count, width))
    if "bufferView" in accessor:
        rows = read(accessor, kind, count * width).reshape(count, width).astype(float)
    if "sparse" in accessor:
        part = accessor["sparse"]
        at = read(part["indices"], part["indices"]["componentType"], part["count"])
        rows[at] = read(part["values"], kind, part["count"] * width).reshape(-1, width)
    return rows


def driven_targets(content: dict[str, Any], binary: bytes) -> dict[str, Any]:
    """Of each driver, by layer the displacements (vertices, 3) per unit of its coordinates; and where vertices are."""
    file = content["extensions"]["POSESPACE_drivers"]
    drivers: list[dict[Any, Any]] = [{} for _ in file["drivers"]]
    points: list[Any] = []
    corners: list[Any] = []
    for mesh in content["meshes"]:
        for primitive in mesh["primitives"]:
            first = sum(map(len, points))
            points.append(accessor(content, binary, primitive["attributes"]["POSITION"]))
            corners.append(first + accessor(content, binary, primitive["indices"]).astype(int).reshape(-1, 3))
            listed = mesh.get("extensions", {}).get("POSESPACE_drivers", {}).get("targets", [])
            for target, accessors in zip(listed, primitive.get("targets", []), strict=True):
                if "layer" in target:
                    of_normals = target.get("normals", False)
                    layer = file["layers"][target["layer"]]
                    values = accessor(content, binary, accessors["NORMAL" if of_normals else "POSITION"])
                    fields = drivers[layer["normals" if of_normals else "driver"]].setdefault(
                        (target["layer"], of_normals), []
                    )
                    fields.append((target["component"], first, values / target["scale"]))
    position = np.unique(np.concatenate(points), axis=0, return_inverse=True)[1].ravel()
    return {
        "drivers": [list(layers.values()) for layers in drivers],
        "position": position,
        "corners": position[np.concatenate(corners)],
    }


def lengths(layer: Any, coordinates: Any, vertices: int) -> Any:
    displaced = np.zeros((vertices, 3))
    for component, first, values in layer:
        displaced[first : first + len(values)] += coordinates[component] * values
    return np.linalg.norm(displaced, axis=1)


def ratio(driver: dict[str, Any], numbers: Any, layer: Any, coordinates: Any, driven: dict[str, Any]) -> float:
    """The largest displacement of a layer over its limit."""
    position, corners = driven["position"], driven["corners"]
    at, samples = driver["centres"]
    size = len(driver["inputs"]) * {"joint": 4, "quaternions": 4}.get(driver["kind"], 1)
    size = size // 2 if driver["kind"] == "freedoms" else size
    centres = numbers[at : at + samples * size].reshape(samples, size)
    count = min(samples, max(256, 4_000_000 // samples))
    chosen = range(samples) if samples <= 2000 else [int(k * (samples - 1) / (count - 1) + 0.5) for k in range(count)]
    d = np.max([lengths(layer, values(driver, numbers, centres[k]), len(position)) for k in chosen], axis=0)
    limits = limits_of(d, position, corners)
    found = lengths(layer, coordinates, len(position))
    return float((found[limits > 0] / limits[limits > 0]).max(initial=0.0))


def limits_of(d: Any, position: Any, corners: Any) -> Any:
    """The limit of each vertex, from its largest displacement d at the samples."""
    near = np.zeros(position.max() + 1)
    np.maximum.at(near, position, d)
    for _ in range(2):
        around = near.copy()
        for corner in corners.T:
            np.maximum.at(around, corner, near[corners].max(axis=1))
        near = around
    return 1.455 * np.maximum(near[position], 0.02 * d.max())
