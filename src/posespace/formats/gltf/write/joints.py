"""A skeleton as glTF nodes: each joint ``frame · [R·stretch | t]`` is a node that rotates, below nodes that do not.

A node is translation · rotation · scale with an even or uneven scale along its own axes. What does not fit in one is
split: a frame that shears becomes two nodes, and a stretch along other axes is carried to the joint's children and
inverse bind matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from posespace.check import Floats
from posespace.formats.gltf.nodes import AXES_KEY, LIMITS_KEY
from posespace.formats.limits_json import plain
from posespace.geometry import rotations
from posespace.rig import Rig
from posespace.skeleton import Skeleton

Node = dict[str, Any]

_SAME = 1e-7
"""Numbers near one that differ by less are the same in single precision."""


@dataclass(frozen=True, eq=False)
class JointNodes:
    """The nodes of a skeleton.

    Parameters
    ----------
    nodes : all of them, the first is their common root
    joints : the node of each joint
    origins : (J, 3) the translation of each joint's node at rest, to which a pose's translation is added
    rest_rotations : (J, 4) of each joint's node
    inverse_bind : (J, 4, 4)
    """

    nodes: list[Node]
    joints: list[int]
    origins: Floats
    rest_rotations: Floats
    inverse_bind: Floats


def make_nodes(rig: Rig) -> JointNodes:
    """Return the nodes of a rig's skeleton as it rests."""
    skeleton = rig.skeleton
    count = len(skeleton)
    nodes: list[Node] = []
    joints, origins = [0] * count, np.zeros((count, 3))
    carried, extras = np.tile(np.eye(4), (count, 1, 1)), joint_extras(skeleton)
    if (skeleton.parents < 0).sum() > 1:
        nodes.append({"name": "skeleton"})
    for joint in skeleton.order:
        parent, name = int(skeleton.parents[joint]), skeleton.names[joint]
        frame = skeleton.local_frames[joint].astype(np.float64)
        if parent >= 0:
            frame = carried[parent] @ frame
        stretch = np.eye(3) if skeleton.stretches is None else skeleton.stretches[joint].astype(np.float64)
        scale = np.ones(3)
        if _diagonal(stretch):
            scale = np.diagonal(stretch)
        else:
            carried[joint, :3, :3] = stretch
        chain = [] if np.abs(frame[:3, :3] - np.eye(3)).max() < _SAME else _frame_nodes(name, frame)
        if not chain:
            origins[joint] = frame[:3, 3]
        joint_node = _node(name, origins[joint], skeleton.rest_rotations[joint], scale)
        chain.append(joint_node | ({"extras": extras[joint]} if extras[joint] else {}))
        above = joints[parent] if parent >= 0 else 0 if nodes else -1
        for node in chain:
            if above >= 0:
                nodes[above].setdefault("children", []).append(len(nodes))
            above = len(nodes)
            nodes.append(node)
        joints[joint] = above
    return JointNodes(nodes, joints, origins, skeleton.rest_rotations, carried @ rig.inverse_bind)


def joint_extras(skeleton: Skeleton) -> list[Node]:
    """Return what the extras of each joint's node say of its axes and limits; empty where there is nothing to say."""
    ranges, made = plain(skeleton.ranges), list[Node]()
    for joint, name in enumerate(skeleton.names):
        extras: Node = {}
        if skeleton.axes is not None:
            extras[AXES_KEY] = skeleton.axes[joint].astype(np.float64).ravel().tolist()
        made.append(extras | ({LIMITS_KEY: ranges[name]} if name in ranges else {}))
    return made


def _frame_nodes(name: str, frame: Floats) -> list[Node]:
    """Return one node that is the frame, or two where it shears."""
    rotation, stretch = rotations.polar(frame[:3, :3])
    title, translation, even = f"{name} frame", frame[:3, 3], np.ones(3)
    if _diagonal(stretch):
        return [_node(title, translation, rotation, np.diagonal(stretch))]
    outer, scale, inner = np.linalg.svd(frame[:3, :3])
    for half, axis in ((outer, (slice(None), 2)), (inner, (2, slice(None)))):
        if np.linalg.det(half) < 0:
            half[axis] *= -1
            scale[2] *= -1
    both_rotations = rotations.from_matrices(np.stack([outer, inner]))
    return [
        _node(title, translation, both_rotations[0], scale),
        _node(f"{title} turn", np.zeros(3), both_rotations[1], even),
    ]


def _node(name: str, translation: Floats, rotation: Floats, scale: Floats) -> Node:
    node: Node = {"name": name}
    for key, value, usual in (
        ("translation", translation, np.zeros(3)),
        ("rotation", rotation, rotations.IDENTITY),
        ("scale", scale, np.ones(3)),
    ):
        if not np.array_equal(value, usual):
            node[key] = np.asarray(value, dtype=np.float64).tolist()
    return node


def _diagonal(matrix: Floats) -> bool:
    off = matrix - np.diag(np.diagonal(matrix))
    return bool(np.abs(off).max() < _SAME * max(np.abs(matrix).max(), 1e-30))
