"""glTF: files that are wrong, damaged or hostile are refused with one line."""

from __future__ import annotations

import copy
import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.gltf_files import (
    Builder,
    as_glb,
    everything,
    only,
    readable,
    refused,
    skinned,
)


@pytest.mark.parametrize(
    "uri",
    [
        "../made.bin",
        "/etc/hostname",
        "%2e%2e/made.bin",
        "a/..\\..\\made.bin",
        "file:///etc/hostname",
        "http://x/y",
        "a\0b",
    ],
)
def test_buffers_outside_the_folder_are_refused(tmp_path: Path, uri: str) -> None:
    made = skinned()
    made.json["buffers"] = [{"byteLength": len(made.data), "uri": uri}]
    (tmp_path / "made.bin").write_bytes(made.data)
    (tmp_path / "sub").mkdir()
    assert "expected a file in the same folder" in refused(made.write(tmp_path / "sub"))


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    made = skinned()
    (tmp_path / "secret.bin").write_bytes(made.data)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "link.bin").symlink_to(tmp_path / "secret.bin")
    made.json["buffers"] = [{"byteLength": len(made.data), "uri": "link.bin"}]
    assert "expected a file in the same folder" in refused(made.write(tmp_path / "sub"))


def test_trees_only(tmp_path: Path) -> None:
    made = skinned()
    made.json["nodes"][2]["children"] = [1]
    assert refused(made.write(tmp_path)) == "node 1: expected a tree of nodes, got a cycle"
    made.json["nodes"][0]["children"] = [2]
    assert refused(made.write(tmp_path)) == "node 2: expected one parent, got nodes 0 and 1"


def test_deep_chains_do_not_recurse(tmp_path: Path) -> None:
    made = skinned()
    deep = 20_000
    made.json["nodes"][2]["children"] = [3]
    made.json["nodes"] += [{"children": [k + 1]} for k in range(3, deep)] + [{"translation": [1, 0, 0]}]
    made.json["skins"] = [{"joints": [1, deep]}]
    assert only(made.read(tmp_path)).skeleton.rest_world[1, 0, 3] == 2


def test_unread_compression_is_refused_with_a_remedy(tmp_path: Path) -> None:
    made = skinned()
    made.json["extensionsRequired"] = ["KHR_draco_mesh_compression"]
    message = refused(made.write(tmp_path))
    assert "KHR_draco_mesh_compression" in message
    assert "without compression" in message


def test_other_required_extensions_are_noted(tmp_path: Path) -> None:
    made = skinned()
    made.json["extensionsRequired"] = ["KHR_texture_transform"]
    assert made.read(tmp_path).notes == ("the file requires the extension 'KHR_texture_transform', which is left out",)


def test_accessors_stay_in_their_views_and_views_in_their_buffers(tmp_path: Path) -> None:
    made = skinned()
    made.json["accessors"][0]["count"] = 100
    assert refused(made.write(tmp_path)) == "accessor 0 needs 1200 bytes, its buffer view holds 36"
    made.json["bufferViews"][0]["byteLength"] = 10**6
    assert refused(made.write(tmp_path)) == f"buffer view 0 ends at byte 1000000, its buffer holds {len(made.data)}"


@pytest.mark.parametrize("count", [10**7, 5 * 10**7, 10**15])
def test_zeros_beyond_reason_are_refused(tmp_path: Path, count: int) -> None:
    made = skinned()
    attributes = made.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["JOINTS_0"] = made.describe(np.uint8, "VEC4", count)
    assert f"expected 3 elements, got {count}" in refused(made.write(tmp_path))
    attributes["POSITION"] = made.describe(np.float32, "VEC3", 2 * count)
    assert "asks for more numbers than a file of this size can need" in refused(made.write(tmp_path))


@pytest.mark.parametrize(
    ("what", "part", "entries"),
    [
        ("nodes", "nodes", [{}] * 1_000_000),
        ("meshes", "nodes", [{"mesh": 0}] * 5_000),
        ("meshes", "nodes", [{"mesh": 0, "skin": 0}] * 5_000),
        ("clips", "animations", [{"samplers": [], "channels": []}] * 5_000),
        ("channels", "animations", [{"channels": [{"sampler": 0, "target": {"node": 1}}] * 100_000}]),
    ],
)
def test_floods_of_small_parts_are_refused(tmp_path: Path, what: str, part: str, entries: list[Any]) -> None:
    made = skinned()
    made.json[part] = [*made.json.get(part, []), *entries]
    remedy = f"holds more {what} than a file of this size can need; export the character alone"
    assert refused(made.write(tmp_path)) == remedy


def test_many_meshes_skins_and_joints_are_refused_too(tmp_path: Path) -> None:
    made = skinned()
    made.json["meshes"] *= 5_000
    made.json["nodes"] += [{"mesh": k} for k in range(5_000)]
    assert "holds more meshes" in refused(made.write(tmp_path))
    made = skinned()
    made.json["skins"] *= 6_000
    made.json["nodes"] += [{"mesh": 0, "skin": k} for k in range(6_000)]
    assert "holds more skins" in refused(made.write(tmp_path))
    made = skinned()
    made.json["skins"][0] = {"joints": list(range(100_000))}
    made.json["nodes"] += [{}] * 100_000
    assert "holds more joints" in refused(made.write(tmp_path))


def test_a_larger_file_may_hold_more_parts(tmp_path: Path) -> None:
    made = skinned()
    made.json["nodes"] += [{"mesh": 0}] * 5_000
    made.data += b"\0" * 2_000_000
    assert len(made.read(tmp_path, glb=True).meshes) == 5_000


def test_small_files_cannot_ask_for_much_by_repeating_themselves(tmp_path: Path) -> None:
    made = skinned()
    primitive = made.json["meshes"][0]["primitives"][0]
    primitive["attributes"] = {"POSITION": made.describe(np.float32, "VEC3", 10**5)}
    made.json["nodes"] += [{"mesh": 0} for _ in range(1000)]
    assert "than a file of this size can need" in refused(made.write(tmp_path))
    made = skinned()
    made.json["meshes"][0]["primitives"] *= 2
    made.json["nodes"] += [{} for _ in range(20_000)]
    made.json["skins"] = [{"joints": [k, k + 1]} for k in range(1, 20_000, 2)]
    made.json["nodes"] += [{"mesh": 0, "skin": k} for k in range(9_000)]
    assert "than a file of this size can need" in refused(made.write(tmp_path))


HOSTILE = [None, True, -1, 0, 3, 0.5, 10**30, 2**31, 1e308, math.nan, "x", "", [], [0], [[]], {}, {"a": 1}]


def places(value: Any) -> list[tuple[Any, ...]]:
    """The path to every value inside a JSON value; of long lists, to the first ones."""
    found: list[tuple[Any, ...]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value[:9]) if isinstance(value, list) else ()
    for key, inner in items:
        found += [(key,), *((key, *rest) for rest in places(inner))]
    return found


def test_any_value_replaced_or_missing_is_read_or_refused_in_one_line(tmp_path: Path) -> None:
    made = everything()
    assert len(made.read(tmp_path).rigs) == 1
    made.json["buffers"] = [{"byteLength": len(made.data)}]
    path = tmp_path / "made.glb"
    refusals = 0
    # Every fifth pair: each place meets several values, each value many places.
    for where, value in itertools.islice(itertools.product(places(made.json), [*HOSTILE, "missing"]), 0, None, 5):
        whole = copy.deepcopy(made.json)
        parent = whole
        for key in where[:-1]:
            parent = parent[key]
        if value == "missing":
            del parent[where[-1]]
        else:
            parent[where[-1]] = value
        path.write_bytes(as_glb(json.dumps(whole).encode(), bytes(made.data)))
        refusals += not readable(path)
    assert refusals > 500


@pytest.mark.parametrize("glb", [True, False])
def test_damaged_bytes_are_read_or_refused_in_one_line(tmp_path: Path, glb: bool) -> None:
    raw = everything().write(tmp_path, glb).read_bytes()
    path = tmp_path / "damaged"
    random = np.random.default_rng(7)
    cuts = [raw[:length] for length in range(0, len(raw), 37)]
    flips = []
    for _ in range(400):
        damaged = np.frombuffer(raw, np.uint8).copy()
        damaged[random.integers(len(raw), size=4)] = random.integers(256, size=4)
        flips.append(damaged.tobytes())
    for damaged_file in [*cuts, *flips]:
        path.write_bytes(damaged_file)
        readable(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"[]", "the file: expected an object, got a list"),
        (b'{"asset": {"version": "1.0"}}', "expected glTF version 2, got '1.0'"),
        (b"[" * 10**5, "is not valid JSON"),
        (b"glTF\1\0\0\0\20\0\0\0", "expected GLB version 2, got 1"),
        (b"glTF\2\0\0\0\20\0\0\0", "is cut short: its header says 16 bytes, found 12"),
    ],
)
def test_what_is_no_gltf_is_told_so(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "some.glb"
    path.write_bytes(content)
    assert refused(path).startswith(message)


def test_an_empty_file_of_nothing_holds_nothing(tmp_path: Path) -> None:
    contents = Builder().read(tmp_path)
    assert (contents.meshes, contents.rigs, contents.motions, contents.morphs) == ({}, {}, {}, {})
