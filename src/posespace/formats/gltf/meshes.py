"""The meshes of a glTF file: their primitives as triangles, their morphs, and several of them joined into one mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.errors import InputError
from posespace.formats.checked_json import Fields, printable
from posespace.formats.contents import unique
from posespace.formats.gltf.buffers import Document
from posespace.formats.gltf.nodes import Nodes
from posespace.mesh import Mesh

_TRIANGLES, _STRIP, _FAN = 4, 5, 6
_Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Primitive:
    """The vertices of one primitive, or of several that share them.

    Parameters
    ----------
    where : what to call it in messages
    points : (N, 3) float32
    joints : (N, K) numbers in the skin's list of joints; K is 0 where the primitive is not skinned
    weights : (N, K) float32
    targets : the accessor of each morph's displacements, None for none
    """

    where: str
    points: Floats
    joints: _Ints
    weights: Floats
    targets: tuple[int | None, ...]

    def bound(self, joint_count: int) -> _Ints:
        """Return the joints (N, K), all below `joint_count`: a slot of no weight may hold any number in the file."""
        used = self.weights != 0
        wrong = used & (self.joints >= joint_count)
        if wrong.any():
            vertex, slot = np.argwhere(wrong)[0]
            joint = self.joints[vertex, slot]
            raise InputError(f"{self.where}: vertex {vertex} is bound to joint {joint}, its skin has {joint_count}")
        return np.where(used, self.joints, 0)


@dataclass(frozen=True, eq=False)
class Surface:
    """One mesh of the file, in its own space.

    Parameters
    ----------
    name : as in the file, may be empty
    primitives : their vertices, one after the other, are the surface's
    triangles : (T, 3)
    target_names : one a morph, empty where the file gives none
    default_weights : of the morphs; may be shorter
    """

    name: str
    primitives: tuple[Primitive, ...]
    triangles: _Ints
    target_names: tuple[str, ...]
    default_weights: tuple[float, ...]

    @property
    def size(self) -> int:
        """How many vertices it has."""
        return sum(len(primitive.points) for primitive in self.primitives)


@dataclass(frozen=True, eq=False)
class Part:
    """A surface where a node puts it: in the world, or in a rig.

    Parameters
    ----------
    node : number of the node
    mesh : number of its mesh
    surface : that mesh
    move : (4, 4) from the surface's own space to the world or the rig's mesh space
    joints : the joint nodes of its skin; empty for an unskinned mesh
    """

    node: int
    mesh: int
    surface: Surface
    move: Floats
    joints: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Morphs:
    """The morphs of a mesh that was joined from parts.

    Parameters
    ----------
    displacements : (N, 3) by name
    names : the morphs of each node, in its own order
    defaults : the weights the file gives them, by name
    """

    displacements: dict[str, Floats]
    names: dict[int, list[str]]
    defaults: dict[str, float]


def read_surface(document: Document, mesh: Fields) -> Surface | None:
    """Read the triangles of a mesh's primitives; None where it has none."""
    found: dict[tuple[Any, ...], Primitive] = {}
    start: dict[tuple[Any, ...], int] = {}
    triangles: list[_Ints] = []
    end = 0
    for primitive in mesh.parts("primitives", f"{mesh.where} primitive", ()):
        named = primitive.part("attributes", {})
        attributes = {name: named.integer(name, below=document.accessor_count) for name in named}
        mode = primitive.integer("mode", default=_TRIANGLES)
        if mode not in (_TRIANGLES, _STRIP, _FAN) or "POSITION" not in attributes:
            lack = "positions" if "POSITION" not in attributes else "triangles"
            document.note(f"{mesh.where} has a primitive without {lack}: it is left out")
            continue
        used = {name: at for name, at in attributes.items() if name.startswith(("POSITION", "JOINTS_", "WEIGHTS_"))}
        targets = primitive.parts("targets", f"{primitive.where} target", ())
        moves = tuple(target.reference("POSITION", document.accessor_count) for target in targets)
        # Some exporters write a mesh's vertices once and let its primitives pick their own.
        key = (*sorted(used.items()), moves)
        if key not in found:
            found[key], start[key] = _vertices(document, used, moves, primitive.where), end
            end += len(found[key].points)
        triangles.append(_corners(document, primitive, mode, len(found[key].points)) + start[key])
    if not found:
        return None
    primitives = tuple(found.values())
    morphs = max(len(primitive.targets) for primitive in primitives)
    names = (_target_names(mesh) + [""] * morphs)[:morphs]
    defaults = tuple(mesh.numbers("weights", default=()))
    return Surface(mesh.text("name", ""), primitives, np.concatenate(triangles), tuple(names), defaults)


def join(document: Document, parts: Sequence[Part]) -> Mesh:
    """Return one mesh of all parts, in their order."""
    points: list[Floats] = []
    triangles: list[_Ints] = []
    end = 0
    for part in parts:
        document.take(3 * (part.surface.size + len(part.surface.triangles)), f"the mesh of node {part.node}")
        corners = part.surface.triangles
        # A reflection turns the surface inside out.
        turned = corners[:, [0, 2, 1]] if np.linalg.det(part.move[:3, :3]) < 0 else corners
        triangles.append(turned + end)
        points += [_moved(primitive.points, part.move) for primitive in part.surface.primitives]
        end += part.surface.size
    return Mesh(np.concatenate(points), np.concatenate(triangles))


def influences(document: Document, parts: Sequence[Part], joints: Sequence[int]) -> tuple[_Ints, Floats]:
    """Return which of the nodes `joints` move each vertex of the joined parts: (N, K) numbers and weights.

    The strongest stands first; slots that no vertex needs are left out.
    """
    number = {node: k for k, node in enumerate(joints)}
    slots = max(1, *(primitive.weights.shape[1] for part in parts for primitive in part.surface.primitives))
    count = sum(part.surface.size for part in parts)
    document.take(2 * count * slots + sum(len(part.joints) for part in parts), "the joints and weights of a rig")
    where, weights = np.zeros((count, slots), np.int64), np.zeros((count, slots), np.float32)
    start = 0
    for part in parts:
        numbers = np.array([number[node] for node in part.joints])
        for primitive in part.surface.primitives:
            rows, own = slice(start, start + len(primitive.points)), primitive.weights.shape[1]
            if not own:
                document.note(f"{primitive.where} is skinned, but has no joints and weights: it is bound to the root")
            where[rows, :own] = numbers[primitive.bound(len(numbers))]
            weights[rows, :own] = primitive.weights
            start = rows.stop
    order = np.argsort(-weights, axis=1, kind="stable")
    where, weights = np.take_along_axis(where, order, axis=1), np.take_along_axis(weights, order, axis=1)
    needed = max(1, int(np.flatnonzero((weights != 0).any(axis=0)).max(initial=0)) + 1)
    return where[:, :needed], weights[:, :needed]


def read_morphs(document: Document, nodes: Nodes, parts: Sequence[Part]) -> Morphs:
    """Read the morphs of the joined parts; parts whose morphs have the same name share it.

    Morphs without a name are numbered through all parts, since those of two meshes have nothing to do with each other.
    """
    by_mesh: dict[int, list[str]] = {}
    numbered = 0
    for part in parts:
        if part.mesh not in by_mesh:
            given = part.surface.target_names
            by_mesh[part.mesh] = unique((name or f"morph {numbered + k}" for k, name in enumerate(given)), "morph")
            numbered += len(given)
    names = dict.fromkeys(name for part in parts for name in by_mesh[part.mesh])
    count = sum(part.surface.size for part in parts)
    document.take(3 * count * len(names), "the morphs")
    total = {name: np.zeros((count, 3), np.float32) for name in names}
    defaults = dict.fromkeys(names, 0.0)
    start = 0
    for part in parts:
        rows = slice(start, start + part.surface.size)
        for morph, name in enumerate(by_mesh[part.mesh]):
            moved = _displacements(document, part.surface, morph).astype(np.float64) @ part.move[:3, :3].T
            total[name][rows] = moved
        own = nodes.weights[part.node]
        weights = part.surface.default_weights if own is None else own
        defaults.update(zip(by_mesh[part.mesh], weights, strict=False))
        start = rows.stop
    return Morphs(dict(total), {part.node: by_mesh[part.mesh] for part in parts}, defaults)


def _target_names(mesh: Fields) -> list[str]:
    """Return the names of a mesh's morphs from its extras, where any JSON is allowed: what is no string is empty."""
    extras = mesh.values.get("extras")
    found = extras.get("targetNames") if isinstance(extras, dict) else None
    entries = found if isinstance(found, list) else []
    return [printable(entry) if isinstance(entry, str) else "" for entry in entries]


def _vertices(document: Document, used: dict[str, int], moves: tuple[int | None, ...], where: str) -> Primitive:
    points = document.floats(used["POSITION"], "VEC3", f"{where} POSITION")
    joints: list[_Ints] = [np.zeros((len(points), 0), np.int64)]
    weights: list[Floats] = [np.zeros((len(points), 0), np.float32)]
    for k in range(len(used)):
        pair = (used.get(f"JOINTS_{k}"), used.get(f"WEIGHTS_{k}"))
        if pair == (None, None):
            break
        if pair[0] is None or pair[1] is None:
            raise InputError(f"{where}: expected both JOINTS_{k} and WEIGHTS_{k}, got one of them")
        joints.append(document.integers(pair[0], "VEC4", f"{where} JOINTS_{k}", len(points)))
        weights.append(document.floats(pair[1], "VEC4", f"{where} WEIGHTS_{k}", len(points)))
    return Primitive(where, points, np.concatenate(joints, axis=1), np.concatenate(weights, axis=1), moves)


def _corners(document: Document, primitive: Fields, mode: int, count: int) -> _Ints:
    """Return the triangles (T, 3) of a primitive of `count` vertices."""
    accessor = primitive.reference("indices", document.accessor_count)
    if accessor is None:
        document.take(3 * count, primitive.where)
        listed: _Ints = np.arange(count)
    else:
        listed = document.integers(accessor, "SCALAR", f"{primitive.where} indices")[:, 0]
    if len(listed) and listed.max() >= count:
        raise InputError(f"{primitive.where}: expected indices from 0 to {count - 1}, got {listed.max()}")
    if mode == _TRIANGLES:
        whole = len(listed) // 3 * 3
        if whole < len(listed):
            document.note(f"{primitive.where}: its last triangle lacks corners and is left out")
        return listed[:whole].reshape(-1, 3)
    first = np.arange(max(len(listed) - 2, 0))
    # In a strip every other triangle is turned, so that all face the same way.
    odd = first % 2
    order = [first, first + 1 + odd, first + 2 - odd] if mode == _STRIP else [first + 1, first + 2, 0 * first]
    triangles: _Ints = listed[np.stack(order, axis=1)]
    return triangles


def _displacements(document: Document, surface: Surface, morph: int) -> Floats:
    """Return the displacements (N, 3) of a morph; zero where a primitive lacks it."""
    found: list[Floats] = []
    for primitive in surface.primitives:
        accessor = primitive.targets[morph] if morph < len(primitive.targets) else None
        count = len(primitive.points)
        if accessor is None:
            found.append(np.zeros((count, 3), np.float32))
        else:
            found.append(document.floats(accessor, "VEC3", f"{primitive.where} target {morph}", count))
    return np.concatenate(found)


def _moved(points: Floats, move: Floats) -> Floats:
    if np.array_equal(move, np.eye(4)):
        return points
    moved: Floats = (points @ move[:3, :3].T + move[:3, 3]).astype(np.float32)
    return moved
