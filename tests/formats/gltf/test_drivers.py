"""`POSESPACE_drivers`: read back as the same skin, and evaluated by a script that follows docs/drivers.md alone."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.growing import cut_arm, factors, far_motion, growing_skin
from helpers.samples import error_of
from helpers.strategies import random_skin

import posespace as ps
from posespace.skin.basis import PackedBasis

FITS: dict[str, Callable[[], Any]] = {
    "PSD": ps.PSD,
    "EigenSkin 16": lambda: ps.EigenSkin(normals="shared"),
    "EigenSkin 8": lambda: ps.EigenSkin(normals="separate", bits=8),
    "EigenSkin 32": lambda: ps.EigenSkin(bits=32),
    "Muscles": lambda: ps.Muscles(signals=3),
}


@pytest.fixture(scope="module")
def arm() -> tuple[ps.Examples, ps.Examples]:
    return ps.datasets.bending_arm(rings=14, sides=9)


@pytest.mark.parametrize("name", FITS)
def test_a_file_is_read_back_as_the_same_skin(name: str, arm: tuple[ps.Examples, ps.Examples], tmp_path: Path) -> None:
    train, unseen = arm
    skin = FITS[name]().fit(train)
    ps.export(skin, tmp_path / "arm.glb")
    back = ps.Skin.load(tmp_path / "arm.glb")
    for pose in unseen.motion:
        (points, normals), (wanted, directions) = back.pose(pose), skin.pose(pose)
        assert np.abs(points - wanted).max() < 1e-6 * train.rig.mesh.diagonal
        assert np.abs(normals - directions).max() < 1e-4
    assert [layer.name for layer in back.layers] == [layer.name for layer in skin.layers]
    for mine, layer in zip(back.layers, skin.layers, strict=True):
        if isinstance(layer.basis, PackedBasis) and layer.basis.bits < 32:
            assert isinstance(mine.basis, PackedBasis)
            assert mine.basis.bits == layer.basis.bits
            np.testing.assert_array_equal(np.asarray(mine.basis)[:, :].any(), np.asarray(layer.basis).any())
    assert back.about["method"] == skin.about["method"]


@pytest.mark.parametrize("seed", range(6))
def test_random_skins_come_back(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    skin = random_skin(rng)
    plain = ps.Skin(skin.rig, skin.layers)
    ps.export(plain, tmp_path / "some.glb", warn=lambda _: None)
    back = ps.Skin.load(tmp_path / "some.glb")
    pose = ps.Pose(rng.normal(size=(len(skin.rig.skeleton), 4)), controls={name: 0.3 for name in skin.control_names})
    np.testing.assert_allclose(back.displacements(pose), plain.displacements(pose), atol=2e-6 * skin.rig.mesh.diagonal)


def test_no_list_of_the_block_holds_another(tmp_path: Path) -> None:
    skin = random_skin(np.random.default_rng(1))
    axes, limits = (
        np.tile(np.eye(3), (len(skin.rig.skeleton), 1, 1)),
        np.tile([-1.0, 1.0], (len(skin.rig.skeleton), 3, 1)),
    )
    skeleton = replace(skin.rig.skeleton, axes=axes, limits=limits)
    ps.export(ps.Skin(replace(skin.rig, skeleton=skeleton), skin.layers), tmp_path / "a.glb", warn=lambda _: None)
    block = _parsed(tmp_path / "a.glb")[0]["extensions"]["POSESPACE_drivers"]
    objects = [*block["joints"], *block["drivers"], *block["layers"]]
    assert {len(joint["axes"]) for joint in block["joints"]} == {9}
    assert {len(joint["limits"]) for joint in block["joints"]} == {6}
    lists = [entry for each in objects for entry in each.values() if isinstance(entry, list)]
    assert not any(isinstance(inner, list) for entry in lists for inner in entry)
    back = ps.Skin.load(tmp_path / "a.glb").rig.skeleton
    np.testing.assert_allclose(back.axes, axes)
    np.testing.assert_allclose(back.limits, limits, atol=1e-6)


def test_a_file_without_drivers_is_no_skin(arm: tuple[ps.Examples, ps.Examples], tmp_path: Path) -> None:
    ps.export(ps.PSD().fit(arm[0]), tmp_path / "arm.gltf")
    content = json.loads((tmp_path / "arm.gltf").read_text())
    del content["extensions"]
    (tmp_path / "arm.gltf").write_text(json.dumps(content))
    assert "holds a rig but no skin" in error_of(lambda: ps.Skin.load(tmp_path / "arm.gltf"))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("version",), 2),
        (("numbers",), 10_000),
        (("unit",), -1),
        (("drivers", 0, "centres"), [0, 10**12]),
        (("drivers", 0, "kernel"), "boom"),
        (("drivers", 0, "inputs"), [99, 0]),
        (("drivers", 0, "inputs"), [1, 0, 1]),
        (("drivers", 0, "inputs"), [0.5]),
        (("drivers", 0, "inputs"), [[1, 0]]),
        (("drivers", 0, "inputs"), [-1, 99]),
        (("drivers", 0, "kind"), "points"),
        (("drivers", 0, "centres"), [1]),
        (("drivers", 0, "weights"), [1]),
        (("drivers", 0, "weights"), [1, 1, 1]),
        (("layers", 0, "bits"), 12),
        (("about",), {"settings": json.loads("[" * 80 + "]" * 80)}),
        (("layers", 0, "driver"), 77),
        (("joints",), []),
        (("layers",), "none"),
    ],
)
def test_damaged_drivers_are_refused_in_one_line(
    place: tuple[Any, ...], value: object, arm: tuple[ps.Examples, ps.Examples], tmp_path: Path
) -> None:
    ps.export(ps.PSD().fit(arm[0]), tmp_path / "arm.gltf")
    content = json.loads((tmp_path / "arm.gltf").read_text())
    inner = content["extensions"]["POSESPACE_drivers"]
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    (tmp_path / "arm.gltf").write_text(json.dumps(content))
    assert str(tmp_path / "arm.gltf") in error_of(lambda: ps.Skin.load(tmp_path / "arm.gltf"))


# What follows is written from docs/drivers.md alone, without the library.


def _parsed(path: Path) -> tuple[dict[str, Any], bytes]:
    data = path.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    return json.loads(data[20 : 20 + length]), data[28 + length :]


def _times(a: Any, b: Any) -> Any:
    (x, y, z, w), (p, q, r, s) = a, b
    return np.array(
        [
            w * p + x * s + y * r - z * q,
            w * q - x * r + y * s + z * p,
            w * r + x * q - y * p + z * s,
            w * s - x * p - y * q - z * r,
        ]
    )


def _angles(joint: dict[str, Any], turn: Any) -> Any:
    x, y, z, w = joint["rest"]
    d = _times((-x, -y, -z, w), turn)
    d = -d if d[3] < 0 else d
    size = np.linalg.norm(d[:3])
    vector = d[:3] * (2 * np.arctan2(size, d[3]) / size if size > 1e-12 else 2)
    return np.reshape(joint.get("axes", np.eye(3)), (3, 3)) @ vector


def _coordinates(path: Path, turns: Any, shifts: Any, controls: dict[str, float]) -> list[Any]:
    """Coordinates of each driver at turns (J, 4) and shifts (J, 3) of joints that are linked to their parents."""
    content, binary = _parsed(path)
    file = content["extensions"]["POSESPACE_drivers"]
    view = content["bufferViews"][file["numbers"]]
    numbers = np.frombuffer(binary, "<f8", view["byteLength"] // 8, view["byteOffset"])
    found = _unbounded(file, numbers, turns, shifts, controls)
    moved = _moved(content, binary)
    for number, driver in enumerate(file["drivers"]):
        ratios = [_ratio(driver, numbers, layer, found[number], moved) for layer in moved["drivers"][number]]
        found[number] = found[number] / max([1.0, *ratios])
    return found


def _unbounded(file: dict[str, Any], numbers: Any, turns: Any, shifts: Any, controls: dict[str, float]) -> list[Any]:
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
                    else _angles(joints[k], parts[k])[axis]
                    if axis < 3
                    else shifts[k][axis - 3] / file["unit"]
                    for k, axis in pairs
                ]
            )
        else:
            x = np.array([controls[file["controls"][k]] for k in driver["inputs"]])
        found.append(_values(driver, numbers, x))
    return found


def _values(driver: dict[str, Any], numbers: Any, x: Any) -> Any:
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
        x = _onto_span(driver, numbers, x, centres[0], radius)
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


def _onto_span(driver: dict[str, Any], numbers: Any, x: Any, o: Any, radius: Any) -> Any:
    at, count = driver["span"]
    size = 3 * len(radius) if driver["kind"] == "joint" else len(x)
    rows = numbers[at : at + count * size].reshape(count, size)
    if driver["kind"] != "joint":
        return o + radius * (rows.T @ (rows @ ((x - o) / radius)))
    firsts = o.reshape(-1, 4)
    seen = [_times(first * [-1, -1, -1, 1], turn) for first, turn in zip(firsts, x.reshape(-1, 4), strict=True)]
    v = np.concatenate([d[:3] * (-1 if d[3] < 0 else 1) for d in seen])
    moved = []
    for first, vector in zip(firsts, (rows.T @ (rows @ v)).reshape(-1, 3), strict=True):
        a = vector * min(1.0, (1 - 1e-6) / max(np.linalg.norm(vector), 1e-30))
        moved.append(_times(first, [*a, np.sqrt(1 - a @ a)]))
    return np.concatenate(moved)


def _accessor(content: dict[str, Any], binary: bytes, number: int) -> Any:
    """The rows of an accessor, sparse or not."""
    accessor = content["accessors"][number]
    types = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
    width = {"SCALAR": 1, "VEC3": 3}[accessor["type"]]

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


def _moved(content: dict[str, Any], binary: bytes) -> dict[str, Any]:
    """Of each driver, by layer the displacements (vertices, 3) per unit of its coordinates; and where vertices are."""
    file = content["extensions"]["POSESPACE_drivers"]
    drivers: list[dict[Any, Any]] = [{} for _ in file["drivers"]]
    points: list[Any] = []
    corners: list[Any] = []
    for mesh in content["meshes"]:
        for primitive in mesh["primitives"]:
            first = sum(map(len, points))
            points.append(_accessor(content, binary, primitive["attributes"]["POSITION"]))
            corners.append(first + _accessor(content, binary, primitive["indices"]).astype(int).reshape(-1, 3))
            listed = mesh["extensions"]["POSESPACE_drivers"]["targets"]
            for target, accessors in zip(listed, primitive["targets"], strict=True):
                if "layer" in target:
                    of_normals = target.get("normals", False)
                    layer = file["layers"][target["layer"]]
                    values = _accessor(content, binary, accessors["NORMAL" if of_normals else "POSITION"])
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


def _lengths(layer: Any, coordinates: Any, vertices: int) -> Any:
    displaced = np.zeros((vertices, 3))
    for component, first, values in layer:
        displaced[first : first + len(values)] += coordinates[component] * values
    return np.linalg.norm(displaced, axis=1)


def _ratio(driver: dict[str, Any], numbers: Any, layer: Any, coordinates: Any, moved: dict[str, Any]) -> float:
    """The largest displacement of a layer over its limit."""
    position, corners = moved["position"], moved["corners"]
    at, samples = driver["centres"]
    size = len(driver["inputs"]) * {"joint": 4, "quaternions": 4}.get(driver["kind"], 1)
    size = size // 2 if driver["kind"] == "freedoms" else size
    centres = numbers[at : at + samples * size].reshape(samples, size)
    count = min(samples, max(256, 4_000_000 // samples))
    chosen = range(samples) if samples <= 2000 else [int(k * (samples - 1) / (count - 1) + 0.5) for k in range(count)]
    d = np.max([_lengths(layer, _values(driver, numbers, centres[k]), len(position)) for k in chosen], axis=0)
    near = np.zeros(position.max() + 1)
    np.maximum.at(near, position, d)
    for _ in range(2):
        around = near.copy()
        for corner in corners.T:
            np.maximum.at(around, corner, near[corners].max(axis=1))
        near = around
    limits = 1.455 * np.maximum(near[position], 0.02 * d.max())
    lengths = _lengths(layer, coordinates, len(position))
    return float((lengths[limits > 0] / limits[limits > 0]).max(initial=0.0))


@pytest.mark.parametrize("name", ["PSD", "EigenSkin 16", "Muscles"])
def test_a_script_that_knows_only_the_page_gives_the_same_coordinates(
    name: str, arm: tuple[ps.Examples, ps.Examples], tmp_path: Path
) -> None:
    train, unseen = arm
    skin = FITS[name]().fit(train)
    _assert_the_page_gives_the_same(skin, unseen.motion, tmp_path / "arm.glb")


def test_a_script_that_knows_only_the_page_keeps_to_span_and_bound(
    arm: tuple[ps.Examples, ps.Examples], tmp_path: Path
) -> None:
    skin = growing_skin(cut_arm(arm[0].rig))
    motion = far_motion(skin.rig)
    assert (factors(skin, motion).min(axis=0) < 0.5).all()
    _assert_the_page_gives_the_same(skin, motion, tmp_path / "arm.glb")


def _assert_the_page_gives_the_same(skin: ps.Skin, motion: ps.Motion, path: Path) -> None:
    ps.export(skin, path)
    for pose in motion:
        shifts = pose.translations * skin.rig.mesh.unit
        found = _coordinates(path, pose.rotations, shifts, dict(pose.controls))
        for mine, driver in zip(found, skin.drivers, strict=True):
            wanted = skin.coordinates(driver, pose)
            np.testing.assert_allclose(mine, wanted, atol=1e-5 * max(1.0, float(np.abs(wanted).max())))
