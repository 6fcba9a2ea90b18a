"""Fits look at their own result: what makes the examples worse is weakened or dropped, and said."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import posespace as ps
from posespace.fit.self_check import checked, said
from posespace.skin.edit import scaled_layer
from posespace.skin.provenance import CROSS_VALIDATED_ERROR, EXAMPLES_ERROR, notes_of
from posespace.skin.skin import Skin

TRAIN, UNSEEN = ps.datasets.bending_arm(rings=12, sides=8)
SOUND = ps.PSD(kernel="multiquadric").fit(TRAIN)


def scaled(factor: float) -> Skin:
    first, *others = SOUND.layers
    return replace(SOUND, layers=(scaled_layer(first, np.full(first.driver.components, factor)), *others))


def test_a_sound_skin_stays_as_it_is_and_knows_its_error() -> None:
    assert SOUND.layers
    again = checked(SOUND, TRAIN)
    assert [layer.name for layer in again.layers] == [layer.name for layer in SOUND.layers]
    assert again.about[EXAMPLES_ERROR] < 1e-3
    assert not notes_of(again.about)


def test_a_layer_of_the_wrong_sign_is_dropped_and_one_too_strong_is_weakened() -> None:
    dropped = checked(scaled(-1.0), TRAIN)
    assert len(dropped.layers) == len(SOUND.layers) - 1
    with pytest.warns(UserWarning, match="is dropped: it raises the error at the examples it was fitted to"):
        said(dropped)
    weakened = checked(scaled(4.0), TRAIN)
    assert weakened.about[EXAMPLES_ERROR] < 0.01
    [line] = notes_of(weakened.about)
    assert "is weakened to 0.25" in line


def test_skins_that_a_fit_tries_and_leaves_are_not_spoken_of() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        skin = ps.EigenSkin(weights="optimised").fit(opposite())
    assert notes_of(skin.about)
    lines = [str(warning.message) for warning in caught]
    assert [line for line in lines if "layer" in line] == list(notes_of(skin.about))


def opposite() -> ps.Examples:
    """Sculpts that have nothing to do with one another: every second one is the opposite of the one before."""
    rig = TRAIN.rig
    field = 0.02 * rig.mesh.diagonal * np.sin(np.arange(len(rig.mesh.points)))[:, None]
    signs = (-1) ** np.arange(len(TRAIN))
    shapes = [rig.skin(pose) + sign * field for pose, sign in zip(TRAIN.motion, signs, strict=True)]
    return ps.Examples.from_shapes(rig, TRAIN.motion, shapes)


@pytest.mark.parametrize("method", [ps.PSD(), ps.EigenSkin(), ps.Muscles()], ids=lambda method: type(method).__name__)
def test_sculpts_that_do_not_predict_one_another_are_named_and_never_worse_than_plain_skinning(method) -> None:
    examples = opposite()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        skin = method.fit(examples)
    assert ps.evaluate(skin, examples).rel_err <= 1.02
    lines = [str(warning.message) for warning in caught]
    assert any("do not predict one another" in line or "no signals help" in line for line in lines)
    for line in notes_of(skin.about):
        assert line in lines
        assert "\n" not in line


def test_every_layer_says_how_it_does_on_sculpts_that_are_left_out() -> None:
    layers = SOUND.about["layers"]
    assert all(0 <= layer[CROSS_VALIDATED_ERROR] < 1 for layer in layers if len(layer["sculpts"]) > 1)


def test_a_single_sculpt_of_two_joints_is_reproduced() -> None:
    moved = [
        k
        for k, (pose, _) in enumerate(TRAIN)
        if np.ptp(pose.rotations - TRAIN.rig.rest.rotations, axis=1).astype(bool).sum() > 1
    ]
    one = TRAIN[moved[-1:]]
    skin = ps.EigenSkin().fit(one)
    assert ps.evaluate(skin, one).rel_err < 0.1


def test_notes_that_are_no_text_are_ignored() -> None:
    assert notes_of({"notes": ["a", 1, None]}) == ["a"]
    assert notes_of({"notes": "a"}) == []


@pytest.mark.slow
def test_layers_that_act_on_few_of_many_examples_are_judged_by_those() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        skin = ps.EigenSkin().fit(ps.datasets.hand()[0].joined(ps.datasets.hand_together()))
    assert not notes_of(skin.about)
