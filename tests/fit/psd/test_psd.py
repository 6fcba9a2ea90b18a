"""Pose space deformation in layers: every sculpt is reproduced in any order of adding, and what cannot be is named."""

from __future__ import annotations

import re

import numpy as np
import pytest
from helpers.sculpts import bar, misfit, posed, random_sculpts, sculpted
from helpers.strategies import random_rig, seeds
from hypothesis import given, settings
from hypothesis import strategies as st

import posespace as ps
from posespace.errors import InputError
from posespace.fit.psd.plan import plan_layers
from posespace.geometry import rotations
from posespace.skeleton import Skeleton


@settings(max_examples=25)
@given(seeds, st.integers(1, 9), st.sampled_from(["gaussian", "exponential", "thin_plate", "multiquadric"]))
def test_every_sculpt_is_reproduced_in_any_order_of_adding(seed: int, count: int, kernel: str) -> None:
    rng = np.random.default_rng(seed)
    examples = random_sculpts(rng, random_rig(rng, joints=4), count)
    skin = ps.PSD(kernel).fit(examples)
    assert misfit(skin, examples) < 1e-6
    rest, _ = skin.pose(examples.rig.rest)
    np.testing.assert_allclose(rest, examples.rig.skin(examples.rig.rest), atol=1e-6 * examples.rig.mesh.diagonal)
    session = ps.Sculpts(examples.rig, ps.PSD(kernel))
    for number, (name, (pose, shape)) in enumerate(zip(examples.motion.names, examples, strict=True)):
        session.add(name, pose, shape)
        assert misfit(session.skin(), examples[[number]]) < 1e-6
    # Those before each are checked at the end: every beginning of a sequence is also a sequence of its own.
    assert misfit(session.skin(), examples) < 1e-6


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


@pytest.mark.parametrize("options", [{}, {"normals": "shared"}, {"per_vertex": True}, {"kernel": "gaussian"}])
def test_sculpts_that_plain_skinning_gives_add_no_layer(options: dict[str, str]) -> None:
    examples = sculpted({"a": posed(tip=0.5), "b": posed(base=0.7)})
    shapes = [examples.shapes[0], examples.rig.skin(examples.motion[1])]
    skin = ps.PSD(**options).fit(ps.Examples.from_shapes(examples.rig, examples.motion, shapes))  # type: ignore[arg-type]
    assert len(skin.layers) == len(skin.about["layers"]) == 1
    plain = ps.Examples.from_shapes(
        examples.rig, examples.motion, [examples.rig.skin(pose) for pose in examples.motion]
    )
    assert ps.PSD(**options).fit(plain).layers == ()  # type: ignore[arg-type]


def test_per_vertex_interpolates_over_just_the_sculpts_that_moved_a_vertex() -> None:
    examples = sculpted({"a": posed(tip=0.5), "b": posed(tip=1.0)})
    where = posed(tip=0.8)
    held, loose = (ps.PSD(radius=0.4, per_vertex=each).fit(examples) for each in (False, True))
    # Vertex 0 is moved by "a" alone: an RBF of "a" and the rest pose says where it goes.
    alone = ps.RBF("gaussian", 0.4).fit([[0.0], [0.5]], [0.0, 0.1])
    for at in (where, posed(tip=1.0)):
        angle = [[2 * np.arcsin(at.rotations[2, 2])]]
        assert loose.displacements(at)[0, 2] == pytest.approx(alone(angle)[0], abs=1e-7)
    assert abs(held.displacements(posed(tip=1.0))[0, 2]) < 1e-9
    assert loose.displacements(posed(tip=1.0))[0, 2] > 0.01


def layers_of(examples: ps.Examples) -> list[tuple[str, tuple[str, ...], tuple[int, ...]]]:
    none = np.zeros(len(examples), dtype=bool)
    return [(p.space.kind, p.space.names, p.examples) for p in plan_layers(examples.rig, examples.motion, none, none)]


def test_examples_that_move_the_same_controls_make_a_layer() -> None:
    examples = sculpted(
        {
            "a": posed(tip=0.5),
            "b": posed(smile=1.0),
            "c": posed(tip=1.0),
            "d": posed(tip=0.5, smile=1.0),
            "e": posed(base=0.3, tip=0.2),
        }
    )
    assert layers_of(examples) == [
        ("joint", ("tip",), (0, 2)),
        ("controls", ("smile",), (1,)),
        ("freedoms", ("tip.z", "smile"), (3,)),
        ("joint", ("base", "tip"), (4,)),
    ]
    hinge = np.zeros((3, 3, 3))
    hinge[:, 2, 2] = 1
    hinge[2, 0, 0] = 1
    assert layers_of(sculpted({"d": posed(tip=0.5, smile=1.0)}, bar(hinge)))[0][1] == ("tip.x", "tip.z", "smile")


def test_a_later_layer_is_widened_where_an_earlier_sculpt_would_lie_on_its_own() -> None:
    examples = sculpted({"both": posed(base=0.5, tip=0.8), "tip": posed(tip=0.8), "other": posed(tip=-0.8)})
    assert layers_of(examples) == [("joint", ("base", "tip"), (0,)), ("joint", ("base", "tip"), (1, 2))]
    assert misfit(ps.PSD().fit(examples), examples) < 1e-6
    apart = sculpted({"both": posed(base=0.5, tip=0.4), "tip": posed(tip=0.8)})
    assert layers_of(apart)[1] == ("joint", ("tip",), (1,))
    assert misfit(ps.PSD().fit(apart), apart) < 1e-6


def test_joints_and_controls_that_rest_are_not_disturbed() -> None:
    examples = sculpted({"tip": posed(tip=0.8), "smile": posed(smile=1.0)})
    skin = ps.PSD().fit(examples)
    alone = ps.PSD().fit(examples[[0]])
    half = posed(tip=0.4)
    np.testing.assert_allclose(skin.pose(half)[0], alone.pose(half)[0], atol=1e-12)


def test_a_joint_that_the_file_shows_turned_from_the_bound_pose_is_at_rest() -> None:
    plain = bar()
    tipped = rotations.from_axis_angle((1.0, 0.0, 0.0), np.pi / 2)
    rest = np.array(plain.skeleton.rest_rotations, dtype=np.float64)
    rest[1] = tipped
    skeleton = Skeleton(plain.skeleton.names, plain.skeleton.parents, plain.skeleton.local_frames, rest)
    rig = ps.Rig(plain.mesh, skeleton, plain.influences, plain.weights, plain.inverse_bind)
    poses = {}
    for name, tip, controls in (("tip", 0.8, {}), ("smile", 0.0, {"smile": 1.0}), ("shown", 0.0, {})):
        turn = np.array(posed(tip=tip).rotations)
        turn[1] = tipped
        poses[name] = ps.Pose(turn, controls=controls)
    poses["base"] = posed(base=0.6)
    examples = sculpted(poses, rig)
    quiet = np.array(examples.shapes)
    quiet[2] = rig.skin(poses["shown"])
    for each in (examples, ps.Examples.from_shapes(rig, examples.motion, quiet)):
        skin = ps.PSD().fit(each)
        assert [layer.name for layer in skin.layers] == ["tip", "smile", "base"]
        assert misfit(skin, each) < 1e-6


def test_radius_by_name_stretches_an_axis() -> None:
    examples = sculpted({"both": posed(tip=0.5, smile=1.0)})
    sizes = []
    for radius in (0.3, {"tip": 0.3, "smile": 2.0}, {("smile", "tip"): 0.3}, {"*": 0.3, "smile": 2.0}):
        skin = ps.PSD(radius=radius).fit(examples)
        sizes.append(float(np.abs(skin.displacements(posed(tip=0.5, smile=0.5))).max()))
    narrow, wide, layer, rest = sizes
    assert wide > 1.2 * narrow
    assert (layer, rest) == (pytest.approx(narrow), pytest.approx(wide))
    partly = ps.PSD(radius={"tip": 0.3}).fit(examples).about["layers"][0]["radius"]
    assert partly["tip.z"] == 0.3
    assert partly["smile"] == pytest.approx(np.hypot(0.5, 1.0))
    with pytest.warns(UserWarning, match="radius of 'smiel': no layer has it"):
        ps.PSD(radius={"smiel": 1.0}).fit(examples)


@pytest.mark.parametrize("radius", [0, -1.0, np.nan, "wide"])
def test_a_radius_that_is_not_above_zero_is_named(radius: float) -> None:
    with pytest.raises(InputError, match=r"^radius: expected a finite number above 0, got"):
        ps.PSD(radius=radius)
    with pytest.raises(InputError, match=r"^radius of 'smile': expected a finite number above 0, got"):
        ps.PSD(radius={"smile": radius})


def test_a_radius_too_wide_for_its_samples_evens_out_those_that_are_too_close() -> None:
    examples = sculpted({"a": posed(tip=0.5), "b": posed(tip=0.5001), "c": posed(tip=1.0)})
    skin = ps.PSD(radius=30.0).fit(examples)
    mean = (examples.residual(0)[0] + examples.residual(1)[0]) / 2
    np.testing.assert_allclose(skin.displacements(posed(tip=0.50005)), mean, atol=0.01)
    assert misfit(ps.PSD().fit(examples), examples) < 1e-6


def test_one_sample_works_by_the_anchor_and_without_it_fades_with_the_distance() -> None:
    examples = sculpted({"tip": posed(tip=0.8)})
    for settings_ in (ps.PSD(), ps.PSD(anchor=False), ps.PSD("linear", anchor=False)):
        assert misfit(settings_.fit(examples), examples) < 1e-6
    size = np.abs(ps.PSD().fit(examples).displacements(examples.rig.rest)).max()
    loose = np.abs(ps.PSD("gaussian", anchor=False, radius=0.8).fit(examples).displacements(examples.rig.rest)).max()
    assert size < 1e-9
    assert loose == pytest.approx(0.1 * np.exp(-0.5), rel=1e-5)


def test_a_sculpt_in_the_rest_pose_is_met() -> None:
    examples = sculpted({"tip": posed(tip=0.8), "rest": posed(), "smile": posed(smile=1.0)})
    with pytest.warns(UserWarning, match="sculpt 'rest' is at the rest pose and not the rest shape") as caught:
        skin = ps.PSD().fit(examples)
    assert len(caught) == 1
    assert misfit(skin, examples) < 1e-6
    assert np.abs(skin.displacements(posed())).max() == pytest.approx(0.2, rel=1e-5)


def test_the_rest_shape_as_an_example_is_the_anchor() -> None:
    rig = bar()
    examples = sculpted({"tip": posed(tip=0.8)}, rig)
    motion = ps.Motion.from_poses([rig.rest, posed(tip=0.8)], ["rest", "tip"])
    given_rest = ps.Examples.from_shapes(rig, motion, [rig.mesh.points, examples.shapes[0]])
    for anchor in (True, False):
        skin = ps.PSD(anchor=anchor).fit(given_rest)
        half = posed(tip=0.4)
        np.testing.assert_allclose(skin.pose(half)[0], ps.PSD().fit(examples).pose(half)[0], atol=1e-9)


def test_a_given_space_takes_all_examples_in_one_layer() -> None:
    poses = {"open": posed(open=1.0), "smile": posed(smile=1.0), "both": posed(open=1.0, smile=1.0)}
    examples = sculpted(poses)
    skin = ps.PSD(space=ps.PoseSpace("controls", ("open", "smile"))).fit(examples)
    assert len(skin.layers) == 1
    assert misfit(skin, examples) < 1e-6
    bent = sculpted({"open": posed(open=1.0), "bent": posed(open=1.0, tip=0.8)})
    # In this space both coincide.
    evened = ps.PSD(space=ps.PoseSpace("controls", ("open",))).fit(bent)
    mean = (bent.residual(0)[0] + bent.residual(1)[0]) / 2
    np.testing.assert_allclose(evened.displacements(posed(open=1.0)), mean, atol=1e-6)


def test_a_sculpt_outside_a_given_space_is_refused_and_does_not_replace_the_rest_shape() -> None:
    def fit(space: ps.PoseSpace, **moved: float) -> ps.Skin:
        return ps.PSD(space=space).fit(sculpted({"fine": posed(smile=1.0, tip=0.8), "odd": posed(**moved)}))

    plane = ps.PoseSpace("controls", ("smile", "open"))
    unknown = "sculpt 'odd': its control 'smle' is not in the pose space; the closest is 'smile'"
    for moved in ({"smle": 1.0}, {"smle": 1.0, "open": 1.0}):
        with pytest.raises(InputError, match=unknown):
            fit(plane, **moved)
    nothing = "sculpt 'odd': it moves 'base' but nothing of the pose space, where it would replace the rest shape"
    for space in (plane, ps.PoseSpace("joint", ("tip",)), ps.PoseSpace("freedoms", ("tip.x", "tip.y", "tip.z"))):
        with pytest.raises(InputError, match=nothing):
            fit(space, base=0.5)
    other = ps.PoseSpace("controls", ("smile.x", "smile.y"))
    with pytest.raises(InputError, match=r"its control 'smile' is not in the pose space; the closest is 'smile\."):
        fit(other)
    assert len(fit(plane, open=1.0, base=0.5).layers) == 1


def wrong(examples: ps.Examples, **change: object) -> ps.Examples:
    shapes = change.get("shapes", examples.shapes)
    return ps.Examples(examples.rig, examples.motion, shapes)  # type: ignore[arg-type]


def test_what_cannot_be_fitted_is_named_in_one_line() -> None:
    good = sculpted({"bent": posed(tip=0.8), "more": posed(tip=1.2)})
    holes = np.array(good.shapes)
    holes[1, 3, 0] = np.nan
    still = ps.Examples.from_shapes(good.rig, ps.Motion.from_poses([posed()], ["still"]), [good.rig.mesh.points])
    cases = {
        "shape of pose 'more': expected finite numbers, got nan at [3, 0]": wrong(good, shapes=holes),
        "shape of pose 'bent': expected shape (8, 3), got (7, 3)": wrong(good, shapes=np.array(good.shapes)[:, 1:]),
        "no pose differs from rest": still,
        "control 'look.x': next to joints its ending": sculpted({"a": posed(tip=0.8, **{"look.x": 1.0})}),
    }
    for message, examples in cases.items():
        with pytest.raises(InputError, match=re.escape(message)) as caught:
            ps.PSD().fit(examples)
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="per_vertex: expected the kernel gaussian or exponential"):
        ps.PSD("linear", per_vertex=True)
    with pytest.raises(InputError, match=r"space: expected a pose space, e\.g\. .* got 'forearm'"):
        ps.PSD(space="forearm")  # type: ignore[arg-type]
    for name in ("smoothing", "tolerance"):
        with pytest.raises(InputError, match=f"{name}: expected a number, got 'low'"):
            ps.PSD(**{name: "low"})  # type: ignore[arg-type]


def test_smoothing_averages_sculpts_at_one_pose() -> None:
    examples = sculpted({"a": posed(tip=0.8), "b": posed(tip=0.8)})
    with pytest.warns(UserWarning, match="'a' and 'b' show one pose"):
        skin = ps.PSD(smoothing=0.01).fit(examples)
    mean = (examples.residual(0)[0] + examples.residual(1)[0]) / 2
    np.testing.assert_allclose(skin.displacements(posed(tip=0.8)), mean, atol=0.01)


def test_sculpts_of_a_joint_that_only_shifts_are_met() -> None:
    shifts = {f"shift {k}": ps.Pose(posed().rotations, [[0, 0, 0], [0, 0, 0], [0.1 * k, 0, 0]]) for k in (-2, 1, 3)}
    examples = sculpted({"bent": posed(tip=0.8), **shifts})
    skin = ps.PSD().fit(examples)
    assert [layer.driver.space.names for layer in skin.layers] == [("tip.z", "tip.tx")]
    assert misfit(skin, examples) < 1e-6


def test_the_motion_of_the_whole_is_no_pose() -> None:
    turned = ps.Pose(rotations.from_axis_angle((0.0, 0.0, 1.0), np.array([0.7, 0.0, 0.8])), np.full((3, 3), 0.0))
    examples = sculpted({"bent": posed(tip=0.8)})
    skin = ps.PSD().fit(examples)
    np.testing.assert_allclose(skin.displacements(turned), skin.displacements(posed(tip=0.8)), atol=1e-12)


def test_layers_whose_shortened_names_agree_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    names = [f"dial{k}" for k in range(8)]
    mesh = ps.Mesh(rng.normal(size=(30, 3)), np.array([[0, 1, 2]]))
    rig = ps.Rig.from_mesh(mesh)
    poses = [ps.Pose(rig.rest.rotations, controls=dict.fromkeys([*names[:6], last], 1.0)) for last in names[6:]]
    shapes = [mesh.points + 0.1 * rng.normal(size=(30, 3)) for _ in poses]
    skin = ps.PSD().fit(ps.Examples.from_shapes(rig, ps.Motion.from_poses(poses, ["a", "b"]), shapes))
    assert [layer.name for layer in skin.layers] == [
        "dial0 + dial1 + dial2 + 4 more",
        "dial0 + dial1 + dial2 + 4 more #2",
    ]
