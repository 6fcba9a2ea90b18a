"""Sculpts carried to the other side of a rig."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import KDTree

import posespace as ps
from posespace.errors import InputError
from posespace.geometry import rotations
from posespace.poses.mirror import Mirror, mirrored_name
from posespace.poses.symmetry import counterparts, rig_plane
from posespace.skeleton import other_side


def strip(*columns: float) -> ps.Mesh:
    """A strip of two vertices at each x, facing z."""
    points = np.array([[x, y, 0.0] for x in columns for y in (0, 1)])
    quads = [[[k, k + 2, k + 1], [k + 1, k + 2, k + 3]] for k in range(0, len(points) - 2, 2)]
    return ps.Mesh(points, np.concatenate(quads))


def lifted(mesh: ps.Mesh, vertex: int, control: str = "smile_L") -> ps.Examples:
    """A sculpt that moves one vertex, driven by a control."""
    shape = mesh.points.copy()
    shape[vertex] += (0.2, 0.1, 1.0)
    motion = ps.Motion([[[0, 0, 0, 1.0]]], names=(control,), controls=np.ones((1, 1)), control_names=(control,))
    return ps.Examples.from_shapes(ps.Rig.from_mesh(mesh), motion, shape[None])


def bulge(rig: ps.Rig, centre: np.ndarray) -> np.ndarray:
    """Skin pushed away from a centre (3,), fading with distance: what a sculpt adds in the rest shape (N, 3)."""
    away = rig.mesh.points - centre
    far = np.linalg.norm(away, axis=1, keepdims=True) / (0.06 * rig.mesh.diagonal)
    return np.asarray(np.where(far < 1, (1 - far**2) ** 2, 0.0) * away / 4)


def bent(rig: ps.Rig, joint: str, axis: tuple[float, float, float] = (0.0, 0.6, 0.8)) -> ps.Pose:
    turn = np.array(rig.rest.rotations)
    number = rig.skeleton.index(joint)
    turn[number] = rotations.multiply(turn[number], rotations.from_axis_angle(axis, 1.0))
    return ps.Pose(turn, rig.rest.translations)


def test_a_sculpt_of_one_side_becomes_one_of_the_other() -> None:
    mirrored = ps.mirror_examples(lifted(strip(1, 2, 3, 4, 5), 0))
    assert mirrored.motion.names == mirrored.motion.control_names == ("smile_R",)
    moved = mirrored.shapes[0] - mirrored.rig.mesh.points
    np.testing.assert_allclose(moved[8], (-0.2, 0.1, 1.0), atol=1e-9)
    np.testing.assert_allclose(np.delete(moved, 8, axis=0), 0, atol=1e-9)


def test_sides_cut_into_other_triangles_match_by_their_surface() -> None:
    sides = lifted(strip(0, 1, 2, 3, 4, 4.5, 5, 5.5, 6), 0)
    mirrored = ps.mirror_examples(sides)
    moved = (mirrored.shapes[0] - mirrored.rig.mesh.points)[::2]
    # The sculpt falls from its end to the next vertex, 1 away; the finer side has a vertex halfway.
    np.testing.assert_allclose(moved[-2:], [(-0.1, 0.05, 0.5), (-0.2, 0.1, 1.0)], atol=1e-9)
    np.testing.assert_allclose(moved[:-2], 0, atol=1e-9)


def test_only_where_the_sculpt_moves_anything_must_the_sides_be_alike() -> None:
    # One side has a horn, which the mirror plane must not mind.
    horned = strip(-6, -3, -2, -1, 0, 1, 2, 3)
    knee = lifted(horned, 4)
    found = Mirror(knee.rig).sculpt("smile_L", knee.motion[0], knee.residual(0)[0])
    assert found.name == "smile_R"
    assert (found.match.vertices, found.match.matched) == (1, 1.0)
    horn = lifted(horned, 0)
    with pytest.raises(InputError, match=r"'smile_L': the two sides differ where it moves vertices \(0\.0% of 1 moved"):
        ps.mirror_examples(horn)


def test_sculpts_that_match_in_part_are_carried_with_a_warning_that_says_how_well() -> None:
    examples = lifted(strip(-6, -3, -2, -1, 0, 1, 2, 3), 2)
    shape = np.array(examples.shapes[0])
    shape[:3] += (0.0, 0.0, 0.5)
    shape[4:6] += (0.0, 0.0, 0.5)
    half = ps.Examples.from_shapes(examples.rig, examples.motion, shape[None])
    with pytest.warns(UserWarning, match=r"mirror 'smile_L': 60\.0% of 5 moved positions matched"):
        mirrored = ps.mirror_examples(half)
    moved = mirrored.shapes[0] - mirrored.rig.mesh.points
    np.testing.assert_allclose(moved[12:14, 2], 0.5, atol=1e-9)


CHARACTERS = [
    ("quadrupeds-rocketbox/Horse_Brown_01.glb", "horse L Forearm", "horse R Forearm"),
    ("humanoid-kaykit-knight/Knight.glb", "lowerarm.l", "lowerarm.r"),
    ("humanoid-rocketbox/Female_Adult_01_cheer_03.glb", "Bip01 L Forearm", "Bip01 R Forearm"),
    ("humanoid-rocketbox/Female_Adult_01_cheer_03.glb", "Bip01 LOuterEyebrow", "Bip01 ROuterEyebrow"),
    # Its sides are numbered in opposite orders, and its mesh was bound with another axis up.
    ("gltf-khronos/CesiumMan.glb", "Skeleton_arm_joint_L__3_", "Skeleton_arm_joint_R__2_"),
    ("gltf-khronos/CesiumMan.glb", "leg_joint_L_2", "leg_joint_R_2"),
]


@pytest.mark.parametrize(("file", "joint", "other"), CHARACTERS)
def test_characters_with_asymmetric_heads_and_clothes_are_mirrored(
    data: Path, file: str, joint: str, other: str
) -> None:
    rig = ps.load_rig(data / file)
    centre = rig.skeleton.world(rig.rest.rotations, rig.rest.translations)[rig.skeleton.index(joint), :3, 3]
    pose, side = bent(rig, joint), Mirror(rig)
    found = side.sculpt("bentL", pose, bulge(rig, centre))
    assert found.name == "bentR"
    assert found.match.matched > 0.99
    turned = rotations.angles_between(found.pose.rotations, rig.rest.rotations) > 1e-3
    assert [name for name, moved in zip(rig.skeleton.names, turned, strict=True) if moved] == [other]
    want, got = bulge(rig, side.plane.image(centre)), rig.residual(found.pose, found.shape)[0]
    assert np.sqrt(((got - want) ** 2).sum() / (want**2).sum()) < 0.03


def test_a_single_hand_has_no_other_side(data: Path) -> None:
    rig = ps.load_rig(data / "hand-godot-xr" / "hand_l.gltf")
    assert (counterparts(rig.skeleton, rig_plane(rig)) == np.arange(len(rig.skeleton))).all()
    with pytest.raises(InputError, match="no joint has a counterpart on the other side"):
        Mirror(rig).sculpt("fist_L", rig.rest, np.zeros(rig.mesh.points.shape))


def test_examples_at_central_poses_keep_themselves(data: Path) -> None:
    rig = ps.load_rig(data / "quadrupeds-rocketbox" / "Horse_Brown_01.glb")
    side = Mirror(rig)
    # About the joint's axis that lies across the body in the rest shape.
    number = rig.skeleton.index("horse Neck")
    axes = rig.skeleton.world(rig.rest.rotations, rig.rest.translations)[number, :3, :3]
    across = axes.T @ side.plane.normal / np.linalg.norm(axes[:, 0])
    nod, shake = (bent(rig, "horse Neck", tuple(axis)) for axis in (across, np.roll(across, 1)))
    assert side.is_central(nod)
    assert not side.is_central(shake)
    shape = rig.skin(nod) + 0.01
    kept = ps.mirror_examples(ps.Examples.from_shapes(rig, ps.Motion.from_poses([nod], ["nod"]), shape[None]))
    assert kept.motion.names == ("nod",)
    np.testing.assert_array_equal(kept.shapes[0], shape)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("bentL", "bentR"),
        ("elbow45R", "elbow45L"),
        ("lShldr", "rShldr"),
        ("Bip01 REye", "Bip01 LEye"),
        ("arm.L.001", "arm.R.001"),
        ("fist", "fist_mirrored"),
        ("fist_mirrored", "fist"),
        ("LED", "LED_mirrored"),
    ],
)
def test_names_change_side(name: str, other: str) -> None:
    assert mirrored_name(name) == other


def test_the_camel_mirrored_twice_is_the_camel(data: Path) -> None:
    rig = ps.load_rig(data / "quadrupeds-rocketbox" / "Camel_OneHump_01.glb")
    rng = np.random.default_rng(0)
    names = rig.skeleton.names
    legs = [name for name in names if other_side(name) in names and other_side(name) != name][:6]
    poses = []
    for leg in legs:
        turn = np.array(rig.rest.rotations)
        bend = rotations.from_axis_angle((0.0, 0.6, 0.8), 0.7)
        turn[names.index(leg)] = rotations.multiply(turn[names.index(leg)], bend)
        poses.append(ps.Pose(turn, rig.rest.translations))
    weld = rig.mesh.weld
    bumps = [weld.scatter(0.01 * rng.normal(size=(len(weld.first), 3))) for _ in legs]
    shapes = [rig.skin(pose, bump) for pose, bump in zip(poses, bumps, strict=True)]
    examples = ps.Examples.from_shapes(rig, ps.Motion.from_poses(poses, legs), shapes)
    once = ps.mirror_examples(examples)
    assert once.motion.names == tuple(other_side(leg) for leg in legs)
    reflect = np.array([-1.0, 1.0, 1.0])
    points = rig.mesh.points.astype(np.float64)
    partner = KDTree(points).query(points * reflect)[1]
    for index in range(len(examples)):
        # The camel's weights are symmetric to three digits: so is what they do to the mirrored shape.
        image = np.asarray(examples.shapes[index])[partner] * reflect
        off = np.linalg.norm(once.shapes[index] - image, axis=1)
        assert np.median(off) < 1e-6 * rig.mesh.diagonal
        assert off.max() < 0.01 * rig.mesh.diagonal
    twice = ps.mirror_examples(once)
    for index in range(len(examples)):
        np.testing.assert_allclose(twice.shapes[index], examples.shapes[index], atol=5e-4 * rig.mesh.diagonal)
    with pytest.raises(InputError, match="the two sides differ"):
        ps.mirror_examples(examples, normal=(0, 0, 1))


def test_the_face_mirrors_its_smile(data: Path) -> None:
    stored = np.load(data / "face-ict-facekit" / "ict_face_head.npz")
    rig = ps.Rig.from_mesh(ps.Mesh(stored["neutral"], stored["tris"]))
    names = list(stored["names"])
    left, right = (stored["deltas"][names.index(f"mouthSmile_{side}")] for side in "LR")
    one = np.ones((1, 1))
    motion = ps.Motion([[[0, 0, 0, 1.0]]], names=("smile_L",), controls=one, control_names=("mouthSmile_L",))
    examples = ps.Examples.from_shapes(rig, motion, (stored["neutral"] + left)[None])
    mirrored = ps.mirror_examples(examples)
    assert mirrored.motion.control_names == ("mouthSmile_R",)
    # The two smiles were scanned; they agree to a fiftieth of their size.
    assert np.abs(mirrored.shapes[0] - (stored["neutral"] + right)).max() < 0.02 * np.abs(right).max()
    np.testing.assert_allclose(
        ps.mirror_examples(mirrored).shapes[0], examples.shapes[0], atol=1e-3 * np.abs(left).max()
    )
