"""Other ways to detail: what each gives at its examples, that all stand beside ours, and what they refuse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.strategies import random_rotations

import posespace as ps
from posespace.geometry.subdivision import fine_vertex_count
from posespace.poses.control_points import motion_from_shapes
from posespace.rivals import height_rivals
from posespace.rivals.height_maps import RegressedHeights, StaticMap


@pytest.fixture(scope="module")
def bent() -> ps.Examples:
    """Bent arms whose skin wrinkles the more, the more they are bent; the first is the rest."""
    arms = ps.datasets.bending_arm(rings=16, sides=8)[0][:30:3]
    mesh = arms.rig.mesh
    fine = fine_vertex_count(mesh.triangles, len(mesh.points), 1)
    fixed, changing = np.random.default_rng(0).normal(size=(2, fine))
    shapes = [mesh.points, *(np.asarray(shape) for _, shape in arms)]
    bends = np.array([np.linalg.norm(shape - mesh.points) for shape in shapes])
    motion = ps.Motion(np.tile((0.0, 0.0, 0.0, 1.0), (len(shapes), 1, 1)))
    heights = 0.001 * (fixed + (bends / bends.max())[:, None] * changing)
    return ps.Examples(ps.Rig.from_mesh(mesh), motion, np.stack(shapes), heights, 1)


@pytest.fixture(scope="module")
def surface(bent: ps.Examples) -> ps.Skin:
    return ps.ControlPoints(points=8, bones=10).fit(replace(bent, heights=None))


def test_a_static_map_has_the_heights_of_the_rest_in_every_pose(bent: ps.Examples, surface: ps.Skin) -> None:
    skin = StaticMap(surface).fit(bent)
    for pose in motion_from_shapes(bent, skin.rig, skin.bones.points):
        np.testing.assert_allclose(skin.heights(pose), bent.heights[0], atol=1e-9)  # type: ignore[index]


@pytest.mark.parametrize("features", ["bones", "points"])
def test_regressions_follow_the_pose_wherever_the_whole_is(bent: ps.Examples, surface: ps.Skin, features: str) -> None:
    found = RegressedHeights(surface, features).fit(bent)
    motion = motion_from_shapes(bent, found.rig, found.points)
    turn = random_rotations(np.random.default_rng(1), 1)[0]
    for index, pose in enumerate(motion):
        wanted = np.asarray(bent.heights[index])  # type: ignore[index]
        assert np.abs(found.heights(pose) - wanted).max() < 0.2 * np.abs(wanted).max()
        turned, moved = pose.rotations.copy(), pose.translations.copy()
        turned[0], moved[0] = turn, (3.0, 2.0, 1.0)
        away = replace(pose, rotations=turned, translations=moved)
        np.testing.assert_allclose(found.heights(away), found.heights(pose), atol=1e-6)


def test_all_ways_are_scored_over_the_same_surface_and_the_static_map_loses(
    bent: ps.Examples, surface: ps.Skin
) -> None:
    scores = {name: ps.evaluate(method.fit(bent), bent) for name, method in height_rivals(surface).items()}
    assert {score.rms for score in scores.values()} == {ps.evaluate(surface, bent).rms}
    static = scores.pop("static map").height_rms
    assert static is not None
    assert all(score.height_rms is not None and score.height_rms < 0.3 * static for score in scores.values())
    assert all(score.seen == len(bent) for score in scores.values())


def test_examples_without_heights_are_refused(bent: ps.Examples, surface: ps.Skin) -> None:
    for method in height_rivals(surface).values():
        with pytest.raises(ps.InputError, match="heights"):
            method.fit(replace(bent, heights=None))
    with pytest.raises(ps.InputError, match="features"):
        RegressedHeights(surface, "skin")
