"""ControlPoints: what it learns from a few shapes, and what it says of input it cannot use."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.commands import run
from helpers.separate_pieces import with_pieces
from helpers.strategies import random_rotations

import posespace as ps
from posespace.fit.points.points import LOCAL
from posespace.geometry import rotations
from posespace.geometry.subdivision import fine_vertex_count
from posespace.poses.control_points import examples_from_shapes, motion_from_shapes

SMALL = {"points": 8, "bones": 10}


@pytest.fixture(scope="module")
def arm() -> tuple[ps.Examples, ps.Examples]:
    """Fourteen bent arms that are placed and turned at random, and ten unseen ones."""
    train, unseen = ps.datasets.bending_arm(rings=24, sides=12)
    return moved(train[np.linspace(0, 29, 14).astype(int)], 1), moved(unseen[:10], 2)


def moved(examples: ps.Examples, seed: int) -> ps.Examples:
    """The shapes of examples, each moved rigidly, of a rig without joints."""
    rng = np.random.default_rng(seed)
    turns = rotations.matrices(random_rotations(rng, len(examples)))
    shapes = np.stack([shape @ turn.T + rng.normal(size=3) for (_, shape), turn in zip(examples, turns, strict=True)])
    rig = ps.Rig.from_mesh(examples.rig.mesh)
    return ps.Examples.from_shapes(rig, ps.Motion(np.tile(rotations.IDENTITY, (len(shapes), 1, 1))), shapes)


@pytest.fixture(scope="module")
def skin(arm: tuple[ps.Examples, ps.Examples]) -> ps.Skin:
    return ps.ControlPoints(**SMALL).fit(arm[0])


def test_unseen_shapes_are_nearer_than_by_plain_skinning_of_the_points(
    arm: tuple[ps.Examples, ps.Examples], skin: ps.Skin
) -> None:
    unseen = examples_from_shapes(arm[1], skin.rig, skin.bones.points)
    score = ps.evaluate(skin, unseen)
    assert score.rel_err < 0.01
    assert score.rms < 1e-3
    assert score.seen == 0
    assert ps.evaluate(skin, arm[0]).seen == len(arm[0])


def test_any_examples_of_the_mesh_can_be_evaluated_on(arm: tuple[ps.Examples, ps.Examples], skin: ps.Skin) -> None:
    followed_score = ps.evaluate(skin, examples_from_shapes(arm[1], skin.rig, skin.bones.points))
    assert ps.evaluate(skin, arm[1]).rms == pytest.approx(followed_score.rms)


def test_each_example_is_returned_up_to_what_regularisation_leaves(
    arm: tuple[ps.Examples, ps.Examples], skin: ps.Skin
) -> None:
    score = ps.evaluate(skin, arm[0])
    assert score.rms == pytest.approx(skin.about["rms on its examples"], rel=1e-3)
    assert score.rms < 1e-3


def test_where_and_how_the_examples_are_placed_does_not_matter(
    arm: tuple[ps.Examples, ps.Examples], skin: ps.Skin
) -> None:
    other = ps.ControlPoints(**SMALL).fit(moved(arm[0], 7))
    assert ps.evaluate(other, arm[1]).rms == pytest.approx(ps.evaluate(skin, arm[1]).rms, rel=0.05)


def test_other_units_change_nothing(arm: tuple[ps.Examples, ps.Examples], skin: ps.Skin) -> None:
    def scaled(examples: ps.Examples) -> ps.Examples:
        mesh = examples.rig.mesh.with_points(1000 * examples.rig.mesh.points)
        shapes = np.stack([1000 * np.asarray(shape) for _, shape in examples])
        return ps.Examples.from_shapes(ps.Rig.from_mesh(mesh), examples.motion, shapes)

    large = ps.ControlPoints(**SMALL).fit(scaled(arm[0]))
    np.testing.assert_array_equal(large.bones.points, skin.bones.points)
    assert ps.evaluate(large, scaled(arm[1])).rms == pytest.approx(ps.evaluate(skin, arm[1]).rms, rel=0.02)


@pytest.mark.parametrize("local", LOCAL)
def test_every_kind_of_model_saves_compiles_and_stays_near_unseen_shapes(
    arm: tuple[ps.Examples, ps.Examples], local: str, tmp_path: Path
) -> None:
    fitted = ps.ControlPoints(**SMALL, local=local, near_poses=5).fit(arm[0])
    fitted.save(tmp_path / "arm.skin")
    loaded = ps.Skin.load(tmp_path / "arm.skin")
    motion = motion_from_shapes(arm[1], loaded.rig, loaded.bones.points)
    for pose, (points, _) in zip(motion, loaded.compile().many(motion), strict=True):
        np.testing.assert_allclose(points, fitted.pose(pose)[0], atol=1e-4)
    assert ps.evaluate(loaded, arm[1]).rms < 5e-3


def test_points_that_are_picked_are_taken(arm: tuple[ps.Examples, ps.Examples]) -> None:
    picked = [3, 40, 77, 120, 200, 260]
    for given in (picked, "3, 40,77,120,200,260"):
        fitted = ps.ControlPoints(picked=given, bones=10).fit(arm[0])
        assert fitted.bones.points.tolist() == picked


def test_detail_follows_the_points(arm: tuple[ps.Examples, ps.Examples]) -> None:
    mesh = arm[0].rig.mesh
    fine = fine_vertex_count(mesh.triangles, len(mesh.points), 1)
    rng = np.random.default_rng(0)
    fixed, changing = rng.normal(size=(2, fine))
    bends = np.array([np.linalg.norm(np.ptp(shape, axis=0)) for _, shape in arm[0]])
    bends = (bends - bends.mean()) / bends.std()
    heights = 0.001 * (fixed + bends[:, None] * changing)
    fitted = ps.ControlPoints(**SMALL).fit(replace(arm[0], heights=heights, levels=1))
    assert fitted.detail is not None
    assert fitted.bones.detail_count == len(fitted.detail.heights) == 2
    motion = motion_from_shapes(arm[0], fitted.rig, fitted.bones.points)
    still = replace(fitted, detail=None)
    static = replace(fitted.detail, heights=np.stack([heights[0], 0 * changing]))
    errors = {"moving": 0.0, "static": 0.0}
    for pose, wanted in zip(motion, heights, strict=True):
        flat = fitted.mesh.with_points(fitted._levels[0].refine(still.pose(pose)[0]))
        for name, relief in (("moving", fitted.detail), ("static", static)):
            raised = ((replace(fitted, detail=relief).pose(pose)[0] - flat.points) * flat.normals()).sum(axis=1)
            errors[name] += float(np.square(raised - wanted).mean())
    assert errors["moving"] < 0.05 * errors["static"]
    scores = [
        ps.evaluate(replace(fitted, detail=relief), replace(arm[0], heights=heights, levels=1))
        for relief in (fitted.detail, static)
    ]
    assert scores[0].height_rms is not None
    assert scores[1].height_rms is not None
    assert scores[0].height_rms < 0.3 * scores[1].height_rms
    assert scores[0].rms == scores[1].rms == ps.evaluate(replace(fitted, detail=None), arm[0]).rms
    assert ps.evaluate(fitted, arm[0]).height_rms is None
    packed = fitted.packed(16)
    assert packed.detail is not None
    pose = motion[3]
    np.testing.assert_allclose(packed.pose(pose)[0], fitted.pose(pose)[0], atol=1e-6)
    assert len(fitted.pose(pose)[0]) == fine


def test_a_point_moves_the_skin_around_it_alone(arm: tuple[ps.Examples, ps.Examples]) -> None:
    """A bone that is influenced by near points alone is not rotated by far ones."""
    fitted = ps.ControlPoints(**SMALL, near_points=3, beta=100.0).fit(arm[0])
    near, rest = fitted.bones.near, np.zeros((len(fitted.bones.points), 3))
    still = rotations.matrices(fitted.bones.predict(rest)[0])
    for point in range(len(rest)):
        translations = rest.copy()
        translations[point] = 0.05
        rotated = rotations.matrices(fitted.bones.predict(translations)[0])
        unaffected = ~(near == point).any(axis=1)
        np.testing.assert_array_equal(rotated[unaffected], still[unaffected])


def test_corrections_bring_the_examples_back_more_closely_and_unseen_shapes_too(
    arm: tuple[ps.Examples, ps.Examples], skin: ps.Skin
) -> None:
    plain = ps.ControlPoints(**SMALL, corrections=0).fit(arm[0])
    assert skin.about["rms on its examples"] < 0.7 * plain.about["rms on its examples"]
    assert ps.evaluate(skin, arm[1]).rms < ps.evaluate(plain, arm[1]).rms


def test_corrections_that_nothing_predicts_are_dropped(arm: tuple[ps.Examples, ps.Examples]) -> None:
    """Noise that is another in each example has no place in other poses."""
    rng = np.random.default_rng(5)
    noisy = np.stack([np.asarray(shape) + 0.02 * rng.normal(size=shape.shape) for _, shape in arm[0]])
    fitted = {k: ps.ControlPoints(**SMALL, corrections=k).fit(replace(arm[0], shapes=noisy)) for k in (0, 6)}
    errors = {k: ps.evaluate(each, arm[1]).rms for k, each in fitted.items()}
    assert errors[6] < 1.1 * errors[0]


@pytest.mark.parametrize(
    "picked", [range(0, 288, 36), range(0, 96, 12), [0, 1, 11, 2, 10, 9, 3, 288], [0, 1, 11, 2, 10, 120]]
)
def test_points_on_a_line_or_in_one_spot_still_carry_the_whole(
    arm: tuple[ps.Examples, ps.Examples], picked: Sequence[int]
) -> None:
    """Along the arm, along half of it, at its tip, and at its tip but for one: no bone is left without axes."""
    fitted = ps.ControlPoints(picked=picked, bones=10).fit(arm[0])
    assert ps.evaluate(fitted, arm[1]).rms < 0.03


@pytest.mark.parametrize("first", [0, 1])
def test_points_that_are_on_one_line_at_rest_are_refused(arm: tuple[ps.Examples, ps.Examples], first: int) -> None:
    """On a line, or all at one position."""
    points = np.array(arm[0].rig.mesh.points, dtype=np.float64)
    picked = [0, 36, 72, 108, 144, 180]
    points[picked, first:] = 0.0
    lines = ps.Rig.from_mesh(arm[0].rig.mesh.with_points(points))
    with pytest.raises(ps.InputError, match="picked: expected points that are not all on one line at rest") as raised:
        ps.ControlPoints(picked=picked, bones=10).fit(replace(arm[0], rig=lines))
    assert "\n" not in str(raised.value)


def repeated(examples: ps.Examples, numbers: list[int]) -> ps.Examples:
    motion = ps.Motion(np.tile(rotations.IDENTITY, (len(numbers), 1, 1)))
    return ps.Examples.from_shapes(examples.rig, motion, [np.asarray(examples.shapes[k]) for k in numbers])


@pytest.fixture(scope="module")
def pieces() -> tuple[ps.Examples, ps.Examples]:
    """Bent arms with twenty small separate pieces each."""
    train, unseen = ps.datasets.bending_arm(rings=16, sides=9)
    return with_pieces(train[np.linspace(0, 29, 14).astype(int)]), with_pieces(unseen[:10])


@pytest.mark.parametrize("picked", [None, [0, 20, 40, 60, 80, 100, 120, 140]])
def test_pieces_without_a_point_stay_beside_the_surface(
    pieces: tuple[ps.Examples, ps.Examples], picked: list[int] | None, tmp_path: Path
) -> None:
    size = pieces[0].rig.mesh.diagonal
    fitted = ps.ControlPoints(points=8, picked=picked, bones=40).fit(pieces[0])
    assert fitted.bones.points.max() < 146, "a small piece has a point of its own"
    fitted.save(tmp_path / "arm.skin")
    ps.export(fitted, tmp_path / "arm.glb", warn=lambda _: None)
    for shown in (fitted, ps.Skin.load(tmp_path / "arm.skin"), ps.Skin.load(tmp_path / "arm.glb"), fitted.compile()):
        for examples in pieces:
            motion = motion_from_shapes(examples, fitted.rig, fitted.bones.points)
            pose_skin = shown.pose if isinstance(shown, ps.Skin) else shown
            for pose, shape in zip(motion, examples.shapes, strict=True):
                gaps = np.linalg.norm(pose_skin(pose)[0] - np.asarray(shape), axis=1)
                assert gaps.max() < 0.08 * size


def test_points_go_to_the_large_pieces_by_area(pieces: tuple[ps.Examples, ps.Examples]) -> None:
    mesh = pieces[0].rig.mesh
    aside = np.array([3.0, 0.0, 0.0])
    points, shapes = mesh.points + aside, np.array([np.asarray(shape) for shape in pieces[0].shapes])
    both = ps.Mesh(
        np.concatenate([mesh.points, points]), np.concatenate([mesh.triangles, mesh.triangles + len(points)])
    )
    twice = ps.Examples.from_shapes(
        ps.Rig.from_mesh(both), pieces[0].motion, np.concatenate([shapes, shapes + aside], axis=1)
    )
    piece, vertex = np.divmod(ps.ControlPoints(**SMALL).fit(twice).bones.points, len(points))
    assert vertex.max() < 146
    assert 2 <= piece.sum() <= 6


def test_a_warning_names_pieces_without_a_point(arm: tuple[ps.Examples, ps.Examples]) -> None:
    train = with_pieces(arm[0], size=1.0)
    first, shapes = len(arm[0].rig.mesh.points), np.array([np.asarray(shape) for shape in train.shapes])
    corners = shapes[:, first:].reshape(-1, 4, 3)
    middle = corners.mean(axis=1, keepdims=True)
    turns = rotations.matrices(random_rotations(np.random.default_rng(0), len(corners)))
    shapes[:, first:] = (middle + (corners - middle) @ turns).reshape(len(shapes), -1, 3)
    with pytest.warns(match="[0-9]+ separate pieces of the surface have no control point; pick one on each"):
        ps.ControlPoints(points=8, bones=40, corrections=0).fit(replace(train, shapes=shapes))


def test_identical_examples_are_one(arm: tuple[ps.Examples, ps.Examples]) -> None:
    same = repeated(arm[0], [0, 0, 0, 5, 5, 9, 9, 9])
    fitted = ps.ControlPoints(**SMALL).fit(same)
    assert ps.evaluate(fitted, same).rms < 1e-3


def test_examples_that_are_all_alike_give_a_stiff_skin(arm: tuple[ps.Examples, ps.Examples]) -> None:
    fitted = ps.ControlPoints(**SMALL).fit(repeated(arm[0], [4, 4, 4]))
    assert np.isfinite(fitted.pose(fitted.rig.rest)[0]).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"points": 3, "near_points": 4}, "near_points: expected at most 3, the number of control points, got 4$"),
        ({"picked": [1, 2]}, "points: expected at least 3"),
        ({"picked": [1, 2, 99999]}, "picked: expected indices from 0 to"),
        ({"picked": [1, 2, 3, 3]}, "some twice"),
        ({"picked": "1,two"}, "vertex numbers separated by commas"),
        (
            {"local": "pose", "near_poses": 14},
            "near_poses: expected at most 13, one less than the number of examples, got 14$",
        ),
        ({"local": "nowhere"}, "local: expected one of"),
        ({"width": 0.0}, "width: expected"),
        ({"beta": -1.0}, "beta: expected"),
        ({"bones": 5000}, "bones: expected at most 2000"),
        ({"bones": 0}, "bones: expected at least 1"),
        ({"points": 100_000}, "points: expected at most"),
    ],
)
def test_bad_settings_are_refused_in_one_line(
    arm: tuple[ps.Examples, ps.Examples], settings: dict[str, object], message: str
) -> None:
    with pytest.raises(ps.InputError, match=message) as raised:
        ps.ControlPoints(**{**SMALL, **settings}).fit(arm[0])  # type: ignore[arg-type]
    assert "\n" not in str(raised.value)


def test_a_setting_that_the_examples_do_not_allow_is_named_without_their_file(
    arm: tuple[ps.Examples, ps.Examples], tmp_path: Path
) -> None:
    arm[0][:2].save(tmp_path / "two.examples")
    words = ("fit", "points", "two.examples", "-o", "two.skin", "--bones", "10", "--points")
    said = "--near-points: expected at most 3, the number of control points, got 6 (the default)"
    assert run(*words, "3", folder=tmp_path).stderr == f"posespace: {said}\n"
    said = "--near-poses: expected at most 1, one less than the number of examples, got 7 (the default)"
    assert run(*words, "8", "--local", "pose", folder=tmp_path).stderr == f"posespace: {said}\n"


def test_corrections_that_are_not_made_are_warned_of(arm: tuple[ps.Examples, ps.Examples]) -> None:
    with pytest.warns(UserWarning, match="corrections: ignored; they need `local='geometry'`"):
        fitted = ps.ControlPoints(**SMALL, local="none", corrections=4).fit(arm[0])
    assert fitted.bones.correction_count == 0


def test_one_example_is_too_few(arm: tuple[ps.Examples, ps.Examples]) -> None:
    with pytest.raises(ps.InputError, match="at least 2 shapes"):
        ps.ControlPoints(**SMALL).fit(arm[0][[0]])


def test_the_command_fits_and_info_tells(arm: tuple[ps.Examples, ps.Examples], tmp_path: Path) -> None:
    arm[0].save(tmp_path / "arm.examples")
    arm[1].save(tmp_path / "unseen.examples")
    out = tmp_path / "arm.skin"
    run("fit", "points", tmp_path / "arm.examples", "-o", out, "--points", "8", "--bones", "10")
    (told,) = json.loads(run("info", out, "--json").stdout)
    assert told["learned_bones"]["bones"] == 10
    assert told["learned_bones"]["control_points"] == 8
    page = tmp_path / "report.html"
    scores = json.loads(run("evaluate", out, tmp_path / "unseen.examples", "--json", "--report", page).stdout)
    assert "arm" in page.read_text()
    assert scores[-1]["rms"] < 0.03


def test_the_command_line_evaluates_detail_and_rivals_on_shapes_without_points(
    arm: tuple[ps.Examples, ps.Examples], tmp_path: Path
) -> None:
    fine = fine_vertex_count(arm[0].rig.mesh.triangles, len(arm[0].rig.mesh.points), 1)
    heights = 0.001 * np.random.default_rng(3).normal(size=(len(arm[0]), fine))
    examples = replace(arm[0], heights=heights, levels=1)
    examples.save(tmp_path / "arm.examples")
    ps.ControlPoints(**SMALL).fit(examples).save(tmp_path / "arm.skin")
    words = ("--rivals", "arm.examples", "--report", "page.html")
    done = run("evaluate", "arm.skin", "arm.examples", *words, folder=tmp_path)
    for name in ("FKY08", "MESHIK", "ARAP"):
        line = next(line for line in done.stdout.splitlines() if line.startswith(name))
        assert "fails" not in line
    for name in ("arm", "static map", "cascade", "all points"):
        assert f"{name}: the heights of its detail have an error of" in done.stdout
        assert f"{name}: the heights of its detail have an error of" in (tmp_path / "page.html").read_text()
