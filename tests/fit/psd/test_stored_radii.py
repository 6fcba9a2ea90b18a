"""Radii by control are part of a store: the fit of what is saved is the skin of the session, array for array."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from helpers.sculpts import bar, posed, random_sculpts, sculpted
from helpers.strategies import random_rig, seeds
from hypothesis import given, settings
from hypothesis import strategies as st

import posespace as ps
from posespace.errors import InputError

POSES = {"tip": posed(tip=0.8), "smile": posed(smile=1.0), "both": posed(tip=0.8, smile=1.0), "far": posed(tip=1.6)}


def assert_equal(skin: ps.Skin, other: ps.Skin) -> None:
    """Assert that every array of two skins is the same, to the last bit."""
    assert [layer.name for layer in skin.layers] == [layer.name for layer in other.layers]
    for ours, theirs in zip(skin.layers, other.layers, strict=True):
        assert ours.driver.space == theirs.driver.space
        for array in ("centres", "weights", "radius"):
            np.testing.assert_array_equal(*(getattr(each.driver.interpolant, array) for each in (ours, theirs)))
        np.testing.assert_array_equal(ours.support, theirs.support)
        np.testing.assert_array_equal(np.asarray(ours.basis), np.asarray(theirs.basis))
    assert skin.about["settings"] == other.about["settings"]


@settings(max_examples=10)
@given(seeds, st.lists(st.sampled_from(["add", "replace", "mute", "one", "joint", "layer", "all", "undo"]), max_size=8))
def test_the_fit_of_the_store_is_the_skin_of_the_session(seed: int, edits: list[str]) -> None:
    rng = np.random.default_rng(seed)
    examples = random_sculpts(rng, random_rig(rng, joints=4), 8)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        path = Path(folder) / "a.examples"
        examples[:5].save(path)
        session, waiting = ps.Sculpts.open(path), [5, 6, 7]
        for edit in edits:
            radius, names = (None, 0.4, 0.7)[rng.integers(3)], session.names
            if edit == "add" and waiting:
                index = waiting.pop()
                session.add(examples.motion.names[index], *examples[index])
            elif edit == "replace":
                session.replace(names[0], session[names[0]].shape + 0.05 * rng.normal(size=(20, 3)))
            elif edit == "mute":
                session.mute(names[1], muted=not session[names[1]].muted)
            elif edit == "one":
                session.set_sculpt_radius(str(rng.choice(names)), radius)
            elif edit in ("joint", "layer", "all"):
                session.set_radius({"joint": "joint1", "layer": ("smile", "joint0"), "all": "*"}[edit], radius)
            elif edit == "undo" and session.steps:
                session.undo()
        assert_equal(session.skin(), ps.PSD().fit(ps.Examples.open(path)))
        assert_equal(ps.Sculpts.open(path).skin(), session.skin())


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "bar.examples"
    sculpted(POSES).save(path)
    return path


def test_radii_are_kept_undone_redone_and_copied(store: Path) -> None:
    session = ps.Sculpts.open(store)
    session.set_radius("tip", 0.5)
    session.set_radius(["tip", "smile"], 0.9)
    radii = {"tip": 0.5, ("smile", "tip"): 0.9}
    assert ps.Examples.open(store).control_radii == radii
    assert session.steps == ("set the radius of 'tip': 0.5", "set the radius of 'smile + tip': 0.9")
    ps.Sculpts.open(store).undo()
    assert ps.Examples.open(store).control_radii == {"tip": 0.5}
    again = ps.Sculpts.open(store)
    again.redo()
    assert again.control_radii == radii
    again.set_radius("tip", None)
    assert ps.Examples.open(store).control_radii == {("smile", "tip"): 0.9}
    for chosen in (ps.Examples.open(store)[:2], ps.Examples.open(store).joined(sculpted({"x": posed(base=1.0)}))):
        chosen.save(store.with_name(f"{len(chosen)}.examples"))
        assert ps.Examples.open(store.with_name(f"{len(chosen)}.examples")).control_radii == {("smile", "tip"): 0.9}


def test_a_radius_of_the_settings_wins(store: Path) -> None:
    ps.Sculpts.open(store).set_radius("tip", 0.5)
    examples = ps.Examples.open(store)
    fitted = ps.PSD(radius={"smile": 2.0}).fit(examples)
    assert fitted.about["settings"]["radius"] == {"smile": 2.0}
    assert ps.PSD(smoothing=0.1).fit(examples).about["settings"]["radius"] == {"tip": 0.5}
    session = ps.Sculpts.open(store, ps.PSD(radius=0.3))
    assert_equal(session.skin(), ps.PSD(radius=0.3).fit(examples))
    with pytest.raises(InputError, match=r"the settings of the session give 0\.3, which wins; leave the radius out"):
        session.set_radius("tip", 0.7)
    assert ps.Examples.open(store).control_radii == {"tip": 0.5}


def test_a_radius_is_a_number_and_an_unknown_name_is_noticed() -> None:
    session = ps.Sculpts(bar())
    session.add("one", posed(tip=0.8, smile=1.0), bar().mesh.points)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("tip", "tip.z", "tip.tx", "smile", "*", ("tip", "smile")):
            session.set_radius(name, 0.5)
    with pytest.warns(UserWarning, match="radius of 'tpi': no joint or control has that name; the closest is 'tip'"):
        session.set_radius("tpi", 0.5)
    for wrong in (0, -1.0, float("nan"), 1e300, "wide"):
        with pytest.raises(InputError, match="radius of 'tip': expected a finite number above 0"):
            session.set_radius("tip", wrong)  # type: ignore[arg-type]
