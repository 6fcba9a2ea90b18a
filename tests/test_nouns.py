"""The nouns check what they are given and say what was expected."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.strategies import random_pose, random_rig, random_rotations, seeds
from hypothesis import given
from hypothesis import strategies as st

from posespace import check
from posespace.datasets import bending_arm
from posespace.errors import InputError
from posespace.fit.eigenskin.eigenskin import EigenSkin
from posespace.fit.muscles.muscles import Muscles
from posespace.fit.psd.psd import PSD
from posespace.fit.psd.sculpts import Sculpts
from posespace.geometry import rotations
from posespace.geometry.subdivision import fine_vertex_count, levels_of
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.poses.mirror import mirror, mirror_examples
from posespace.poses.retarget_motion import retarget_motion
from posespace.poses.spaces import PoseSpace
from posespace.rig import Rig
from posespace.skeleton import Skeleton, other_side
from posespace.skin.skin import Skin

TETRAHEDRON = (
    np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float),
    [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]],
)


def test_a_mesh_knows_its_box_seams_and_whether_it_is_closed() -> None:
    points, triangles = TETRAHEDRON
    mesh = Mesh(points, np.array(triangles))
    assert mesh.is_watertight
    assert mesh.box.tolist() == [[0, 0, 0], [1, 1, 1]]
    split = Mesh(points[np.ravel(triangles)], np.arange(12).reshape(4, 3))
    assert len(split.weld.first) == 4
    assert split.is_watertight
    assert not Mesh(points, np.array(triangles[:3])).is_watertight


def test_normals_point_outwards_and_are_shared_across_seams() -> None:
    points, triangles = TETRAHEDRON
    split = Mesh(points[np.ravel(triangles)], np.arange(12).reshape(4, 3))
    normals = split.normals()
    for group in range(4):
        same = normals[split.weld.groups == group]
        np.testing.assert_allclose(same, same[:1].repeat(len(same), axis=0))
    assert ((normals * (split.points - split.points.mean(axis=0))).sum(axis=1) > 0).all()


def test_polygons_become_fans_and_are_remembered() -> None:
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 1.5, 0]], float)
    mesh = Mesh.from_polygons(points, [0, 1, 2, 3, 3, 2, 4], [4, 3])
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3], [3, 2, 4]]
    assert mesh.face_count == 2


def test_weld_gathers_means_and_scatters_them_back() -> None:
    mesh = Mesh(np.array([[0, 0, 0], [1, 0, 0], [0, 0, -0.0]], float), np.array([[0, 1, 2]]))
    values = np.array([[1.0], [5.0], [3.0]])
    assert mesh.weld.scatter(mesh.weld.gather(values)).ravel().tolist() == [2.0, 5.0, 2.0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Mesh(np.zeros((3, 2)), np.zeros((1, 3), int)), r"mesh points: expected shape \(N, 3\), got \(3, 2\)"),
        (lambda: Mesh(np.zeros((3, 3)), [[0, 1, 3]]), "mesh triangles: expected indices from 0 to 2, got 3"),
        (lambda: Mesh(np.full((3, 3), np.nan), [[0, 1, 2]]), "mesh points: expected finite numbers, got nan"),
        (lambda: Mesh(np.full((3, 3), np.inf), [[0, 1, 2]]), "mesh points: expected finite numbers, got inf"),
        (
            lambda: Mesh(np.full((3, 3), 1e30), [[0, 1, 2]]),
            r"mesh points: expected numbers from -1e\+10 to 1e\+10, got",
        ),
        (lambda: check.floats("x", np.float32([np.inf]), ("N",)), r"x: expected finite numbers, got inf at \[0\]"),
        (lambda: Mesh(np.zeros((3, 3)), [[0.5, 1, 2]]), "mesh triangles: expected whole numbers"),
        (lambda: Mesh(np.zeros((3, 3)), [[0, 1, 2]], [4]), "face_sizes: they make 2 triangles, got 1"),
        (lambda: Skeleton.from_world(["a", "a"], [-1, 0], np.tile(np.eye(4), (2, 1, 1))), "'a' twice"),
        (lambda: Skeleton.from_world(["a", "b"], [1, 0], np.tile(np.eye(4), (2, 1, 1))), "got a cycle a → b → a"),
        (
            lambda: Skeleton.from_world(["a"], [-1], np.diag([0.0, 0, 0, 1])[None]),
            "'a': expected an invertible transform",
        ),
        (lambda: Pose(np.zeros((2, 4))), "pose rotations: expected finite quaternions of nonzero length"),
        (lambda: Pose([[0, 0, 0, 1]], controls={"smile": np.inf}), "control 'smile': expected a finite number"),
        (lambda: Motion(np.tile([0, 0, 0, 1.0], (2, 1, 1)), times=[1.0]), r"motion times: expected shape \(2\)"),
        (lambda: Motion(np.tile([0, 0, 0, 1.0], (2, 1, 1)), names=("x", "x")), "'x' twice"),
        (lambda: Motion.from_poses([]), "expected at least one pose"),
    ],
)
def test_wrong_input_is_named(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]


def test_bad_weights_name_the_vertex_and_missing_ones_bind_to_the_root() -> None:
    mesh = Mesh(np.eye(3), [[0, 1, 2]])
    skeleton = Skeleton.from_world(["child", "root"], [1, -1], np.tile(np.eye(4), (2, 1, 1)))
    with pytest.raises(InputError, match=r"got -1\.0 at vertex 1"):
        Rig(mesh, skeleton, np.zeros((3, 1), int), np.array([[1.0], [-1.0], [1.0]]))
    with pytest.raises(InputError, match="expected indices from 0 to 1, got 2"):
        Rig(mesh, skeleton, np.full((3, 1), 2), np.ones((3, 1)))
    rig = Rig(mesh, skeleton, np.zeros((3, 1), int), np.array([[2.0], [0.0], [1.0]]))
    assert rig.weights.ravel().tolist() == [1, 1, 1]
    assert rig.influences.ravel().tolist() == [0, 1, 0]


@given(seeds, st.booleans())
def test_forward_kinematics_and_its_inverse_agree(seed: int, scaled: bool) -> None:
    rng = np.random.default_rng(seed)
    rig = random_rig(rng, scaled=scaled)
    motion = Motion.from_poses([random_pose(rng, rig) for _ in range(3)])
    world = rig.skeleton.world(motion.rotations, motion.translations)
    again = Motion.from_world(rig.skeleton, world)
    np.testing.assert_allclose(again.translations, motion.translations, atol=1e-9)
    dots = np.abs((again.rotations * motion.rotations).sum(axis=2))
    np.testing.assert_allclose(dots, 1, atol=1e-12)


def test_a_scale_that_changes_has_no_pose_and_names_the_joint() -> None:
    skeleton = Skeleton.from_world(["a", "b"], [-1, 0], np.tile(np.eye(4), (2, 1, 1)))
    world = np.tile(np.eye(4), (1, 2, 1, 1))
    world[0, 1, :3, :3] *= 2
    with pytest.raises(InputError, match=r"'b'.*scale that changes"):
        Motion.from_world(skeleton, world)


@given(seeds)
def test_quaternions_agree_with_scipy(seed: int) -> None:
    from scipy.spatial.transform import Rotation

    rng = np.random.default_rng(seed)
    a, b = random_rotations(rng, 5), random_rotations(rng, 5)
    np.testing.assert_allclose(rotations.matrices(a), Rotation.from_quat(a).as_matrix(), atol=1e-14)
    both = (Rotation.from_quat(a) * Rotation.from_quat(b)).as_quat()
    np.testing.assert_allclose(rotations.multiply(a, b), both, atol=1e-14)
    back = rotations.from_matrices(rotations.matrices(a))
    np.testing.assert_allclose(np.abs((back * a).sum(axis=1)), 1, atol=1e-13)


def test_revolute_and_ball_joints_have_angles_and_limits() -> None:
    axes = np.zeros((2, 3, 3))
    axes[0, 0] = (0, 0.6, 0.8)
    axes[1] = np.eye(3)
    limits = np.tile([-0.5, 0.5], (2, 3, 1))
    skeleton = Skeleton.from_world(["hinge", "ball"], [-1, 0], np.tile(np.eye(4), (2, 1, 1)), axes, limits)
    assert (skeleton.degrees_of_freedom(0), skeleton.degrees_of_freedom(1)) == (1, 3)
    angles = np.array([[0.3, 0, 0], [0.1, -0.9, 0.2]])
    turned = skeleton.rotations(angles)
    np.testing.assert_allclose(skeleton.angles(turned), angles, atol=1e-12)
    assert skeleton.beyond_limits(turned) == ["ball"]
    np.testing.assert_allclose(skeleton.angles(skeleton.clamp(turned))[1], [0.1, -0.5, 0.2], atol=1e-12)
    with pytest.raises(InputError, match="axes of 'hinge': expected orthonormal rows"):
        Skeleton.from_world(["hinge"], [-1], np.eye(4)[None], 2 * axes[:1])
    with pytest.raises(InputError, match="limits of 'hinge': the lowest angle is above"):
        Skeleton.from_world(["hinge"], [-1], np.eye(4)[None], None, np.tile([1.0, -1.0], (1, 3, 1)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hand_L", "hand_R"),
        ("hand.l", "hand.r"),
        ("LeftArm", "RightArm"),
        ("mixamorig:LeftHand", "mixamorig:RightHand"),
        ("Bip01 L Finger0", "Bip01 R Finger0"),
        ("l_hand", "r_hand"),
        ("spine", "spine"),
        ("collar", "collar"),
        ("lower_lip", "lower_lip"),
    ],
)
def test_the_other_side_of_a_name(one: str, other: str) -> None:
    assert other_side(one) == other
    assert other_side(other) == one


def symmetric_skeleton(rng: np.random.Generator) -> Skeleton:
    """A spine on the plane x = 0 and two arms whose rest frames are turned at random, each in its own way."""
    names = ["spine", "arm_L", "hand_L", "arm_R", "hand_R"]
    where = np.array([[0, 0, 0], [1, 1, 0.2], [2, 1, 0.4], [-1, 1, 0.2], [-2, 1, 0.4]])
    world = np.tile(np.eye(4), (5, 1, 1))
    world[:, :3, :3] = rotations.matrices(random_rotations(rng, 5))
    world[:, :3, 3] = where
    return Skeleton.from_world(names, [-1, 0, 1, 0, 3], world)


@given(seeds)
def test_mirroring_reflects_where_the_joints_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    skeleton = symmetric_skeleton(rng)
    motion = Motion(random_rotations(rng, 4, 5), rng.normal(size=(4, 5, 3)), controls=rng.random((4, 2)),
                    control_names=("smile_L", "smile_R"))  # fmt: skip
    mirrored = mirror(motion, skeleton)
    here = skeleton.world(motion.rotations, motion.translations)[..., :3, 3]
    there = skeleton.world(mirrored.rotations, mirrored.translations)[..., :3, 3]
    np.testing.assert_allclose(there, here[:, skeleton.counterparts] * [-1, 1, 1], atol=1e-9)
    np.testing.assert_array_equal(mirrored.controls, motion.controls[:, ::-1])
    twice = mirror(mirrored, skeleton)
    np.testing.assert_allclose(np.abs((twice.rotations * motion.rotations).sum(axis=2)), 1, atol=1e-9)


@given(seeds)
def test_a_motion_carried_onto_other_axes_and_units_moves_the_joints_alike(seed: int) -> None:
    rng = np.random.default_rng(seed)
    source = symmetric_skeleton(rng)
    z_up = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]], float)
    world = source.rest_world.copy()
    world[:, :3, :3] = rotations.matrices(random_rotations(rng, 5))
    world[:, :3, 3] = 100 * world[:, :3, 3] @ z_up.T
    target = Skeleton.from_world(source.names, source.parents, world)
    motion = Motion(random_rotations(rng, 3, 5), rng.normal(size=(3, 5, 3)))
    carried = retarget_motion(motion, source, target)
    here = source.world(motion.rotations, motion.translations)[..., :3, 3]
    there = target.world(carried.rotations, carried.translations)[..., :3, 3]
    np.testing.assert_allclose(there, 100 * here @ z_up.T, atol=1e-7)


def test_a_motion_of_unknown_joints_is_refused() -> None:
    one = Skeleton.from_world(["a"], [-1], np.eye(4)[None])
    other = Skeleton.from_world(["b"], [-1], np.eye(4)[None])
    with pytest.raises(InputError, match=r"none of the motion's joints \(a\) is in the skeleton \(b\)$"):
        retarget_motion(Motion(np.tile([0, 0, 0, 1.0], (1, 1, 1))), one, other)


def test_subdivision_splits_each_triangle_in_four_and_keeps_the_coarse_vertices_first() -> None:
    mesh = Mesh(TETRAHEDRON[0], np.array(TETRAHEDRON[1]))
    levels = levels_of(mesh.triangles, len(mesh.points), 2)
    points = mesh.points
    for level in levels:
        points = level.refine(points)
    fine = Mesh(points, levels[-1].triangles)
    assert fine.is_watertight
    assert len(fine.triangles) == 64
    assert len(points) == fine_vertex_count(mesh.triangles, len(mesh.points), 2)
    np.testing.assert_array_equal(points[:4], mesh.points)


def test_a_motion_is_indexed_by_number_slice_and_list() -> None:
    motion = Motion(np.tile([0, 0, 0, 1.0], (4, 2, 1)), controls=np.arange(4)[:, None], control_names=("dial",))
    assert motion[2].controls == {"dial": 2.0}
    assert motion[1:3].names == ("1", "2")
    assert motion[[3, 0]].names == ("3", "0")
    assert len(list(motion)) == 4
    with pytest.raises(InputError, match="pose 'x': not in the motion"):
        motion.index("x")


def test_matrices_for_row_vectors_are_refused_with_the_remedy() -> None:
    world = np.tile(np.eye(4), (2, 1, 1))
    world[1, :3, 3] = (1, 2, 3)
    with pytest.raises(InputError, match=r"rest_world of joint 'b': .* pass the transpose"):
        Skeleton.from_world(["a", "b"], [-1, 0], np.swapaxes(world, 1, 2))
    skeleton = Skeleton.from_world(["a", "b"], [-1, 0], world)
    with pytest.raises(InputError, match=r"world of joint 'b': .* pass the transpose"):
        Motion.from_world(skeleton, np.swapaxes(world, 1, 2)[None])


def test_names_that_are_close_are_reported() -> None:
    skeleton = Skeleton.from_world(["Index_L", "Thumb_L"], [-1, 0], np.tile(np.eye(4), (2, 1, 1)))
    with pytest.raises(InputError, match="joint 'Indx_L': not in the skeleton; the closest is 'Index_L'"):
        skeleton.index("Indx_L")
    motion = Motion(np.tile([0, 0, 0, 1.0], (2, 2, 1)), names=("fist", "flat"))
    assert motion["flat"].rotations.shape == (2, 4)
    with pytest.raises(InputError, match="pose 'fits': not in the motion; the closest is 'fist'"):
        motion["fits"]
    with pytest.raises(InputError, match="expected a list of names, got the one string 'Index_L'"):
        PoseSpace("joint", "Index_L")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no joint has a counterpart"):
        mirror(motion, skeleton)


def test_nouns_print_in_one_line() -> None:
    rig = random_rig(np.random.default_rng(0))
    assert repr(rig).startswith("Rig(Mesh(20 vertices, 20 triangles), Skeleton(5 joints: joint0, joint1")
    assert "\n" not in repr(Motion(np.tile([0, 0, 0, 1.0], (4, 2, 1))))


def test_a_shift_is_carried_through_frames_that_scale() -> None:
    metres = np.tile(np.eye(4), (2, 1, 1))
    metres[1, 1, 3] = 1.0
    scaled = Skeleton(("hips", "head"), [-1, 0], np.stack([np.diag([0.01, 0.01, 0.01, 1]), metres[1] * [1, 1, 1, 1]]),
                      np.tile([0, 0, 0, 1.0], (2, 1)))  # fmt: skip
    plain = Skeleton.from_world(("hips", "head"), [-1, 0], np.stack([np.eye(4), [[1, 0, 0, 0], [0, 1, 0, 0.01],
                                [0, 0, 1, 0], [0, 0, 0, 1]]]))  # fmt: skip
    moved = Motion(np.tile([0, 0, 0, 1.0], (1, 2, 1)), [[[2.0, 0, 0], [0, 0, 0]]])
    carried = retarget_motion(moved, plain, scaled)
    np.testing.assert_allclose(carried.translations[0, 0], (200, 0, 0), atol=1e-9)
    back = retarget_motion(carried, scaled, plain)
    np.testing.assert_allclose(back.translations, moved.translations, atol=1e-9)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6])
def test_a_large_matrix_of_a_file_may_be_no_less_affine_than_a_small_one(tolerance: float) -> None:
    matrix = np.eye(4)
    matrix[0, 3], matrix[3, 0] = 1e5, 0.9 * tolerance
    assert check.affine("node", matrix, (4, 4), tolerance)[3].tolist() == [0, 0, 0, 1]
    matrix[3, 0] = 2 * tolerance
    with pytest.raises(InputError, match="expected 0 0 0 1 as last row"):
        check.affine("node", matrix, (4, 4), tolerance)


def test_examples_are_indexed_as_their_motion_is() -> None:
    examples = bending_arm(rings=8, sides=5)[0]
    names = examples.motion.names
    for key in (slice(3, 10), slice(None, None, -7), [4, 1], np.array([2]), np.arange(len(examples)) % 3 == 0, []):
        some = examples[key]
        assert some.motion.names == examples.motion[key].names
        for pose, shape in some:
            np.testing.assert_array_equal(examples.rig.skin(pose).shape, shape.shape)
        expected = np.asarray(examples.shapes)[key] if len(some) else []
        np.testing.assert_array_equal([shape for _, shape in some], expected)
    assert examples[3:10][1:3].motion.names == names[4:6]
    for key in (5, -25, names[5], np.int64(5)):
        pose, shape = examples[key]  # type: ignore[misc, call-overload]
        np.testing.assert_array_equal(pose.rotations, examples.motion.rotations[5])
        np.testing.assert_array_equal(shape, examples.shapes[5])
    with pytest.raises(IndexError):
        examples[len(examples)]
    with pytest.raises(InputError, match="pose 'x': not in the motion"):
        examples["x"]


def test_examples_of_one_rig_join_and_others_do_not() -> None:
    first, second = bending_arm(rings=12, sides=8)
    both = first.joined(second)
    assert both.motion.names == (*first.motion.names, *second.motion.names)
    np.testing.assert_array_equal(both.shapes[len(first) + 3], second.shapes[3])
    np.testing.assert_array_equal(both.motion.rotations[len(first) :], second.motion.rotations)
    with pytest.raises(InputError, match="joined: expected examples of one rig"):
        first.joined(bending_arm(rings=10, sides=8)[0])


@pytest.mark.parametrize("wrong", [None, 3, "arm", [1, 2], np.zeros(3), Mesh(np.zeros((3, 3)), np.array([[0, 1, 2]]))])
def test_a_wrong_kind_is_said_in_one_line(wrong: object) -> None:
    train, _ = bending_arm(rings=6, sides=6)
    skeleton, given = train.rig.skeleton, "got (a )?(NoneType|int|str|list|ndarray|Mesh)"
    calls = [
        lambda: Motion.from_world(wrong, np.zeros((1, 3, 4, 4))),  # type: ignore[arg-type]
        lambda: Motion.from_poses([wrong]),  # type: ignore[list-item]
        lambda: Pose.from_joints(wrong, {}),  # type: ignore[arg-type]
        lambda: Pose.from_joints(skeleton, wrong),  # type: ignore[arg-type]
        lambda: mirror(wrong, skeleton),  # type: ignore[arg-type]
        lambda: mirror(train.motion, wrong),  # type: ignore[arg-type]
        lambda: mirror_examples(wrong),  # type: ignore[arg-type]
        lambda: retarget_motion(wrong, skeleton, skeleton),  # type: ignore[arg-type]
        lambda: retarget_motion(train.motion, wrong, skeleton),  # type: ignore[arg-type]
        lambda: Sculpts(wrong),  # type: ignore[arg-type]
        lambda: Sculpts(train.rig).add("bent", wrong, train.rig.mesh.points),  # type: ignore[arg-type]
        lambda: Skin(wrong),  # type: ignore[arg-type]
    ]
    for call in calls:
        with pytest.raises(InputError, match=given):
            call()


def test_what_holds_the_right_kind_is_named() -> None:
    train, _ = bending_arm(rings=6, sides=6)
    with pytest.raises(InputError, match=r"skeleton: expected a Skeleton, got Rig; pass its \.skeleton"):
        Pose.from_joints(train.rig, {})  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"motion: expected a Motion, got Examples; pass its \.motion"):
        mirror(train, train.rig.skeleton)  # type: ignore[arg-type]


def test_a_rig_without_joints_is_refused() -> None:
    points, triangles = TETRAHEDRON
    for empty in ((np.zeros((4, 0)), np.zeros(0, int), np.zeros((0, 4, 4))), ([], [], [])):
        with pytest.raises(InputError, match="expected at least one joint, got none; without joints, take Rig"):
            Rig.from_arrays(points, triangles, *empty)


@pytest.mark.parametrize("method", [PSD(), EigenSkin(), Muscles()], ids=lambda method: type(method).__name__)
def test_a_fit_to_no_poses_is_refused(method: PSD | EigenSkin | Muscles) -> None:
    train, _ = bending_arm(rings=6, sides=6)
    with pytest.raises(InputError, match="examples: expected at least one pose, got none"):
        method.fit(train[[]])
