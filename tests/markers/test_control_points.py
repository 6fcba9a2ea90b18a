"""Markers that move control points: wherever the take lies, whatever its unit, the points do what the markers did."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posespace as ps
from posespace.geometry import rotations
from posespace.markers.alignment import align_take

NAMES = ("back1", "back2", "back3", "tip")
REST = np.array([[0.0, 0, 0], [40, 0, 0], [0, 30, 2], [15, 90, 5]])


def skeleton() -> ps.Skeleton:
    world = np.tile(np.eye(4), (5, 1, 1))
    world[1:, :3, 3] = REST
    return ps.Skeleton.from_world(["root", *NAMES], [-1, 0, 0, 0, 0], world)


def bending(frames: int = 120) -> ps.Markers:
    """The tip goes down and comes back; the others stay."""
    positions = np.tile(REST, (frames, 1, 1))
    positions[:, 3, 2] -= 30 * (1 - np.cos(np.linspace(0, 2 * np.pi, frames)))
    return ps.Markers(NAMES, positions, rate=100.0)


def moved(markers: ps.Markers, seed: int, size: float = 1.0) -> ps.Markers:
    """The take carried along a smooth path through the room, in another unit."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    angles = rng.normal() + np.linspace(0, 1, len(markers)) * rng.normal()
    turn = rotations.matrices(
        rotations.from_axis_angle(np.tile(axis / np.linalg.norm(axis), (len(markers), 1)), angles)
    )
    path = rng.normal(0, 100, 3) + np.linspace(0, 1, len(markers))[:, None] * rng.normal(0, 100, 3)
    return replace(markers, positions=size * (markers.positions @ np.swapaxes(turn, 1, 2) + path[:, None]))


def hidden(markers: ps.Markers, which: list[int], start: int, end: int) -> ps.Markers:
    seen = markers.seen.copy()
    seen[start:end, which] = False
    return replace(markers, seen=seen)


MAPPING = ps.MarkerMapping(place_by=NAMES[:3], smooth=0.0, reference=0.0)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**16), size=st.sampled_from([1.0, 0.001, 39.37]))
def test_where_a_take_lies_and_its_unit_change_nothing(seed: int, size: float) -> None:
    found = MAPPING.motion(moved(bending(), seed, size), skeleton())
    assert found.size == pytest.approx(1 / size)
    wanted = bending().positions - REST
    np.testing.assert_allclose(found.motion.translations[:, 1:], wanted, atol=1e-6)
    assert not found.motion.translations[:, 0].any()


def test_the_whole_can_be_kept() -> None:
    given = moved(bending(), 3)
    found = replace(MAPPING, keep_whole=True).motion(given, skeleton()).motion
    world = skeleton().world(found.rotations, found.translations)
    np.testing.assert_allclose(world[:, 1:, :3, 3], given.positions, atol=1e-6)


@pytest.mark.parametrize("keep_whole", [False, True])
def test_the_markers_are_where_they_were_measured_beside_the_points(keep_whole: bool) -> None:
    given = moved(hidden(bending(), [3], 30, 40), 3, 0.001)
    found = replace(MAPPING, keep_whole=keep_whole, trim=0.0).motion(given, skeleton(), rate=50.0)
    world = skeleton().world(found.motion.rotations, found.motion.translations)
    seen = given.seen[::2]
    assert np.array_equal(found.markers.seen, seen)
    np.testing.assert_allclose(found.markers.positions[seen], world[:, 1:, :3, 3][seen], atol=1e-6)
    assert found.markers.rate == 50.0
    assert found.markers.unit == pytest.approx(given.unit * 0.001)


def test_the_reference_is_the_frame_most_like_rest() -> None:
    late = bending()
    late = replace(late, positions=np.roll(late.positions, 50, axis=0))
    found = replace(MAPPING, reference=None, size=1.0).motion(moved(late, 5), skeleton())
    assert found.reference == pytest.approx(0.5, abs=0.011)
    assert found.offset < 0.1


def test_offsets_let_markers_sit_beside_their_points() -> None:
    beside = bending()
    shift = np.array([[0, 0, 8], [0, 0, 8], [0, 0, 8], [3, 0, 8.0]])
    beside = replace(beside, positions=beside.positions + shift)
    found = replace(MAPPING, size=1.0).motion(beside, skeleton()).motion
    assert np.abs(found.translations[0]).max() < 1e-9
    np.testing.assert_allclose(found.translations[:, 4, 2], bending().positions[:, 3, 2] - 5, atol=0.5)
    exact = replace(MAPPING, size=1.0, offsets=False).motion(beside, skeleton())
    assert np.abs(exact.motion.translations[0]).max() > 0.5
    assert found.translations.shape == exact.motion.translations.shape


@pytest.mark.parametrize("which", [[3], [0], [0, 1], [0, 1, 2, 3]])
@pytest.mark.parametrize(("start", "end"), [(40, 50), (30, 110), (0, 40), (90, 120)])
def test_through_gaps_no_point_jumps(which: list[int], start: int, end: int) -> None:
    whole = moved(bending(), 7)
    mapping = replace(MAPPING, reference=None, size=1.0)
    found = mapping.motion(hidden(whole, which, start, end), skeleton()).motion
    steps = np.linalg.norm(np.diff(found.translations[:, 1:], axis=0), axis=2)
    usual = np.linalg.norm(np.diff(bending().positions, axis=0), axis=2).max()
    # To rest within the fade of half a second, or to another place within the quarter in which a marker comes or goes,
    # half as fast again at the steepest.
    assert steps.max() <= 1.5 * (usual + 60 / 50 + 60 / 25)
    assert np.abs(found.translations).max() < 61


def test_a_place_that_is_not_seen_is_between_its_neighbours() -> None:
    given = moved(bending(), 11).chosen(NAMES[:3])
    found = align_take(hidden(given, [0], 50, 60), REST[:3])
    assert np.flatnonzero(~found.known).tolist() == list(range(50, 60))
    whole = align_take(given, REST[:3])
    np.testing.assert_allclose(found(given.positions), whole(given.positions), atol=0.2)
    assert whole.misfit.max() < 1e-9
    one = align_take(bending().chosen(NAMES[:3]), REST[:3], whole=True)
    assert np.ptp(one.rotations, axis=0).max() == 0


def test_a_jump_of_one_marker_is_spread_over_the_smoothing() -> None:
    given = bending()
    positions = given.positions.copy()
    positions[:, 3] = REST[3]
    positions[60:, 0, 2] += 1.0
    jumping = replace(given, positions=positions)
    steps = []
    for smooth in (0.0, 0.1):
        shifts = replace(MAPPING, smooth=smooth).motion(jumping, skeleton()).motion.translations
        steps.append(np.linalg.norm(np.diff(shifts[:, 4], axis=0), axis=1).max())
    assert steps[1] < 0.2 * steps[0]


@pytest.mark.parametrize("smooth", [1e9, 3e38])
def test_smoothing_over_more_than_a_take_can_need_is_refused(smooth: float) -> None:
    with pytest.raises(ps.InputError, match=r"smooth: .* s: asks for more numbers than a take of this size can need"):
        ps.MarkerMapping(smooth=smooth).motion(bending(), skeleton())


def test_points_without_a_marker_take_the_nearest() -> None:
    given = moved(bending(), 9, 0.001)
    renamed = replace(given, names=("a", "b", "c", "some finger"))
    pairs = {"a": "back1", "b": "back2", "c": "back3"}
    found = ps.MarkerMapping(points=pairs, nearest=True, reference=0.0, place_by=("a", "b", "c"), smooth=0.0)
    wanted = bending().positions - REST
    np.testing.assert_allclose(found.motion(renamed, skeleton()).motion.translations[:, 1:], wanted, atol=1e-6)
    with pytest.raises(ps.InputError, match="nearest: needs `reference` and at least 3 mapped markers to align"):
        ps.MarkerMapping(points=pairs, nearest=True)
    with pytest.raises(ps.InputError, match="nearest: expected 1 more markers at the reference, got 0"):
        found.motion(hidden(renamed, [3], 0, 5), skeleton())


def test_what_cannot_be_driven_is_said() -> None:
    points, given = skeleton(), bending()
    cases = {
        "control point 'back2': no marker moves it; map one in the file": (
            {"back1": "back1"},
            given,
        ),
        "joint 'thumb': not in the skeleton": ({"back1": "thumb"}, given),
        "control point 'tip': expected one marker that moves it, got two": ({n: "tip" for n in NAMES[:2]}, given),
        "marker 'x': not in the take": ({"x": "tip"}, given),
    }
    for message, (pairs, markers) in cases.items():
        with pytest.raises(ps.InputError, match=message):
            ps.MarkerMapping(points=pairs).motion(markers, points)
    with pytest.raises(ps.InputError, match=r"none of 'a', \.\.\. has the name of a control point"):
        MAPPING.motion(ps.Markers(("a",), np.zeros((3, 1, 3))), points)
    with pytest.raises(ps.InputError, match="no frame shows all of them at once; 'tip' is seen least"):
        MAPPING.motion(hidden(given, [3], 0, 120), points)
    with pytest.raises(ps.InputError, match=r"reference: expected a time at which all markers are seen, got 0\.5 s"):
        replace(MAPPING, reference=0.5).motion(hidden(given, [3], 20, 90), points)
    flat = replace(given, positions=np.tile(np.arange(4.0)[:, None] * [1, 2, 3], (120, 1, 1)))
    with pytest.raises(ps.InputError, match="no frame shows three of them off one line"):
        MAPPING.motion(flat, points)
    with pytest.raises(ps.InputError, match="place_by: expected at least three markers, got 2"):
        ps.MarkerMapping(place_by=("a", "b"))


@pytest.mark.parametrize("kind", ["right", "reversed", "swapped", "mirrored"])
def test_wrong_markers_are_refused_and_named_unless_forced(kind: str) -> None:
    rest = np.random.default_rng(4).normal(0, 50, (13, 3))
    names = [f"m{k}" for k in range(len(rest))]
    world = np.tile(np.eye(4), (len(rest) + 1, 1, 1))
    world[1:, :3, 3] = rest
    joints = ps.Skeleton.from_world(["root", *names], [-1, *[0] * len(rest)], world)
    shape = {"reversed": rest[::-1], "mirrored": rest * [-1, 1, 1]}.get(kind, rest).copy()
    if kind == "swapped":
        shape[[2, 7]] = shape[[7, 2]]
    take = moved(ps.Markers(tuple(names), np.tile(shape, (10, 1, 1)), rate=100.0), 3, 0.001)
    if kind != "right":
        said = {"swapped": "'m2' and 'm7' seem to be swapped", "reversed": "reverse order"}.get(kind, kind)
        with pytest.raises(ps.InputError, match=said):
            ps.MarkerMapping().motion(take, joints)
    assert len(ps.MarkerMapping(force=kind != "right").motion(take, joints).motion) == 10
