"""Files that were made to do harm, in a real browser: the player gives one error and shows plain morph targets."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.point_skins import point_motion, point_skin

import posespace as ps

SCRIPT = Path(__file__).parents[2] / "player" / "tests" / "capture.ts"
EXTENSION = "POSESPACE_drivers"
EVIL = "#define gl_Position hacked"
Json = dict[str, Any]


@pytest.fixture(scope="module")
def page(bundled: Callable[..., str], opened: Callable[..., Any]) -> Any:
    return opened(bundled(SCRIPT))


@pytest.fixture
def content(arm: tuple[ps.Examples, ps.Examples], tmp_path: Path) -> Json:
    """A skin as a `.gltf` file's JSON, to be tampered with."""
    ps.export(ps.PSD().fit(arm[0]), tmp_path / "arm.gltf")
    return dict(json.loads((tmp_path / "arm.gltf").read_text()))


@pytest.fixture
def points(tmp_path: Path) -> Json:
    """A skin of control points, with corrections and detail, as a `.gltf` file's JSON."""
    skin = point_skin("corrections and detail")
    motion = replace(point_motion(skin), times=np.arange(5) / 2)
    ps.export(skin, tmp_path / "arm.gltf", motion=motion, rate=2.0, warn=lambda _: None)
    return dict(json.loads((tmp_path / "arm.gltf").read_text()))


def drawn(page: Any, content: Json) -> Json:
    page.said.clear()
    file = base64.b64encode(json.dumps(content).encode()).decode()
    return dict(page.evaluate("(file) => draw(file)", file))


def assert_plain(found: Json, problem: str) -> None:
    assert len(found["errors"]) == 1
    assert "plays as plain morph targets" in found["errors"][0]
    assert problem in found["errors"][0]
    assert (found["skins"], found["morphs"] > 0, found["glError"]) == (0, True, 0)


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.update(numbers=10**6),
        lambda file: file["drivers"][0].update(centres=[0, 10**9]),
        lambda file: file["drivers"][0].update(inputs=[50, 50]),
        lambda file: file.update(joints=[]),
        lambda file: file.update(version=7),
        lambda file: file.update(grid=[0, 0, 0, 0]),
        lambda file: file.update(unit="<b>1</b>"),
        lambda file: file["drivers"][0].update(weights=[0, 10**9]),
        lambda file: file["layers"][0].update(driver=-1),
        lambda file: file["joints"][1].update(rest=[0, 0, 0, 1e300]),
        lambda file: file["drivers"][0].update(span=[0]),
        lambda file: file["drivers"][0].update(span=[-1, 1]),
        lambda file: file["drivers"][0].update(span=[0, 10**6]),
    ],
)
def test_a_damaged_block_gives_one_error_and_plain_morph_targets(
    damage: Callable[[Json], None], page: Any, content: Json
) -> None:
    damage(content["extensions"][EXTENSION])
    assert_plain(drawn(page, content), "")


def test_many_drivers_over_few_numbers_are_refused(page: Any, content: Json) -> None:
    numbers = np.ones(10_000)
    numbers_view(content, numbers)
    driver = {"kind": "controls", "inputs": [0], "kernel": "gaussian", "tail": "none", "radius": 0}
    driver |= {"centres": [0, 100], "weights": [0, 100]}
    content["extensions"][EXTENSION] |= {"controls": ["smile"], "drivers": [driver] * 2000}
    most = 2**22 + len(numbers)
    assert_plain(drawn(page, content), f"expected at most {most} numbers for a pose, got {2000 * 10_100}")


@pytest.mark.parametrize(
    ("rows", "count", "problem"),
    [
        (np.eye(2), 2, ""),
        (np.zeros((0, 2)), 0, ""),
        (np.eye(2) * (1 + 1e-5), 2, "expected orthonormal rows"),
        ([[0.6, 0.8], [0.8, 0.6]], 2, "expected orthonormal rows"),
        (np.eye(3), 3, "expected at most 2 directions, got 3"),
    ],
)
def test_a_span_has_orthonormal_directions_of_its_space(
    rows: Any, count: int, problem: str, page: Any, content: Json
) -> None:
    numbers = np.concatenate([np.ones(100), np.ravel(rows), np.zeros(1)])
    numbers_view(content, numbers)
    driver = {"kind": "controls", "inputs": [0, 1], "kernel": "gaussian", "tail": "none", "radius": 0}
    driver |= {"centres": [0, 5], "weights": [0, 20], "span": [100, count]}
    drivers = len(content["extensions"][EXTENSION]["drivers"])
    content["extensions"][EXTENSION] |= {"controls": ["smile", "frown"], "drivers": drivers * [driver]}
    found = drawn(page, content)
    if problem:
        assert_plain(found, problem)
    else:
        assert (found["errors"], found["skins"]) == ([], 1)


def test_spans_of_many_directions_are_refused(page: Any, content: Json) -> None:
    size = 400
    numbers_view(content, np.concatenate([np.eye(size).ravel(), np.ones(size * size)]))
    driver = {"kind": "controls", "inputs": [0] * size, "kernel": "gaussian", "tail": "none", "radius": size * size}
    driver |= {"centres": [0, size], "weights": [0, 1], "span": [0, size]}
    content["extensions"][EXTENSION] |= {"controls": ["smile"], "drivers": [driver] * 5}
    assert_plain(drawn(page, content), "expected spans of fewer directions")


def test_layers_that_bounds_would_take_for_ever_are_refused(page: Any, content: Json) -> None:
    mesh, file, layers = content["meshes"][0], content["extensions"][EXTENSION], 300
    # Millions of triangles that take no room in the file, and many layers that all move the same vertices.
    content["accessors"].append({"componentType": 5121, "count": 9_000_000, "type": "SCALAR"})
    primitive = mesh["primitives"][0]
    primitive |= {"indices": len(content["accessors"]) - 1, "targets": layers * primitive["targets"][:1]}
    file["layers"] = [file["layers"][0]] * layers
    target = {"component": 0, "low": 0, "scale": 1}
    mesh["extensions"][EXTENSION]["targets"] = [target | {"layer": layer} for layer in range(layers)]
    mesh.pop("weights", None)
    mesh.pop("extras", None)
    assert_plain(drawn(page, content), "steps to their bounds")


def numbers_view(content: Json, numbers: Any) -> None:
    """Give the drivers other numbers to share."""
    content["extensions"][EXTENSION]["numbers"] = view(content, numbers.astype("<f8").tobytes())


def view(content: Json, data: bytes) -> int:
    """Add a buffer view of a buffer of its own; return its number."""
    uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    content["buffers"].append({"byteLength": len(data), "uri": uri})
    content["bufferViews"].append({"buffer": len(content["buffers"]) - 1, "byteLength": len(data)})
    return len(content["bufferViews"]) - 1


def test_drivers_that_share_their_numbers_play(page: Any, content: Json) -> None:
    drivers = content["extensions"][EXTENSION]["drivers"]
    drivers += [drivers[0]] * 1000
    found = drawn(page, content)
    assert (found["errors"], found["skins"], found["morphs"]) == ([], 1, 0)


def test_a_second_primitive_with_fewer_targets_plays_plain(page: Any, content: Json) -> None:
    mesh = content["meshes"][0]
    mesh["primitives"].append(mesh["primitives"][0] | {"targets": mesh["primitives"][0]["targets"][:1]})
    assert_plain(drawn(page, content), "expected 1 as in primitive 1")


@pytest.mark.parametrize("weights", [7, "many", [0.0]])
def test_weights_that_are_no_numbers_play_plain(weights: object, page: Any, content: Json) -> None:
    content["meshes"][0]["weights"] = weights
    assert_plain(drawn(page, content), "weights")


def test_points_beside_triangles_leave_the_skin_as_it_is(page: Any, content: Json) -> None:
    triangles = content["meshes"][0]["primitives"][0]
    points = {"attributes": triangles["attributes"], "targets": triangles["targets"], "mode": 0}
    content["meshes"][0]["primitives"] = [points, triangles]
    found = drawn(page, content)
    assert (found["errors"], found["skins"]) == ([], 1)


def accessor(content: Json, values: Any, kind: str) -> int:
    """Add an accessor of plain numbers; return its number."""
    data = np.asarray(values).astype(kind).tobytes()
    code = {"<f4": 5126, "<u4": 5125, "<i2": 5122}[kind]
    entry = {"componentType": code, "type": "SCALAR", "count": np.size(values), "bufferView": view(content, data)}
    content["accessors"].append(entry)
    return len(content["accessors"]) - 1


def rows(content: Json, values: Any, width: int = 4) -> int:
    """Add an accessor of the points' 146 vertices, each of equal numbers; return its number."""
    number = accessor(content, np.repeat(np.broadcast_to(values, 146), width), "<f4")
    content["accessors"][number] |= {"type": f"VEC{width}", "count": 146, "min": [0] * 3, "max": [0] * 3}
    return number


BONES: dict[str, Callable[[Json, Json], None]] = {
    "no vertices": lambda file, _: file.pop("vertices"),
    "too few vertices": lambda file, _: file.update(vertices=10),
    "endless vertices": lambda file, _: file.update(vertices=2**40),
    "no such accessor": lambda file, _: file["bones"].update(rest=10**6),
    "no accessor": lambda file, _: file["bones"].update(rest={}),
    "another array": lambda file, _: file["bones"].update(coefficients=file["bones"]["offsets"]),
    "floats for points": lambda file, _: file["bones"].update(points=file["bones"]["anchors"]),
    "points that are none": lambda file, all: file["bones"].update(points=accessor(all, 8 * [10**6], "<u4")),
    "one point twice": lambda file, all: file["bones"].update(points=accessor(all, 8 * [3], "<u4")),
    "no numbers": lambda file, all: file["bones"].update(anchors=accessor(all, 8 * [np.nan], "<f4")),
    "anchors of nothing": lambda file, all: file["bones"].update(anchors=accessor(all, 8 * [0.0], "<f4")),
    "widths of nothing": lambda file, all: file["bones"].update(heat=accessor(all, 20 * [0.0], "<f4")),
    "more bones": lambda file, all: file["bones"].update(heat=accessor(all, 5000 * [1.0], "<f4")),
    "fewer bones": lambda file, all: file["bones"].update(heat=accessor(all, 4 * [1.0], "<f4")),
    "exact numbers beyond the end": lambda file, _: file["bones"].update(exact=10**9),
    "too few exact numbers": lambda file, _: file["bones"].update(exact=file["bones"]["exact"] + 1),
    "no beta": lambda file, _: file["bones"].update(beta=0),
    "all models": lambda file, _: file["bones"].update(blended=99),
    "other bits": lambda file, _: file["bones"]["corrections"].update(bits=16),
    "bits of none": lambda file, _: file["bones"]["corrections"].update(bits=7),
    "no plain weights": lambda file, _: file["bones"].pop("plain"),
    "more levels": lambda file, _: file["detail"].update(levels=6),
    "endless levels": lambda file, _: file["detail"].update(levels=10**9),
    "no such driver": lambda file, _: file["detail"].update(driver=0),
    "heights of others": lambda file, all: file["detail"].update(heights=accessor(all, 100 * [0.0], "<f4")),
    "bones that are no part": lambda file, _: file.update(bones=[1, 2, 3]),
    "weights of nothing": lambda _, all: all["meshes"][0]["primitives"][0]["attributes"].update(WEIGHTS_0=rows(all, 0)),
    "a vertex of no weight": lambda _, all: all["meshes"][0]["primitives"][0]["attributes"].update(
        WEIGHTS_0=rows(all, [1, *([0] * 145)])
    ),
    "no joints": lambda _, all: [
        all["meshes"][0]["primitives"][0]["attributes"].pop(name) for name in ("JOINTS_0", "WEIGHTS_0")
    ],
    "vertices far off": lambda _, all: all["meshes"][0]["primitives"][0]["attributes"].update(
        POSITION=rows(all, 1e30, 3)
    ),
    "vertices left out": lambda _, all: all["meshes"][0]["extensions"][EXTENSION].update(
        vertices=[accessor(all, [0, *range(145)], "<u4")]
    ),
    "two points on one node": lambda file, _: file["joints"][2].update(node=file["joints"][1]["node"]),
    "a point on the root": lambda file, _: file["joints"][2].update(node=file["joints"][0]["node"]),
    "a point linked to itself": lambda file, _: file["joints"][2].update(link=2),
    "plain weights below 0": lambda file, all: file["bones"]["plain"].update(
        weights=accessor(all, -np.ones(all["accessors"][file["bones"]["plain"]["weights"]]["count"]), "<f4")
    ),
    "far too large": lambda file, all: file["bones"].update(beta=1e300),
}


@pytest.mark.parametrize("name", BONES)
def test_damaged_bones_or_detail_give_one_error_and_plain_skinning(name: str, page: Any, points: Json) -> None:
    BONES[name](points["extensions"][EXTENSION], points)
    assert_plain(drawn(page, points), "")


def test_another_version_of_a_file_without_morph_targets_gives_one_error(page: Any, points: Json) -> None:
    points["extensions"][EXTENSION]["version"] = 3
    mesh = points["meshes"][0]
    for holder in (mesh, mesh["primitives"][0], mesh["extensions"][EXTENSION]):
        for name in ("targets", "weights", "extras"):
            holder.pop(name, None)
    mesh["extensions"].pop(EXTENSION)
    points.pop("animations", None)
    found = drawn(page, points)
    assert (len(found["errors"]), found["skins"]) == (1, 0)
    assert "version" in found["errors"][0]


def test_the_undamaged_file_plays(page: Any, points: Json) -> None:
    found = drawn(page, points)
    assert (found["errors"], found["skins"], found["morphs"]) == ([], 1, 0)


def test_joints_beyond_the_bones_are_refused(page: Any, points: Json) -> None:
    attributes = points["meshes"][0]["primitives"][0]["attributes"]
    count = points["accessors"][attributes["JOINTS_0"]]["count"]
    joints = accessor(points, np.full(4 * count, 20), "<u4")  # the root, which is no bone
    points["accessors"][joints] |= {"componentType": 5121, "type": "VEC4", "count": count}
    attributes["JOINTS_0"] = joints
    assert_plain(drawn(page, points), "expected joints below 20")


def test_many_bones_that_share_few_samples_are_refused(page: Any, points: Json) -> None:
    bones, samples = points["extensions"][EXTENSION]["bones"], 2000
    near = points["accessors"][bones["near"]]["count"] // 20
    numbers = points["accessors"][bones["offsets"]]["count"]
    bones |= {"samples": accessor(points, np.zeros(samples * 24), "<f4")}
    bones |= {"near": accessor(points, np.zeros(20 * 100 * near), "<u4")}
    bones |= {"coefficients": accessor(points, np.zeros(samples * numbers), "<f4")}
    for key in ("holds", "exact"):
        bones.pop(key)
    assert_plain(drawn(page, points), "expected fewer control points per bone")


def test_endless_triangles_that_take_no_room_are_refused(page: Any, points: Json) -> None:
    points["accessors"].append({"componentType": 5121, "count": 9_000_000, "type": "SCALAR"})
    points["meshes"][0]["primitives"][0]["indices"] = len(points["accessors"]) - 1
    assert_plain(drawn(page, points), "triangles")


def test_primitives_that_share_their_triangles_are_refused(page: Any, points: Json) -> None:
    primitive = points["meshes"][0]["primitives"][0]
    points["meshes"][0]["primitives"] = 4_000 * [primitive]
    assert_plain(drawn(page, points), "of them shared")


def test_many_primitives_over_the_same_vertices_play(page: Any, points: Json) -> None:
    primitive = points["meshes"][0]["primitives"][0]
    whole = points["accessors"][primitive["indices"]]
    size, first = {5121: 1, 5123: 2, 5125: 4}[whole["componentType"]], whole.get("byteOffset", 0)
    pieces = []
    for corner in range(0, whole["count"], 3):
        points["accessors"].append(whole | {"count": 3, "byteOffset": first + size * corner})
        pieces.append(primitive | {"indices": len(points["accessors"]) - 1})
    points["meshes"][0]["primitives"] = pieces
    found = drawn(page, points)
    assert (found["errors"], found["skins"]) == ([], 1)


def test_the_most_bones_of_a_vertex_count(page: Any, points: Json) -> None:
    # One vertex has sixteen bones, all others one, and many triangles are at it.
    count, attributes = 146, points["meshes"][0]["primitives"][0]["attributes"]
    for four in range(4):
        joints = np.zeros((count, 4), np.uint8)
        joints[0] = 4 * four + np.arange(4)
        weights = np.zeros((count, 4))
        weights[0], weights[1:, 0] = 1 / 16, four == 0
        attributes |= {f"WEIGHTS_{four}": rows(points, 0), f"JOINTS_{four}": rows(points, 0)}
        put(points, attributes[f"WEIGHTS_{four}"], weights.astype("<f4"), 5126)
        put(points, attributes[f"JOINTS_{four}"], joints, 5121)
    triangles = np.zeros((2_200_000, 3), np.uint8)
    points["meshes"][0]["primitives"][0]["indices"] = accessor(points, [0], "<u4")
    put(points, points["meshes"][0]["primitives"][0]["indices"], triangles.ravel(), 5121)
    points["accessors"][-1]["count"] = triangles.size
    assert_plain(drawn(page, points), "steps")


def put(content: Json, number: int, values: Any, kind: int) -> None:
    """Give an accessor other numbers."""
    content["accessors"][number] |= {"bufferView": view(content, values.tobytes()), "componentType": kind}


@pytest.mark.parametrize("driven", [True, False], ids=["driven", "plain"])
@pytest.mark.parametrize(
    "name", [f"clay\n{EVIL}", f"clay\r{EVIL}", "clay\\", "clay /*", [f"clay\n{EVIL}"], 100_000 * "clay"]
)
def test_a_materials_name_is_no_code(name: object, driven: bool, page: Any, content: Json) -> None:
    content["materials"][0]["name"] = name
    if not driven:
        content["extensions"][EXTENSION]["version"] = 7
    assert_same_code(page, drawn(page, content), driven)


def test_the_set_of_a_textures_coordinates_is_no_code(page: Any, content: Json) -> None:
    pixel = "data:image/gif;base64,R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs="
    content |= {"images": [{"uri": pixel}], "textures": [{"source": 0}]}
    moved = {"KHR_texture_transform": {"texCoord": f"0\n{EVIL}"}}
    content["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"] = {"index": 0, "extensions": moved}
    content["extensionsUsed"].append("KHR_texture_transform")
    assert_same_code(page, drawn(page, content), driven=True)


def assert_same_code(page: Any, found: Json, driven: bool) -> None:
    """The mesh is drawn, and no line of its shaders is the file's."""
    assert (found["skins"], found["glError"]) == (int(driven), 0)
    assert len(found["shaders"]) >= 2
    lines = [line.strip() for shader in found["shaders"] for line in shader.splitlines()]
    assert EVIL not in lines
    names = [line for line in lines if line.startswith("#define SHADER_NAME")]
    assert names
    assert all(not line.endswith("\\") and "/*" not in line and len(line) < 300 for line in names)
    assert not [said for said in page.said if "THREE" in said]


def test_ordinary_names_of_materials_stay(page: Any, content: Json) -> None:
    content["materials"][0]["name"] = "Haut/Körper 肌 (2)"
    found = drawn(page, content)
    assert any("#define SHADER_NAME Haut/Körper 肌 (2)\n" in shader for shader in found["shaders"])
