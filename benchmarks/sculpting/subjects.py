"""The rigs at hand, with the two joints that are sculpted and the clips that are played."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from retarget import Hands
from sets.clips import FILES
from sets.mesh_sequences import spot
from sets.wolf import wolf

import posespace as ps
from posespace.formats.frames import Wanted
from posespace.formats.load import read

MOST = 24
"""Poses of all clips of a rig together: more are thinned out evenly."""

BODY = 13380
"""The first vertices of MakeHuman's mesh are those of the body."""

JOINTS = {
    "CesiumMan": ("Skeleton_arm_joint_L__3_", "Skeleton_arm_joint_L__2_"),
    "rocketbox woman": ("Bip01 L Forearm", "Bip01 L Hand"),
    "rocketbox horse": ("horse L Forearm", "horse L Hand"),
    "rocketbox camel": ("dromedar L Forearm", "dromedar L Hand"),
    "knight": ("lowerarm.l", "upperarm.l"),
}


class Subject(NamedTuple):
    """A rig to sculpt on.

    Parameters
    ----------
    name : what the tables call it
    rig : the rig
    joints : the joint that is sculpted, and the one that is sculpted together with it
    clip : poses to play, or None where the rig comes with none
    shifts : whether its joints are translated, not rotated
    """

    name: str
    rig: ps.Rig
    joints: tuple[str, str]
    clip: ps.Motion | None
    shifts: bool = False


Offer = tuple[str, Callable[[], Subject]]


def offers(data: Path) -> Iterator[Offer]:
    """The name of each rig in the folder `data`, and what reads it."""
    for name in JOINTS:
        if (data / FILES[name]).is_file():
            yield name, partial(_of_file, name, data / FILES[name])
    for name, folder, make in (
        ("godot hand", "hand-godot-xr", _godot_hand),
        ("MakeHuman", "makehuman-cc0", _makehuman),
        ("MakeHuman hand", "makehuman-cc0", _makehuman_hand),
        ("wolf", "meshposes-wolf", _wolf),
        ("spot", "meshseq-spot", _spot),
    ):
        if (data / folder).is_dir():
            yield name, partial(make, name, data)


def _of_file(name: str, path: Path) -> Subject:
    contents = read(path, Wanted(rate="keys"))
    poses = [pose for motion in contents.motions.values() for pose in motion]
    rig = next(iter(contents.rigs.values()))
    return Subject(name, rig, JOINTS[name], _thinned(ps.Motion.from_poses(poses)) if poses else None)


def _godot_hand(name: str, data: Path) -> Subject:
    folder = data / "hand-godot-xr"
    rig = ps.load_rig(folder / "hand_l.gltf")
    motion = ps.load_motion(folder / "poses_left.json", rig.skeleton)
    return Subject(name, rig, ("Index_Intermediate_L", "Index_Proximal_L"), _thinned(motion))


def _makehuman(name: str, data: Path) -> Subject:
    """The whole human of MakeHuman, without the helpers that its clothes are fitted with."""
    folder = data / "makehuman-cc0"
    mesh = ps.load_mesh(folder / "base.obj")
    described = json.loads((folder / "default.mhskel").read_text())
    bones, corners = described["bones"], described["joints"]
    names = list(bones)
    rest_world = np.tile(np.eye(4), (len(names), 1, 1))
    rest_world[:, :3, 3] = [mesh.points[corners[bones[bone]["head"]]].mean(axis=0) for bone in names]
    parents = [names.index(bones[bone]["parent"]) if bones[bone]["parent"] else -1 for bone in names]
    weights = np.zeros((BODY, len(names)))
    for bone, entries in json.loads((folder / "default_weights.mhw").read_text())["weights"].items():
        vertices, shares = np.array(entries).T
        of_body = vertices < BODY
        weights[vertices[of_body].astype(np.int64), names.index(bone)] = shares[of_body]
    body = mesh.triangles[(mesh.triangles < BODY).all(axis=1)]
    rig = ps.Rig.from_arrays(mesh.points[:BODY], body, weights, parents, rest_world, names)
    poses = [pose for path in sorted((folder / "poses").glob("*.bvh")) for pose in ps.load_motion(path, rig.skeleton)]
    return Subject(name, rig, ("lowerarm01.L", "upperarm01.L"), _thinned(ps.Motion.from_poses(poses)))


def _makehuman_hand(name: str, data: Path) -> Subject:
    hands = Hands(data)
    return Subject(
        name, hands.rig(np.zeros_like(hands.points)), ("finger2-2.L", "finger2-1.L"), _thinned(hands.motion())
    )


def _wolf(name: str, data: Path) -> Subject:
    _, train, unseen, _ = wolf(data / "meshposes-wolf")
    return Subject(name, train.rig, ("2 to 3", "3 to 4"), _thinned(train.joined(unseen).motion))


def _spot(name: str, data: Path) -> Subject:
    examples = spot(data).train
    return Subject(name, examples.rig, ("handle12", "handle13"), _thinned(examples.motion), shifts=True)


def _thinned(motion: ps.Motion) -> ps.Motion:
    return motion[np.linspace(0, len(motion) - 1, min(len(motion), MOST)).round().astype(np.int64)]
