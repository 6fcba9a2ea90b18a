"""A sculpt of one side mirrored to the other, on characters whose heads, clothes and hair are not symmetric.

The sculpt is a smooth bulge at a joint of one side in a bent pose; what its mirror image should be is known in closed
form at every vertex. The error is RMS over all vertices, as a fraction of RMS of what they should move.

Run: uv run python benchmarks/mirror.py [--json]
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from timing import show, wants_json

import posespace as ps
from posespace.geometry import rotations
from posespace.poses.mirror import Mirror

DATA = Path(__file__).parents[2] / "shared" / "data"

CASES = {
    "horse": ("quadrupeds-rocketbox/Horse_Brown_01.glb", "horse L Forearm", "horse R Forearm"),
    "camel": ("quadrupeds-rocketbox/Camel_OneHump_01.glb", "dromedar L Calf", "dromedar R Calf"),
    "knight": ("humanoid-kaykit-knight/Knight.glb", "lowerarm.l", "lowerarm.r"),
    "Rocketbox woman": ("humanoid-rocketbox/Female_Adult_01_cheer_03.glb", "Bip01 L Forearm", "Bip01 R Forearm"),
    "Rocketbox eyebrow": (
        "humanoid-rocketbox/Female_Adult_01_cheer_03.glb",
        "Bip01 LOuterEyebrow",
        "Bip01 ROuterEyebrow",
    ),
    "CesiumMan arm": ("gltf-khronos/CesiumMan.glb", "Skeleton_arm_joint_L__3_", "Skeleton_arm_joint_R__2_"),
    "CesiumMan leg": ("gltf-khronos/CesiumMan.glb", "leg_joint_L_2", "leg_joint_R_2"),
    "HIK fighter": ("usdskel/HIK_Export.usda", "Fight_LeftForeArm", "Fight_RightForeArm"),
    "MakeHuman": ("makehuman-cc0", "lowerarm01.L", "lowerarm01.R"),
}
"""File, the joint that is sculpted, and the one on the other side."""

ANGLE = np.pi / 3
HEIGHT, WIDTH = 0.015, 0.06
"""Of the bulge, as fractions of the box's diagonal."""


def makehuman(folder: Path) -> ps.Rig:
    """The base mesh with its skeleton of 163 bones, without the helper geometry."""
    mesh = ps.load_mesh(folder / "base.obj")
    found = json.loads((folder / "default.mhskel").read_text())
    by_bone = json.loads((folder / "default_weights.mhw").read_text())["weights"]
    names = list(found["bones"])
    parents = [names.index(bone["parent"]) if bone["parent"] else -1 for bone in found["bones"].values()]
    world = np.tile(np.eye(4), (len(names), 1, 1))
    weights = np.zeros((len(mesh.points), len(names)))
    for k, (name, bone) in enumerate(found["bones"].items()):
        world[k, :3, 3] = mesh.points[found["joints"][bone["head"]]].mean(axis=0)
        for vertex, weight in by_bone.get(name, []):
            weights[vertex, k] = weight
    body = weights.sum(axis=1) > 0
    number = np.cumsum(body) - 1
    triangles = number[mesh.triangles[body[mesh.triangles].all(axis=1)]]
    return ps.Rig.from_arrays(mesh.points[body], triangles, weights[body], parents, world, names)


def rig_of(name: str) -> ps.Rig:
    """The character of a case."""
    path = DATA / CASES[name][0]
    return makehuman(path) if path.is_dir() else ps.load_rig(path)


def joint_place(rig: ps.Rig, joint: str) -> np.ndarray:
    """Where a joint is (3,) in the rest shape."""
    bound = rig.skeleton.world(rig.rest.rotations, rig.rest.translations)
    return np.asarray(bound[rig.skeleton.index(joint), :3, 3])


def bulge(rig: ps.Rig, centre: np.ndarray) -> np.ndarray:
    """What a sculpt adds in the rest shape (N, 3): skin pushed away from the centre (3,), fading with distance."""
    away = rig.mesh.points - centre
    far = np.linalg.norm(away, axis=1, keepdims=True) / (WIDTH * rig.mesh.diagonal)
    fade = np.where(far < 1, (1 - far**2) ** 2, 0.0)
    return np.asarray(HEIGHT * fade * away / WIDTH)


def bent(rig: ps.Rig, joint: str, axis: tuple[float, float, float] = (0.0, 0.6, 0.8)) -> ps.Pose:
    """The pose with one joint bent."""
    turn = np.array(rig.rest.rotations)
    number = rig.skeleton.index(joint)
    turn[number] = rotations.multiply(turn[number], rotations.from_axis_angle(axis, ANGLE))
    return ps.Pose(turn, rig.rest.translations)


def sculpt(rig: ps.Rig, joint: str) -> ps.Examples:
    """The bulge at a joint, in the pose that bends it."""
    pose = bent(rig, joint)
    shape = rig.skin(pose, bulge(rig, joint_place(rig, joint)))
    return ps.Examples.from_shapes(rig, ps.Motion.from_poses([pose], ["bentL"]), [shape])


def row(name: str) -> dict[str, object]:
    """Mirror the sculpt of a case and compare it with what it should be."""
    rig, (_, joint, other) = rig_of(name), CASES[name]
    examples = sculpt(rig, joint)
    try:
        side = Mirror(rig)
        mirrored = side.sculpt("bentL", examples.motion[0], examples.residual(0)[0])
    except ps.InputError as error:
        return {"character": name, "result": str(error)}
    angles = rotations.angles_between(mirrored.pose.rotations, rig.rest.rotations)
    moved = [rig.skeleton.names[k] for k in np.flatnonzero(angles > 1e-3)]
    want, got = bulge(rig, side.plane.image(joint_place(rig, joint))), rig.residual(mirrored.pose, mirrored.shape)[0]
    return {
        "character": name,
        "vertices": len(rig.mesh.points),
        "name": mirrored.name,
        "right joint": "yes" if moved == [other] else f"no: {moved}",
        "moved positions": mirrored.match.vertices,
        "matched": f"{mirrored.match.matched:.1%}",
        "farthest": f"{mirrored.match.farthest:.2%}",
        "error": round(float(np.sqrt(((got - want) ** 2).sum() / (want**2).sum())), 4),
    }


if __name__ == "__main__":
    show("A sculpt of one side mirrored to the other", [row(name) for name in CASES], wants_json())
