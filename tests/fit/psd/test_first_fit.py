"""The first fit: it reproduces its examples, beats plain skinning on unseen poses, and keeps seams closed."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from posespace import datasets
from posespace.errors import InputError
from posespace.evaluation.score import evaluate
from posespace.examples import Examples
from posespace.fit.psd.psd import PSD
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.rig import Rig
from posespace.skin.skin import Skin

TRAIN, UNSEEN = datasets.bending_arm(rings=24, sides=12)


def test_psd_reproduces_every_example_and_beats_plain_skinning_on_unseen_poses() -> None:
    skin = PSD("multiquadric").fit(TRAIN)
    assert evaluate(skin, TRAIN).max_error < 1e-6 * TRAIN.rig.mesh.diagonal
    score = evaluate(skin, UNSEEN)
    assert evaluate(Skin(TRAIN.rig), UNSEEN).rel_err == pytest.approx(1)
    assert score.rel_err < 0.05
    assert score.rms < 0.002
    assert set(score.per_pose) == set(UNSEEN.motion.names)


def test_a_few_poses_that_move_much_at_once_are_passed_through_beside_those_that_move_one_thing() -> None:
    skin = PSD().fit(TRAIN)
    assert evaluate(skin, TRAIN).max_error < 1e-5 * TRAIN.rig.mesh.diagonal
    assert evaluate(skin, UNSEEN).rel_err < 0.05
    # Of the 30 poses 20 turn both joints: fewer than a clip that is only brought near.
    assert [layer.name for layer in skin.layers] == ["hand", "forearm", "all (clip)"]


def split_at_seams(examples: Examples) -> Examples:
    """The same examples on a mesh that has a vertex of its own for every corner of every triangle."""
    corners = examples.rig.mesh.triangles.ravel()
    mesh = Mesh(examples.rig.mesh.points[corners], np.arange(len(corners)).reshape(-1, 3))
    rig = Rig(mesh, examples.rig.skeleton, examples.rig.influences[corners], examples.rig.weights[corners])
    shapes = np.stack([examples.shapes[k][corners] for k in range(len(examples))])
    # A sculpt with cracks: each corner is off by a little.
    shapes += 1e-3 * np.random.default_rng(0).normal(size=shapes.shape)
    return Examples.from_shapes(rig, examples.motion, shapes)


def test_seam_vertices_deform_together() -> None:
    examples = split_at_seams(TRAIN)
    points, _ = PSD().fit(examples).pose(UNSEEN.motion[3])
    groups = examples.rig.mesh.weld.groups
    for group in range(0, groups.max(), 25):
        same = points[groups == group]
        assert len(same) > 1
        np.testing.assert_allclose(same, same[:1].repeat(len(same), axis=0), atol=1e-9)


def face(values: list[float]) -> Examples:
    mesh = Mesh(np.eye(3), [[0, 1, 2]])
    controls = np.array(values)[:, None]
    motion = Motion(np.tile([0, 0, 0, 1.0], (len(values), 1, 1)), controls=controls, control_names=("smile",))
    return Examples.from_shapes(Rig.from_mesh(mesh), motion, np.eye(3) * (1 + controls[:, :, None]))


@pytest.mark.parametrize("kernel", [None, "gaussian"])
def test_psd_works_on_controls_alone_and_stays_bounded_away_from_its_samples(kernel: str | None) -> None:
    examples = face([0.0, 1.0])
    skin = PSD(kernel).fit(examples)
    half = skin.pose(face([0.5]).motion[0])[0]
    assert 1.2 < half[0, 0] < 1.8
    far, edge = (skin.pose(face([value]).motion[0])[0] for value in (50.0, 1.25))
    np.testing.assert_allclose(far, edge, atol=1e-9)


def test_two_sculpts_at_one_pose_are_averaged_and_named_where_they_differ() -> None:
    twice = face([0.0, 1.0, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(PSD().fit(twice).pose(twice.motion[2])[0], 2 * np.eye(3), atol=1e-6)
    shapes = np.stack([twice.shapes[0], twice.shapes[1], 2 * twice.shapes[2]])
    with pytest.warns(UserWarning, match=r"'1' and '2' show one pose, .*; their mean is taken"):
        skin = PSD().fit(Examples.from_shapes(twice.rig, twice.motion, shapes))
    np.testing.assert_allclose(skin.pose(twice.motion[2])[0], 3 * np.eye(3), atol=1e-6)


def test_examples_that_only_rest_are_refused() -> None:
    with pytest.raises(InputError, match="no pose differs from rest"):
        PSD().fit(face([0.0]))


def test_rest_is_an_example_even_where_none_is_given() -> None:
    examples = face([1.0, 0.6])
    skin = PSD().fit(examples)
    np.testing.assert_allclose(skin.pose(face([0.0]).motion[0])[0], np.eye(3), atol=1e-6)
    loose = PSD(anchor=False).fit(examples)
    assert np.abs(loose.pose(face([0.0]).motion[0])[0] - np.eye(3)).max() > 0.01


def test_settings_are_checked_when_they_are_given() -> None:
    for wrong in ({"kernel": "gauss"}, {"radius": -1.0}, {"smoothing": -1.0}, {"tolerance": 2.0}):
        with pytest.raises(InputError, match=f"{next(iter(wrong))}: expected"):
            PSD(**wrong)  # type: ignore[arg-type]


def test_a_misspelt_control_is_reported_and_a_motion_is_not_a_pose() -> None:
    skin = PSD().fit(face([0.0, 1.0]))
    with pytest.warns(UserWarning, match="control 'smiel' moves nothing in this skin; the closest is 'smile'"):
        skin.pose(Pose([[0, 0, 0, 1.0]], controls={"smiel": 1.0}))
    with pytest.raises(InputError, match="expected one Pose, got Motion"):
        skin.pose(face([0.0]).motion)  # type: ignore[arg-type]
