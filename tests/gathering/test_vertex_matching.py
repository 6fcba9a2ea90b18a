"""Vertices of shape files matched to the rig: once per topology, through rounding, merged seams and torn ones."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import Runner
from helpers.samples import error_of
from helpers.shuffles import shuffled
from helpers.textured import textured
from numpy.typing import NDArray

import posespace as ps
from posespace.formats import obj, pose_json
from posespace.gathering.gather import Gathered, Gathering, gather
from posespace.gathering.posed_meshes import write_posed_meshes
from posespace.gathering.seams import seams_of, tears
from posespace.gathering.vertex_matching import match_vertices
from posespace.gathering.vertex_order import UnmatchedError, VertexOrder
from posespace.geometry import rotations
from posespace.geometry.weld import Weld, weld_points
from posespace.geometry.weld_within import weld_within

Points = NDArray[np.floating]


def bent(rig: ps.Rig, count: int) -> ps.Motion:
    """Poses that turn every joint but the root, each more than the one before."""
    poses = []
    for step in range(1, count + 1):
        turn = np.array(rig.rest.rotations)
        spin = rotations.from_axis_angle((0.2, 0.3, 0.9), 0.1 * step)
        turn[1:] = rotations.multiply(turn[1:], spin)
        poses.append(ps.Pose(turn, rig.rest.translations))
    return ps.Motion.from_poses(poses, [f"p{k}" for k in range(count)])


def pushed(points: Points, seed: int = 0, size: float = 0.02) -> Points:
    """A smooth sculpt: what is at one position stays at one."""
    rng, shape = np.random.default_rng(seed), np.asarray(points, np.float64)
    scale, moved = float(np.linalg.norm(np.ptp(shape, axis=0))), np.zeros_like(shape)
    for _ in range(3):
        centre, width = shape[rng.integers(len(shape))], rng.uniform(0.05, 0.2) * scale
        moved += size * scale * np.exp(-((shape - centre) ** 2).sum(axis=1) / width**2)[:, None] * rng.normal(size=3)
    return shape + moved


def split_rig(noise: float = 0.0) -> ps.Rig:
    """An arm without symmetry whose file splits vertices along seams, the copies `noise` of the box apart."""
    rig = ps.datasets.bending_arm(rings=14, sides=9)[0].rig
    triangles = rig.mesh.triangles[5:].copy()
    own = triangles[::7].ravel()
    triangles[::7] = len(rig.mesh.points) + np.arange(len(own)).reshape(-1, 3)
    every = np.concatenate([np.arange(len(rig.mesh.points)), own])
    rng = np.random.default_rng(1)
    points = rig.mesh.points[every] + noise * rig.mesh.diagonal * rng.uniform(-0.5, 0.5, (len(every), 3))
    return replace(rig, mesh=ps.Mesh(points, triangles), influences=rig.influences[every], weights=rig.weights[every])


def merged(points: Points, weld: Weld, mesh: ps.Mesh, decimals: int) -> ps.Mesh:
    return ps.Mesh(points[weld.first].round(decimals), weld.groups[mesh.triangles])


@pytest.mark.parametrize("decimals", [4, 5, 6])
@pytest.mark.parametrize("noise", [0.0, 1e-6])
def test_rounded_files_with_merged_seams_are_the_same_character(decimals: int, noise: float) -> None:
    rig = split_rig(noise)
    skinned = rig.skin(bent(rig, 2)[1])
    shape, rng = pushed(skinned), np.random.default_rng(2)
    seams, size = seams_of(rig), rig.mesh.diagonal
    as_exported = merged(shape, weld_points(skinned.round(decimals)), rig.mesh, decimals)
    every_corner = ps.Mesh(
        shape[rig.mesh.triangles.ravel()].round(decimals), np.arange(rig.mesh.triangles.size).reshape(-1, 3)
    )
    for file in (merged(shape, seams, rig.mesh, decimals), as_exported, every_corner):
        for given in (file, shuffled(rng, file)[0]):
            found = match_vertices(given, rig.mesh, seams, skinned)
            assert found is not None
            assert np.abs(given.points[found] - shape).max() < 2 * 10.0**-decimals + 4e-6 * size


def symmetric_frames(rig: ps.Rig, motion: ps.Motion) -> tuple[list[ps.Mesh], list[Points]]:
    """Shuffled shapes of a tube of nine sides, the second twisted by half a side, so that two ways fit it equally."""
    rng = np.random.default_rng(3)
    order = rng.permutation(len(rig.mesh.points))
    triangles = np.argsort(order)[rig.mesh.triangles]
    shapes = [np.asarray(rig.skin(pose)) for pose in motion]
    middle = rig.mesh.points.mean(axis=0)
    axis = int(np.ptp(rig.mesh.points, axis=0).argmax())
    half = rotations.matrices(rotations.from_axis_angle(np.eye(3)[axis], np.pi / 9))
    shapes[1] = (shapes[1] - middle) @ half.T + middle
    return [ps.Mesh(shape[order], triangles) for shape in shapes], shapes


def test_a_match_is_carried_over_the_frames_of_a_sequence(tmp_path: Path) -> None:
    rig = ps.datasets.bending_arm(rings=14, sides=9)[0].rig
    motion = ps.Motion.from_poses([rig.rest] * 3, ["0", "1", "2"])
    meshes, shapes = symmetric_frames(rig, motion)
    alone = VertexOrder(rig, "positions")
    with pytest.raises(UnmatchedError, match="cannot be matched"):
        alone.points(Path("1.obj"), meshes[1], rig.skin(motion[1]))
    ps.export(ps.Skin(rig), tmp_path / "rig.glb")
    pose_json.write(tmp_path / "poses.json", motion, rig.skeleton)
    # The one in doubt comes first: it waits for the others.
    for name, number in (("0", 1), ("1", 0), ("2", 2)):
        obj.write(tmp_path / f"{name}.obj", meshes[number])
    found = gathered(tmp_path, "*.obj", match="positions")
    assert found.vertices == {"by faces and positions": 3}
    stored = ps.Examples.open(tmp_path / "a.examples").shapes
    for k, number in enumerate((1, 0, 2)):
        np.testing.assert_allclose(stored[k], shapes[number], atol=1e-5)


def gathered(folder: Path, shapes: str, match: str = "order") -> Gathered:
    settings = Gathering(rest=False, match=match)
    where = (folder / "rig.glb", str(folder / shapes), folder / "a.examples", folder / "poses.json")
    return gather(*where, settings)


@pytest.mark.parametrize(
    "asset", ["humanoid-rocketbox/Female_Adult_01_cheer_03.glb", "quadrupeds-rocketbox/Camel_OneHump_01.glb"]
)
def test_real_characters_are_matched_in_another_order_rounded_and_merged(data: Path, asset: str) -> None:
    rig = ps.load_rig(data / asset)
    order, rng = VertexOrder(rig, "positions"), np.random.default_rng(0)
    weld = weld_within(rig.mesh.points, 1e-6 * rig.mesh.diagonal)
    mixed = None
    for k, pose in enumerate(bent(rig, 4)):
        skinned = rig.skin(pose)
        shape = pushed(skinned, k)
        shape = shape[weld.first][weld.groups]
        file = merged(shape, weld, rig.mesh, 5)
        mixed = rng.permutation(len(file.points)) if mixed is None else mixed
        file = ps.Mesh(file.points[mixed], np.argsort(mixed)[file.triangles])
        points, way = order.points(Path("x.obj"), file, skinned)
        assert way == "by faces and positions"
        assert np.abs(points - shape).max() < 2e-5


def test_parts_that_come_apart_are_no_seams(data: Path) -> None:
    rig = ps.load_rig(data / "humanoid-rocketbox" / "Female_Adult_01_cheer_03.glb")
    seams = seams_of(rig)
    assert len(seams.first) < len(rig.mesh.points)
    for pose in ps.load_motion(data / "humanoid-rocketbox" / "Female_Adult_01_cheer_03.glb", rig.skeleton)[::40]:
        assert tears(seams, rig.skin(pose)).max() < 1e-3 * rig.mesh.diagonal
    corners = seams.groups[rig.mesh.triangles]
    assert (corners != np.roll(corners, 1, axis=1)).all()


def test_a_torn_seam_is_named_with_its_size(tmp_path: Path) -> None:
    rig = split_rig()
    motion = bent(rig, 2)
    ps.export(ps.Skin(rig), tmp_path / "rig.glb")
    pose_json.write(tmp_path / "poses.json", motion, rig.skeleton)
    shapes = [pushed(rig.skin(pose)) for pose in motion]
    seams = seams_of(rig)
    copy = int(np.flatnonzero(seams.first[seams.groups] != np.arange(len(seams.groups)))[0])
    shapes[1][copy] += (0.0, 0.116, 0.0)
    for name, shape in zip(motion.names, shapes, strict=True):
        obj.write(tmp_path / f"{name}.obj", rig.mesh.with_points(shape))
    found = gathered(tmp_path, "*.obj")
    (line,) = found.notes
    assert line.startswith(f"'p1' tore a seam: vertices {seams.first[seams.groups[copy]]} and {copy} (")
    assert "are 116 mm apart; sculpt it with its seams merged" in line
    assert [finding.is_torn for finding in found.findings] == [False, True]


def test_sculpting_files_have_merged_seams_names_and_coordinates(tmp_path: Path) -> None:
    (rig,) = textured().read(tmp_path).rigs.values()
    look = rig.mesh.look
    assert look is not None
    rig = replace(rig, mesh=replace(rig.mesh, look=replace(look, meshes=tuple(f"{k}\nv 9 9 9" for k in look.meshes))))
    ps.Skin(rig).save(tmp_path / "rig.skin")
    motion = bent(rig, 1)
    pose_json.write(tmp_path / "poses.json", motion, rig.skeleton)
    write_posed_meshes(tmp_path / "rig.skin", tmp_path / "poses.json", tmp_path / "out")
    text, seams = (tmp_path / "out" / "p0.obj").read_text(), seams_of(rig)
    assert len(re.findall(r"^v ", text, re.MULTILINE)) == len(seams.first)
    assert len(re.findall(r"^vt ", text, re.MULTILINE)) == len(rig.mesh.points)
    assert re.findall(r"^o (.*)$", text, re.MULTILINE) == [f"{k}_v_9_9_9" for k in look.meshes]
    assert re.search(r"^g ", text, re.MULTILINE)
    np.testing.assert_allclose(
        ps.load_shape(tmp_path / "out" / "p0.obj", rig, motion[0]), rig.skin(motion[0]), atol=1e-5 * rig.mesh.diagonal
    )


def test_arrays_of_shapes_are_taken_from_archives(tmp_path: Path) -> None:
    rig = split_rig()
    motion = bent(rig, 3)
    ps.export(ps.Skin(rig), tmp_path / "rig.glb")
    pose_json.write(tmp_path / "poses.json", motion, rig.skeleton)
    shapes = np.stack([pushed(rig.skin(pose)) for pose in motion])
    np.savez(tmp_path / "one.npz", verts=shapes, faces=rig.mesh.triangles, rest=rig.mesh.points)
    np.savez_compressed(tmp_path / "names.npz", verts=shapes[::-1], names=np.array(motion.names[::-1]))
    np.savez_compressed(tmp_path / "each.npz", **dict(zip(motion.names, shapes, strict=True)))
    (tmp_path / "single").mkdir()
    for name, shape in zip(motion.names, shapes, strict=True):
        np.save(tmp_path / "single" / f"{name}.npy", shape)
    for source in ("one.npz", "names.npz", "each.npz", "single/*.npy"):
        gathered(tmp_path, source)
        stored = ps.Examples.open(tmp_path / "a.examples").shapes
        np.testing.assert_allclose(np.stack([stored[k] for k in range(3)]), shapes, atol=1e-6)
        (tmp_path / "a.examples").rename(tmp_path / f"{source.replace('/', '_')}.old")


def test_hostile_archives_get_one_line(tmp_path: Path) -> None:
    def said(name: str) -> str:
        return error_of(lambda: gathered(tmp_path, name))

    ps.export(ps.Skin(split_rig()), tmp_path / "rig.glb")
    pose_json.write(tmp_path / "poses.json", bent(split_rig(), 1), split_rig().skeleton)
    np.savez_compressed(tmp_path / "bomb.npz", verts=np.zeros((1, 3_000_000, 3)))
    assert "unpacks to more than 200 times its bytes" in said("bomb.npz")
    np.savez(tmp_path / "two.npz", a=np.ones((1, 4, 3)), b=np.ones((1, 4, 3)))
    assert "holds several arrays of (poses, vertices, 3): a, b" in said("two.npz")
    np.savez(tmp_path / "pickle.npz", a=np.array([{}, {}], dtype=object))
    assert "other bytes than its header says" in said("pickle.npz")
    np.savez(tmp_path / "none.npz", a=np.arange(4))
    assert "holds no array of floats" in said("none.npz")
    (tmp_path / "text.npz").write_text("no archive")
    assert "cannot be read as an archive" in said("text.npz")
    good = (tmp_path / "two.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(good[: len(good) // 2])
    assert "cannot be read as an archive" in said("cut.npz")


@pytest.mark.slow
def test_files_sculpted_in_blender_come_back_whole(blender: Runner, data: Path, tmp_path: Path) -> None:
    assets = (
        "gltf-khronos/CesiumMan.glb",
        "humanoid-kaykit-knight/Knight.glb",
        "quadrupeds-rocketbox/Horse_Brown_01.glb",
    )
    for number, asset in enumerate(assets):
        rig, folder = ps.load_rig(data / asset), tmp_path / str(number)
        folder.mkdir()
        motion = bent(rig, 2)
        pose_json.write(folder / "poses.json", motion, rig.skeleton)
        write_posed_meshes(data / asset, folder / "poses.json", folder / "sculpts")
        before = [ps.load_shape(folder / "sculpts" / f"{name}.obj", rig, motion[name]) for name in motion.names]
        blender("blender_sculpt.py", *sorted((folder / "sculpts").glob("*.obj")))
        found = gather(data / asset, str(folder / "sculpts"), folder / "a.examples")
        assert [note for note in found.notes if "seam" in note or "order" in note] == []
        stored = ps.Examples.open(folder / "a.examples").shapes
        for k, shape in enumerate(before):
            # What the script does to every vertex: it is pushed up where it is to the left.
            expected = shape + 0.02 * np.maximum(shape[:, :1], 0) * (0, 1, 0)
            np.testing.assert_allclose(stored[k], expected, atol=1e-5)
