"""Pose space deformation in layers: every sculpt is met in any order of adding, and what cannot be met is named."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from strategies import random_rig, seeds

import posespace as ps
from posespace import rotations
from posespace.errors import InputError
from posespace.fit.plan import plan_layers
from posespace.skeleton import Skeleton

CONTROLS = ("load", "smile")
STEPS = (-0.9, -0.5, 0.4, 0.8, 1.2)


def random_sculpts(rng: np.random.Generator, rig: ps.Rig, count: int) -> ps.Examples:
    """Sculpts of some vertices at poses that move one to three joints or controls, by steps that often recur."""
    poses: dict[tuple[object, ...], ps.Pose] = {}
    while len(poses) < count:
        names = [*rig.skeleton.names[:3], *CONTROLS]
        moved = sorted(rng.choice(names, rng.integers(1, 4), replace=False))
        steps = tuple(float(rng.choice(STEPS)) for _ in moved)
        turn = np.array(rig.rest.rotations)
        for name, step in zip(moved, steps, strict=True):
            if name not in CONTROLS:
                joint = rig.skeleton.index(name)
                axis = np.eye(3)[rng.integers(0, 2)]
                turn[joint] = rotations.multiply(turn[joint], rotations.from_axis_angle(axis, step))
        controls = {name: step for name, step in zip(moved, steps, strict=True) if name in CONTROLS}
        key = (*np.round(turn, 6).ravel(), *controls.items())
        poses[key] = ps.Pose(turn, rig.rest.translations, controls)
    shapes = []
    for pose in poses.values():
        touched = rng.random((len(rig.mesh.points), 1)) < 0.6
        shapes.append(rig.skin(pose, 0.1 * touched * rng.normal(size=rig.mesh.points.shape)))
    names = [f"sculpt {k}" for k in range(count)]
    return ps.Examples.from_shapes(rig, ps.Motion.from_poses(list(poses.values()), names), shapes)


def misfit(skin: ps.Skin, examples: ps.Examples) -> float:
    """How far the skin is from the examples, at vertices whose blend could be inverted, as a part of the box."""
    worst = 0.0
    for index, (pose, shape) in enumerate(examples):
        damped = examples.residual(index)[1]
        worst = max(worst, float(np.linalg.norm(skin.pose(pose)[0] - shape, axis=1)[~damped].max(initial=0)))
    return worst / examples.rig.mesh.diagonal


@settings(max_examples=60)
@given(seeds, st.integers(1, 9), st.sampled_from(["gaussian", "exponential", "thin_plate", "multiquadric"]))
def test_every_sculpt_is_met_in_any_order_of_adding(seed: int, count: int, kernel: str) -> None:
    rng = np.random.default_rng(seed)
    examples = random_sculpts(rng, random_rig(rng, joints=4), count)
    skin = ps.PSD(kernel).fit(examples)
    assert misfit(skin, examples) < 1e-6
    rest, _ = skin.pose(examples.rig.rest)
    np.testing.assert_allclose(rest, examples.rig.skin(examples.rig.rest), atol=1e-6 * examples.rig.mesh.diagonal)
    session = ps.Sculpts(examples.rig, ps.PSD(kernel))
    for number, (name, (pose, shape)) in enumerate(zip(examples.motion.names, examples, strict=True)):
        session.add(name, pose, shape)
        assert misfit(session.skin(), examples.subset(range(number + 1))) < 1e-6


@settings(max_examples=20)
@given(seeds)
def test_per_vertex_meets_each_sculpt_at_the_vertices_it_moved(seed: int) -> None:
    rng = np.random.default_rng(seed)
    examples = random_sculpts(rng, random_rig(rng, joints=4), 6)
    skin = ps.PSD(per_vertex=True).fit(examples)
    for index, (pose, shape) in enumerate(examples):
        displacement, damped = examples.residual(index)
        moved = (np.linalg.norm(displacement, axis=1) > 1e-5) & ~damped
        off = np.linalg.norm(skin.pose(pose)[0] - shape, axis=1)[moved]
        assert off.max(initial=0) < 1e-6 * examples.rig.mesh.diagonal


def test_per_vertex_interpolates_over_just_the_sculpts_that_moved_a_vertex() -> None:
    examples = sculpted({"a": pose(tip=0.5), "b": pose(tip=1.0)})
    where = pose(tip=0.8)
    held, loose = (ps.PSD(falloff=0.4, per_vertex=each).fit(examples) for each in (False, True))
    # Vertex 0 is moved by "a" alone: an RBF of "a" and the rest pose says where it goes.
    alone = ps.RBF("gaussian", 0.4).fit([[0.0], [0.5]], [0.0, 0.1])
    for at in (where, pose(tip=1.0)):
        angle = [[2 * np.arcsin(at.rotations[1, 2])]]
        assert loose.displacements(at)[0, 2] == pytest.approx(alone(angle)[0], abs=1e-7)
    assert abs(held.displacements(pose(tip=1.0))[0, 2]) < 1e-9
    assert loose.displacements(pose(tip=1.0))[0, 2] > 0.01


def bar(axes: NDArray[np.float64] | None = None) -> ps.Rig:
    """Two joints along x and a control-driven square at the end."""
    points = np.array([[x, y, 0.0] for x in (0, 1, 2, 3) for y in (0, 1)])
    world = np.tile(np.eye(4), (2, 1, 1))
    world[1, 0, 3] = 1.5
    skeleton = Skeleton.from_world(["base", "tip"], [-1, 0], world, axes)
    joints = (points[:, :1] > 1.5).astype(np.int32)
    return ps.Rig(ps.Mesh(points, [[0, 1, 2]]), skeleton, joints, np.ones((8, 1)))


def pose(base: float = 0.0, tip: float = 0.0, **controls: float) -> ps.Pose:
    turn = rotations.from_axis_angle((0.0, 0.0, 1.0), np.array([base, tip]))
    return ps.Pose(turn, controls=controls)


def sculpted(poses: dict[str, ps.Pose], rig: ps.Rig | None = None) -> ps.Examples:
    """Sculpts of the bar, each moving vertices of its own."""
    rig = rig or bar()
    shapes = []
    for index, each in enumerate(poses.values()):
        bump = np.zeros((8, 3))
        bump[index % 8 :: 3, 2] = 0.1 * (1 + index)
        shapes.append(rig.skin(each, bump))
    return ps.Examples.from_shapes(rig, ps.Motion.from_poses(list(poses.values()), list(poses)), shapes)


def layers_of(examples: ps.Examples) -> list[tuple[str, tuple[str, ...], tuple[int, ...]]]:
    silent = np.zeros(len(examples), dtype=bool)
    return [(p.space.kind, p.space.names, p.own) for p in plan_layers(examples.rig, examples.motion, silent)]


def test_examples_that_move_the_same_controls_make_a_layer() -> None:
    examples = sculpted(
        {
            "a": pose(tip=0.5),
            "b": pose(smile=1.0),
            "c": pose(tip=1.0),
            "d": pose(tip=0.5, smile=1.0),
            "e": pose(base=0.3, tip=0.2),
        }
    )
    assert layers_of(examples) == [
        ("joint", ("tip",), (0, 2)),
        ("controls", ("smile",), (1,)),
        ("angles", ("tip.z", "smile"), (3,)),
        ("joint", ("base", "tip"), (4,)),
    ]
    hinge = np.zeros((2, 3, 3))
    hinge[:, 2, 2] = 1
    hinge[1, 0, 0] = 1
    assert layers_of(sculpted({"d": pose(tip=0.5, smile=1.0)}, bar(hinge)))[0][1] == ("tip.x", "tip.z", "smile")


def test_a_later_layer_is_widened_where_an_earlier_sculpt_would_lie_on_its_own() -> None:
    examples = sculpted({"both": pose(base=0.5, tip=0.8), "tip": pose(tip=0.8), "other": pose(tip=-0.8)})
    assert layers_of(examples) == [("joint", ("base", "tip"), (0,)), ("joint", ("base", "tip"), (1, 2))]
    assert misfit(ps.PSD().fit(examples), examples) < 1e-6
    apart = sculpted({"both": pose(base=0.5, tip=0.4), "tip": pose(tip=0.8)})
    assert layers_of(apart)[1] == ("joint", ("tip",), (1,))
    assert misfit(ps.PSD().fit(apart), apart) < 1e-6


def test_joints_and_controls_that_rest_are_not_disturbed() -> None:
    examples = sculpted({"tip": pose(tip=0.8), "smile": pose(smile=1.0)})
    skin = ps.PSD().fit(examples)
    alone = ps.PSD().fit(examples.subset([0]))
    half = pose(tip=0.4)
    np.testing.assert_allclose(skin.pose(half)[0], alone.pose(half)[0], atol=1e-12)


def test_a_joint_that_the_file_shows_turned_from_the_bound_pose_is_at_rest() -> None:
    plain = bar()
    tipped = rotations.from_axis_angle((1.0, 0.0, 0.0), np.pi / 2)
    rest = np.stack([tipped, plain.skeleton.rest_rotations[1]])
    skeleton = Skeleton(plain.skeleton.names, plain.skeleton.parents, plain.skeleton.frames, rest)
    rig = ps.Rig(plain.mesh, skeleton, plain.influences, plain.weights, plain.inverse_bind)
    poses = {}
    for name, tip, controls in (("tip", 0.8, {}), ("smile", 0.0, {"smile": 1.0}), ("shown", 0.0, {})):
        turn = np.stack([tipped, pose(tip=tip).rotations[1]])
        poses[name] = ps.Pose(turn, controls=controls)
    poses["base"] = pose(base=0.6)
    examples = sculpted(poses, rig)
    quiet = np.array(examples.shapes)
    quiet[2] = rig.skin(poses["shown"])
    for each in (examples, ps.Examples.from_shapes(rig, examples.motion, quiet)):
        skin = ps.PSD().fit(each)
        assert [layer.name for layer in skin.layers] == ["tip", "smile", "base"]
        assert misfit(skin, each) < 1e-6


def test_falloff_by_name_stretches_an_axis() -> None:
    examples = sculpted({"both": pose(tip=0.5, smile=1.0)})
    sizes = []
    for falloff in (0.3, {"tip": 0.3, "smile": 2.0}, {("smile", "tip"): 0.3}, {"*": 0.3, "smile": 2.0}):
        skin = ps.PSD(falloff=falloff).fit(examples)
        sizes.append(float(np.abs(skin.displacements(pose(tip=0.5, smile=0.5))).max()))
    narrow, wide, layer, rest = sizes
    assert wide > 1.2 * narrow
    assert (layer, rest) == (pytest.approx(narrow), pytest.approx(wide))
    partly = ps.PSD(falloff={"tip": 0.3}).fit(examples).about["layers"][0]["falloff"]
    assert partly["tip.z"] == 0.3
    assert partly["smile"] == pytest.approx(np.hypot(0.5, 1.0))
    with pytest.warns(UserWarning, match="falloff of 'smiel': no layer has it"):
        ps.PSD(falloff={"smiel": 1.0}).fit(examples)


@pytest.mark.parametrize("falloff", [0, -1.0, np.nan, "wide"])
def test_a_falloff_that_is_not_above_zero_is_named(falloff: float) -> None:
    with pytest.raises(InputError, match=r"^falloff: expected a finite number above 0, got"):
        ps.PSD(falloff=falloff)
    with pytest.raises(InputError, match=r"^falloff of 'smile': expected a finite number above 0, got"):
        ps.PSD(falloff={"smile": falloff})


def test_a_falloff_too_wide_for_its_samples_is_told() -> None:
    examples = sculpted({"a": pose(tip=0.5), "b": pose(tip=0.5001), "c": pose(tip=1.0)})
    with pytest.raises(InputError, match=r"layer 'tip': .*closest samples are 'a' and 'b': use a falloff below 30"):
        ps.PSD(falloff=30.0).fit(examples)
    assert misfit(ps.PSD().fit(examples), examples) < 1e-6


def test_one_sample_works_by_the_anchor_and_without_it_fades_with_the_distance() -> None:
    examples = sculpted({"tip": pose(tip=0.8)})
    for settings_ in (ps.PSD(), ps.PSD(anchor=False), ps.PSD("linear", anchor=False)):
        assert misfit(settings_.fit(examples), examples) < 1e-6
    size = np.abs(ps.PSD().fit(examples).displacements(examples.rig.rest)).max()
    loose = np.abs(ps.PSD(anchor=False, falloff=0.8).fit(examples).displacements(examples.rig.rest)).max()
    assert size < 1e-9
    assert loose == pytest.approx(0.1 * np.exp(-0.5), rel=1e-5)


def test_a_sculpt_in_the_rest_pose_is_met() -> None:
    examples = sculpted({"tip": pose(tip=0.8), "rest": pose(), "smile": pose(smile=1.0)})
    with pytest.warns(UserWarning, match="sculpt 'rest' is at the rest pose and not the rest shape") as told:
        skin = ps.PSD().fit(examples)
    assert len(told) == 1
    assert misfit(skin, examples) < 1e-6
    assert np.abs(skin.displacements(pose())).max() == pytest.approx(0.2, rel=1e-5)


def test_the_rest_shape_as_an_example_is_the_anchor() -> None:
    rig = bar()
    examples = sculpted({"tip": pose(tip=0.8)}, rig)
    motion = ps.Motion.from_poses([rig.rest, pose(tip=0.8)], ["rest", "tip"])
    given_rest = ps.Examples.from_shapes(rig, motion, [rig.mesh.points, examples.shapes[0]])
    for anchor in (True, False):
        skin = ps.PSD(anchor=anchor).fit(given_rest)
        half = pose(tip=0.4)
        np.testing.assert_allclose(skin.pose(half)[0], ps.PSD().fit(examples).pose(half)[0], atol=1e-9)


def test_a_given_space_takes_all_examples_in_one_layer() -> None:
    poses = {"open": pose(open=1.0), "smile": pose(smile=1.0), "both": pose(open=1.0, smile=1.0)}
    examples = sculpted(poses)
    skin = ps.PSD(space=ps.PoseSpace("controls", ("open", "smile"))).fit(examples)
    assert len(skin.layers) == 1
    assert misfit(skin, examples) < 1e-6
    bent = sculpted({"open": pose(open=1.0), "bent": pose(open=1.0, tip=0.8)})
    with pytest.raises(InputError, match="'open' and 'bent' lie at the same place"):
        ps.PSD(space=ps.PoseSpace("controls", ("open",))).fit(bent)


def test_a_sculpt_outside_a_given_space_is_refused_and_does_not_replace_the_rest_shape() -> None:
    def fit(space: ps.PoseSpace, **moved: float) -> ps.Skin:
        return ps.PSD(space=space).fit(sculpted({"fine": pose(smile=1.0, tip=0.8), "odd": pose(**moved)}))

    plane = ps.PoseSpace("controls", ("smile", "open"))
    unknown = "sculpt 'odd': its control 'smle' is not in the pose space; the closest is 'smile'"
    for moved in ({"smle": 1.0}, {"smle": 1.0, "open": 1.0}):
        with pytest.raises(InputError, match=unknown):
            fit(plane, **moved)
    nothing = "sculpt 'odd': it moves 'base' but nothing of the pose space, where it would replace the rest shape"
    for space in (plane, ps.PoseSpace("joint", ("tip",)), ps.PoseSpace("angles", ("tip.x", "tip.y", "tip.z"))):
        with pytest.raises(InputError, match=nothing):
            fit(space, base=0.5)
    points = ps.PoseSpace("points", ("smile",))
    with pytest.raises(InputError, match=r"its control 'smile' is not in the pose space; the closest is 'smile\."):
        fit(points)
    assert len(fit(plane, open=1.0, base=0.5).layers) == 1


def wrong(examples: ps.Examples, **change: object) -> ps.Examples:
    shapes = change.get("shapes", examples.shapes)
    return ps.Examples(examples.rig, examples.motion, shapes)  # type: ignore[arg-type]


def test_what_cannot_be_fitted_is_named_in_one_line() -> None:
    good = sculpted({"bent": pose(tip=0.8), "more": pose(tip=1.2)})
    holes = np.array(good.shapes)
    holes[1, 3, 0] = np.nan
    shift = ps.Pose(pose().rotations, [[0, 0, 0], [0.3, 0, 0]])
    shifted = ps.Motion.from_poses([pose(tip=0.8), shift], ["bent", "shifted"])
    still = ps.Examples.from_shapes(good.rig, ps.Motion.from_poses([pose()], ["still"]), [good.rig.mesh.points])
    cases = {
        "shape of pose 'more': expected finite numbers, got nan at [3, 0]": wrong(good, shapes=holes),
        "shape of pose 'bent': expected shape (8, 3), got (7, 3)": wrong(good, shapes=np.array(good.shapes)[:, 1:]),
        "sculpts 'a' and 'b' lie at the same place": sculpted({"a": pose(tip=0.8), "b": pose(tip=0.8)}),
        "no pose differs from rest": still,
        "pose 'shifted': it only shifts joints ('tip')": ps.Examples(good.rig, shifted, good.shapes),
        "control 'look.x': beside joints its ending": sculpted({"a": pose(tip=0.8, **{"look.x": 1.0})}),
    }
    for message, examples in cases.items():
        with pytest.raises(InputError, match=re.escape(message)) as caught:
            ps.PSD().fit(examples)
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="per_vertex: expected the kernel gaussian or exponential"):
        ps.PSD("linear", per_vertex=True)
    with pytest.raises(InputError, match=r"space: expected a pose space, as .* got 'forearm'"):
        ps.PSD(space="forearm")  # type: ignore[arg-type]
    for name in ("smoothing", "tolerance"):
        with pytest.raises(InputError, match=f"{name}: expected a number, got 'low'"):
            ps.PSD(**{name: "low"})  # type: ignore[arg-type]


def test_smoothing_averages_sculpts_at_one_pose() -> None:
    examples = sculpted({"a": pose(tip=0.8), "b": pose(tip=0.8)})
    skin = ps.PSD(smoothing=0.01).fit(examples)
    mean = (examples.residual(0)[0] + examples.residual(1)[0]) / 2
    np.testing.assert_allclose(skin.displacements(pose(tip=0.8)), mean, atol=0.01)
