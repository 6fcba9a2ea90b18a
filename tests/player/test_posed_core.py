"""The player's core in Node: surfaces that are posed on the processor have the points and normals of `skin.pose`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from conftest import Runner
from helpers.played import poses_of, rows
from helpers.point_skins import SETTINGS, point_motion, point_skin
from helpers.strategies import random_points_skin, random_pose, random_skin
from helpers.tolerances import has_normal

import posespace as ps
from posespace.check import Floats
from posespace.formats.gltf.write.conversion import UPS
from posespace.geometry.subdivision import fine_vertex_count
from posespace.skin.detail import Detail

NEAR = 1e-6
"""How far points may be from the library's, as a fraction of the box, or of the pose where that is larger."""
NORMAL = 2e-3
"""How far unit normals may be from the library's: single precision, on small triangles."""
BETA = 0.2
PLAIN = {"enabled": False}


SHOWN: dict[str, dict[str, bool]] = {
    "plain": PLAIN,
    "no corrections": {"corrections": False},
    "no detail": {"detail": False},
    "bones": {"corrections": False, "detail": False},
}
"""What is shown, by name."""
RANDOM = [*(f"random {seed}" for seed in range(12)), *(f"{levels} levels" for levels in range(3)), "degenerate"]
JOINTS = [f"joints {seed}" for seed in range(4)]


class Case(NamedTuple):
    """A skin, poses of it, and what is shown of these: an entry of the player's jobs."""

    skin: ps.Skin
    motion: ps.Motion
    settings: dict[str, Any]
    shown: dict[str, Any]


def points_of(skin: ps.Skin, rng: np.random.Generator, count: int = 4) -> ps.Motion:
    """Random poses of control points and their root."""
    joints = len(skin.rig.skeleton)
    poses = [replace(random_pose(rng, skin.rig), translations=0.3 * rng.normal(size=(joints, 3))) for _ in range(count)]
    rest = np.tile(skin.rig.rest.rotations[1:], (count, 1, 1))
    motion = ps.Motion.from_poses(poses)
    return replace(motion, rotations=np.concatenate([motion.rotations[:, :1], rest], axis=1))


def with_levels(skin: ps.Skin, levels: int, rng: np.random.Generator) -> ps.Skin:
    """The skin with other detail, on so many subdivisions."""
    return replace(skin, detail=detail_of(skin, skin.rig.mesh, levels, rng))


def with_degenerate_triangles(skin: ps.Skin, rng: np.random.Generator) -> ps.Skin:
    """The skin on a surface of which triangles are there twice or have equal corners, subdivided three times."""
    a, b, c = skin.rig.mesh.triangles[:3]
    extra = np.array([a, np.roll(b, 1), [c[0], c[0], c[1]], [c[1], c[1], c[0]], [c[2]] * 3])
    mesh = replace(skin.rig.mesh, triangles=np.concatenate([skin.rig.mesh.triangles, extra]))
    return replace(skin, rig=replace(skin.rig, mesh=mesh), detail=detail_of(skin, mesh, 3, rng))


def detail_of(skin: ps.Skin, mesh: ps.Mesh, levels: int, rng: np.random.Generator) -> Detail:
    """Random detail on a mesh, driven as that of the skin is."""
    assert skin.detail is not None
    fine = fine_vertex_count(mesh.triangles, len(mesh.points), levels)
    heights = 0.05 * rng.normal(size=(len(skin.detail.heights), fine))
    return Detail(levels, skin.detail.driver, heights.astype(np.float32))


def cases() -> dict[str, Case]:
    """Skins by name: random ones of every kind, and fitted ones in several units, axes and bits."""
    made: dict[str, Case] = {}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        skin = random_points_skin(rng).packed((32, 16, 8)[seed % 3])
        made[f"random {seed}"] = Case(skin, points_of(skin, rng), {"up": "yz"[seed % 2]}, {})
    for levels in range(3):
        skin = with_levels(random_points_skin(rng), levels, rng)
        made[f"{levels} levels"] = Case(skin, points_of(skin, rng), {}, {})
    skin = with_degenerate_triangles(random_points_skin(rng), rng)
    made["degenerate"] = Case(skin, points_of(skin, rng), {}, {})
    for seed in range(4):
        rng = np.random.default_rng(seed)
        skin = random_skin(rng)
        poses = [random_pose(rng, skin.rig) for _ in range(4)]
        made[f"joints {seed}"] = Case(skin, ps.Motion.from_poses(poses), {}, {})
    for kind in SETTINGS:
        skin = point_skin(kind)
        made[kind] = Case(skin, point_motion(skin, far=True), {"unit": "cm", "up": "z"}, {})
    skin, motion = made["corrections and detail"][:2]
    made["8 bits"] = Case(skin.packed(8), motion, {}, {})
    made["another beta"] = Case(skin, motion, {}, {"beta": BETA})
    return made | {name: Case(skin, motion, {}, {"shown": shown}) for name, shown in SHOWN.items()}


def wanted(case: Case, back: ps.Skin) -> Callable[[ps.Pose], tuple[Floats, Floats]]:
    """What poses the skin as it is shown; `back` is the skin as the file has it."""
    bones, shown = back.bones, case.shown.get("shown", {})
    if shown == PLAIN:
        return ps.Skin(back.rig).pose
    if "beta" in case.shown:
        bones = replace(bones, beta=case.shown["beta"])
    if not shown.get("corrections", True):
        count, values = bones.correction_count, bones.offsets.shape[2]
        kept = [k for k in range(values) if not 4 <= k < 4 + count]
        numbers = {"offsets": bones.offsets[..., kept], "coefficients": bones.coefficients[..., kept]}
        bones = replace(bones, corrections=None, **numbers)
    detail = back.detail if shown.get("detail", True) else None
    if detail is None and bones is not back.bones:
        numbers = {"offsets": bones.offsets[..., :4], "coefficients": bones.coefficients[..., :4]}
        bones = replace(bones, **numbers)
    return replace(back, bones=bones, detail=detail).pose


@pytest.fixture(scope="module")
def played(node: Runner, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Case, ps.Skin, list[Any]]]:
    """All cases, played by one process: each with the skin as its file has it, and what came at each pose."""
    folder, made = tmp_path_factory.mktemp("posed"), cases()
    jobs, backs = [], []
    for k, case in enumerate(made.values()):
        path = folder / f"{k}.glb"
        ps.export(case.skin, path, warn=lambda _: None, **case.settings)
        backs.append(ps.Skin.load(path))
        unit = {"cm": 0.01}.get(case.settings.get("unit", ""), case.skin.rig.mesh.unit)
        poses = [pose | case.shown for pose in poses_of(case.motion, unit)]
        jobs.append({"file": str(path), "poses": poses, "posed": True})
    (folder / "jobs.json").write_text(json.dumps(jobs))
    node("play_core.mjs", folder / "jobs.json", folder / "results.json")
    results = json.loads((folder / "results.json").read_text())
    return {name: (made[name], back, result) for name, back, result in zip(made, backs, results, strict=True)}


@pytest.mark.parametrize("name", [*RANDOM, *JOINTS, *SETTINGS, "8 bits", "another beta", *SHOWN])
def test_points_and_normals_are_those_of_the_library(
    name: str, played: dict[str, tuple[Case, ps.Skin, list[Any]]]
) -> None:
    case, back, results = played[name]
    pose_skin, unit = wanted(case, back), back.rig.mesh.unit
    axes = UPS[case.settings.get("up", "y")]
    for pose, result in zip(case.motion, results, strict=True):
        points, normals = pose_skin(pose)
        size = max(back.rig.mesh.diagonal, float(np.abs(points).max()))
        # Without detail the fine surface has the coarse points first.
        got, directions = (rows(result[key])[: len(points)] @ axes for key in ("points", "normals"))
        assert np.abs(got / unit - points).max() < NEAR * size
        mesh = next(mesh for mesh in (back.rig.mesh, back.mesh) if len(mesh.points) == len(points))
        assert np.abs(directions - normals)[has_normal(mesh, points)].max() < NORMAL
