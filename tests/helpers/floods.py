"""Small files that ask for much derived work: seconds or gigabytes of it, were there no budget."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from helpers import marker_files
from helpers.gltf_files import Builder, as_glb, skinned
from helpers.strategies import random_skin

import posespace as ps
from posespace.markers.markers import Markers
from posespace.skin.skin import Skin


def flat_skeleton(folder: Path, joints: int = 6_000) -> Path:
    """A skeleton all of whose joints hang from one, each with a triangle of skin."""
    return _rig(folder, [{"name": "hub", "children": list(range(2, joints + 2))}, *({} for _ in range(joints))])


def deep_skeleton(folder: Path, joints: int = 8_000) -> Path:
    """A chain of joints, and one more root beside it that has to be linked to one of them."""
    chain = [{"children": [k + 2]} for k in range(joints - 2)]
    return _rig(folder, [*chain, {}, {"translation": [1, 0, 0]}])


def many_influences(folder: Path, vertices: int = 300, sets: int = 250) -> Path:
    """A skin of few vertices that a thousand joints move, every one of them."""
    joints = 4 * sets
    made = Builder(
        nodes=[{"mesh": 0, "skin": 0}, {"children": list(range(2, joints + 2))}, *({} for _ in range(joints))]
    )
    made.json["skins"] = [{"joints": list(range(1, joints + 2))}]
    attributes = {"POSITION": made.add(np.random.default_rng(0).normal(size=(vertices, 3)))}
    for k in range(sets):
        attributes[f"JOINTS_{k}"] = made.add(np.tile(np.arange(4) + 4 * k + 1, (vertices, 1)), np.uint16)
        attributes[f"WEIGHTS_{k}"] = made.add(np.full((vertices, 4), 1 / joints))
    made.json["meshes"] = [{"primitives": [{"attributes": attributes}]}]
    return made.write(folder, glb=True)


def _rig(folder: Path, joints: list[dict[str, Any]]) -> Path:
    """A rig of these joint nodes, numbered from 1, each of which moves a triangle of the mesh."""
    count = len(joints)
    made = Builder(nodes=[{"mesh": 0, "skin": 0}, *joints], skins=[{"joints": list(range(1, count + 1))}])
    points = np.random.default_rng(0).normal(size=(3 * count, 3))
    bound = np.zeros((3 * count, 4))
    bound[:, 0] = np.repeat(np.arange(count), 3)
    weights = np.tile(np.array([255, 0, 0, 0]), (3 * count, 1))
    attributes = {
        "POSITION": made.add(points),
        "JOINTS_0": made.add(bound, np.uint16),
        "WEIGHTS_0": made.add(weights, np.uint8, normalized=True),
    }
    made.json["meshes"] = [{"primitives": [{"attributes": attributes}]}]
    return made.write(folder, glb=True)


def primitives(folder: Path, count: int = 20_000) -> Path:
    """A mesh of very many primitives that share their vertices."""
    made = skinned()
    made.json["meshes"][0]["primitives"] *= count
    return made.write(folder, glb=True)


def shared_corners(folder: Path, count: int = 2_000) -> Path:
    """A mesh of many primitives that share one long list of corners."""
    made = skinned()
    made.json["meshes"][0]["primitives"][0]["indices"] = made.add(np.zeros(15_000), np.uint8)
    made.json["meshes"][0]["primitives"] *= count
    return made.write(folder, glb=True)


def own_primitives(folder: Path, count: int = 9_000) -> Path:
    """A mesh of very many primitives, each with vertices of its own."""
    made = skinned()
    first = made.json["meshes"][0]["primitives"][0]
    accessor = made.json["accessors"][first["attributes"]["POSITION"]]
    start = len(made.json["accessors"])
    made.json["accessors"] += [accessor] * count
    more = [{"attributes": first["attributes"] | {"POSITION": start + k}} for k in range(count)]
    made.json["meshes"][0]["primitives"] += more
    return made.write(folder, glb=True)


def morphs(folder: Path, count: int = 9_000) -> Path:
    """A mesh of very many morphs that move nothing, with names."""
    made = skinned()
    made.json["meshes"][0]["primitives"][0]["targets"] = [{}] * count
    made.json["meshes"][0]["extras"] = {"targetNames": ["a"] * count}
    return made.write(folder, glb=True)


def flat_skeletons(folder: Path, rigs: int = 12, joints: int = 1_500) -> Path:
    """Several rigs, each with a skeleton that is flat."""
    path = flat_skeleton(folder, joints)
    length = int.from_bytes(path.read_bytes()[12:16], "little")
    whole, binary = json.loads(path.read_bytes()[20 : 20 + length]), path.read_bytes()[28 + length :]
    nodes = list(whole["nodes"])
    for k in range(1, rigs):
        first = len(whole["nodes"])
        moved = [node | {"children": [child + first for child in node.get("children", [])]} for node in nodes]
        whole["nodes"] += [node | ({"skin": k} if "skin" in node else {}) for node in moved]
        whole["skins"].append({"joints": [joint + first for joint in whole["skins"][0]["joints"]]})
    path.write_bytes(as_glb(json.dumps(whole).encode(), binary))
    return path


def meshes(folder: Path, count: int = 2_400) -> Path:
    """Very many small meshes without a skin."""
    made = skinned()
    made.json["meshes"] *= count
    made.json["nodes"] += [{"mesh": k} for k in range(count)]
    return made.write(folder, glb=True)


def dressed_meshes(folder: Path, count: int = 1_500) -> Path:
    """Many meshes that share one material with much to check."""
    made = skinned()
    made.json["meshes"][0]["primitives"][0]["material"] = 0
    made.json["materials"] = [{"name": "m", "extras": [[k] for k in range(40_000)]}]
    made.json["nodes"] += [{"mesh": 0}] * count
    return made.write(folder, glb=True)


def joint_names(folder: Path, count: int = 30_000) -> Path:
    """Joints whose names are alike up to their last letters, and very long."""
    return _rig(folder, [{"name": "a"}, *({"name": "a", "translation": [k, 0, 0]} for k in range(count))])


def left_and_right(folder: Path, count: int = 8_000) -> Path:
    """Joints whose names all have a side, and a counterpart that has to be looked for."""
    chain = [{"name": f"{'L_' * 30}{k}", "children": [k + 2]} for k in range(count - 1)]
    return _rig(folder, [*chain, {"name": "R_"}])


def shared_clock(folder: Path, channels: int = 4_000, keys: int = 50_000) -> Path:
    """A clip whose very many channels share one long list of times."""
    made = skinned()
    clock, values = made.add(np.arange(keys)), made.describe(np.float32, "VEC3", keys)
    sampler = {"input": clock, "output": values}
    channel = {"sampler": 0, "target": {"node": 1, "path": "translation"}}
    made.json["animations"] = [{"samplers": [sampler], "channels": [channel] * channels}]
    return made.write(folder, glb=True)


def clips(folder: Path, count: int = 2_500) -> Path:
    """Very many clips with two keys that lie far apart."""
    made = skinned()
    sampler = {"input": made.add([0, 1000]), "output": made.add([[0, 0, 0], [1, 0, 0]])}
    channel = {"sampler": 0, "target": {"node": 1, "path": "translation"}}
    made.json["animations"] = [{"samplers": [sampler], "channels": [channel]}] * count
    return made.write(folder, glb=True)


def _exported(folder: Path, change: Callable[[dict[str, Any], dict[str, Any]], None], pool: int = 0) -> Path:
    """A skin exported as GLB whose JSON, and the extension in it, `change` changes; its pool of numbers is longer."""
    skin = random_skin(np.random.default_rng(1))
    path = folder / "flood.gltf"
    ps.export(Skin(skin.rig, skin.layers), path, warn=lambda _: None)
    content = json.loads(path.read_text())
    made = Builder()
    made.json = content
    uri = content["buffers"][0].pop("uri")
    made.data = bytearray(base64.b64decode(uri.partition(",")[2]))
    del content["buffers"]
    extension = content["extensions"]["POSESPACE_drivers"]
    if pool:
        extension["numbers"] = made.view(np.full(pool, 0.5).tobytes())
    change(content, extension)
    path.unlink()
    return made.write(folder, glb=True)


def drivers(folder: Path, count: int = 2_000, pool: int = 100_000) -> Path:
    """Very many drivers over one pool of numbers."""

    def change(_: dict[str, Any], extension: dict[str, Any]) -> None:
        extension["controls"] = ["smile"]
        one = {"kind": "controls", "inputs": [0], "centres": [0, 300], "kernel": "gaussian", "tail": "none"}
        one |= {"radius": 0, "weights": [0, pool // 300]}
        extension["drivers"] = [one] * count
        extension["layers"] = [{"name": f"l{k}", "driver": k, "bits": 32} for k in range(count)]

    return _exported(folder, change, pool)


def columns(folder: Path, count: int = 100_000) -> Path:
    """Layers of very many components, of which the mesh has no targets."""

    def change(_: dict[str, Any], extension: dict[str, Any]) -> None:
        extension["controls"] = ["smile"]
        one = {"kind": "controls", "inputs": [0], "centres": [0, 1], "kernel": "gaussian", "tail": "none"}
        one |= {"radius": 0, "weights": [0, count]}
        extension["drivers"] = [one]
        extension["layers"] = [{"name": f"l{k}", "driver": 0, "bits": 32} for k in range(50)]

    return _exported(folder, change, count)


def layers(folder: Path, count: int = 20_000) -> Path:
    """Very many layers of one driver."""

    def change(_: dict[str, Any], extension: dict[str, Any]) -> None:
        extension["layers"] = extension["layers"][:1] * count

    return _exported(folder, change)


def empty_poses(folder: Path, count: int = 60_000) -> Path:
    """Very many poses in which all joints rest."""
    return _poses(folder, {f"{k}": {} for k in range(count)})


def many_controls(folder: Path, count: int = 12_000) -> Path:
    """Poses that have a control each that no other has."""
    return _poses(folder, {f"{k}": {"controls": {f"c{k}": 1}} for k in range(count)})


def turned_poses(folder: Path, count: int = 60_000) -> Path:
    """Very many poses that turn one joint."""
    return _poses(folder, {f"{k}": {"rotations": {"joint1": {"x": 1}}} for k in range(count)})


def foreign_poses(folder: Path, count: int = 100_000) -> Path:
    """Very many poses in a form of other tools."""
    path = folder / "flood.json"
    path.write_text(json.dumps({f"{k}": {"joint1": [0, 0, 0, 1]} for k in range(count)}))
    return path


def foreign_matrices(folder: Path, count: int = 25_000) -> Path:
    """Very many matrices in a form of other tools."""
    path = folder / "flood.json"
    one = np.eye(4).astype(int).ravel().tolist()
    path.write_text(json.dumps({f"{k}": {"joint1": one} for k in range(count)}, separators=(",", ":")))
    return path


def unlike_objects(folder: Path, count: int = 150_000) -> Path:
    """Objects within objects, none of which is a pose."""
    path = folder / "flood.json"
    path.write_text(json.dumps({f"{k}": {"a": {"b": {}}} for k in range(count)}))
    return path


def deep_objects(folder: Path, depth: int = 900) -> Path:
    """Poses deep within objects, so that the names that lead to them are long."""
    path = folder / "flood.json"
    inner = {f"{k}": {"joint1": [0, 0, 0, 1]} for k in range(10_000)}
    path.write_text('{"a":' * depth + json.dumps(inner | {"b": inner}) + "}" * depth)
    return path


def _poses(folder: Path, poses: dict[str, Any]) -> Path:
    path = folder / "flood.json"
    path.write_text(json.dumps({"posespace": "poses", "version": 1, "poses": poses}, separators=(",", ":")))
    return path


def slow_take(folder: Path) -> Path:
    """A take of 30 frames that lasts eight hours."""
    return marker_files.tsv(folder / "flood.tsv", marker_files.take(30, rate=0.001))


def gaps(folder: Path, frames: int = 4_000, markers: int = 60) -> Path:
    """A take in which every marker is missing in every other frame."""
    seen = (np.arange(frames)[:, None] + np.arange(markers)) % 2 == 0
    positions = np.ones((frames, markers, 3))
    names = tuple(f"m{k}" for k in range(markers))
    return marker_files.tsv(folder / "flood.tsv", Markers(names, positions, seen))


FLOODS: dict[str, Callable[[Path], Path]] = {
    flood.__name__: flood
    for flood in (
        flat_skeleton, flat_skeletons, deep_skeleton, many_influences, joint_names, left_and_right, primitives,
        own_primitives, shared_corners, morphs, meshes, dressed_meshes, shared_clock, clips, drivers, columns, layers,
        empty_poses, many_controls, turned_poses, foreign_poses, foreign_matrices, unlike_objects, deep_objects,
        slow_take, gaps,
    )
}  # fmt: skip
