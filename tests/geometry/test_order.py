"""Orders and choices of places: along a curve, spread apart; and the smooth step."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from posespace.geometry.farthest_points import spread
from posespace.geometry.morton import curve_order
from posespace.geometry.smoothstep import smoothstep, step_across
from posespace.geometry.weld import weld_points

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.integers(1, 3))
def test_the_curve_visits_the_cells_in_mortons_order(seed: int, bits: int) -> None:
    side = 2**bits
    cells = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    shuffled = np.random.default_rng(seed).permutation(cells)
    codes = [
        sum(
            int(x) >> bit << (3 * bit + axis) & 1 << (3 * bit + axis) for bit in range(bits) for axis, x in enumerate(c)
        )
        for c in shuffled
    ]
    order = curve_order(7.0 + 0.5 * shuffled.astype(np.float64), bits)
    np.testing.assert_array_equal(order, np.argsort(codes))


def test_points_at_one_position_are_in_order_in_single_precision() -> None:
    np.testing.assert_array_equal(curve_order(np.ones((4, 3), np.float32), 10), np.arange(4))


def test_neighbours_on_the_curve_are_near() -> None:
    points = np.random.default_rng(0).random((2000, 3))
    steps = np.linalg.norm(np.diff(points[curve_order(points, 16)], axis=0), axis=1)
    assert np.median(steps) < 0.1
    assert len(curve_order(np.zeros((0, 3)), 16)) == 0
    np.testing.assert_array_equal(curve_order(np.ones((4, 3)), 10), np.arange(4))


@given(seeds, st.integers(1, 12), st.integers(1, 15))
def test_each_place_chosen_is_the_farthest_from_those_before(seed: int, count: int, most: int) -> None:
    places = np.random.default_rng(seed).normal(size=(count, 2))
    gaps = np.linalg.norm(places, axis=1)
    chosen = spread(gaps.copy(), lambda k: np.linalg.norm(places - places[k], axis=1), most, 0.2)
    taken = [np.zeros(2)]
    for k in chosen:
        away = np.min([np.linalg.norm(places - place, axis=1) for place in taken], axis=0)
        assert away[k] == away.max() > 0.2
        taken.append(places[k])
    left = np.min([np.linalg.norm(places - place, axis=1) for place in taken], axis=0)
    assert len(chosen) == most or left.max() <= 0.2


def test_nothing_is_chosen_of_nothing() -> None:
    assert spread(np.zeros(0), lambda _: np.zeros(0), 0, 0.0) == []
    assert spread(np.zeros(3), lambda _: np.zeros(3), 3, 0.0) == []


@given(st.floats(-3, 4))
def test_the_smooth_step_is_level_at_its_ends(t: float) -> None:
    value = float(smoothstep(np.array(t)))
    assert value == (0 if t <= 0 else 1 if t >= 1 else value)
    assert abs(value + float(smoothstep(np.array(1 - t))) - 1) < 1e-12
    slope = float(smoothstep(np.array(t + 1e-6)) - smoothstep(np.array(t - 1e-6))) / 2e-6
    expected = 6 * t * (1 - t) if 0 < t < 1 else 0
    assert abs(slope - expected) < 1e-5


def test_the_smooth_step_keeps_its_precision_and_can_be_laid_across_zero() -> None:
    assert smoothstep(np.float32([0.2, 0.7])).dtype == np.float32
    np.testing.assert_allclose(step_across(np.array([-9.0, -2.0, 0.0, 2.0, 9.0]), 2.0), [0, 0, 0.5, 1, 1])


@given(seeds)
def test_welding_groups_equal_positions_by_their_first_vertex(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(-1, 2, (20, 3)) * rng.choice([1.0, -1.0], (20, 1))
    weld = weld_points(points)
    for one in range(20):
        same = np.flatnonzero((points == points[one]).all(axis=1))
        assert weld.first[weld.groups[one]] == same[0]
        assert (weld.groups[same] == weld.groups[one]).all()
    assert (np.diff(weld.first) > 0).all()
