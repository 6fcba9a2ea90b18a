"""The meshes of a glTF file: their primitives as triangles, where nodes put them, what moves them, their morphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.formats.checked_json import Fields, printable
from posespace.formats.contents import unique
from posespace.formats.gltf.buffers import Document
from posespace.formats.gltf.extension import EXTENSION
from posespace.formats.gltf.nodes import Nodes
from posespace.formats.joining import join_influences
from posespace.mesh import Mesh

_TRIANGLES, _STRIP, _FAN = 4, 5, 6
_STEPS_A_MESH = 3
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
    normal_targets : the same for its displacements of normals
    others : the accessors of its other attributes, by name
    """

    where: str
    points: Floats
    joints: _Ints
    weights: Floats
    targets: tuple[int | None, ...]
    normal_targets: tuple[int | None, ...]
    others: dict[str, int]

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
class GltfMesh:
    """One mesh of the file, in its own space.

    Parameters
    ----------
    name : as in the file, may be empty
    primitives : their vertices, one after the other, are the mesh's
    triangles : (T, 3)
    groups : which of `primitives`, which material (-1: none) and how many successive triangles, of each in the file
    target_names : one per morph, empty where the file gives none
    fallbacks : the numbers of the morphs that are for programs which know no drivers
    default_weights : of the morphs; may be shorter
    """

    name: str
    primitives: tuple[Primitive, ...]
    triangles: _Ints
    groups: tuple[tuple[int, int, int], ...]
    target_names: tuple[str, ...]
    fallbacks: frozenset[int]
    default_weights: tuple[float, ...]

    @property
    def size(self) -> int:
        """How many vertices it has."""
        return sum(len(primitive.points) for primitive in self.primitives)

    def primitive_rows(self, first: int) -> list[range]:
        """Return the vertices of each primitive of the file, its own numbered from `first` on; some may share them."""
        ends = np.cumsum([first, *(len(primitive.points) for primitive in self.primitives)]).tolist()
        return [range(ends[number], ends[number + 1]) for number, _, _ in self.groups]


@dataclass(frozen=True, eq=False)
class MeshNode:
    """A mesh where a node puts it: in the world, or in a rig.

    Parameters
    ----------
    node : number of the node
    number : number of its mesh
    mesh : that mesh
    move : (4, 4) from the mesh's own space to the world or the rig's mesh space
    joints : the joint nodes of its skin; empty for an unskinned mesh
    """

    node: int
    number: int
    mesh: GltfMesh
    move: Floats
    joints: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Morphs:
    """The morphs of a mesh that was joined from several.

    Parameters
    ----------
    displacements : (N, 3) by name
    names : the morphs of each node, in its own order; empty for those that programs which know drivers leave out
    defaults : the weights the file gives them, by name
    """

    displacements: dict[str, Floats]
    names: dict[int, list[str]]
    defaults: dict[str, float]


def read_mesh(document: Document, mesh: Fields) -> GltfMesh | None:
    """Read the triangles of a mesh's primitives; None where it has none."""
    by_buffers: dict[tuple[Any, ...], Primitive] = {}
    start: dict[tuple[Any, ...], int] = {}
    number: dict[tuple[Any, ...], int] = {}
    triangles: list[_Ints] = []
    groups: list[tuple[int, int, int]] = []
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
        moves, normal_moves = (
            tuple(target.reference(kind, document.accessor_count) for target in targets)
            for kind in ("POSITION", "NORMAL")
        )
        # Some exporters write a mesh's vertices once and let its primitives pick their own.
        key = (*sorted(used.items()), moves)
        if key not in by_buffers:
            document.budget.work(1, "meshes")
            others = {name: at for name, at in attributes.items() if name not in used}
            by_buffers[key], start[key] = _vertices(document, used, (moves, normal_moves), primitive.where, others), end
            end += len(by_buffers[key].points)
        triangles.append(_corners(document, primitive, mode, len(by_buffers[key].points)) + start[key])
        material = primitive.reference("material", 2**31)
        groups.append((number.setdefault(key, len(number)), -1 if material is None else material, len(triangles[-1])))
    if not by_buffers:
        return None
    primitives = tuple(by_buffers.values())
    morphs = max(len(primitive.targets) for primitive in primitives)
    names = (_target_names(mesh) + [""] * morphs)[:morphs]
    defaults = tuple(mesh.numbers("weights", default=()))
    corners = np.concatenate(triangles)
    fallbacks = _fallbacks(mesh)
    return GltfMesh(mesh.text("name", ""), primitives, corners, tuple(groups), tuple(names), fallbacks, defaults)


def mesh_in_space(document: Document, part: MeshNode) -> Mesh:
    """Return the mesh of a node, transformed by it."""
    document.budget.hold(3 * (part.mesh.size + len(part.mesh.triangles)), f"the mesh of node {part.node}")
    document.budget.work(_STEPS_A_MESH, "meshes")
    corners = part.mesh.triangles
    # A reflection turns the mesh inside out.
    oriented = corners[:, [0, 2, 1]] if np.linalg.det(part.move[:3, :3]) < 0 else corners
    points = np.concatenate([_moved(primitive.points, part.move) for primitive in part.mesh.primitives])
    return Mesh(points, oriented.astype(np.int32))


def influences(document: Document, parts: Sequence[MeshNode], joints: Sequence[int]) -> tuple[Ints, Floats]:
    """Return which of the nodes `joints` move each vertex of the joined meshes: (N, K) numbers and weights."""
    number = {node: k for k, node in enumerate(joints)}
    slots = max(1, *(primitive.weights.shape[1] for part in parts for primitive in part.mesh.primitives))
    count = sum(part.mesh.size for part in parts)
    document.budget.hold(2 * count * slots + sum(len(part.joints) for part in parts), "the joints and weights of a rig")
    parts_influences: list[tuple[Ints, Floats]] = []
    for part in parts:
        numbers = np.array([number[node] for node in part.joints], np.int32)
        for primitive in part.mesh.primitives:
            if not primitive.weights.shape[1]:
                document.note(f"{primitive.where} is skinned, but has no joints and weights: it is bound to the root")
            parts_influences.append((numbers[primitive.bound(len(numbers))], primitive.weights))
    return join_influences(parts_influences)


def read_morphs(document: Document, nodes: Nodes, parts: Sequence[MeshNode], normals: bool = False) -> Morphs:
    """Read the morphs of the joined meshes, or what they do to `normals`; morphs of the same name become one.

    Morphs without a name are numbered across all meshes, since those of two meshes are unrelated.
    """
    by_mesh: dict[int, list[str]] = {}
    numbered = 0
    for part in parts:
        if part.number not in by_mesh:
            target_names = part.mesh.target_names
            distinct = unique((name or f"morph {numbered + k}" for k, name in enumerate(target_names)), "morph")
            by_mesh[part.number] = ["" if k in part.mesh.fallbacks else name for k, name in enumerate(distinct)]
            numbered += len(target_names)
    names = dict.fromkeys(name for part in parts for name in by_mesh[part.number] if name)
    count = sum(part.mesh.size for part in parts)
    document.budget.hold(3 * count * len(names), "the morphs")
    document.budget.work(sum(len(by_mesh[part.number]) * len(part.mesh.primitives) for part in parts), "morphs")
    total = {name: np.zeros((count, 3), np.float32) for name in names}
    defaults = dict.fromkeys(names, 0.0)
    start = 0
    for part in parts:
        rows = slice(start, start + part.mesh.size)
        linear = _normal_move(part.move) if normals else part.move[:3, :3]
        kept = {morph: name for morph, name in enumerate(by_mesh[part.number]) if name}
        for morph, name in kept.items():
            moved = _displacements(document, part.mesh, morph, normals).astype(np.float64) @ linear.T
            total[name][rows] = moved
        node_weights = nodes.weights[part.node]
        weights = part.mesh.default_weights if node_weights is None else node_weights
        defaults.update({kept[morph]: weight for morph, weight in enumerate(weights) if morph in kept})
        start = rows.stop
    return Morphs(dict(total), {part.node: by_mesh[part.number] for part in parts}, defaults)


def _target_names(mesh: Fields) -> list[str]:
    """Return the names of a mesh's morphs from its extras, where any JSON is allowed: what is not a string is empty."""
    extras = mesh.values.get("extras")
    names = extras.get("targetNames") if isinstance(extras, dict) else None
    entries = names if isinstance(names, list) else []
    return [printable(entry) if isinstance(entry, str) else "" for entry in entries]


def _fallbacks(mesh: Fields) -> frozenset[int]:
    """Return the numbers of the morphs that only programs which know no drivers show; what is damaged is none."""
    extensions = mesh.values.get("extensions")
    extension = extensions.get(EXTENSION) if isinstance(extensions, dict) else None
    targets = extension.get("targets") if isinstance(extension, dict) else None
    entries = targets if isinstance(targets, list) else []
    return frozenset(k for k, entry in enumerate(entries) if isinstance(entry, dict) and entry.get("fallback") is True)


def _vertices(
    document: Document,
    used: dict[str, int],
    moves: tuple[tuple[int | None, ...], tuple[int | None, ...]],
    where: str,
    others: dict[str, int],
) -> Primitive:
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
    bound = np.concatenate(joints, axis=1)
    return Primitive(where, points, bound, np.concatenate(weights, axis=1), *moves, others)


def _corners(document: Document, primitive: Fields, mode: int, count: int) -> _Ints:
    """Return the triangles (T, 3) of a primitive of `count` vertices."""
    accessor = primitive.reference("indices", document.accessor_count)
    if accessor is None:
        document.budget.hold(3 * count, primitive.where)
        listed: _Ints = np.arange(count)
    else:
        listed = document.integers(accessor, "SCALAR", f"{primitive.where} indices")[:, 0]
    if len(listed) and listed.max() >= count:
        raise InputError(f"{primitive.where}: expected indices from 0 to {count - 1}, got {listed.max()}")
    if mode == _TRIANGLES:
        whole = len(listed) // 3 * 3
        if whole < len(listed):
            document.note(f"{primitive.where}: its last triangle is incomplete and left out")
        return listed[:whole].reshape(-1, 3)
    first = np.arange(max(len(listed) - 2, 0))
    # In a strip every other triangle is flipped, so that all face the same way.
    odd = first % 2
    order = [first, first + 1 + odd, first + 2 - odd] if mode == _STRIP else [first + 1, first + 2, 0 * first]
    triangles: _Ints = listed[np.stack(order, axis=1)]
    return triangles


def _displacements(document: Document, mesh: GltfMesh, morph: int, normals: bool) -> Floats:
    """Return the displacements (N, 3) of a morph; zero where a primitive lacks it."""
    offsets: list[Floats] = []
    for primitive in mesh.primitives:
        targets = primitive.normal_targets if normals else primitive.targets
        accessor = targets[morph] if morph < len(targets) else None
        count = len(primitive.points)
        if accessor is None:
            offsets.append(np.zeros((count, 3), np.float32))
        else:
            offsets.append(document.floats(accessor, "VEC3", f"{primitive.where} target {morph}", count))
    return np.concatenate(offsets)


def _normal_move(move: Floats) -> Floats:
    """How a move (4, 4) carries normals (3, 3): by its cofactors, without its size."""
    linear = move[:3, :3]
    size = np.cbrt(np.linalg.det(linear))
    matrix: Floats = size * np.linalg.inv(linear).T
    return matrix


def _moved(points: Floats, move: Floats) -> Floats:
    if np.array_equal(move, np.eye(4)):
        return points
    moved: Floats = (points @ move[:3, :3].T + move[:3, 3]).astype(np.float32)
    return moved
