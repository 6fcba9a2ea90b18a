"""Virtual muscles: what their signals span, what drives them, how they fare on unseen frames, and what they refuse."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers.assets import dembones
from helpers.strategies import random_rig, seeds
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import posespace as ps
from posespace import datasets
from posespace.errors import InputError
from posespace.evaluation.score import evaluate
from posespace.evaluation.storage import stored_bytes
from posespace.examples import Examples
from posespace.fit.gram import gram_of, linear_combinations, principal
from posespace.fit.ica import energies, independent_signals, principal_signals
from posespace.fit.muscles.muscles import Muscles
from posespace.fit.weights.nearest_bone import on_nearest_bone
from posespace.motion import Motion
from posespace.poses.active import at_rest
from posespace.skin.edit import edit_summary
from posespace.skin.skin import Skin

SMALL = Muscles(3)
Array = NDArray[np.float64]


@cache
def small() -> tuple[Examples, Examples]:
    return datasets.bending_arm(rings=16, sides=8)


@cache
def arm() -> tuple[Examples, Skin]:
    clip = datasets.arm_clip()
    return clip, Muscles(7).fit(clip)


def rms(skin: Skin, examples: Examples) -> float:
    """Root mean square distance from the truth, in the mesh's unit."""
    return float(np.sqrt((evaluate(skin, examples).per_vertex.astype(np.float64) ** 2).mean()))


def mixtures(seed: int, frames: int = 60, rank: int = 6) -> Array:
    """A matrix (frames, coordinates) of some rank, from signals that are far from normal."""
    rng = np.random.default_rng(seed)
    return (rng.laplace(size=(frames, rank)) + rng.normal(size=rank)) @ rng.normal(size=(rank, 90))


def rebuilt(frames: Array, signals: Array) -> Array:
    """The frames as the signals give them, by least squares."""
    return (frames.T @ np.linalg.pinv(signals) @ signals).T


@given(seeds, st.integers(1, 6))
@settings(max_examples=12)
def test_independent_signals_meet_the_frames_as_well_as_principal_components(seed: int, count: int) -> None:
    frames = mixtures(seed)
    gram = frames @ frames.T
    u, sizes, vt = np.linalg.svd(frames, full_matrices=False)
    best = (u[:, :count] * sizes[:count]) @ vt[:count]
    for signals in (independent_signals(gram, count), principal_signals(gram, count)):
        assert signals.shape == (count, len(frames))
        np.testing.assert_allclose(rebuilt(frames, signals), best, atol=1e-6 * np.abs(frames).max())


@given(seeds)
@settings(max_examples=12)
def test_signals_do_not_depend_on_the_order_of_frames_or_vertices_nor_on_the_sign(seed: int) -> None:
    frames = mixtures(seed, frames=200, rank=4)
    signals = independent_signals(frames @ frames.T, 4)
    rng = np.random.default_rng(seed)
    shuffled = frames[:, rng.permutation(frames.shape[1])]
    np.testing.assert_allclose(independent_signals(shuffled @ shuffled.T, 4), signals, atol=1e-4)
    order = rng.permutation(len(frames))
    np.testing.assert_allclose(
        independent_signals((frames @ frames.T)[np.ix_(order, order)], 4), signals[:, order], atol=1e-4
    )
    gram = 9 * frames @ frames.T
    np.testing.assert_allclose(independent_signals(gram, 4), signals, atol=1e-4)
    assert (np.diff(energies(signals, gram)) <= 0).all()
    np.testing.assert_allclose((signals**2).mean(axis=1), 1)
    assert (signals.max(axis=1) >= -signals.min(axis=1)).all()


def test_signals_that_were_mixed_are_found_again() -> None:
    rng = np.random.default_rng(5)
    time = np.arange(400) / 400
    true = np.stack([np.sin(2 * np.pi * 7 * time), np.sign(np.sin(2 * np.pi * 3.3 * time)), rng.laplace(size=400)])
    frames = true.T @ rng.normal(size=(3, 6))
    found = independent_signals(frames @ frames.T, 3)
    likeness = np.abs(np.corrcoef(np.vstack([true, found]))[:3, 3:])
    assert likeness.max(axis=1).min() > 0.99
    principal = np.abs(np.corrcoef(np.vstack([true, principal_signals(frames @ frames.T, 3)]))[:3, 3:])
    assert principal.max(axis=1).min() < 0.98


def test_a_part_that_never_changes_becomes_a_signal_of_its_own() -> None:
    frames = mixtures(3, rank=2) + np.random.default_rng(1).normal(size=90)
    signals = independent_signals(frames @ frames.T, 3)
    assert (np.ptp(signals, axis=1) < 1e-6).sum() == 1
    np.testing.assert_allclose(rebuilt(frames, signals), frames, atol=1e-9 * np.abs(frames).max())


@given(seeds)
@settings(max_examples=10)
def test_products_and_mixtures_of_frames_are_those_of_the_whole(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frames = rng.normal(size=(5, 9000, 3)).astype(np.float32)
    some = np.sort(rng.choice(9000, 8500, replace=False)).astype(np.int32)
    flat = frames[:, some].reshape(5, -1).astype(np.float64)
    np.testing.assert_allclose(gram_of(frames, some), flat @ flat.T, rtol=1e-10, atol=1e-6)
    mix = rng.normal(size=(2, 5))
    np.testing.assert_allclose(linear_combinations(frames, some, mix).reshape(2, -1), mix @ flat, atol=1e-5)
    assert len(principal(flat @ flat.T)[0]) == 5


@given(seeds)
@settings(max_examples=12)
def test_every_vertex_moves_with_its_heaviest_bone(seed: int) -> None:
    rig = random_rig(np.random.default_rng(seed))
    bound = on_nearest_bone(rig)
    assert (bound.weights == 1).all()
    dense = rig.dense_weights()
    np.testing.assert_allclose(dense[np.arange(len(dense)), bound.influences[:, 0]], dense.max(axis=1))


def test_the_arm_of_the_paper_takes_7_percent_and_misses_less_than_a_tenth_of_a_millimetre() -> None:
    clip, skin = arm()
    vertices, frames = len(clip.rig.mesh.points), len(clip)
    assert (vertices, frames, skin.layers[0].driver.components) == (3234, 100, 7)
    assert (3 * vertices * 7 + 7 * frames) / (3 * vertices * frames) <= 0.071
    assert stored_bytes(skin) <= 0.071 * 12 * vertices * frames
    assert rms(skin, clip) < 0.1
    assert skin.layers[0].driver.space.names == ("forearm.x", "wrist.x")


def test_frames_that_were_left_out_are_reproduced_too_and_the_fit_foretells_it() -> None:
    train, unseen = datasets.arm()
    skin = Muscles().fit(train)
    assert evaluate(skin, unseen).seen == 0
    assert rms(skin, unseen) < 0.1
    said = {row["signals"]: row["rms"] for row in skin.about["left out"]}
    assert said[skin.layers[0].driver.components] < 0.1 < said[2]
    assert skin.layers[0].driver.components < 12


def test_the_rest_pose_gives_the_rest_shape() -> None:
    clip = small()[0][3:20]
    assert not at_rest(clip.rig, clip.motion).any()
    for method in (SMALL, replace(SMALL, segments=True), replace(SMALL, bones="weights", centres=4)):
        skin = method.fit(clip)
        np.testing.assert_allclose(skin.pose(skin.rig.rest)[0], clip.rig.mesh.points, atol=1e-6)


def test_driven_signals_of_either_kind_give_the_same_skin() -> None:
    train, unseen = small()
    ica, pca = (evaluate(Muscles(5, kind=kind, bits=32).fit(train), unseen) for kind in ("ica", "pca"))
    assert ica.rel_err == pytest.approx(pca.rel_err, abs=1e-6)


def test_a_skin_plays_saves_and_exports_like_any_other(tmp_path: Path) -> None:
    clip, skin = small()[0], SMALL.fit(small()[0])
    skin.save(tmp_path / "arm.skin")
    again = Skin.load(tmp_path / "arm.skin")
    for pose in clip.motion[[3, 17]]:
        np.testing.assert_array_equal(again.pose(pose)[0], skin.pose(pose)[0])
    ps.export(skin, tmp_path / "arm.glb", clip.motion)
    assert (tmp_path / "arm.glb").stat().st_size > 1000


def test_segments_share_out_the_vertices_and_have_at_most_the_joints_allowed() -> None:
    train, unseen = small()
    skin = Muscles(4, segments=True, joints=1).fit(train)
    assert all(len(set(layer.driver.space.joints(skin.rig.skeleton))) <= 1 for layer in skin.layers)
    assert sum(len(layer.support) for layer in skin.layers) == len(train.rig.mesh.points)
    assert len(skin.layers) > 1
    assert evaluate(skin, unseen).rel_err < 0.7


@pytest.mark.slow
def test_segments_have_their_own_signals_and_at_most_the_joints_allowed(data: Path) -> None:
    examples = dembones(data)
    block = np.arange(len(examples)) // 10 % 2
    train, unseen = examples[np.flatnonzero(block == 0)], examples[np.flatnonzero(block)]
    skin = Muscles(7, joints=4, segments=True).fit(train)
    assert all(len(set(layer.driver.space.joints(skin.rig.skeleton))) <= 4 for layer in skin.layers)
    assert sum(len(layer.support) for layer in skin.layers) == len(examples.rig.mesh.points)
    assert len(skin.layers) > 1
    assert evaluate(skin, unseen).rel_err < 0.3
    assert evaluate(Muscles(10, joints=6).fit(train), unseen).rel_err < 0.16


def test_the_number_of_centres_does_not_grow_with_the_clip() -> None:
    clip = small()[0]
    long = Examples.from_shapes(
        clip.rig, Motion(np.tile(clip.motion.rotations, (4, 1, 1))), np.tile(np.stack(list(clip.shapes)), (4, 1, 1))
    )
    short, doubled = (Muscles(3, centres=12, bones="weights").fit(each) for each in (clip, long))
    assert len(short.layers[0].driver.interpolant.centres) == len(doubled.layers[0].driver.interpolant.centres) == 13
    assert stored_bytes(short) == stored_bytes(doubled)


def test_two_fits_agree_bit_for_bit() -> None:
    for method in (Muscles(4), Muscles(4, segments=True, joints=1)):
        one, other = (method.fit(small()[0]) for _ in range(2))
        for a, b in zip(one.layers, other.layers, strict=True):
            np.testing.assert_array_equal(np.asarray(a.basis), np.asarray(b.basis))
            np.testing.assert_array_equal(a.driver.interpolant.weights, b.driver.interpolant.weights)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"signals": 0}, "signals: expected at least 1, got 0"),
        ({"signals": 2.5}, "signals: expected a whole number"),
        ({"signals": "7"}, "signals: expected a whole number"),
        ({"joints": -1}, "joints"),
        ({"joints": 1.5}, "joints: expected a whole number"),
        ({"centres": "3"}, "centres: expected a whole number"),
        ({"smoothing": "0"}, "smoothing: expected a number"),
        ({"bits": "16"}, "bits: expected a whole number"),
        ({"centres": -2}, "centres"),
        ({"smoothing": -1.0}, "smoothing"),
        ({"kind": "nmf"}, "kind"),
        ({"bones": "all"}, "bones"),
        ({"bits": 12}, "bits"),
    ],
)
def test_wrong_settings_are_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(Muscles(), **change)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", [Muscles(), ps.EigenSkin(), ps.PSD()])
def test_a_path_is_no_examples(method: Muscles) -> None:
    with pytest.raises(InputError, match=r"expected Examples, got a str; open it with ps\.Examples\.open"):
        method.fit("arm.examples")  # type: ignore[arg-type]


@pytest.mark.parametrize("method", [SMALL, ps.EigenSkin(components=2)])
def test_frames_of_one_pose_with_different_shapes_are_warned_of(method: Muscles) -> None:
    clip = small()[0]
    order = [*range(len(clip)), 8]
    shapes = np.stack([clip.shapes[k] for k in order])
    names = (*clip.motion.names, "again")
    shifted = np.zeros((len(names), 3, 3))
    shifted[-1, 0] = (0, 3, 0)
    twice = Examples(clip.rig, Motion(clip.motion.rotations[order], shifted, names=names), shapes)
    shapes[-1] += clip.rig.skin(twice.motion[-1]) - clip.rig.skin(clip.motion[8])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        method.fit(clip)
        method.fit(twice)
    shapes[-1, 5, 1] += 0.01 * clip.rig.mesh.diagonal
    said = rf"'{re.escape(names[8])}' and 'again' show one pose, but their shapes differ by 0\.01 of the box"
    with pytest.warns(UserWarning, match=said):
        method.fit(twice)


def test_clips_that_cannot_be_fitted_are_refused_in_one_line() -> None:
    clip = small()[0]
    shapes = np.stack([clip.shapes[k] for k in range(len(clip))])
    with pytest.raises(InputError, match=r"expected at most 15, the rank of the 30 frames, got 40$"):
        Muscles(40).fit(clip)
    with pytest.raises(InputError, match="at least 2 frames, got 1"):
        SMALL.fit(clip[[7]])
    still = Examples.from_shapes(clip.rig, Motion(np.tile(clip.motion.rotations[7:8], (5, 1, 1))), shapes[[7] * 5])
    with pytest.raises(InputError, match="constant, nothing moves"):
        SMALL.fit(still)
    bound = on_nearest_bone(clip.rig)
    rigid = Examples.from_shapes(clip.rig, clip.motion, [bound.skin(pose) for pose in clip.motion])
    with pytest.raises(InputError, match="the bones alone reproduce every frame"):
        SMALL.fit(rigid)
    shapes[3, 5, 1] = np.nan
    with pytest.raises(InputError, match=clip.motion.names[3]):
        SMALL.fit(Examples(clip.rig, clip.motion, shapes))


def test_two_frames_are_enough_for_one_signal() -> None:
    two = small()[0][[2, 29]]
    assert evaluate(Muscles(1, smoothing=0.0, centres=None, bones="weights").fit(two), two).rel_err < 1e-3
    assert Muscles(bones="weights").fit(two).layers[0].driver.components == 1
    with pytest.warns(UserWarning, match="no signals help"):
        assert not Muscles().fit(two).layers


def test_what_a_file_says_of_edits_may_be_anything() -> None:
    skin = Muscles(3).fit(datasets.arm()[0][:80:8])
    for said in ("much", {"scale": 1}, [3, {"scale": [1]}, {"scale": {"1": "a"}, "exaggerate": 1}, {}]):
        strange = replace(skin, about={**skin.about, "edits": said})
        assert edit_summary(strange) == ""
        assert edit_summary(strange.edited({1: 0.5})) == "1 times 0.5"
