"""The nodes of a glTF file: their tree, their rest transforms, and the skeleton that some of them make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError
from posespace.formats.checked_json import Fields
from posespace.formats.contents import unique
from posespace.formats.gltf.buffers import Document
from posespace.formats.limits_json import ranges_in
from posespace.geometry import rotations
from posespace.skeleton import Skeleton

_ROUNDING = 1e-6
"""A stretch this close to none is a scale of one, written in single precision."""
_NODES_A_STEP = 8

LIMITS_KEY, AXES_KEY = "posespace_limits", "posespace_axes"
"""Where the extras of a joint's node have its limits and the axes that these are about."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """All nodes of a file, in its order. A node's transform to its parent is ``Translate(T) · R · stretch``.

    Parameters
    ----------
    names : n names, empty where the file gives none
    parents : n numbers of nodes, -1 for a root
    order : the nodes sorted so that parents come before their children
    translations : (n, 3)
    rotations : (n, 4) unit quaternions x y z w
    stretches : (n, 3, 3)
    meshes, skins : n numbers, None for none
    weights : n lists of morph weights, None where the node has no weights of its own
    ranges : limits of rotation in degrees by axis, of the nodes that have any
    axes : (3, 3) orthonormal rows, of the nodes whose extras say what axes they rotate about
    """

    names: list[str]
    parents: list[int]
    order: list[int]
    translations: Floats
    rotations: Floats
    stretches: Floats
    meshes: list[int | None]
    skins: list[int | None]
    weights: list[list[float] | None]
    ranges: dict[int, dict[str, tuple[float, float]]] = field(default_factory=dict)
    axes: dict[int, Floats] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def local(self) -> Floats:
        """(n, 4, 4) each node's transform to its parent."""
        local = np.tile(np.eye(4), (len(self), 1, 1))
        local[:, :3, :3] = rotations.matrices(self.rotations) @ self.stretches
        local[:, :3, 3] = self.translations
        return local

    @cached_property
    def world(self) -> Floats:
        """(n, 4, 4) each node's transform to the world."""
        world = self.local.copy()
        for node in self.order:
            if self.parents[node] >= 0:
                world[node] = world[self.parents[node]] @ world[node]
        return world

    def skeleton(self, document: Document, joints: Sequence[int]) -> Skeleton:
        """Make a skeleton of the nodes `joints`, in that order.

        Nodes that are not joints, between joints or above a root, do not move: they become part of the frames.
        """
        document.budget.hold(32 * len(self), f"the skeleton of node {joints[0]}")
        document.budget.work(len(joints) // _NODES_A_STEP, "joints")
        number = {node: k for k, node in enumerate(joints)}
        above = np.tile(np.eye(4), (len(self), 1, 1))
        parent_joint = [-1] * len(self)
        for node in self.order:
            parent = self.parents[node]
            if parent in number:
                parent_joint[node] = number[parent]
            elif parent >= 0:
                parent_joint[node] = parent_joint[parent]
                above[node] = above[parent] @ self.local[parent]
        chosen = np.array(joints)
        frames = above[chosen]
        translation = np.tile(np.eye(4), (len(joints), 1, 1))
        translation[:, :3, 3] = self.translations[chosen]
        stretches = self.stretches[chosen]
        rigid = np.abs(stretches - np.eye(3)).max() < _ROUNDING
        axes = [self.axes.get(node, np.eye(3)) for node in joints]
        skeleton = Skeleton(
            tuple(unique((self.names[node] for node in joints), "joint")),
            np.array([parent_joint[node] for node in joints], np.int32),
            frames @ translation,
            self.rotations[chosen],
            None if rigid else stretches,
            np.stack(axes) if any(node in self.axes for node in joints) else None,
        )
        ranges = {skeleton.names[k]: self.ranges[node] for k, node in enumerate(joints) if node in self.ranges}
        return skeleton.with_ranges(ranges) if ranges else skeleton


def read_nodes(document: Document) -> Nodes:
    """Read the nodes; raise if they are not a forest."""
    document.budget.work(document.root.length("nodes") // _NODES_A_STEP, "nodes")
    fields = document.root.parts("nodes", "node", ())
    mesh_count, skin_count = document.root.length("meshes"), document.root.length("skins")
    parents, order = _tree(fields)
    translations, node_rotations, stretches = _transforms(fields)
    return Nodes(
        names=[node.text("name", "") for node in fields],
        parents=parents,
        order=order,
        translations=translations,
        rotations=node_rotations,
        stretches=stretches,
        meshes=[node.reference("mesh", mesh_count) for node in fields],
        skins=[node.reference("skin", skin_count) for node in fields],
        weights=[node.numbers("weights") if "weights" in node else None for node in fields],
        ranges={k: ranges_in(extras.part(LIMITS_KEY)) for k, extras in _extras(fields, LIMITS_KEY)},
        axes={k: np.array(extras.numbers(AXES_KEY, 9)).reshape(3, 3) for k, extras in _extras(fields, AXES_KEY)},
    )


def _extras(fields: list[Fields], key: str) -> Iterator[tuple[int, Fields]]:
    """Return the number and the extras of each node whose extras have the key; extras may be any JSON."""
    for k, node in enumerate(fields):
        extras = node.values.get("extras")
        if isinstance(extras, dict) and key in extras:
            yield k, node.part("extras")


def affine(columns: Floats, what: str) -> Floats:
    """Return matrices (n, 4, 4) from the file's column-major numbers (n, 16); one that is not affine raises."""
    return check.affine(what, np.swapaxes(columns.reshape(-1, 4, 4), -1, -2), ("n", 4, 4))


def _tree(fields: list[Fields]) -> tuple[list[int], list[int]]:
    parents = [-1] * len(fields)
    children = [node.integers("children", len(fields), ()) for node in fields]
    for node, below in enumerate(children):
        for child in below:
            if parents[child] >= 0:
                raise InputError(f"node {child}: expected one parent, got nodes {parents[child]} and {node}")
            parents[child] = node
    order = [node for node, parent in enumerate(parents) if parent < 0]
    for node in order:
        order.extend(children[node])
    if len(order) < len(fields):
        looped = min(set(range(len(fields))) - set(order))
        raise InputError(f"node {looped}: expected a tree of nodes, got a cycle")
    return parents, order


def _transforms(fields: list[Fields]) -> tuple[Floats, Floats, Floats]:
    """Return the nodes' translations (n, 3), rotations (n, 4) and stretches (n, 3, 3)."""
    translations, node_rotations = _column(fields, "translation", (0, 0, 0)), _column(fields, "rotation", (0, 0, 0, 1))
    scale = _column(fields, "scale", (1, 1, 1))
    if not node_rotations.any(axis=1).all():
        raise InputError(
            f"node {node_rotations.any(axis=1).argmin()}: rotation: expected a quaternion of nonzero length"
        )
    node_rotations = rotations.normalize(node_rotations, "node rotations")
    stretches = scale[:, :, None] * np.eye(3)
    for k, node in enumerate(fields):
        if "matrix" in node:
            matrix = affine(np.array([node.numbers("matrix", 16)]), f"{node.where}: matrix")[0]
            translations[k] = matrix[:3, 3]
            node_rotations[k], stretches[k] = rotations.polar(matrix[:3, :3])
    return translations, node_rotations, stretches


def _column(fields: list[Fields], key: str, default: tuple[float, ...]) -> Floats:
    """Return (n, width) the numbers under `key` of each node."""
    values: Floats = np.tile(np.array(default, np.float64), (len(fields), 1))
    for k, node in enumerate(fields):
        if key in node:
            values[k] = node.numbers(key, len(default))
    return values
