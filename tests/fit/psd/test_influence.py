"""The curve of a sculpt is that of the skin that is played: every radius counts, and any pose has its place on it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from helpers.sculpts import bar, posed, random_sculpts, sculpted
from helpers.strategies import random_rig, seeds
from hypothesis import given, settings
from hypothesis import strategies as st

import posespace as ps
from posespace.errors import InputError

POSES = {"near": posed(tip=0.8), "far": posed(tip=1.6), "smile": posed(smile=2.0), "both": posed(tip=0.8, smile=2.0)}


def session_of(examples: ps.Examples, **given_: object) -> ps.Sculpts:
    session = ps.Sculpts(examples.rig, ps.PSD(**given_))  # type: ignore[arg-type]
    for name, (pose, shape) in zip(examples.motion.names, examples, strict=True):
        session.add(name, pose, shape)
    return session


@settings(max_examples=15)
@given(seeds, st.sampled_from([1, 2, 5]), st.booleans())
def test_the_weight_is_one_at_the_sculpt_and_zero_at_rest_and_at_the_others(
    seed: int, count: int, per_vertex: bool
) -> None:
    rng = np.random.default_rng(seed)
    examples = random_sculpts(rng, random_rig(rng, joints=4), count)
    session = session_of(examples, per_vertex=per_vertex)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        session.set_sculpt_radius(session.names[0], 0.4)
        session.set_radius("smile", 0.7)
    for name in session.names:
        curve = session.influence(name)
        along, weight = curve.at(session[name].pose)
        assert along == pytest.approx(curve.own, abs=1e-6)
        assert weight == pytest.approx(1.0, abs=1e-4)
        assert abs(curve.weight[0]) < 1e-4
        assert np.interp(curve.own, curve.distance, curve.weight) == pytest.approx(1.0, abs=0.1)
        for other, distance in curve.others.items():
            stands, other_weight = curve.at(session[other].pose)
            assert stands == pytest.approx(distance, abs=1e-6)
            assert abs(other_weight) < 1e-4


def test_the_curve_is_the_correction_that_the_skin_plays() -> None:
    session = session_of(sculpted({"only": posed(tip=0.8)}))
    skin, curve = session.skin(), session.influence("only", 13)
    assert (curve.unit, curve.layer, curve.own) == ("radians", "tip", pytest.approx(0.8))
    np.testing.assert_allclose(curve.distance, np.linspace(0, 1.2, 13))
    largest = np.linalg.norm(skin.displacements(posed(tip=0.8)), axis=1).max()
    for distance, weight in zip(curve.distance.tolist(), curve.weight.tolist(), strict=True):
        played = np.linalg.norm(skin.displacements(posed(tip=distance)), axis=1).max()
        assert played == pytest.approx(abs(weight) * largest, abs=1e-6)
        assert curve.at(posed(tip=distance, base=0.5)) == (pytest.approx(distance), pytest.approx(weight))


def test_radii_of_sculpts_and_of_controls_change_the_curve() -> None:
    session = session_of(sculpted(POSES))
    chosen = session.influence("near")
    assert chosen.others == {"far": pytest.approx(1.6)}
    session.set_sculpt_radius("near", 0.2)
    own = session.influence("near")
    assert (own.layer, own.radius) == ("tip (radius 0.2)", pytest.approx(0.2))
    half = session.influence("near").at(posed(tip=0.6))[1]
    assert half == pytest.approx(np.exp(-0.5), abs=0.05)
    session.undo()
    session.set_radius("tip", 0.3)
    assert session.influence("near").radius == pytest.approx(0.3)
    session.undo()
    np.testing.assert_array_equal(session.influence("near").weight, chosen.weight)
    assert (session.influence("both").unit, session.influence("both").own) == ("fraction", 1.0)
    assert session.influence("smile").unit == "control"


def test_a_sculpt_without_a_weight_says_why() -> None:
    session = session_of(sculpted(POSES))
    session.mute("far")
    session.add("nothing", posed(tip=0.4), bar().skin(posed(tip=0.4)))
    session.add("rest", posed(), bar().mesh.points)
    for name, why in (("far", "it is muted"), ("nothing", "adds nothing"), ("rest", "it shows the rest shape")):
        with pytest.raises(InputError, match=f"sculpt '{name}': .*{why}"):
            session.influence(name)
    with pytest.raises(InputError, match="'neer': none has that name; the closest is 'near'"):
        session.influence("neer")
    with pytest.raises(InputError, match="samples: expected at least 2, got 1"):
        session.influence("near", 1)
