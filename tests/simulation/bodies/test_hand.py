"""The procedural hand and arm, and the distance field and triangles they are made from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from posespace import datasets
from posespace.check import Floats
from posespace.errors import InputError
from posespace.mesh import Mesh
from posespace.pose import Pose
from posespace.simulation.bodies.arm import arm
from posespace.simulation.bodies.body import Body, Bone
from posespace.simulation.bodies.distance_field import FieldBuilder
from posespace.simulation.bodies.field_mesh import triangulate
from posespace.simulation.bodies.hand import hand
from posespace.simulation.bodies.hand_shape import hand_field
from posespace.simulation.bodies.height_lines import HeightLine

pytest.importorskip("skimage")
FINGERS = ("thumb", "index", "middle", "ring", "little")
COUNTS = {0: 3494, 1: 13976, 2: 55904}


def built(level: int, side: str = "right", build: float = 0.0, detail: bool = True) -> Body:
    """A hand that is built once for all tests: none of them changes it."""
    return _built(level, side, build, detail)


@cache
def _built(level: int, side: str, build: float, detail: bool) -> Body:
    # Called with all of its arguments in order: a cache takes the same ones given otherwise for others.
    return hand(level, side, build=build, detail=detail)


@pytest.fixture(scope="module")
def right() -> Body:
    return built(1)


@pytest.fixture(scope="module")
def small_arm() -> Body:
    return arm(400)


def volume(mesh: Mesh) -> float:
    a, b, c = np.moveaxis(mesh.points[mesh.triangles], 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def euler(mesh: Mesh) -> int:
    sides = np.sort(np.stack([mesh.triangles, np.roll(mesh.triangles, -1, axis=1)], axis=-1).reshape(-1, 2), axis=1)
    return len(mesh.points) - len(np.unique(sides, axis=0)) + len(mesh.triangles)


def smallest_angle(mesh: Mesh) -> float:
    corners = mesh.points[mesh.triangles]
    cosines = []
    for k in range(3):
        u, v = (np.roll(corners, -k, axis=1)[:, j] - corners[:, k] for j in (1, 2))
        cosines.append((u * v).sum(axis=1) / np.linalg.norm(u, axis=1) / np.linalg.norm(v, axis=1))
    return float(np.degrees(np.arccos(np.max(cosines))))


def assert_sound(mesh: Mesh, least_angle: float) -> None:
    assert mesh.is_watertight
    assert euler(mesh) == 2
    assert volume(mesh) > 0
    assert smallest_angle(mesh) > least_angle


def surface_samples(bone: Bone) -> Floats:
    directions = np.random.default_rng(3).normal(size=(200, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    t = np.linspace(0, 1, 12)[:, None]
    centres = bone.start + t * (bone.end - bone.start)
    radii = bone.start_radius + t * (bone.end_radius - bone.start_radius)
    return (centres[:, None] + radii[:, None] * directions).reshape(-1, 3)


def gap(one: Bone, other: Bone) -> float:
    t = np.linspace(0, 1, 40)[:, None]
    a, b = (bone.start + t * (bone.end - bone.start) for bone in (one, other))
    r, s = (bone.start_radius + t[:, 0] * (bone.end_radius - bone.start_radius) for bone in (one, other))
    return float((np.linalg.norm(a[:, None] - b, axis=2) - r[:, None] - s).min())


def winding(mesh: Mesh, points: Floats) -> Floats:
    """How often the surface winds round each point: 1 inside, 0 outside."""
    a, b, c = (mesh.points[mesh.triangles[:, k]][None] - points[:, None] for k in range(3))
    x, y, z = (np.linalg.norm(v, axis=2) for v in (a, b, c))
    top = np.einsum("ntk,ntk->nt", a, np.cross(b, c))
    dots = [np.einsum("ntk,ntk->nt", u, v) for u, v in ((a, b), (b, c), (c, a))]
    return np.asarray(np.arctan2(top, x * y * z + dots[0] * z + dots[1] * x + dots[2] * y).sum(axis=1) / (2 * np.pi))


def assert_bones_fit(body: Body, to_skin: float, apart: float) -> None:
    skin = body.rig.mesh
    for bone in body.bones:
        samples = surface_samples(bone)[::40]
        np.testing.assert_allclose(winding(skin, samples), 1, atol=1e-6)
        nearest = np.linalg.norm(samples[:, None] - skin.points, axis=2).min()
        assert nearest > to_skin
    pairs = [(a, b) for k, a in enumerate(body.bones) for b in body.bones[:k]]
    assert min(gap(a, b) for a, b in pairs) > apart


def posed(body: Body, **degrees: Sequence[float]) -> Floats:
    skeleton = body.rig.skeleton
    angles = np.zeros((len(skeleton), 3))
    for name, values in degrees.items():
        angles[skeleton.index(name), : len(values)] = np.radians(values)
    rotations = skeleton.rotations(angles)
    assert not skeleton.beyond_limits(rotations)
    return body.rig.skin(Pose(rotations))


def moved_by(body: Body, name: str) -> NDArray[np.bool_]:
    """The vertices that move with one joint alone."""
    return np.asarray(body.rig.dense_weights()[:, body.rig.skeleton.index(name)] > 0.99)


def shift(body: Body, name: str, **degrees: Sequence[float]) -> Floats:
    part = moved_by(body, name)
    return np.asarray((posed(body, **degrees) - body.rig.mesh.points)[part].mean(axis=0))


# The field and its triangles


def test_a_field_has_the_distance_of_a_ball_and_its_gradient() -> None:
    shape = FieldBuilder((("a", "whole", 1.0),))
    shape.ellipsoid("whole", (1, 2, 3), np.eye(3), (5, 5, 5), 1.0)
    points = np.array([[1.0, 2.0, 10.0], [1.0, 4.0, 3.0], [9.0, 2.0, 3.0]])
    values, gradients = shape.build().slopes(points)
    np.testing.assert_allclose(values, [2.0, -3.0, 3.0])
    np.testing.assert_allclose(gradients, [[0, 0, 1], [0, 1, 0], [1, 0, 0]], atol=1e-12)


def test_gradients_are_those_of_the_values() -> None:
    shape = FieldBuilder((("arm", "whole", 3.0), ("web", "whole", 2.0)))
    shape.cone("whole", (0, 0, 0), (3, 8, 1), (4, 2), 2.0, stretch=(1.2, 0.7))
    shape.ellipsoid("arm", (5, 2, 1), np.eye(3), (2, 4, 3), 2.0)
    shape.sheet("web", ((0, 0, 0), (6, 0, 2), (0, 6, 4)), 0.5, 1.0)
    shape.cut((0, -1, 0), (0, -1, 0.2), 1.5)
    bent = np.array([[0.0, 0.0, 3.0], [2.0, 5.0, 3.0], [2.0, 9.0, 2.0]])
    shape.add_lines(
        HeightLine(bent, np.array([0.0, -0.8, 0.3]), 3.0), HeightLine(bent[::2] + 2, np.array([0.5, 0.2]), 4.0)
    )
    field = shape.build()
    points = np.random.default_rng(1).uniform(-6, 10, (400, 3))
    step = 1e-6
    shifted = [(field(points + step * e) - field(points - step * e)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(field.slopes(points)[1], np.stack(shifted, axis=1), atol=1e-5)


def test_a_line_raises_or_carves_the_surface_within_its_reach() -> None:
    shape = FieldBuilder((("a", "whole", 1.0),))
    shape.ellipsoid("whole", (0, 0, 0), np.eye(3), (10, 10, 10), 1.0)
    plain = shape.build()
    line = np.array([[-3.0, 0.0, 10.0], [0.0, 0.0, 10.0], [3.0, 0.0, 10.0]])
    shape.add_lines(
        HeightLine(line, np.array([0.0, -0.5, 0.0]), 2.0), HeightLine(-line, np.array([0.2, 0.2, 0.2]), 2.0)
    )
    points = np.array([[0.0, 0.0, 10.0], [1.5, 0.0, 10.0], [0.0, 2.1, 10.0], [0.0, 0.0, -10.0]])
    np.testing.assert_allclose(shape.build()(points) - plain(points), [0.5, 0.25, 0.0, -0.2], atol=1e-12)


def test_points_project_onto_the_surface() -> None:
    shape = FieldBuilder((("a", "whole", 1.0),))
    shape.cone("whole", (0, 0, 0), (0, 9, 0), (4, 3), 1.0, stretch=(1.0, 0.8))
    field = shape.build()
    points = field.project(np.random.default_rng(2).uniform(-5, 9, (200, 3)), steps=12)
    np.testing.assert_allclose(field(points), 0, atol=1e-9)


@pytest.mark.parametrize("count", [200, 1000, 2222])
def test_a_ball_gets_exactly_the_triangles_asked_for(count: int) -> None:
    shape = FieldBuilder((("a", "whole", 1.0),))
    shape.ellipsoid("whole", (0, 0, 0), np.eye(3), (10, 10, 10), 1.0)
    points, triangles = triangulate(shape.build(), ((-12,) * 3, (12,) * 3), count, 1.5)
    assert len(triangles) == count
    assert_sound(Mesh(points, triangles), 30)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 10)


def test_an_odd_count_is_refused() -> None:
    shape = FieldBuilder((("a", "whole", 1.0),))
    shape.ellipsoid("whole", (0, 0, 0), np.eye(3), (10, 10, 10), 1.0)
    with pytest.raises(InputError, match="even number"):
        triangulate(shape.build(), ((-12,) * 3, (12,) * 3), 333, 1.5)


# The hand


@pytest.mark.parametrize(
    ("level", "detail", "angle"), [(0, False, 30), (1, False, 25), pytest.param(2, True, 18, marks=pytest.mark.slow)]
)
def test_levels_have_their_counts_and_good_triangles(level: int, detail: bool, angle: float) -> None:
    mesh = built(level, detail=detail).rig.mesh
    assert len(mesh.triangles) == COUNTS[level]
    assert_sound(mesh, angle)


def test_detail_leaves_no_slivers(right: Body) -> None:
    assert_sound(right.rig.mesh, 25)


@pytest.mark.parametrize("build", [-1.0, 0.0, 1.0])
def test_creases_are_carved_and_tendons_raised_on_every_build(build: float) -> None:
    smooth, field = hand_field(build, detail=False), hand_field(build)
    points, heights = field.height_lines.points, field.height_lines.heights
    np.testing.assert_allclose(smooth(points), 0, atol=1e-6)
    carved, raised = heights < -0.3, heights > 0.3
    assert (field(points)[carved] > 0.25).all()
    assert (field(points)[raised] < -0.25).all()
    # Open grooves: their sides are less steep than 35 degrees.
    skin = field.project(points[carved] + np.random.default_rng(4).normal(0, 0.8, (carved.sum(), 3)), steps=12)
    assert ((field.normals(skin) * smooth.normals(skin)).sum(axis=1) > 0.82).all()


def test_a_level_starts_with_the_vertices_of_the_one_before(right: Body) -> None:
    coarse = built(0)
    count = len(coarse.rig.mesh.points)
    np.testing.assert_array_equal(right.rig.mesh.points[:count], coarse.rig.mesh.points)
    np.testing.assert_array_equal(right.rig.dense_weights()[:count], coarse.rig.dense_weights())


@pytest.mark.slow
def test_the_finest_level_is_that_of_the_examples(right: Body) -> None:
    fine = built(2).rig.mesh.points
    np.testing.assert_array_equal(fine[: len(right.rig.mesh.points)], right.rig.mesh.points)
    np.testing.assert_allclose(datasets.hand(level=2)[0].rig.mesh.points, fine, atol=2e-5)


@pytest.mark.slow
def test_two_builds_are_the_same_to_the_bit(right: Body) -> None:
    from posespace.simulation.bodies import hand as module

    module._coarse.cache_clear()
    again = hand(1)
    np.testing.assert_array_equal(again.rig.mesh.points, right.rig.mesh.points)
    np.testing.assert_array_equal(again.rig.mesh.triangles, right.rig.mesh.triangles)
    np.testing.assert_array_equal(again.rig.weights, right.rig.weights)


def test_the_skeleton_is_that_of_a_hand(right: Body) -> None:
    skeleton = right.rig.skeleton
    assert len(skeleton) == 17
    assert skeleton.names[skeleton.parents[skeleton.index("thumb_mcp")]] == "thumb_cmc"
    for finger in FINGERS[1:]:
        chain = [skeleton.names[skeleton.parents[skeleton.index(f"{finger}_{j}")]] for j in ("mcp", "pip", "dip")]
        assert chain == ["wrist", f"{finger}_mcp", f"{finger}_pip"]
    two = {"wrist", "thumb_cmc", "index_mcp", "middle_mcp", "ring_mcp", "little_mcp"}
    for joint, name in enumerate(skeleton.names):
        assert skeleton.degrees_of_freedom(joint) == (0 if name == "forearm" else 2 if name in two else 1)
    frames = skeleton.rest_world[:, :3, :3]
    np.testing.assert_allclose(frames @ np.swapaxes(frames, 1, 2), np.broadcast_to(np.eye(3), frames.shape), atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(frames), 1)


def test_rest_is_within_the_limits_and_gives_the_rest_shape(right: Body) -> None:
    rig = right.rig
    assert not rig.skeleton.beyond_limits(rig.rest.rotations)
    np.testing.assert_allclose(rig.skin(rig.rest), rig.mesh.points, atol=1e-9)


@pytest.mark.parametrize("build", [-1.0, 0.0, 1.0])
def test_bones_lie_inside_the_skin_and_apart(build: float) -> None:
    body = built(0, build=build, detail=False)
    assert len(body.bones) == 21
    assert_bones_fit(body, to_skin=1.0, apart=1.5)


def test_weights_are_few_and_keep_to_their_finger(right: Body) -> None:
    rig = right.rig
    assert rig.weights.shape[1] <= 4
    np.testing.assert_allclose(rig.weights.sum(axis=1), 1)
    dense = rig.dense_weights()
    own = {finger: [k for k, name in enumerate(rig.skeleton.names) if name.startswith(finger)] for finger in FINGERS}
    for finger, joints in own.items():
        # Past the web a vertex owes nothing to the palm, or something to the next bone.
        last = dense[:, joints[1:]].sum(axis=1) > 0
        others = [k for other, found in own.items() if other != finger for k in found]
        assert not dense[np.ix_(last, others)].any()


def test_weights_change_gently_over_the_skin(right: Body) -> None:
    dense, triangles = right.rig.dense_weights(), right.rig.mesh.triangles
    jump = np.abs(dense[triangles] - dense[np.roll(triangles, 1, axis=1)]).max()
    assert jump < 0.6


@pytest.mark.parametrize("joint", ["index_mcp", "index_pip", "middle_dip", "ring_pip", "little_mcp"])
@pytest.mark.parametrize("side", ["right", "left"])
def test_flexion_curls_the_fingers_to_the_palm(joint: str, side: str) -> None:
    body = built(0, side)
    tip = joint.partition("_")[0] + "_dip"
    assert shift(body, tip, **{joint: (60,)})[2] < -4


@pytest.mark.parametrize(("side", "thumbward"), [("right", -1.0), ("left", 1.0)])
def test_turns_go_to_the_thumbs_side(side: str, thumbward: float) -> None:
    body = built(0, side)
    assert thumbward * shift(body, "middle_dip", wrist=(0, 20))[0] > 10
    assert thumbward * shift(body, "index_dip", index_mcp=(0, 15))[0] > 10
    assert shift(body, "thumb_ip", thumb_cmc=(0, 20))[2] < -10


def test_the_thumb_bends_across_the_palm(right: Body) -> None:
    across = shift(right, "thumb_ip", thumb_cmc=(30, 0))
    assert across[0] > 10
    assert across[2] < 0


def test_the_left_hand_mirrors_the_right(right: Body) -> None:
    left = hand(1, "left")
    mirror = np.array([-1.0, 1.0, 1.0])
    np.testing.assert_array_equal(left.rig.mesh.points, right.rig.mesh.points * mirror)
    assert_sound(left.rig.mesh, 25)
    assert volume(left.rig.mesh) == pytest.approx(volume(right.rig.mesh))
    pose = {"index_mcp": (40, 12), "wrist": (20, -10), "thumb_cmc": (20, 15), "little_pip": (70,)}
    np.testing.assert_allclose(posed(left, **pose), posed(right, **pose) * mirror, atol=1e-9)
    np.testing.assert_allclose(left.bones[3].start, right.bones[3].start * mirror)


@pytest.mark.parametrize(
    ("build", "level"),
    [pytest.param(-1.0, 1, marks=pytest.mark.slow), (-0.4, 0), (0.7, 0), pytest.param(1.0, 1, marks=pytest.mark.slow)],
)
def test_builds_share_their_triangles(build: float, level: int) -> None:
    other, usual = built(level, build=build), built(level)
    np.testing.assert_array_equal(other.rig.mesh.triangles, usual.rig.mesh.triangles)
    assert_sound(other.rig.mesh, 22)
    assert np.sign(volume(other.rig.mesh) - volume(usual.rig.mesh)) == np.sign(build)


def test_size_scales_everything() -> None:
    one, two = built(0), hand(0, size=2.0)
    np.testing.assert_array_equal(two.rig.mesh.points, 2 * one.rig.mesh.points)
    np.testing.assert_allclose(two.rig.skeleton.rest_world[:, :3, 3], 2 * one.rig.skeleton.rest_world[:, :3, 3])
    assert two.bones[0].start_radius == 2 * one.bones[0].start_radius
    pose = {"index_pip": (50,), "wrist": (10, 10)}
    np.testing.assert_allclose(posed(two, **pose), 2 * posed(one, **pose), atol=1e-9)


@pytest.mark.parametrize(
    "settings", [{"level": 3}, {"side": "both"}, {"size": 0.0}, {"size": float("nan")}, {"build": 1.5}]
)
def test_settings_out_of_range_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(InputError, match="expected"):
        hand(**settings)  # type: ignore[arg-type]


# The arm


@pytest.mark.parametrize("vertices", [400, 3234])
def test_the_arm_has_exactly_its_vertices(vertices: int) -> None:
    mesh = arm(vertices).rig.mesh
    assert len(mesh.points) == vertices
    assert len(mesh.triangles) == 2 * vertices - 4
    assert_sound(mesh, 28)


def test_the_arm_rests_bends_and_twists(small_arm: Body) -> None:
    rig = small_arm.rig
    np.testing.assert_allclose(rig.skin(rig.rest), rig.mesh.points, atol=1e-9)
    np.testing.assert_allclose(rig.weights.sum(axis=1), 1)
    assert not rig.skeleton.beyond_limits(rig.rest.rotations)
    assert shift(small_arm, "wrist", forearm=(90,))[2] < -150
    twisted = posed(small_arm, wrist=(80,)) - rig.mesh.points
    far = moved_by(small_arm, "wrist")
    assert np.abs(twisted[far, 1]).max() < 1e-9
    assert np.linalg.norm(twisted[far], axis=1).max() > 15


def test_the_arms_bones_fit(small_arm: Body) -> None:
    assert_bones_fit(small_arm, to_skin=4.0, apart=5.0)


def test_an_arm_too_coarse_is_refused() -> None:
    with pytest.raises(InputError, match="arm vertices"):
        arm(50)


@pytest.mark.parametrize("lengths", [(1.0, 1.0), (1.0, 1.0, 1.0, 1.0, 2.0)])
def test_lengths_of_fingers_are_five_factors_near_one(lengths: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="expected five factors"):
        hand(lengths=lengths)
