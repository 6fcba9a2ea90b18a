"""Takes of markers: what is missing stays missing, short gaps are filled, long ones are held and fade."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.marker_files import take
from hypothesis import given, settings
from hypothesis import strategies as st

import posespace as ps
from posespace.markers.gaps import bridged, filled, trimmed


def curve(frames: int = 41) -> ps.Markers:
    t = np.linspace(0, 1, frames)[:, None]
    moving = np.concatenate([t, t**2, 3 - t**3], axis=1)
    return ps.Markers(("a", "b"), np.stack([10 * moving, 5 - moving], axis=1), rate=100.0)


def with_gap(markers: ps.Markers, marker: int, start: int, end: int) -> ps.Markers:
    seen = markers.seen.copy()
    seen[start:end, marker] = False
    return ps.Markers(markers.names, markers.positions, seen, markers.rate)


def test_gaps_are_listed_marker_by_marker() -> None:
    markers = take(12)
    assert markers.gaps.tolist() == [[1, 10, 12], [3, 4, 6]]
    assert not markers.positions[~markers.seen].any()
    assert markers.chosen(["tip", "wrist"]).gaps.tolist() == [[0, 4, 6]]


def test_short_gaps_are_filled_and_long_ones_stay() -> None:
    whole = curve()
    gapped = with_gap(with_gap(whole, 0, 10, 16), 1, 5, 35)
    for how, within in (("linear", 0.1), ("cubic", 0.04)):
        found = filled(gapped, 0.1, how)
        assert found.seen[:, 0].all()
        assert found.gaps.tolist() == [[1, 5, 35]]
        np.testing.assert_allclose(found.positions[:, 0], whole.positions[:, 0], atol=within)
    exact = with_gap(whole, 0, 10, 13)
    # Four frames lie between the frames beside a gap of three.
    assert filled(exact, 0.04).seen.all()
    assert not filled(exact, 0.039).seen.all()


def test_gaps_at_the_ends_are_not_filled() -> None:
    assert filled(with_gap(curve(), 0, 0, 2), 1.0).gaps.tolist() == [[0, 0, 2]]
    assert trimmed(with_gap(curve(), 0, 10, 12), 0.02).gaps.tolist() == [[0, 8, 14]]


@pytest.mark.parametrize(("rate", "frames"), [(50.0, 21), (30.0, 13), (200.0, 81), (100.0, 41)])
def test_resampling_keeps_the_curve_and_its_gaps(rate: float, frames: int) -> None:
    whole = curve()
    found = whole.resampled(rate)
    assert (len(found), found.rate) == (frames, rate)
    t = (found.times / whole.times[-1])[:, None]
    np.testing.assert_allclose(found.positions[:, 0], 10 * np.concatenate([t, t**2, 3 - t**3], axis=1), atol=0.01)
    gapped = with_gap(whole, 0, 10, 20).resampled(rate)
    hidden = (gapped.times > 0.09 + 1e-6) & (gapped.times < 0.2 - 1e-6)
    assert np.array_equal(~gapped.seen[:, 0], hidden)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    start=st.integers(0, 299),
    length=st.integers(1, 300),
    hold=st.floats(0, 1),
    fade=st.floats(0.1, 1),
)
def test_over_a_gap_nothing_jumps_and_nothing_goes_astray(
    seed: int, start: int, length: int, hold: float, fade: float
) -> None:
    rng = np.random.default_rng(seed)
    shifts = np.cumsum(rng.normal(0, 0.05, (300, 1, 3)), axis=0)
    seen = np.ones((300, 1), dtype=bool)
    seen[start : start + length] = False
    found = bridged(shifts, seen, 100.0, hold, fade)
    assert np.array_equal(found[seen], shifts[seen])
    known = np.linalg.norm(shifts[seen], axis=1)
    assert np.linalg.norm(found, axis=2).max() <= known.max(initial=0.0) + 1e-9
    ends = [shifts[k, 0] for k in (start - 1, start + length) if 0 <= k < 300]
    steps = np.linalg.norm(np.diff(found[:, 0], axis=0), axis=1)
    inside = slice(max(start - 1, 0), min(start + length, 299))
    apart = np.linalg.norm(ends[0] - ends[-1]) if len(ends) == 2 else 0.0
    farthest = max((np.linalg.norm(end) for end in ends), default=0.0)
    # Each smooth step is at most half as fast again as a straight one.
    assert (
        steps[inside].max(initial=0.0)
        <= 1.5 * (apart / (min(length, 300 - start) + 1) + farthest / (100 * fade)) + 1e-9
    )


def test_all_markers_missing_for_long_come_to_rest_and_back() -> None:
    shifts = np.full((400, 2, 3), 4.0)
    seen = np.ones((400, 2), dtype=bool)
    seen[50:350] = False
    found = bridged(shifts, seen, 100.0, hold=0.25, fade=0.5)
    assert np.array_equal(found[50:74], shifts[50:74])
    assert not found[125:275].any()
    assert np.array_equal(found[:50], shifts[:50])
    assert not bridged(shifts, np.zeros_like(seen), 100.0).any()


def test_bad_takes_are_refused() -> None:
    with pytest.raises(ps.InputError, match="expected each name once, got 'a' twice"):
        ps.Markers(("a", "a"), np.zeros((2, 2, 3)))
    with pytest.raises(ps.InputError, match="marker positions: expected finite numbers"):
        ps.Markers(("a",), np.full((2, 1, 3), np.nan))
    with pytest.raises(ps.InputError, match="marker rate: expected frames per second"):
        ps.Markers(("a",), np.zeros((2, 1, 3)), rate=0.0)
    with pytest.raises(ps.InputError, match="marker 'wirst': not in the take; the closest is 'wrist'"):
        take().index("wirst")
    with pytest.raises(ps.InputError, match="which are too many; give a lower one"):
        ps.Markers(("a",), np.zeros((2, 1, 3)), rate=1e-9).resampled(30.0)


def test_resampling_a_slow_take_to_very_many_frames_is_refused() -> None:
    slow = take(30, rate=0.001)
    with pytest.raises(ps.InputError, match="rate: 30 would make 870,001 frames of this take, which are too many"):
        slow.resampled(30.0)
    assert len(slow.resampled(0.1)) == 2_901
