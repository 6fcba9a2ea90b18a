"""Retargeting and editing: what must come out where the answer is known, and what is refused."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers.clips import bending, bulging, tube_rig
from helpers.commands import assert_one_line, run_forked
from helpers.point_skins import point_skin
from helpers.strategies import random_skin, seeds
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import posespace as ps
from posespace import datasets
from posespace.datasets.bending_arm import true_shape
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.fit.muscles.muscles import Muscles
from posespace.fit.retarget.correspondence import closest_points, correspond
from posespace.fit.retarget.fitted_poses import fitted_poses
from posespace.fit.retarget.retarget import Factors, Sampled, retarget
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.rig import Rig
from posespace.skeleton import Skeleton
from posespace.skin.skin import Skin

Array = NDArray[np.float64]


def examples(thick: float = 1.0, rings: int = 16, names: tuple[str, ...] | None = None) -> Examples:
    """The bending arm, thicker, with other joint names or another mesh."""
    given = datasets.bending_arm(rings=rings, sides=8)[0]
    stretch = np.array([1.0, thick, thick])
    skeleton = given.rig.skeleton
    if names is not None:
        skeleton = Skeleton.from_world(names, skeleton.parents, skeleton.rest_world, skeleton.axes, skeleton.limits)
    mesh = given.rig.mesh.with_points(given.rig.mesh.points * stretch)
    rig = Rig(mesh, skeleton, given.rig.influences, given.rig.weights)
    shapes = [true_shape(mesh.points, *angles) for angles in bends(given)]
    return Examples.from_shapes(rig, given.motion, shapes)


def bends(given: Examples) -> Array:
    angles = given.rig.skeleton.angles(given.motion.rotations)
    return np.stack([angles[:, 1, 2], angles[:, 2, 0]], axis=1)


@cache
def arm(thick: float = 1.0, rings: int = 16) -> Skin:
    return Muscles(8, smoothing=1e-8, bits=32).fit(examples(thick, rings))


def moved(skin: Skin, motion: Motion) -> Array:
    return Sampled.of(skin, motion).frames().astype(np.float64)


def missed(guess: Skin, truth: Skin, motion: Motion) -> float:
    """The error of a skin over the size of the truth's deformation."""
    right = moved(truth, motion)
    return float(np.linalg.norm(moved(guess, motion) - right) / np.linalg.norm(right))


@pytest.mark.parametrize("transfer", ["operator", "difference", None])
@pytest.mark.parametrize("correspondence", ["same", "padding", "closest", None])
def test_nothing_changes_where_x2_is_x1(transfer: str | None, correspondence: str | None) -> None:
    motion = examples().motion
    made = retarget(arm(), arm(), arm(1.4), motion, transfer=transfer, correspondence=correspondence, bits=32)
    assert missed(made, arm(1.4), motion) < 2e-3


def test_a_stronger_deformation_makes_the_other_body_s_stronger() -> None:
    motion = examples().motion
    x1, y1 = arm(), arm(1.4)
    truth = y1.edited(exaggerate=1.5)
    made = retarget(x1, x1.edited(exaggerate=1.5), y1, motion, bits=32)
    assert made.about["settings"]["transfer"] == "operator"
    assert missed(made, truth, motion) < 1e-3
    added = retarget(x1, x1.edited(exaggerate=1.5), y1, motion, transfer="difference", bits=32)
    assert missed(made, truth, motion) < missed(added, truth, motion) < missed(y1, truth, motion)


def test_x2_may_be_on_another_mesh_and_padding_does_not_make_up_for_it() -> None:
    motion = examples().motion
    x1, y1 = arm(), arm(1.4)
    truth, other = y1.edited(exaggerate=1.5), arm(1.0, 22).edited(exaggerate=1.5)
    assert len(other.rig.mesh.points) != len(x1.rig.mesh.points)
    closest = retarget(x1, other, y1, motion, transfer="operator")
    assert closest.about["settings"]["correspondence"] == "closest"
    assert missed(closest, truth, motion) < 0.1
    padded = retarget(x1, other, y1, motion, transfer="operator", correspondence="padding")
    assert missed(padded, truth, motion) > missed(y1, truth, motion)


def test_the_operator_is_the_formula_of_the_paper() -> None:
    """Written with whole matrices, as the paper has it, on a small mesh."""
    motion = examples().motion
    skins = (arm(), arm(1.2), arm(1.4))
    rest = ps.Motion.from_poses([arm().rig.rest, *motion])
    factors = [Factors.of(moved(skin, rest).astype(np.float32), 4) for skin in skins]
    (a1, s1), (a2, s2), (b1, r1) = ((each.basis.reshape(4, -1).T, each.signals) for each in factors)
    inverse = np.linalg.pinv
    whole_t, whole_u = a2 @ s2 @ inverse(s1) @ inverse(a1), a1 @ s1 @ inverse(r1) @ inverse(b1)
    expected = inverse(whole_u, rcond=1e-9) @ whole_t @ whole_u @ (b1 @ r1)
    made = retarget(*skins, motion, signals=4, transfer="operator", bits=32)
    found = moved(made, rest).reshape(len(rest), -1).T
    assert np.linalg.norm(found - expected) < 2e-3 * np.linalg.norm(expected)


def test_skeletons_are_matched_by_joint_names_and_the_missing_are_named() -> None:
    motion = examples().motion
    renamed = Muscles(5).fit(examples(1.4, names=("upper_arm", "elbow", "wrist")))
    with pytest.raises(InputError, match=r"Y1 lacks the joints 'forearm', 'hand'; its joints are 'upper_arm', 'elbow'"):
        retarget(arm(), arm(), renamed, motion)
    with pytest.raises(InputError, match="X2 lacks the joints 'forearm', 'hand'"):
        retarget(arm(), renamed, arm(), motion)


def test_a_skin_knows_its_own_poses() -> None:
    made = retarget(arm(), arm(), arm(1.4), bits=32)
    assert missed(made, arm(1.4), examples().motion) < 5e-3
    with pytest.raises(InputError, match="X1 has no layers, so its poses are unknown; give `motion`"):
        retarget(Skin(examples().rig), arm(), arm())


@given(seeds)
@settings(max_examples=10)
def test_samples_of_layers_become_poses_that_lie_there(seed: int) -> None:
    skin = replace(random_skin(np.random.default_rng(seed)), detail=None)
    skin = replace(skin, layers=tuple(layer for layer in skin.layers if layer.name in ("joint", "quaternions", "near")))
    poses = fitted_poses(skin)
    place = 0
    for layer in skin.layers:
        for centre in layer.driver.interpolant.centres:
            there = layer.driver.space.coordinates(poses[place], skin.rig.skeleton)
            if layer.driver.space.kind == "freedoms":
                np.testing.assert_allclose(there, centre, atol=1e-6)
            else:
                same = np.abs((there.reshape(-1, 4) * centre.reshape(-1, 4)).sum(axis=1))
                np.testing.assert_allclose(same, 1, atol=1e-6)
            place += 1


def test_a_face_is_retargeted_by_its_controls() -> None:
    mesh = Mesh(np.array([[x, y, 0.0] for x in range(4) for y in range(3)]), [[0, 1, 3], [3, 1, 4]])
    rng = np.random.default_rng(2)
    names, shapes = ("smile", "frown"), rng.normal(size=(2, 12, 3))
    controls = np.array([[0, 0], [1, 0], [0, 1], [0.5, 0.5], [1, 1.0]])
    motion = Motion(np.tile([0, 0, 0, 1.0], (5, 1, 1)), controls=controls, control_names=names)

    def face(factor: float) -> Skin:
        moves = mesh.points + factor * np.tensordot(controls, shapes, axes=1)
        return ps.PSD().fit(Examples.from_shapes(Rig.from_mesh(mesh), motion, moves))

    made = retarget(face(1.0), face(2.0), face(0.5), motion)
    assert missed(made, face(1.0), motion) < 1e-2


@given(seeds)
@settings(max_examples=15)
def test_the_closest_point_is_as_near_as_the_nearest_of_many(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mesh = datasets.bending_arm(rings=6, sides=5)[0].rig.mesh
    points = mesh.points[rng.integers(0, len(mesh.points), 20)] + 0.02 * rng.normal(size=(20, 3))
    corners, shares = closest_points(points, mesh)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert shares.min() >= -1e-9
    found = np.einsum("nk,nkx->nx", shares, mesh.points[corners])
    grid = np.array([(a, b, 1 - a - b) for a in np.linspace(0, 1, 9) for b in np.linspace(0, 1 - a, 9)])
    many = np.einsum("gk,tkx->tgx", grid, mesh.points[mesh.triangles]).reshape(-1, 3)
    least = np.linalg.norm(points[:, None] - many, axis=2).min(axis=1)
    assert (np.linalg.norm(points - found, axis=1) <= least + 1e-9).all()


def test_a_vertex_lies_on_itself() -> None:
    rig = examples().rig
    way = correspond(rig, rig, "closest")
    np.testing.assert_allclose(way.carry(rig.mesh.points[None])[0], rig.mesh.points, atol=1e-9)
    with pytest.raises(InputError, match="expected equal vertex counts"):
        correspond(rig, examples(rings=20).rig, "same")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"transfer": "magic"}, "transfer"),
        ({"correspondence": "guess"}, "correspondence"),
        ({"signals": 0}, "signals: expected at least 1, got 0"),
        ({"signals": 400}, "expected at most [0-9]+, the rank"),
        ({"motion": examples().motion[[2]]}, "the clip is constant"),
        ({"motion": examples().motion[[9]]}, "the clip is constant"),
        ({"motion": examples().motion[[]]}, "the clip is constant"),
        ({"motion": Motion(np.tile(examples().motion.rotations[9:10], (4, 1, 1)))}, "the clip is constant"),
        ({"motion": Motion(np.tile([0, 0, 0, 1.0], (4, 5, 1)))}, "expected poses of the 3 joints of X1, got 5"),
        ({"motion": examples().motion[9]}, "expected a Motion, got a Pose; make one"),
        ({"signals": 2.5}, "signals: expected a whole number"),
        ({"bits": "16"}, "bits: expected a whole number"),
        ({"bits": 12}, "bits: expected 32, 16 or 8"),
        ({"x1": "x1.skin"}, "X1: expected a Skin, got a str; load it with ps.Skin.load"),
    ],
)
def test_wrong_settings_are_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        retarget(**({"x1": arm(), "x2": arm(), "y1": arm(), "motion": examples().motion} | change))  # type: ignore[arg-type]


def test_a_skin_with_control_points_is_refused() -> None:
    points = point_skin("bones alone")
    skin = ps.EigenSkin(components=2).fit(ps.datasets.bending_arm(rings=6, sides=6)[0])
    with pytest.raises(InputError, match="Y1: expected a skin driven by a skeleton, got one driven by control points"):
        retarget(skin, skin, points)


def test_a_skin_without_layers_is_refused() -> None:
    with pytest.raises(InputError, match=r"Y1 must deform .*; it has no layers, so there is nothing to carry to"):
        retarget(arm(), arm(), Skin(arm().rig), examples().motion)


def test_the_correspondence_that_was_taken_is_reported() -> None:
    made = [
        retarget(arm(), arm(1.2), arm(1.4, 20), examples().motion, transfer=transfer).about["settings"]
        for transfer in ("operator", "difference")
    ]
    # The operator asks for none between X and Y.
    assert [each["correspondence"] for each in made] == ["same", "closest"]


def test_a_motion_s_file_must_turn_joints_that_x1_has(tmp_path: Path) -> None:
    examples(names=("upper_arm", "elbow", "wrist")).save(tmp_path / "clip.examples")
    skeleton = examples(names=("upper_arm", "forearm", "hand")).rig.skeleton
    with pytest.raises(InputError, match="rotates the joints 'elbow', 'wrist', which the skin lacks; its joints are"):
        ps.load_motion(tmp_path / "clip.examples", skeleton, whole=True)
    assert len(ps.load_motion(tmp_path / "clip.examples", skeleton)) == len(examples())


def test_two_runs_agree_bit_for_bit() -> None:
    one, other = (retarget(arm(), arm(1.2), arm(1.4), examples().motion) for _ in range(2))
    np.testing.assert_array_equal(np.asarray(one.layers[0].basis), np.asarray(other.layers[0].basis))
    np.testing.assert_array_equal(one.layers[0].driver.interpolant.weights, other.layers[0].driver.interpolant.weights)


@given(seeds, st.floats(0, 3), st.integers(1, 8))
@settings(max_examples=10)
def test_a_component_is_scaled_alone_and_all_are_exaggerated_together(seed: int, factor: float, number: int) -> None:
    skin = arm()
    motion = examples().motion
    pose = motion[int(np.random.default_rng(seed).integers(len(motion)))]
    coordinates = skin.drive(pose)[1][0]
    parts = coordinates[:, None, None] * np.asarray(skin.layers[0].basis, dtype=np.float64)
    expected = parts.sum(axis=0) + (factor - 1) * parts[number - 1]
    for name in (number, f"muscles:{number}"):
        np.testing.assert_allclose(skin.edited({name: factor}).displacements(pose), expected, atol=1e-5)
    whole = skin.edited(exaggerate=factor).displacements(pose)
    np.testing.assert_allclose(whole, factor * parts.sum(axis=0), atol=1e-5)
    np.testing.assert_allclose(skin.edited({"muscles": factor}).displacements(pose), whole, atol=1e-6)
    np.testing.assert_array_equal(skin.edited(exaggerate=0).displacements(pose), 0)


def test_normals_are_edited_with_their_components() -> None:
    skin = random_skin(np.random.default_rng(4))
    pose = ps.Pose(skin.rig.rest.rotations, controls={"smile": 0.4})
    still = skin.edited(exaggerate=0.0)
    np.testing.assert_array_equal(still.normal_displacements(pose), 0)
    assert still.about["edits"] == [{"scale": {}, "exaggerate": 0.0}]
    with pytest.raises(InputError, match="its normals have components of their own; scale the whole layer"):
        skin.edited({"joint:1": 2.0})
    skin.edited({"joint": 2.0, "freedoms:1": 0.5})


@pytest.mark.parametrize("name", ["9", "0", "forearm", "muscles:99", "muscles:x"])
def test_unknown_components_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=rf"component '{name}': expected"):
        arm().edited({name: 1.0})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scale": {3: "a"}}, "scale of 3: expected a number, got 'a'"),
        ({"scale": [3]}, "scale: expected factors by name, e.g. {3: 0.5}, got a list"),
        ({"scale": {3: 1.0, "muscles:3": 2.0}}, "scale of 'muscles:3': expected each component once"),
        ({"exaggerate": "2"}, "exaggerate: expected a number"),
    ],
)
def test_wrong_factors_are_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        arm().edited(**change)  # type: ignore[arg-type]


def test_the_commands_write_skins(tmp_path: Path) -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return run_forked(list(words), tmp_path)

    arm().save(tmp_path / "x1.skin")
    assert run("edit", "x1.skin", "--scale", "2=0", "--exaggerate", "1.5", "-o", "x2.skin").returncode == 0
    said = run("info", "x2.skin").stdout
    assert re.search(r"\n    cross-validation: [0-9.e-]+ with 1, [0-9.e-]+ with 8, [0-9.e-]+ with 32\n", said)
    assert "rms" not in said
    arm(1.4).save(tmp_path / "y1.skin")
    done = run("retarget", "x1.skin", "x2.skin", "y1.skin", "-o", "y2.skin", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["about"]["settings"]["correspondence"] == "same"
    made = Skin.load(tmp_path / "y2.skin")
    expected = retarget(arm(), arm().edited({"2": 0.0}, 1.5), arm(1.4))
    np.testing.assert_allclose(np.asarray(made.layers[0].basis), np.asarray(expected.layers[0].basis), atol=1e-5)
    for words in (("edit", "none.skin"), ("retarget", "none.skin", "none.skin", "none.skin")):
        assert_one_line(run(*words, "-o", "y2.glb"), "out: expected a name that ends in .skin, got y2.glb")
    assert_one_line(run("edit", "x1.skin", "--scale", "2", "-o", "x2.skin"), "expected NAME=FACTOR")
    assert_one_line(run("edit", "x1.skin", "--scale", "99=1", "-o", "x2.skin"), "expected 1 to 8")
    assert_one_line(run("edit", "x1.skin", "--scale", "3=0", "--scale", "3=2", "-o", "x2.skin"), "got it twice")
    Muscles(5).fit(examples(names=("a", "b", "c"))).save(tmp_path / "other.skin")
    failed = run("retarget", "x1.skin", "x2.skin", "other.skin", "-o", "y2.skin")
    assert_one_line(failed, "Y1 lacks the joints 'forearm', 'hand'")
    examples(names=("a", "b", "c")).save(tmp_path / "clip.examples")
    failed = run("retarget", "x1.skin", "x2.skin", "y1.skin", "-o", "y2.skin", "--motion", "clip.examples")
    assert_one_line(failed, "clip.examples: rotates the joints 'b', 'c', which the skin lacks")


def test_a_character_with_a_joint_more_is_given_the_deformation() -> None:
    x1, x2 = (Muscles().fit(bulging(tube_rig(), bending(30), size)) for size in (0.2, 0.3))
    rig = tube_rig(4)
    turn = np.tile([0, 0, 0, 1.0], (30, 4, 1))
    turn[:, :3] = bending(30).rotations
    motion = Motion(turn)
    clip = Examples.from_shapes(rig, motion, [1.02 * rig.skin(pose) for pose in motion])
    made = retarget(x1, x2, Muscles(2, bones="weights").fit(clip))
    assert len(made.rig.skeleton) == 4
    assert np.isfinite(made.pose(motion[3])[0]).all()
