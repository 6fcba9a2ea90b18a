"""glTF 2.0 (.gltf and .glb): read rigs, meshes, morphs and animation.

All nodes of the file are read, whichever scene they are in. Cameras and lights are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from posespace.check import Floats
from posespace.errors import InputError
from posespace.formats import files
from posespace.formats.checked_json import Fields
from posespace.formats.contents import Contents, unique
from posespace.formats.frames import EVERYTHING, Wanted
from posespace.formats.gltf.animation import Actor, read_motions
from posespace.formats.gltf.buffers import Document
from posespace.formats.gltf.grid import Grid
from posespace.formats.gltf.looks import Looks
from posespace.formats.gltf.meshes import MeshNode, Morphs, influences, mesh_in_space, read_mesh, read_morphs
from posespace.formats.gltf.nodes import Nodes, affine, read_nodes
from posespace.formats.gltf.point_joints import learned_part, plain_weights, point_nodes
from posespace.formats.joining import join_meshes, keep_morphs
from posespace.look import Look
from posespace.rig import Rig
from posespace.skeleton import Skeleton

_SAME_BIND = 1e-4
"""Two skins are one rig if their inverse bind matrices agree to this fraction of their size."""
_STEPS_A_SKIN, _STEPS_A_RIG = 2, 10

_CANCELLED = 1e-5
"""Morphs add up to nothing if less than this fraction of the largest is left: they are in single precision."""


@dataclass(eq=False)
class Binding:
    """Skins that are one rig.

    Parameters
    ----------
    inverse_bind : (4, 4) of each joint node, from the first skin's mesh space
    parts : the meshes they move
    """

    inverse_bind: dict[int, Floats]
    parts: list[MeshNode] = field(default_factory=list)

    @property
    def size(self) -> int:
        """How many vertices it has."""
        return sum(part.mesh.size for part in self.parts)


@dataclass(frozen=True, eq=False)
class Opened:
    """A glTF file whose nodes and meshes are read.

    Parameters
    ----------
    document, nodes : the file
    bindings : skins that move a mesh, the one of most vertices first
    loose : the meshes that no skin moves
    """

    document: Document
    nodes: Nodes
    bindings: list[Binding]
    loose: list[MeshNode]

    @classmethod
    def of(cls, path: Path) -> Opened:
        """Open a file."""
        document = Document(path)
        nodes = read_nodes(document)
        return cls(document, nodes, *_parts(document, nodes))

    @property
    def owners(self) -> list[MeshNode]:
        """The meshes whose morphs are read."""
        return self.bindings[0].parts if self.bindings else self.loose[:1]

    @cached_property
    def _looks(self) -> Looks:
        return Looks(self.document)

    def look(self, parts: list[MeshNode]) -> Look | None:
        """Return how some meshes look that become one."""
        return self._looks.look(parts, [_name(self.nodes, part) for part in parts])

    def rig(self, binding: Binding) -> Rig:
        """Return the rig of skins that are one. Where its bones are learned, it is that of their control points."""
        mesh = join_meshes([mesh_in_space(self.document, part) for part in binding.parts])
        mesh, joints = replace(mesh, look=self.look(binding.parts)), self.joints(binding)
        skeleton, part = self.nodes.skeleton(self.document, joints), self._learned(binding)
        if part is not None:
            return Rig(mesh, skeleton, *plain_weights(self.document, part, len(mesh.points), len(joints)))
        bind = np.stack(list(binding.inverse_bind.values()))
        return Rig(mesh, skeleton, *influences(self.document, binding.parts, joints), bind)

    def joints(self, binding: Binding) -> list[int]:
        """Return the nodes of the joints that make a pose: bones, or where these are learned, root and points."""
        bones = list(binding.inverse_bind)
        return bones if self._learned(binding) is None else point_nodes(self.document, len(self.nodes))

    def _learned(self, binding: Binding) -> Fields | None:
        return learned_part(self.document) if binding is self.bindings[0] else None


def read(path: Path, wanted: Wanted = EVERYTHING) -> Contents:
    """Read a glTF file. Skins that share joints and agree on how they are bound become one rig."""
    # A number that overflows on the way becomes infinite, and Mesh, Skeleton or Motion then raise by name.
    with files.naming(path), np.errstate(over="ignore", invalid="ignore"):
        opened = Opened.of(path)
        document, nodes, bindings, loose = opened.document, opened.nodes, opened.bindings, opened.loose
        owners = opened.owners
        morphs = read_morphs(document, nodes, owners)
        rigs = [opened.rig(binding) for binding in bindings]
        meshes = [replace(mesh_in_space(document, part), look=opened.look([part])) for part in loose]
        keep_morphs(rigs, meshes, morphs.displacements)
        _note_morphs(document, [*loose, *(part for binding in bindings for part in binding.parts)], owners, morphs)
        actor = _actor(opened, rigs, morphs)
        clips, motions = read_motions(document, nodes, actor, wanted)
        return Contents(
            path,
            "glTF",
            dict(zip(unique((_name(nodes, part) for part in loose), "mesh"), meshes, strict=True)),
            dict(zip(unique((_name(nodes, binding.parts[0]) for binding in bindings), "rig"), rigs, strict=True)),
            actor.skeleton if actor.joints and not rigs else None,
            motions,
            morphs.displacements,
            document.notes,
            clips,
            budget=document.budget,
        )


def _parts(document: Document, nodes: Nodes) -> tuple[list[Binding], list[MeshNode]]:
    """Return the skins that move a mesh, joined where they are one rig; and the unskinned meshes."""
    meshes = document.root.parts("meshes", "mesh", ())
    by_number = {
        number: read_mesh(document, meshes[number]) for number in dict.fromkeys(nodes.meshes) if number is not None
    }
    if len(by_number) < len(meshes):
        document.note(f"{len(meshes) - len(by_number)} meshes that no node shows are left out")
    skins = document.root.parts("skins", "skin", ())
    found_grid = Grid.of(document.root)
    grid = np.eye(4) if found_grid is None else found_grid.matrix
    bound: dict[int, tuple[Binding, Floats, tuple[int, ...]]] = {}
    bindings: list[Binding] = []
    loose: list[MeshNode] = []
    for node, (number, skin) in enumerate(zip(nodes.meshes, nodes.skins, strict=True)):
        mesh = None if number is None else by_number[number]
        if number is None or mesh is None:
            continue
        if skin is None:
            loose.append(MeshNode(node, number, mesh, nodes.world[node]))
            continue
        if skin not in bound:
            bound[skin] = _bind(document, bindings, skins[skin], nodes, grid)
        binding, move, joints = bound[skin]
        binding.parts.append(MeshNode(node, number, mesh, move, joints))
    return sorted(bindings, key=lambda binding: -binding.size), loose


def _bind(
    document: Document, bindings: list[Binding], skin: Fields, nodes: Nodes, grid: Floats
) -> tuple[Binding, Floats, tuple[int, ...]]:
    """Add a skin to the binding it is one rig with, or to a new one; also return how its points move and its joints.

    `grid` (4, 4) brings the numbers of its positions to where they stand for.
    """
    document.budget.work(_STEPS_A_SKIN, "skins")
    joints = _joints(skin, nodes)
    inverse_bind = _inverse_bind(document, skin, joints) @ np.linalg.inv(grid)
    for binding in bindings:
        if binding.inverse_bind.keys().isdisjoint(joints):
            continue
        document.budget.hold(16 * len(joints), skin.where)
        document.budget.work(_STEPS_A_SKIN, "skins")
        move = _common_move(binding.inverse_bind, joints, inverse_bind)
        if move is not None:
            back = np.linalg.inv(move)
            for joint, matrix in zip(joints, inverse_bind, strict=True):
                binding.inverse_bind.setdefault(joint, matrix @ back)
            return binding, move @ grid, joints
    document.budget.work(_STEPS_A_RIG, "rigs")
    bindings.append(Binding(dict(zip(joints, inverse_bind, strict=True))))
    return bindings[-1], grid, joints


def _joints(skin: Fields, nodes: Nodes) -> tuple[int, ...]:
    joints = tuple(skin.integers("joints", len(nodes), ()))
    if not joints or len(set(joints)) < len(joints):
        raise InputError(f"{skin.where}: joints: expected a list of nodes, each once")
    return joints


def _inverse_bind(document: Document, skin: Fields, joints: Sequence[int]) -> Floats:
    """Return a skin's inverse bind matrices (J, 4, 4)."""
    accessor = skin.reference("inverseBindMatrices", document.accessor_count)
    if accessor is None:
        return np.tile(np.eye(4), (len(joints), 1, 1))
    what = f"{skin.where} inverseBindMatrices"
    if document.count(accessor) < len(joints):
        raise InputError(f"{what}: expected {len(joints)} matrices, got {document.count(accessor)}")
    matrices = affine(document.floats(accessor, "MAT4", what)[: len(joints)], what)
    flat = np.linalg.matrix_rank(matrices[:, :3, :3]) < 3
    if flat.any():
        raise InputError(f"{what}: expected invertible matrices, got a flat one for joint {int(flat.argmax())}")
    return matrices


def _common_move(bound: dict[int, Floats], joints: Sequence[int], inverse_bind: Floats) -> Floats | None:
    """Return X (4, 4) with inverse_bind = bound · X for all shared joints, or None."""
    shared = [k for k, joint in enumerate(joints) if joint in bound]
    if not shared:
        return None
    theirs, ours = np.stack([bound[joints[k]] for k in shared]), inverse_bind[shared]
    if np.array_equal(theirs, ours):
        return np.eye(4)
    move: Floats = np.linalg.lstsq(theirs.reshape(-1, 4), ours.reshape(-1, 4))[0]
    move[3] = (0, 0, 0, 1)
    off = np.abs(theirs @ move - ours)
    size = np.abs(ours)
    same_linear = off[..., :3].max() <= _SAME_BIND * size[..., :3].max()
    same_translation = off[..., 3].max() <= _SAME_BIND * max(size[..., 3].max(), np.abs(theirs[..., 3]).max())
    return move if same_linear and same_translation and np.linalg.matrix_rank(move[:3, :3]) == 3 else None


def _actor(opened: Opened, rigs: Sequence[Rig], morphs: Morphs) -> Actor:
    """Return what the animations move: the first rig, or the first mesh's morphs, or the joints of a file of motion."""
    document, nodes = opened.document, opened.nodes
    if rigs:
        binding = opened.bindings[0]
        joints = opened.joints(binding)
        return Actor(joints, rigs[0].skeleton, morphs, frozenset(binding.inverse_bind).difference(joints))
    skins = document.root.parts("skins", "skin", ())
    if skins and not morphs.displacements:
        listed = _joints(skins[0], nodes)
        return Actor(listed, nodes.skeleton(document, listed), morphs)
    return Actor([], Skeleton.from_world(["root"], [-1], np.eye(4)[None]), morphs)


def _note_morphs(document: Document, parts: Sequence[MeshNode], owners: Sequence[MeshNode], morphs: Morphs) -> None:
    """Say which morphs are left out, and which ones the file does not show at rest."""
    owned = {part.node for part in owners}
    others = sum(bool(part.mesh.target_names) for part in parts if part.node not in owned)
    if others:
        document.note(f"the morphs of {others} more meshes are left out")
    shown = [name for name, weight in morphs.defaults.items() if weight]
    total = sum((morphs.defaults[name] * morphs.displacements[name].astype(np.float64) for name in shown), np.zeros(3))
    largest = max((np.abs(morphs.displacements[name]).max(initial=0.0) for name in shown), default=0.0)
    # Weights may cancel out, as those of a file that counts from its lowest weights do.
    if np.abs(total).max() > _CANCELLED * largest:
        what = "1 morph target is" if len(shown) == 1 else f"{len(shown)} morph targets are"
        document.note(f"{what} on by default in this file; the mesh is read without them")


def _name(nodes: Nodes, part: MeshNode) -> str:
    return nodes.names[part.node] or part.mesh.name
