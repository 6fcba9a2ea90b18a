"""The editing session: any sequence of edits gives the skin of a fresh fit, and only what changed is solved again."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from helpers.sculpts import bar, misfit, posed, random_sculpts, sculpted
from helpers.strategies import random_rig, seeds
from hypothesis import given, settings
from hypothesis import strategies as st

import posespace as ps
from posespace.errors import InputError
from posespace.geometry import rotations


def assert_same(skin: ps.Skin, fresh: ps.Skin, poses: ps.Motion) -> None:
    assert [layer.name for layer in skin.layers] == [layer.name for layer in fresh.layers]
    for each in poses:
        np.testing.assert_allclose(skin.pose(each)[0], fresh.pose(each)[0], atol=1e-9 * skin.rig.mesh.diagonal)


EDITS = ["add", "replace", "remove", "joint", "layer", "all", "one", "mute", "undo", "redo"]


@settings(max_examples=12)
@given(seeds, st.lists(st.sampled_from(EDITS), max_size=12), st.booleans())
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
        elif edit == "one":
            session.set_sculpt_radius(str(rng.choice(names)), radius)
        elif edit == "mute":
            name = str(rng.choice(names))
            if any(not session[other].muted for other in names if other != name):
                session.mute(name, muted=not session[name].muted)
        elif {"undo": session.steps[1:], "redo": session.undone}.get(edit):
            getattr(session, edit)()
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
    with pytest.raises(InputError, match="sculpts 'bent' and 'again' are at the same position"):
        session.add("again", posed(tip=0.5), shape)
    with pytest.raises(InputError, match="sculpt 'bnet': none has that name; the closest is 'bent'"):
        session.replace("bnet", shape)
    with pytest.raises(InputError, match="pose 'one': expected 3 joints as in the rig, got 1"):
        session.add("one", ps.Pose([[0, 0, 0, 1.0]]), shape)
    with pytest.raises(InputError, match="radius of 'tip': expected a finite number above 0, got 0"):
        session.set_radius("tip", 0)
    assert misfit(session.skin(), session.examples()) < 1e-6
    session.remove("bent")
    assert session.names == ()


def two_bends(**settings: object) -> ps.Sculpts:
    return session_of(sculpted({"one": posed(tip=0.8), "two": posed(tip=1.6)}), **settings)


def correction(skin: ps.Skin, pose: ps.Pose, vertex: int = 1) -> float:
    """How far the skin moves a vertex that only the second sculpt moves."""
    return float(np.linalg.norm(skin.pose(pose)[0] - skin.rig.skin(pose), axis=1)[vertex])


@pytest.mark.parametrize("settings", [{}, {"kernel": "exponential"}, {"normals": "shared"}])
def test_a_radius_of_one_sculpt_says_how_far_it_reaches_and_both_are_reproduced(settings: dict[str, object]) -> None:
    session = two_bends(**settings)
    examples, reached = session.examples(), []
    for radius in (0.1, 0.2, 0.4):
        session.set_sculpt_radius("two", radius)
        skin = session.skin()
        assert misfit(skin, examples) < 1e-6
        reached.append(correction(skin, posed(tip=1.9)))
        assert skin.about["layers"][0]["radius by sculpt"] == {"two": radius}
    assert 0 < reached[0] < 0.5 * reached[1] < 0.5 * reached[2]
    # The first one keeps the radius that was chosen with both.
    assert [layer.name for layer in skin.layers] == ["tip", "tip (radius 0.4)"]
    session.set_sculpt_radius("two", None)
    before = two_bends(**settings).skin()
    assert correction(session.skin(), posed(tip=1.9)) == correction(before, posed(tip=1.9))


def test_a_gaussian_of_its_radius_is_what_a_lone_sculpt_gets() -> None:
    session = session_of(sculpted({"none": posed(tip=9.0), "two": posed(tip=1.6)}))
    session.remove("none")
    session.set_sculpt_radius("two", 0.3)
    skin = session.skin()
    at_radius = correction(skin, posed(tip=1.9)) / correction(skin, posed(tip=1.6))
    assert at_radius == pytest.approx(np.exp(-0.5), abs=1e-3)


def test_a_fit_honours_the_radii_of_its_examples() -> None:
    session = two_bends()
    session.set_sculpt_radius("two", 0.2)
    fitted = ps.PSD().fit(session.examples())
    np.testing.assert_array_equal(fitted.pose(posed(tip=1.3))[0], session.skin().pose(posed(tip=1.3))[0])
    assert len(fitted.layers) == 2


def test_a_muted_sculpt_is_kept_and_fits_ignore_it() -> None:
    session, alone = two_bends(), two_bends()
    session.mute("two")
    alone.remove("two")
    assert session.names == ("one", "two")
    np.testing.assert_array_equal(session.skin().pose(posed(tip=1.6))[0], alone.skin().pose(posed(tip=1.6))[0])
    assert session.examples().motion.names == ("one",)
    session.mute("one")
    with pytest.raises(InputError, match="all are muted; unmute one"):
        session.skin()
    session.mute("one", "two", muted=False)
    assert misfit(session.skin(), two_bends().examples()) < 1e-6


def test_an_alternative_is_tried_at_the_pose_of_a_muted_sculpt() -> None:
    session = two_bends()
    shape = np.array(session["two"].shape) + 0.1
    session.mute("two")
    session.add("other", posed(tip=1.6), shape)
    with pytest.raises(InputError, match="'other' and 'two' are at the same position"):
        session.mute("two", muted=False)


def test_changes_are_undone_and_what_did_not_change_is_not_solved_again() -> None:
    session = two_bends()
    layer = session.skin().layers[0]
    session.rename("two", "far")
    session.set_sculpt_radius("one", 0.5)
    session.remove("far")
    assert session.steps[2:] == ("renamed 'two' to 'far'", "set the radius of 'one': 0.5", "removed 'far'")
    assert session.undo() == "removed 'far'"
    assert session.undo() == "set the radius of 'one': 0.5"
    assert session.names == ("one", "far")
    assert session.skin().layers[0] is layer
    assert session.undone == ("removed 'far'", "set the radius of 'one': 0.5")
    assert session.redo() == "set the radius of 'one': 0.5"
    assert session["one"].radius == 0.5
    assert session.redo() == "removed 'far'"
    assert session.names == ("one",)
    with pytest.raises(InputError, match="there is no change to redo"):
        session.redo()
    session.undo()
    session.rename("far", "wide")
    assert session.undone == ()
    while session.steps:
        session.undo()
    assert session.names == ()
    with pytest.raises(InputError, match="there is no change to undo"):
        session.undo()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda session: session.rename("on", "x"), "'on': none has that name; the closest is 'one'"),
        (lambda session: session.rename("one", "two"), "'two': there is one of that name already"),
        (lambda session: session.rename("one", ""), "expected at least one character"),
        (lambda session: session.mute("no"), "none has that name"),
        (lambda session: session.set_sculpt_radius("one", 0.0), "expected a finite number above 0, got 0.0"),
        (lambda session: session.set_sculpt_radius("one", float("nan")), "expected a finite number above 0"),
        (lambda session: session.chosen(["one", "x*"]), r"'x\*': none has that name"),
    ],
)
def test_changes_that_cannot_be_made_change_nothing(change: Callable[[ps.Sculpts], None], problem: str) -> None:
    session = two_bends()
    steps = session.steps
    with pytest.raises(InputError, match=problem):
        change(session)
    assert session.steps == steps
    assert session.names == ("one", "two")


def test_sculpts_are_chosen_by_name_or_pattern() -> None:
    session = session_of(sculpted({"bentL": posed(tip=0.8), "bentR": posed(tip=1.6), "a[0]": posed(base=0.5)}))
    assert session.chosen(["*L", "a[0]"]) == ("bentL", "a[0]")
    assert session.chosen(["bent?", "bentL"]) == ("bentL", "bentR")


def test_a_mirrored_sculpt_takes_radius_and_muting_along_and_the_other_side_is_kept_unless_replaced() -> None:
    points = np.array([[x, y, 0.0] for x in (-3, -2, -1, 1, 2, 3) for y in (0, 1)])
    world = np.tile(np.eye(4), (3, 1, 1))
    world[1:, 0, 3] = 1.5, -1.5
    skeleton = ps.Skeleton.from_world(["body", "arm_L", "arm_R"], [-1, 0, 0], world)
    joints = np.where(points[:, :1] > 1, 1, np.where(points[:, :1] < -1, 2, 0)).astype(np.int32)
    triangles = [[k, k + 2, k + 1] for k in range(10)]
    rig = ps.Rig(ps.Mesh(points, triangles), skeleton, joints, np.ones((12, 1)))

    def raised(joint: int, angle: float) -> ps.Pose:
        turn = rotations.from_axis_angle((0.0, 0.0, 1.0), np.eye(3)[joint] * angle)
        return ps.Pose(turn)

    session = ps.Sculpts(rig)
    bump = np.zeros((12, 3))
    bump[10:] = 0.1, 0.2, 0.3
    session.add("upL", raised(1, 0.7), rig.skin(raised(1, 0.7), bump), radius=0.4)
    session.add("rest", rig.rest, rig.mesh.points)
    session.mute("upL")
    done = session.mirror()
    assert done.kept == {"rest": "its pose is its own mirror image"}
    assert done.made["upL"].name == "upR"
    image = session["upR"]
    assert (image.muted, image.radius) == (True, 0.4)
    np.testing.assert_allclose(image.pose.rotations, raised(2, -0.7).rotations, atol=1e-12)
    got = rig.residual(image.pose, image.shape)[0]
    np.testing.assert_allclose(got[:2], [(-0.1, 0.2, 0.3)] * 2, atol=1e-9)
    np.testing.assert_allclose(got[2:], 0, atol=1e-9)
    assert session.mirror("upL").kept == {"upL": "its mirror image is there already as 'upR'"}
    session.replace("upL", rig.skin(raised(1, 0.7), 2 * bump))
    session.mirror("upL", replace_known=True)
    image = session["upR"]
    np.testing.assert_allclose(rig.residual(image.pose, image.shape)[0][:2], 2 * got[:2], atol=1e-9)
    assert session.names == ("upL", "rest", "upR")
