"""Scans with known truth: the same for a seed, exact where nothing is added, wrinkled where the skin is pressed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from posespace import datasets
from posespace.datasets import ScannedHand, Scanner, scanned_hand
from posespace.datasets.scanned.folder import boundary_edges
from posespace.datasets.scanned.wrinkles import pressed_along
from posespace.errors import InputError
from posespace.formats.load import load_mesh
from posespace.geometry.surface import Surface

SMALL = 1500


@pytest.fixture(scope="module")
def hand() -> ScannedHand:
    return scanned_hand(vertices=SMALL)


def test_sizes_and_names_are_as_said(hand: ScannedHand) -> None:
    assert len(hand) == 14
    assert hand.names[0] == "rest"
    assert len(hand.mesh.points) == pytest.approx(SMALL, rel=0.1)
    assert hand.heights.shape == hand.pressed.shape == (14, len(hand.fine_shape(0)))
    assert hand.heights.shape[1] == len(hand.mesh.points) + len(hand.level.edges)
    assert hand.mesh.is_watertight
    np.testing.assert_allclose(hand.shape(0), hand.mesh.points, atol=2e-3)


def test_landmarks_are_vertices_spread_over_the_hand_and_so_are_the_first_ones(hand: ScannedHand) -> None:
    vertices = np.array(list(hand.landmarks.values()))
    assert len(set(vertices.tolist())) == len(hand.landmarks) == 120
    assert {"thumb tip", "little tip", "index_pip back", "middle_dip palm"} <= set(hand.landmarks)
    points = hand.mesh.points
    skin = points[points[:, 1] > -25]
    gaps = np.linalg.norm(skin[:, None] - points[vertices], axis=2)
    farthest = [gaps[:, :count].min(axis=1).max() for count in (15, 30, 60, 120)]
    assert farthest[0] < 60
    assert farthest[-1] < 16
    assert farthest == sorted(farthest, reverse=True)


def test_a_scan_of_nothing_added_is_the_truth(hand: ScannedHand) -> None:
    scan = Scanner(noise=0, holes=0, picking=0, retiled=False, cut=False).scan(hand, 3)
    back = (scan.mesh.points - scan.motion[:3, 3]) @ scan.motion[:3, :3]
    np.testing.assert_allclose(back, hand.fine_shape(3), atol=1e-9)
    np.testing.assert_array_equal(scan.mesh.triangles, hand.level.triangles)
    np.testing.assert_allclose(scan.motion[:3, :3] @ scan.motion[:3, :3].T, np.eye(3), atol=1e-12)
    for name, vertex in hand.landmarks.items():
        np.testing.assert_allclose(scan.landmarks[name], scan.mesh.points[vertex], atol=1e-9)


def test_a_seed_gives_the_same_scan_and_another_seed_another(hand: ScannedHand) -> None:
    first, again, other = (Scanner().scan(hand, 1, seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.mesh.points, again.mesh.points)
    np.testing.assert_array_equal(first.mesh.triangles, again.mesh.triangles)
    assert first.mesh.points.shape != other.mesh.points.shape or not np.allclose(first.mesh.points, other.mesh.points)


def test_a_scan_lies_on_the_skin_with_its_own_triangles_and_has_holes(hand: ScannedHand) -> None:
    scan = Scanner(noise=0.04, holes=4, picking=0.3).scan(hand, 12, seed=2)
    back = (scan.mesh.points - scan.motion[:3, 3]) @ scan.motion[:3, :3]
    skin = Surface(hand.fine_shape(12), hand.level.triangles)
    off = np.linalg.norm(skin.closest(back).points - back, axis=1)
    assert off.max() < 0.3
    assert off.mean() == pytest.approx(0.04 * np.sqrt(2 / np.pi), rel=0.1)
    assert boundary_edges(scan.mesh) > 30
    assert not scan.mesh.is_watertight
    # Some vertices stay where collapses left them, but few.
    kept = np.linalg.norm(back[:, None] - hand.fine_shape(12)[None, :500], axis=2).min(axis=0) < 0.01
    assert kept.mean() < 0.05
    assert 60 < len(scan.landmarks) <= 120


def test_wrinkles_deepen_where_the_skin_is_pressed_and_nowhere_else(hand: ScannedHand) -> None:
    bent = hand.names.index("fist")
    more = hand.pressed[bent] - hand.pressed[0]
    deeper = np.abs(hand.heights[bent] - hand.heights[0])
    pressed, kept = more > 0.25, np.abs(more) < 0.005
    assert min(pressed.sum(), kept.sum()) > 20
    assert deeper[pressed].mean() > 5 * deeper[kept].mean()


def test_the_second_hand_has_the_same_surface_in_another_shape(hand: ScannedHand) -> None:
    other = scanned_hand(2, vertices=SMALL)
    np.testing.assert_array_equal(other.mesh.triangles, hand.mesh.triangles)
    assert other.names == hand.names
    assert other.landmarks == hand.landmarks
    one, two = (np.ptp(each.mesh.points, axis=0) for each in (hand, other))
    assert two[1] > 1.03 * one[1]
    middle, knuckle = (hand.landmarks[name] for name in ("middle tip", "middle_mcp back"))
    lengths = [np.linalg.norm(each.mesh.points[middle] - each.mesh.points[knuckle]) for each in (hand, other)]
    assert lengths[1] == pytest.approx(1.13 * lengths[0], rel=0.02)


def test_strain_is_that_of_a_stretched_sheet() -> None:
    x, y = (grid.ravel().astype(float) for grid in np.meshgrid(np.arange(6), np.arange(5)))
    flat = np.stack([x, y, 0 * x], axis=1)
    corner = np.array([k for k in range(24) if k % 6 < 5])
    triangles = np.concatenate(
        [np.stack([corner, corner + 1, corner + 6], 1), np.stack([corner + 1, corner + 7, corner + 6], 1)]
    )
    shape = flat * np.array([1.5, 0.7, 1.0])
    np.testing.assert_allclose(pressed_along(flat, shape, triangles, y), 0.3)
    np.testing.assert_allclose(pressed_along(flat, shape, triangles, x), -0.5)


def test_the_folder_holds_what_registration_reads(hand: ScannedHand, tmp_path: Path) -> None:
    figures = datasets.write_scans(tmp_path / "scans", hand, Scanner(retiled=False), seed=3)
    marks = json.loads((tmp_path / "scans" / "landmarks.json").read_text())
    assert marks["template"] == hand.landmarks
    assert list(marks["scans"]) == [f"scan_{k:02d}.ply" for k in range(14)]
    assert [row["pose"] for row in figures["scans"]] == list(hand.names)
    template = load_mesh(tmp_path / "scans" / "template.ply")
    np.testing.assert_allclose(template.points, hand.mesh.points, atol=1e-4)
    with np.load(tmp_path / "scans" / "truth.npz") as truth:
        assert truth["shapes"].shape == (14, *hand.mesh.points.shape)
        place = np.array(marks["scans"]["scan_02.ply"]["thumb tip"])
        tip = truth["shapes"][2][marks["template"]["thumb tip"]]
        moved = truth["motions"][2] @ np.append(tip, 1)
        assert np.linalg.norm(moved[:3] - place) < 4


def test_bad_questions_get_one_line() -> None:
    for ask in (
        lambda: scanned_hand(3),
        lambda: scanned_hand(1, "spaning"),
        lambda: scanned_hand(1, vertices=10),
        lambda: Scanner(noise=-1),
        lambda: Scanner(holes=1000),
    ):
        with pytest.raises(InputError, match="expected"):
            ask()
