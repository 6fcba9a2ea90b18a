"""EigenSkin: what it reproduces exactly, what it spends, how it fares on unseen poses, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers.assets import dembones
from helpers.commands import run
from helpers.sculpts import bar, posed
from helpers.strategies import random_pose, random_rig
from hypothesis import given, settings
from hypothesis import strategies as st

from posespace import datasets
from posespace.errors import InputError
from posespace.evaluation.score import evaluate
from posespace.evaluation.storage import stored_bytes
from posespace.examples import Examples
from posespace.fit.eigenskin.eigenskin import EigenSkin
from posespace.fit.eigenskin.supports import Neighbours
from posespace.fit.residuals import point_residuals
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.poses.active import at_rest
from posespace.rig import Rig
from posespace.rivals.plain_psd import PlainPSD
from posespace.skin.basis import PackedBasis
from posespace.skin.skin import Skin

ARM, ARM_UNSEEN = datasets.bending_arm(rings=24, sides=12)
FULL = EigenSkin(30, budget=None, threshold=1e-9, taper=0, bits=32)
PAPER = (0.161, 0.160, 0.100, 0.098, 0.065)
"""Relative errors of 1 to 5 components, thumb's carpo-metacarpal joint (Kry, James and Pai 2002, figure 7)."""


def singles(examples: Examples) -> Examples:
    """The examples that turn one joint at most."""
    skeleton = examples.rig.skeleton
    angles = skeleton.angles(examples.motion.rotations.astype(np.float64))
    return examples[np.flatnonzero((np.abs(angles) > 1e-6).sum(axis=(1, 2)) <= 1)]


def entries(skin: Skin) -> np.ndarray:
    """How many displacement entries each vertex has."""
    count = np.zeros(len(skin.rig.mesh.points), dtype=int)
    for layer in skin.layers:
        assert isinstance(layer.basis, PackedBasis)
        np.add.at(count, layer.support[layer.basis.rows], 1)
    return count


@cache
def hand() -> tuple[Examples, Examples, Examples]:
    train, random = datasets.hand()
    return train, random, datasets.hand_between()


@cache
def of_hand(method: EigenSkin) -> Skin:
    """The method fitted to the hand's single joints."""
    return method.fit(hand()[0])


@cache
def with_several() -> Examples:
    return hand()[0].joined(datasets.hand_together())


def test_with_all_components_every_single_joint_example_is_met() -> None:
    examples = singles(ARM)
    skin = FULL.fit(examples)
    assert [layer.name for layer in skin.layers] == ["forearm.z", "hand.x"]
    assert evaluate(skin, examples).max_error < 1e-6 * examples.rig.mesh.diagonal


def test_a_threshold_of_zero_leaves_nothing_out() -> None:
    examples = singles(ARM)
    skin = replace(FULL, threshold=0.0).fit(examples)
    assert evaluate(skin, examples).max_error < 1e-6 * examples.rig.mesh.diagonal


def test_poses_of_several_joints_add_what_the_single_ones_lack() -> None:
    plain, coupled = FULL.fit(singles(ARM)), FULL.fit(ARM)
    assert [layer.name for layer in coupled.layers] == ["forearm.z", "hand.x", "forearm.z × hand.x"]
    assert evaluate(coupled, singles(ARM)).max_error < 1e-5 * ARM.rig.mesh.diagonal
    assert evaluate(coupled, ARM_UNSEEN).rel_err < evaluate(plain, ARM_UNSEEN).rel_err


@pytest.mark.slow
def test_a_few_components_have_errors_like_those_of_the_paper_on_angles_the_hand_never_saw() -> None:
    _, _, between = hand()
    thumb = between.named("between thumb_cmc.*")
    assert len(thumb) == 6
    found = [evaluate(of_hand(EigenSkin(components)), thumb).rel_err for components in range(1, 6)]
    assert all(ours < paper for ours, paper in zip(found[1:4], PAPER[1:4], strict=True))
    assert found[0] < 1.5 * PAPER[0]
    assert found[4] < 1.5 * PAPER[4]


@pytest.mark.slow
def test_coupling_and_general_poses_each_lower_the_error_of_poses_of_all_joints() -> None:
    _, random, _ = hand()
    plain = evaluate(of_hand(EigenSkin()), random)
    assert plain.seen == 0
    general = evaluate(EigenSkin(general=True, coupling=False).fit(with_several()), random)
    coupled = evaluate(EigenSkin().fit(with_several()), random)
    assert plain.rel_err < 0.45
    assert max(coupled.rel_err, general.rel_err) < 0.8 * plain.rel_err


@pytest.mark.slow
def test_greedy_allotment_beats_an_equal_one_of_as_many_bytes() -> None:
    train, random, between = hand()
    equal = of_hand(EigenSkin(2, "equal", budget=None, threshold=0.04, bits=32))
    size = 0.95 * float(entries(equal).mean())
    greedy = EigenSkin(10, budget=None, threshold=0.005, size=size, bits=32).fit(train)
    assert stored_bytes(greedy) <= stored_bytes(equal)
    for unseen in (random, between):
        assert evaluate(greedy, unseen).rel_err < evaluate(equal, unseen).rel_err


@pytest.mark.parametrize("allotment", ["greedy", "equal"])
@pytest.mark.parametrize("budget", [2, 6])
def test_no_vertex_is_over_budget(allotment: str, budget: int) -> None:
    assert 0 < entries(of_hand(EigenSkin(3, allotment, budget))).max() <= budget


@given(st.integers(0, 1000), st.integers(0, 4))
@settings(max_examples=30, deadline=None)
def test_the_edge_of_a_support_fades_over_its_rings(seed: int, rings: int) -> None:
    mesh = ARM.rig.mesh
    neighbours = Neighbours(mesh)
    inside = neighbours.smoothed(np.random.default_rng(seed).random((2, len(mesh.points))).astype(np.float32)) > 0.48
    masks = neighbours.tapered(inside, rings)
    assert ((masks > 0) == inside).all()
    steps = np.abs(masks[:, mesh.triangles] - masks[:, np.roll(mesh.triangles, 1, axis=1)])
    assert steps.max() <= (1.0 if rings == 0 else 1.5 / (rings + 1)) + 1e-6


def test_memory_is_kept() -> None:
    for size in (0.5, 2.0):
        assert entries(of_hand(EigenSkin(size=size))).mean() <= size


@pytest.mark.parametrize("normals", ["shared", pytest.param("separate", marks=pytest.mark.slow)])
def test_normal_corrections_shade_better_than_plain_skinning(normals: str) -> None:
    train, random, _ = hand()
    skin = of_hand(EigenSkin(normals=normals))
    assert all(layer.normal_basis is not None for layer in skin.layers)
    assert (skin.layers[0].normal_driver is None) == (normals == "shared")
    assert evaluate(skin, random).normal_degrees < 0.7 * evaluate(Skin(train.rig), random).normal_degrees


def test_fewer_bits_and_fewer_components_cost_little_and_state_their_bytes() -> None:
    _, random, _ = hand()
    full = of_hand(EigenSkin())
    errors = {bits: evaluate(full.packed(bits), random) for bits in (32, 16, 8)}
    assert errors[16].rel_err == pytest.approx(errors[32].rel_err, abs=1e-4)
    assert errors[8].rel_err == pytest.approx(errors[32].rel_err, abs=0.01)
    assert errors[8].bytes_per_vertex < errors[16].bytes_per_vertex < errors[32].bytes_per_vertex
    fewer = evaluate(full.truncated(1), random)
    assert errors[32].rel_err < fewer.rel_err < 0.5
    assert fewer.bytes_per_vertex < errors[32].bytes_per_vertex


@pytest.mark.slow
def test_joints_that_always_move_together_make_one_layer_a_region(data: Path) -> None:
    examples = dembones(data)
    block = np.arange(len(examples)) // 10 % 2
    train, unseen = examples[np.flatnonzero(block == 0)], examples[np.flatnonzero(block)]
    skin = EigenSkin(budget=None).fit(train)
    psd = PlainPSD("thin_plate", smoothing=1e-3).fit(train)
    ours, full = evaluate(skin, unseen), evaluate(psd, unseen)
    assert ours.rel_err < 0.11
    assert ours.bytes_per_vertex < 0.25 * full.bytes_per_vertex
    assert ours.seen == 0


def test_two_fits_agree_bit_for_bit() -> None:
    one, other = (EigenSkin().fit(ARM) for _ in range(2))
    for a, b in zip(one.layers, other.layers, strict=True):
        np.testing.assert_array_equal(np.asarray(a.basis), np.asarray(b.basis))
        np.testing.assert_array_equal(a.driver.interpolant.centres, b.driver.interpolant.centres)


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_residuals_are_those_of_the_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rig = random_rig(rng)
    poses = [random_pose(rng, rig) for _ in range(3)]
    shapes = rig.mesh.points + rng.normal(size=(3, *rig.mesh.points.shape))
    examples = Examples.from_shapes(rig, Motion.from_poses(poses), shapes)
    found = point_residuals(examples)
    expected = [examples.residual(index) for index in range(3)]
    assert found.damped == sum(int(damped.sum()) for _, damped in expected)
    reference = np.stack([values for values, _ in expected])
    np.testing.assert_allclose(found.values, reference, atol=1e-5 * (1 + np.abs(reference).max()))


def test_a_joint_with_one_pose_and_examples_without_rest_still_fit() -> None:
    keep = [k for k, name in enumerate(singles(ARM).motion.names) if name.startswith(("bend 120", "bend 0 twist 90"))]
    examples = singles(ARM)[keep]
    assert not at_rest(examples.rig, examples.motion).any()
    skin = FULL.fit(examples)
    assert evaluate(skin, examples).max_error < 1e-6 * examples.rig.mesh.diagonal
    rest, _ = skin.pose(skin.rig.rest)
    np.testing.assert_allclose(rest, skin.rig.mesh.points, atol=1e-7)


def test_faces_have_a_layer_a_control() -> None:
    mesh = Mesh(np.eye(3), [[0, 1, 2]])
    controls = np.array([[0, 0], [1.0, 0], [0, 1.0]])
    motion = Motion(np.tile([0, 0, 0, 1.0], (3, 1, 1)), controls=controls, control_names=("smile", "frown"))
    shapes = np.eye(3) * (1 + controls @ [0.5, -0.2])[:, None, None]
    examples = Examples.from_shapes(Rig.from_mesh(mesh), motion, shapes)
    skin = FULL.fit(examples)
    assert sorted(layer.name for layer in skin.layers) == ["frown", "smile"]
    assert evaluate(skin, examples).max_error < 1e-6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"components": 0}, "components: expected at least 1, got 0"),
        ({"allotment": "fair"}, "allotment"),
        ({"budget": 0}, "budget: expected at least 1, got 0"),
        ({"size": 0}, "size"),
        ({"threshold": 1.5}, "threshold"),
        ({"taper": -1}, "taper"),
        ({"kernel": "bessel"}, "kernel"),
        ({"radius": 0.0}, "radius"),
        ({"normals": "both"}, "normals"),
        ({"bits": 12}, "bits"),
        ({"components": 2.5}, "components: expected a whole number, got 2.5"),
        ({"components": "5"}, "components: expected a whole number, got '5'"),
        ({"budget": 1.5}, "budget: expected a whole number"),
        ({"taper": None}, "taper: expected a whole number"),
        ({"bits": "8"}, "bits: expected a whole number"),
        ({"size": "6"}, "size: expected a number"),
        ({"threshold": "low"}, "threshold: expected a number"),
    ],
)
def test_wrong_settings_are_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(EigenSkin(), **change)  # type: ignore[arg-type]


def test_a_pose_that_occurs_twice_counts_once() -> None:
    examples = singles(ARM)
    rows = [*range(len(examples)), 3]
    again = Motion(examples.motion.rotations[rows], names=(*examples.motion.names, "again"))
    shapes = np.stack([examples.shapes[k] for k in rows])
    once, twice = FULL.fit(examples), FULL.fit(Examples(examples.rig, again, shapes))
    assert evaluate(twice, examples).max_error < 1e-6 * examples.rig.mesh.diagonal
    for pose in ARM_UNSEEN.motion[:3]:
        np.testing.assert_allclose(twice.pose(pose)[0], once.pose(pose)[0], atol=1e-6)


def test_bad_examples_are_named() -> None:
    examples = singles(ARM)
    shapes = np.stack([examples.shapes[k] for k in range(len(examples))])
    spoilt = Examples(examples.rig, examples.motion, shapes.copy())
    spoilt.shapes[3][5, 1] = np.nan
    with pytest.raises(InputError, match=examples.motion.names[3]):
        EigenSkin().fit(spoilt)
    short = Examples(examples.rig, examples.motion, shapes[:, :-1])
    with pytest.raises(InputError, match=examples.motion.names[0]):
        EigenSkin().fit(short)
    still = examples[np.flatnonzero(at_rest(examples.rig, examples.motion))]
    with pytest.raises(InputError, match="no pose differs from rest"):
        EigenSkin().fit(still)


def test_sculpts_of_two_joints_that_change_nothing_leave_plain_skinning():
    poses = {"one": posed(0.5, 0.3), "two": posed(1.0, 0.6)}
    rig = bar()
    motion = Motion.from_poses(list(poses.values()), list(poses))
    for normals in ("none", "separate"):
        skin = EigenSkin(normals=normals).fit(Examples.from_shapes(rig, motion, [rig.skin(pose) for pose in motion]))
        assert not skin.layers


def test_a_rig_of_one_vertex_is_fitted_and_contradictions_are_named():
    rig = Rig(Mesh(np.zeros((1, 3)), np.zeros((0, 3), int)), bar().skeleton, [[0, 2]], [[0.5, 0.5]])
    motion = Motion.from_poses([posed(tip=0.5), posed(tip=0.5)])
    with pytest.warns(UserWarning, match="their shapes differ by 1"):
        skin = EigenSkin().fit(Examples.from_shapes(rig, motion, [np.zeros((1, 3)), [[0.0, 0.0, 1.0]]]))
    np.testing.assert_allclose(skin.pose(motion[0])[0], [[0, 0, 0.5]], atol=1e-3)


def test_the_command_line_takes_none_where_the_default_is_a_number(tmp_path: Path) -> None:
    singles(ARM).save(tmp_path / "arm.examples")
    run("fit", "eigenskin", tmp_path / "arm.examples", "-o", tmp_path / "arm.skin", "--budget", "none")
    used = Skin.load(tmp_path / "arm.skin").about["settings"]
    assert used["budget"] is None
    assert used["components"] is None
