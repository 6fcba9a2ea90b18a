"""The editing session: any sequence of edits gives the skin of a fresh fit, and only what changed is solved again."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from helpers.sculpts import bar, misfit, posed, random_sculpts, sculpted
from helpers.strategies import random_rig, seeds
from hypothesis import given, settings
from hypothesis import strategies as st

import posespace as ps
from posespace.errors import InputError


def assert_same(skin: ps.Skin, fresh: ps.Skin, poses: ps.Motion) -> None:
    assert [layer.name for layer in skin.layers] == [layer.name for layer in fresh.layers]
    for each in poses:
        np.testing.assert_allclose(skin.pose(each)[0], fresh.pose(each)[0], atol=1e-9 * skin.rig.mesh.diagonal)


@settings(max_examples=12)
@given(
    seeds, st.lists(st.sampled_from(["add", "replace", "remove", "joint", "layer", "all"]), max_size=12), st.booleans()
)
def test_any_sequence_of_edits_gives_the_skin_of_a_fresh_fit(seed: int, edits: list[str], per_vertex: bool) -> None:
    rng = np.random.default_rng(seed)
    rig = random_rig(rng, joints=4)
    examples = random_sculpts(rng, rig, 8)
    waiting = list(zip(examples.motion.names, examples, strict=True))
    session = ps.Sculpts(rig, ps.PSD(per_vertex=per_vertex))
    for edit in ["add", *edits]:
        names = session.names
        radius = float(rng.choice([0.3, 0.5])) if rng.random() < 0.8 else None
        if edit == "add" or not names:
            if waiting:
                name, (at, shape) = waiting.pop(0)
                session.add(name, at, shape)
        elif edit == "replace":
            name = str(rng.choice(names))
            session.replace(name, examples.shapes[examples.motion.index(name)] + 0.05 * rng.normal(size=(20, 3)))
        elif edit == "remove" and len(names) > 1:
            session.remove(str(rng.choice(names)))
        elif edit == "joint":
            session.set_radius("joint1", radius)
        elif edit == "layer":
            session.set_radius(("smile", "joint0"), radius)
        elif edit == "all":
            session.set_radius("*", radius)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            skin, fresh = session.skin(), session.settings.fit(session.examples())
            assert_same(skin, fresh, examples.motion)


def session_of(examples: ps.Examples, **settings_: object) -> ps.Sculpts:
    session = ps.Sculpts(examples.rig, ps.PSD(**settings_))  # type: ignore[arg-type]
    for name, (at, shape) in zip(examples.motion.names, examples, strict=True):
        session.add(name, at, shape)
    return session


def test_only_what_changed_is_solved_again() -> None:
    poses = {
        "tip": posed(tip=0.8),
        "smile": posed(smile=1.0),
        "both": posed(tip=0.8, smile=1.0),
        "base": posed(base=0.5),
    }
    session = session_of(sculpted(poses))
    before = session.skin().layers
    assert all(new is old for new, old in zip(session.skin().layers, before, strict=True))
    session.set_radius("smile", 0.7)
    after = session.skin().layers
    assert [new is old for new, old in zip(after, before, strict=True)] == [True, False, False, True]
    # The basis of the layer whose radius changed is as it was: sculpts are reproduced whatever the radius.
    assert after[1].basis is before[1].basis or np.shares_memory(after[1].basis, before[1].basis)
    shape = np.array(session.examples().shapes[3])
    session.replace("base", shape + 0.1)
    last = session.skin().layers
    assert [new is old for new, old in zip(last, after, strict=True)] == [True, True, True, False]
    session.remove("tip")
    left = session.skin().layers
    assert [layer.name for layer in left] == ["smile", "tip + smile", "base"]
    assert left[0] is last[1]
    assert left[2] is last[3]


def test_a_session_tells_what_it_cannot_do() -> None:
    session = ps.Sculpts(bar())
    with pytest.raises(InputError, match="expected at least one, got none; add one"):
        session.skin()
    shape = bar().skin(posed(tip=0.5)) + 0.1
    session.add("bent", posed(tip=0.5), shape)
    assert session.names == ("bent",)
    with pytest.raises(InputError, match="sculpt 'bent': there is one of that name already; replace it"):
        session.add("bent", posed(tip=0.7), shape)
    with pytest.raises(InputError, match="sculpts 'bent' and 'again' lie at the same place"):
        session.add("again", posed(tip=0.5), shape)
    with pytest.raises(InputError, match="sculpt 'bnet': there is none of that name; the closest is 'bent'"):
        session.replace("bnet", shape)
    with pytest.raises(InputError, match="pose 'one': expected 3 joints as in the rig, got 1"):
        session.add("one", ps.Pose([[0, 0, 0, 1.0]]), shape)
    with pytest.raises(InputError, match="radius of 'tip': expected a finite number above 0, got 0"):
        session.set_radius("tip", 0)
    assert misfit(session.skin(), session.examples()) < 1e-6
    session.remove("bent")
    assert session.names == ()
