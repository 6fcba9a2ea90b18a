"""Virtual bones: a known rig is found again, counts are honoured, weights are valid, the whole may move."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.tube import tube
from hypothesis import given, settings
from hypothesis import strategies as st

import posespace as ps
from posespace.check import Floats
from posespace.geometry import rotations

TUBE = tube(rings=18, sides=8)
POINTS, TRIANGLES = TUBE.points, TUBE.triangles


def turned(rng: np.random.Generator, largest: float = 0.8) -> Floats:
    axis = rng.normal(size=3)
    turn = rotations.from_axis_angle(axis / np.linalg.norm(axis), rng.uniform(-largest, largest))
    return rotations.matrices(turn)


def rigged(seed: int, bones: int = 3, shapes: int = 8) -> tuple[Floats, Floats]:
    """Shapes (P, N, 3) that linear blending of a few bones along the tube gives exactly, and the weights (N, B)."""
    rng = np.random.default_rng(seed)
    along = (POINTS[:, 0] - POINTS[:, 0].min()) / np.ptp(POINTS[:, 0]) * (bones - 1)
    weights = np.maximum(1 - 1.6 * np.maximum(np.abs(along[:, None] - np.arange(bones)) - 0.2, 0), 0)
    weights /= weights.sum(axis=1, keepdims=True)
    found = []
    for _ in range(shapes):
        moved = [POINTS @ turned(rng).T + rng.normal(size=3) * 0.2 for _ in range(bones)]
        found.append(np.einsum("nb,bni->ni", weights, np.stack(moved)))
    return np.stack(found), weights


def e_rms(examples: ps.Examples) -> float:
    return ps.evaluate(ps.Skin(examples.rig), examples).e_rms


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_known_rig_is_found_again(seed: int) -> None:
    shapes, truth = rigged(seed)
    made = ps.bones(shapes, 3, TRIANGLES, rest=POINTS)
    assert e_rms(made) < 0.5
    found = made.rig.dense_weights()
    order = (truth.T @ found).argmax(axis=1)
    assert sorted(order) == [0, 1, 2]
    assert np.abs(found[:, order] - truth).mean() < 0.02


@settings(max_examples=8)
@given(st.integers(1, 24), st.integers(2, 10), st.integers(1, 5))
def test_a_count_is_honoured_and_weights_are_valid(count: int, shapes: int, influences: int) -> None:
    noise = np.random.default_rng(count).normal(size=(shapes, *POINTS.shape))
    made = ps.bones(POINTS + 0.05 * noise, count, TRIANGLES, influences, rest=POINTS)
    rig = made.rig
    assert len(rig.skeleton) == count
    assert (rig.weights >= 0).all()
    assert np.allclose(rig.weights.sum(axis=1), 1)
    assert ((rig.weights > 0).sum(axis=1) <= influences).all()
    assert len(made.motion) == shapes


def test_twenty_bones_from_ten_shapes_are_twenty(data: Path) -> None:
    folder = data / "meshposes-wolf"
    shapes = [ps.load_mesh(file) for file in sorted((folder / "poses").glob("*.obj"))[:10]]
    rest = ps.load_mesh(folder / "wolf_rest.obj")
    made = ps.bones(shapes, 20, rest=rest.points)
    assert len(made.rig.skeleton) == 20
    assert len(np.unique(made.rig.influences[made.rig.weights > 0])) == 20
    assert e_rms(made) < 0.3


def test_rigid_motions_of_the_whole_change_nothing() -> None:
    rng = np.random.default_rng(4)
    shapes = rigged(3)[0] + 0.01 * rng.normal(size=(8, *POINTS.shape))
    whole = np.stack([shape @ turned(rng, 3.0).T + rng.normal(size=3) * 5 for shape in shapes])
    still, moving = (ps.bones(each, 4, TRIANGLES, rest=POINTS) for each in (shapes, whole))
    assert e_rms(moving) == pytest.approx(e_rms(still), rel=1e-4)
    assert np.abs(moving.rig.dense_weights() - still.rig.dense_weights()).max() < 1e-3


def test_the_unit_of_length_changes_nothing() -> None:
    shapes = rigged(5)[0] + 0.01 * np.random.default_rng(5).normal(size=(8, *POINTS.shape))
    small, large = (ps.bones(size * shapes, 4, TRIANGLES, rest=size * POINTS) for size in (1.0, 1000.0))
    assert np.abs(small.rig.dense_weights() - large.rig.dense_weights()).max() < 1e-3


def test_more_bones_lower_the_error() -> None:
    shapes = rigged(6)[0] + 0.02 * np.random.default_rng(6).normal(size=(8, *POINTS.shape))
    errors = [e_rms(ps.bones(shapes, count, TRIANGLES, rest=POINTS)) for count in (1, 3, 9)]
    assert errors[0] > errors[1] > errors[2]


def test_without_a_count_patches_that_turn_alike_become_bones() -> None:
    rng = np.random.default_rng(7)
    half = POINTS[:, 0] > np.median(POINTS[:, 0])
    shapes = np.stack([np.where(half[:, None], POINTS @ turned(rng).T, POINTS) for _ in range(5)])
    made = ps.bones(shapes, triangles=TRIANGLES, rest=POINTS, bandwidth=0.3)
    assert 2 <= len(made.rig.skeleton) <= 4
    assert e_rms(made) < 1
    still = ps.bones(np.stack([POINTS, POINTS + 1]), triangles=TRIANGLES)
    assert len(still.rig.skeleton) == 1


def test_affine_bones_are_joints_that_only_shift_and_fit_better() -> None:
    rng = np.random.default_rng(8)
    shapes = np.stack([POINTS @ (np.eye(3) + 0.3 * rng.normal(size=(3, 3))).T for _ in range(5)])
    rigid, affine = (ps.bones(shapes, 1, TRIANGLES, affine=each, rest=POINTS) for each in (False, True))
    assert len(affine.rig.skeleton) == 4
    assert e_rms(rigid) > 10
    assert e_rms(affine) < 1e-3
    assert (affine.rig.weights >= 0).all()
    assert np.allclose(affine.motion.rotations, (0, 0, 0, 1))


def test_vertices_that_share_all_places_share_their_weights() -> None:
    shapes = rigged(9)[0]
    twice = np.concatenate([np.arange(len(POINTS)), np.arange(5)])
    corners = TRIANGLES.copy()
    corners[:6][corners[:6] < 5] += len(POINTS)
    made = ps.bones(shapes[:, twice], 3, corners, rest=POINTS[twice])
    assert np.array_equal(made.rig.weights[:5], made.rig.weights[len(POINTS) :])
    assert np.array_equal(made.rig.influences[:5], made.rig.influences[len(POINTS) :])


def test_triangles_without_area_and_loose_vertices_do_no_harm() -> None:
    shapes = rigged(10)[0]
    corners = np.concatenate([TRIANGLES, [[0, 0, 1], [2, 2, 2]]])
    loose = np.concatenate([shapes, shapes[:, :1] + 0.1], axis=1)
    made = ps.bones(loose, 3, corners, rest=np.concatenate([POINTS, POINTS[:1] + 0.1]))
    assert np.isfinite(made.rig.weights).all()
    assert e_rms(made) < 5


@pytest.mark.parametrize("count", [5, 8, pytest.param(40, marks=pytest.mark.slow)])
def test_more_bones_than_parts_that_move_are_made_of_a_rigid_motion(count: int) -> None:
    # A flat grid: its clusters all move alike, so that they swallow each other.
    along, across = (part.ravel() for part in np.meshgrid(np.linspace(0, 1, 8), np.linspace(0, 1, 8)))
    grid = np.stack([along, across, 0 * along], axis=1)
    first = (8 * np.arange(7)[:, None] + np.arange(7)).ravel()
    corners = np.concatenate([first[:, None] + [0, 1, 8], first[:, None] + [1, 9, 8]])
    made = ps.bones(np.stack([grid, grid + 0.1]), count, corners)
    assert len(made.rig.skeleton) == count
    assert ps.evaluate(ps.Skin(made.rig), made).max_error < 1e-6


def test_bones_of_examples_keep_names_times_and_rest_and_every_method_takes_them(tmp_path: Path) -> None:
    train, _ = ps.datasets.bending_arm(rings=12, sides=8)
    made = ps.bones(train, 3)
    assert made.motion.names == train.motion.names
    assert np.array_equal(made.motion.times, train.motion.times)
    assert np.array_equal(made.rig.mesh.points, train.rig.mesh.points)
    skin = ps.EigenSkin(3).fit(made)
    assert ps.evaluate(skin, made).rel_err <= 1.0
    ps.export(ps.Skin(made.rig), tmp_path / "arm.glb", made.motion)
    played = ps.load_shapes(tmp_path / "arm.glb")
    want = np.stack([made.rig.skin(pose) for pose in made.motion])
    assert np.abs(played.shapes - want).max() < 1e-3 * made.rig.mesh.diagonal


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"count": 0}, "count: expected 1 to"),
        ({"count": len(TRIANGLES) + 1}, f"count: expected 1 to {len(TRIANGLES)} bones, as there are triangles"),
        ({"count": 2.5}, "count: expected a whole number"),
        ({"influences": 9}, "influences: expected 1 to 8"),
        ({"bandwidth": 0.0}, "bandwidth: expected above 0"),
        ({"triangles": None}, "triangles: expected the triangles"),
        ({"triangles": np.zeros((0, 3), np.int32)}, "expected triangles, whose motion"),
        ({"shapes": POINTS[None]}, "shapes: expected at least two, the first of which is at rest, got 1"),
        ({"shapes": np.zeros((0, len(POINTS), 3))}, "got 0"),
        ({"shapes": np.zeros((3, len(POINTS), 3))}, "rest shape of some size"),
        ({"shapes": np.full((3, len(POINTS), 3), np.nan)}, "shapes: expected finite numbers, got nan"),
        ({"shapes": np.stack([POINTS] * 5), "count": 8}, "expected some that differ from the rest shape"),
        ({"rest": POINTS[:-1]}, "rest: expected shape"),
        ({"shapes": [ps.Mesh(POINTS, TRIANGLES), ps.Mesh(POINTS[:3], TRIANGLES[:0])]}, "shape 1: expected"),
    ],
)
def test_bad_input_is_one_line(changes: dict[str, object], words: str) -> None:
    settings = {"shapes": np.stack([POINTS, POINTS + 0.1]), "count": 2, "triangles": TRIANGLES} | changes
    with pytest.raises(ps.InputError) as caught:
        ps.bones(**settings)  # type: ignore[arg-type]
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
