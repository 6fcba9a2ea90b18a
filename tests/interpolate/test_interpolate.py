"""Interpolators pass through their samples, agree with SciPy and with their own definitions, and refuse bad input."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from helpers.samples import error_of, quick, rotations, scattered
from helpers.strategies import seeds
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import RBFInterpolator
from scipy.spatial.transform import Rotation

from posespace.errors import InputError
from posespace.interpolate.distances import distances
from posespace.interpolate.fitted import RBFInterpolant, ShepardInterpolant
from posespace.interpolate.kernels import KERNELS
from posespace.interpolate.rbf import RBF
from posespace.interpolate.samples import SingularError
from posespace.interpolate.shepard import Shepard

TAILS = ("auto", None, "constant", "linear")
SCIPY = {kernel: kernel for kernel in KERNELS if kernel != "exponential"} | {"thin_plate": "thin_plate_spline"}
DEGREES = {None: -1, "constant": 0, "linear": 1}
# SciPy warns about a degree below the one that makes the kernel's system surely sound.
LEAST_DEGREE = {"gaussian": -1, "multiquadric": 0, "linear": 0, "thin_plate": 1, "cubic": 1}


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("kernel", KERNELS)
@given(seed=seeds, axes=st.integers(1, 3), count=st.integers(6, 14), size=st.sampled_from([1e-3, 1.0, 90.0]))
@settings(max_examples=8, deadline=None)
def test_rbf_reproduces_its_samples(kernel, tail, seed, axes, count, size):
    rng = np.random.default_rng(seed)
    samples, values = scattered(rng, count, axes, size), rng.normal(size=(count, 3))
    for radius in (None, size):
        # Without its linear tail the thin plate is singular for some radius; None must be safe.
        if not (kernel == "thin_plate" and tail in (None, "constant") and radius):
            fitted = RBF(kernel, radius, tail).fit(samples, values)
            np.testing.assert_allclose(fitted(samples), values, atol=1e-6)


def test_rbf_reproduces_its_samples_though_badly_conditioned():
    samples = np.linspace(0.0, 1.0, 8)[:, None]
    values = np.sin(5.0 * samples)
    np.testing.assert_allclose(RBF("gaussian", 0.7).fit(samples, values)(samples), values, atol=1e-9)


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("kernel", KERNELS)
@given(seed=seeds, joints=st.integers(1, 2), count=st.integers(12, 16))
@settings(max_examples=5, deadline=None)
def test_rbf_reproduces_its_samples_on_rotations(kernel, tail, seed, joints, count):
    rng = np.random.default_rng(seed)
    samples, values = rotations(rng, count, joints), rng.normal(size=(count, 2))
    fitted = RBF(kernel, None, tail).fit(samples, values, "rotation")
    np.testing.assert_allclose(fitted(samples), values, atol=1e-6)
    np.testing.assert_allclose(fitted(-samples), values, atol=1e-6)


@given(seeds, st.floats(0.1, 200.0), st.sampled_from(["euclidean", "rotation"]), st.floats(-100.0, 100.0))
@quick
def test_shepard_reproduces_its_samples_and_stays_within_their_values(seed, power, metric, exponent):
    rng = np.random.default_rng(seed)
    if metric == "rotation":
        samples, queries = rotations(rng, 9, 1), rotations(rng, 40, 1, reach=3.0)
    else:
        samples, queries = scattered(rng, 9, 2, 10.0**exponent), rng.normal(size=(40, 2)) * 10.0**exponent * 5
    values = rng.normal(size=(9, 4))
    fitted = Shepard(power).fit(samples, values, metric)
    np.testing.assert_array_equal(fitted(samples), values)
    found = fitted(queries)
    np.testing.assert_allclose(found, np.clip(found, values.min(axis=0), values.max(axis=0)), rtol=0.0, atol=1e-12)


def test_shepard_is_the_weighted_mean_of_its_definition():
    samples, values = np.array([[0.0], [1.0], [3.0]]), np.array([1.0, 5.0, 2.0])
    weights = 1.0 / np.array([2.0, 1.0, 1.0]) ** 3
    assert Shepard(3.0).fit(samples, values)([[2.0]])[0] == pytest.approx(weights @ values / weights.sum())


def test_shepard_takes_the_nearest_sample_within_epsilon():
    fitted = Shepard(epsilon=0.1).fit([[0.0], [10.0]], [1.0, 2.0])
    np.testing.assert_array_equal(fitted([[0.9], [9.1]]), [1.0, 2.0])
    assert 1.0 < fitted([[1.1]])[0] < 2.0


@pytest.mark.parametrize("metric", ["euclidean", "rotation"])
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("method", [Shepard(), *(RBF(kernel) for kernel in KERNELS)])
def test_few_samples_work_with_defaults(method, count, metric):
    for size in (1, 2, 5):
        rng = np.random.default_rng(size)
        samples = rng.normal(size=(count, size)) if metric == "euclidean" else rotations(rng, count, size)
        values = rng.normal(size=(count, 2))
        fitted = method.fit(samples, values, metric)
        np.testing.assert_allclose(fitted(samples), values, atol=1e-9)
        assert np.isfinite(fitted(samples[::-1])).all()


@pytest.mark.parametrize("method", [Shepard(), RBF(), RBF("thin_plate")])
def test_the_result_has_the_shape_of_the_values(method):
    samples, values = np.array([[0.0], [1.0], [3.0]]), np.array([1.0, 5.0, 2.0])
    flat, column = method.fit(samples, values), method.fit(samples, values[:, None])
    assert flat([[0.5], [2.0]]).shape == (2,)
    assert column([[0.5], [2.0]]).shape == (2, 1)
    np.testing.assert_allclose(flat([[0.5], [2.0]]), column([[0.5], [2.0]])[:, 0])
    assert method.fit(samples, np.empty((3, 0)))([[0.5]]).shape == (1, 0)
    assert flat(np.empty((0, 1))).shape == (0,)


def test_a_fitted_interpolant_is_plain_arrays_and_strings_apart_from_the_input():
    samples, values = np.array([[0.0], [1.0], [3.0]]), np.array([1.0, 5.0, 2.0])
    for method in (Shepard(), RBF(), RBF("cubic", 2)):
        fitted = method.fit(samples, values)
        assert isinstance(fitted, ShepardInterpolant | RBFInterpolant)
        parts = {field.name: getattr(fitted, field.name) for field in dataclasses.fields(fitted)}
        assert all(isinstance(part, str | float | np.ndarray | None) for part in parts.values())
        arrays = [part for part in parts.values() if isinstance(part, np.ndarray)]
        assert not any(np.shares_memory(array, given) for array in arrays for given in (samples, values))
        again = type(fitted)(**parts)
        np.testing.assert_array_equal(again([[0.7]]), fitted([[0.7]]))


@pytest.mark.parametrize(("kernel", "tail"), [(k, t) for k in SCIPY for t in DEGREES if DEGREES[t] >= LEAST_DEGREE[k]])
@pytest.mark.parametrize("smoothing", [0.0, 0.05])
@given(seed=seeds, axes=st.integers(1, 3), radius=st.floats(0.5, 1.5))
@settings(max_examples=8, deadline=None)
def test_rbf_agrees_with_scipy(kernel, tail, smoothing, seed, axes, radius):
    rng = np.random.default_rng(seed)
    samples, values, queries = scattered(rng, 12, axes), rng.normal(size=(12, 2)), rng.uniform(-1.0, 5.0, (30, axes))
    epsilon = 1.0 / (radius * np.sqrt(2.0)) if kernel == "gaussian" else 1.0 / radius
    if KERNELS[kernel].scale_free:
        epsilon = radius = 1.0
    theirs = RBFInterpolator(samples, values, None, smoothing, SCIPY[kernel], epsilon, DEGREES[tail])(queries)
    found = RBF(kernel, radius, tail, smoothing).fit(samples, values)(queries)
    np.testing.assert_allclose(found, theirs, rtol=1e-8, atol=1e-8 * np.abs(theirs).max())


@pytest.mark.parametrize("kernel", ["linear", "cubic", "thin_plate"])
def test_one_radius_does_not_change_a_scale_free_kernel(kernel):
    rng = np.random.default_rng(3)
    samples, values, queries = scattered(rng, 12, 2), rng.normal(size=12), rng.uniform(-1.0, 4.0, (30, 2))
    expected = RBF(kernel).fit(samples, values)(queries)
    for radius in (0.01, 1.0, 300.0):
        np.testing.assert_allclose(RBF(kernel, radius).fit(samples, values)(queries), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("tail", [None, "constant", "linear"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("metric", ["euclidean", "rotation"])
def test_leave_one_out_equals_fitting_without_each_sample(kernel, tail, smoothing, metric):
    rng, count = np.random.default_rng(7), 11
    # Rotations near each other, so that whichever sample comes first, quaternions for the tail get the same signs.
    samples = scattered(rng, count, 2) if metric == "euclidean" else rotations(rng, count, 1, reach=0.8)
    values = rng.normal(size=(count, 3))
    # Far above all distances, so that the thin plate is sound without its tail too; the others get their usual size.
    method = RBF(kernel, 100.0 if kernel == "thin_plate" else 0.8, tail, smoothing)
    expected = np.empty_like(values)
    for i in range(count):
        rest = np.flatnonzero(np.arange(count) != i)
        expected[i] = values[i] - method.fit(samples[rest], values[rest], metric)(samples[i : i + 1])[0]
    found = method.leave_one_out(samples, values, metric)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())
    np.testing.assert_allclose(method.leave_one_out(samples, values[:, 0], metric), found[:, 0], atol=1e-9)


@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "multiquadric"])
def test_the_chosen_radius_has_the_least_leave_one_out_error(kernel):
    samples = np.linspace(0.0, 1.6, 9)[:, None]
    values = np.column_stack([np.sin(3.0 * samples[:, 0]), np.maximum(0.0, samples[:, 0] - 0.6)])
    chosen = RBF(kernel).fit(samples, values).radius
    least = np.sum(RBF(kernel, chosen).leave_one_out(samples, values) ** 2)
    for factor in (0.5, 0.8, 1.25):
        assert np.sum(RBF(kernel, chosen * factor).leave_one_out(samples, values) ** 2) >= least * (1.0 - 1e-3)


def test_the_chosen_radius_is_the_same_for_values_in_any_number_of_columns():
    rng = np.random.default_rng(5)
    samples, values = scattered(rng, 10, 2), rng.normal(size=(10, 4))
    wide = values @ np.linalg.qr(rng.normal(size=(50, 4)))[0].T
    np.testing.assert_allclose(RBF().fit(samples, wide).radius, RBF().fit(samples, values).radius, rtol=1e-9)


@given(seeds, st.integers(1, 2), st.integers(2, 12), st.sampled_from(["gaussian", "exponential", "multiquadric"]))
@quick
def test_a_chosen_radius_follows_the_unit_of_the_samples(seed, axes, count, kernel):
    rng = np.random.default_rng(seed)
    samples, values = scattered(rng, count, axes), rng.normal(size=(count, 2))
    one, thousand = (RBF(kernel).fit(samples * unit, values) for unit in (1.0, 1024.0))
    np.testing.assert_allclose(thousand.radius, one.radius * 1024.0, rtol=1e-6)
    np.testing.assert_allclose(thousand(samples * 1024.0), one(samples), atol=1e-6)


def test_a_chosen_radius_survives_float32():
    samples = np.linspace(0.0, 1.6, 12)[:, None]
    values = np.sin(2.0 * samples)
    for kernel in ("gaussian", "exponential", "multiquadric"):
        fitted = RBF(kernel).fit(samples, values)
        single = {part: np.float32(getattr(fitted, part)) for part in ("radius", "centres", "weights")}
        stored = dataclasses.replace(fitted, **single)
        np.testing.assert_allclose(stored(samples), values, atol=2e-3)


def test_leave_one_out_names_a_sample_the_tail_cannot_do_without():
    call = RBF("cubic").leave_one_out
    assert "'rest'" in error_of(lambda: call([[0.0], [1.0]], [0.0, 1.0], names=["rest", "fist"]))


@pytest.mark.parametrize("kernel", KERNELS)
@given(seeds)
@settings(max_examples=8, deadline=None)
def test_a_radius_an_axis_equals_scaling_the_axes(kernel, seed):
    rng = np.random.default_rng(seed)
    samples, values, queries = scattered(rng, 10, 2), rng.normal(size=10), rng.uniform(-1.0, 4.0, (20, 2))
    radius = rng.uniform(0.4, 2.0, 2)
    stretched = RBF(kernel, radius).fit(samples, values)(queries)
    scaled = RBF(kernel, 1.0).fit(samples / radius, values)(queries / radius)
    np.testing.assert_allclose(stretched, scaled, rtol=1e-6, atol=1e-6 * np.abs(scaled).max())


@pytest.mark.parametrize("kernel", ["gaussian", "exponential"])
def test_a_decaying_kernel_goes_to_zero_far_away(kernel):
    rng = np.random.default_rng(1)
    fitted = RBF(kernel, 1.0).fit(scattered(rng, 9, 2), rng.normal(size=9) + 10.0)
    assert abs(fitted([[500.0, -500.0]])[0]) < 1e-100


@given(seeds, st.sampled_from(["thin_plate", "cubic"]), st.integers(1, 3))
@quick
def test_a_linear_tail_reproduces_linear_functions_everywhere(seed, kernel, axes):
    rng = np.random.default_rng(seed)
    samples, slope, queries = scattered(rng, 10, axes), rng.normal(size=(axes, 2)), rng.uniform(-9.0, 9.0, (20, axes))
    np.testing.assert_allclose(
        RBF(kernel).fit(samples, samples @ slope + 3.0)(queries), queries @ slope + 3.0, atol=1e-7
    )


def test_smoothing_passes_by_noisy_samples():
    samples = np.linspace(0.0, 1.0, 20)[:, None]
    values = samples[:, 0] + 0.1 * np.random.default_rng(2).normal(size=20)
    near, far = (RBF("thin_plate", smoothing=s).fit(samples, values)(samples) for s in (1e-6, 1e3))
    np.testing.assert_allclose(near, values, atol=1e-3)
    np.testing.assert_allclose(far, np.polyval(np.polyfit(samples[:, 0], values, 1), samples[:, 0]), atol=1e-3)


@pytest.mark.parametrize("method", [Shepard(), *(RBF(kernel) for kernel in KERNELS), RBF("gaussian", 0.5)])
@given(seed=seeds, size=st.sampled_from([1e-3, 1.0, 1e5]))
@settings(max_examples=5, deadline=None)
def test_coincident_samples_are_named(method, seed, size):
    rng = np.random.default_rng(seed)
    samples = scattered(rng, 5, 2, size)
    samples[3] = samples[1] * (1.0 + 1e-13)
    with pytest.raises(SingularError, match="samples 'fist' and 'fist_copy' coincide"):
        method.fit(samples, np.zeros(5), names=["rest", "fist", "point", "fist_copy", "flat"])


def test_quaternions_of_either_sign_are_coincident():
    samples = rotations(np.random.default_rng(0), 3, 1)
    samples[2] = -samples[0]
    with pytest.raises(SingularError, match="samples 0 and 2 coincide"):
        RBF().fit(samples, np.zeros(3), "rotation")


@pytest.mark.parametrize("kernel", KERNELS)
def test_smoothing_accepts_coincident_samples(kernel):
    samples = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1], [1, 1]])
    found = RBF(kernel, smoothing=1e-6).fit(samples, [0.0, 1.0, 1.0, 2.0, 4.0])(samples)
    np.testing.assert_allclose(found, [0.0, 1.0, 1.0, 3.0, 3.0], atol=1e-2)


@pytest.mark.parametrize("kernel", ["gaussian", "multiquadric"])
def test_a_radius_too_large_names_the_closest_samples_and_the_remedy(kernel):
    samples = np.array([[0.0], [1.0], [1.9], [3.0], [4.0]])
    message = error_of(lambda: RBF(kernel, 1e5).fit(samples, np.arange(5.0), names=list("abcde")))
    assert all(part in message for part in ("'b' and 'c'", "radius below 1e+05"))


def test_a_linear_tail_is_flat_in_directions_that_samples_do_not_span():
    line = np.array([[0.0, 0], [1, 1], [2, 2], [3, 3]])
    with pytest.raises(SingularError, match="tail='constant'"):
        RBF("thin_plate", tail="linear").fit(line, np.arange(4.0))
    for kernel in ("thin_plate", "cubic"):
        fitted = RBF(kernel).fit(line, np.arange(4.0))
        assert fitted.tail == "linear"
        np.testing.assert_allclose(fitted(line), np.arange(4.0), atol=1e-9)
        # Along the line it goes on as it is.
        np.testing.assert_allclose(fitted([[-5.0, -5], [9, 9]]), [-5.0, 9], atol=1e-7)
        slope = fitted.weights[-2:]
        assert slope @ [1.0, -1.0] == pytest.approx(0.0, abs=1e-9)
        assert RBF(kernel).fit(scattered(np.random.default_rng(0), 4, 2), np.arange(4.0)).tail == "linear"


@pytest.mark.parametrize(
    ("call", "allowed", "came"),
    [
        (lambda: Shepard(power=0.0), "above 0", "0.0"),
        (lambda: Shepard(power=float("nan")), "above 0", "nan"),
        (lambda: Shepard(epsilon=1.0), "at least 0 and below 1", "1.0"),
        (lambda: RBF("gauss"), "gaussian, exponential, multiquadric, thin_plate, linear, cubic", "'gauss'"),
        (lambda: RBF(tail="cubic"), "'auto', None, 'constant' or 'linear'", "'cubic'"),
        (lambda: RBF(smoothing=-1.0), "at least 0", "-1.0"),
        (lambda: RBF(radius=0.0), "above 0", "0.0"),
        (lambda: RBF(radius=[1.0, -2.0]), "above 0", "-2.0"),
        (lambda: RBF(radius=[1.0, 2.0]).fit([[0.0], [1.0]], [0.0, 1.0]), "1 here", "(2,)"),
        (lambda: RBF().fit(np.zeros((0, 2)), np.zeros(0)), "at least 1", "(0, 2)"),
        (lambda: RBF().fit([[0.0], [1.0]], [0.0, np.nan]), "finite", "nan"),
        (lambda: RBF("linear", tail=None).fit([[1.0]], [2.0]), "tail='constant'", "one sample"),
        (lambda: RBF().fit([[0.0], [1.0]], [0.0]), "(2)", "(1,)"),
        (lambda: RBF().fit([[0.0], [1.0]], [0.0, 1.0], names=["rest"]), "expected 2", "got 1"),
        (lambda: RBF().fit([[0.0], [1.0]], [0.0, 1.0], metric="angle"), "euclidean, rotation", "'angle'"),
        (lambda: RBF().fit([[0.0], [1.0]], [0.0, 1.0])([[0.0, 1.0]]), "(Q, 1)", "(1, 2)"),
    ],
)
def test_wrong_input_is_refused_with_what_is_allowed_and_what_came(call, allowed, came):
    message = error_of(call)
    assert all(part in message for part in (allowed, came))


def test_settings_are_hashable_and_keep_no_array_of_the_caller():
    radius = np.array([1.0, 2.0])
    method = RBF(radius=radius)
    radius[:] = 0.0
    assert method == RBF(radius=[1.0, 2.0])
    assert len({method, RBF(radius=(1.0, 2.0)), RBF()}) == 2


@pytest.mark.parametrize("kernel", list(KERNELS))
@given(seed=seeds)
@quick
def test_a_held_function_is_the_same_within_its_reach_and_beyond_stays_as_at_its_edge(kernel, seed):
    rng = np.random.default_rng(seed)
    samples, values = scattered(rng, 9, 2), rng.normal(size=(9, 2))
    origin = int(rng.integers(9))
    free = RBF(kernel).fit(samples, values, origin=origin)
    held = free.with_reach(1.25)
    size = 1 + np.abs(free.weights).max()
    np.testing.assert_array_equal(held.centres[0], samples[origin])
    np.testing.assert_allclose(held(samples), free(samples), atol=1e-9 * size)
    way = rng.normal(size=(6, 2))
    unit = way / np.linalg.norm(way / free.radius, axis=1, keepdims=True)
    inside, edge, beyond = (samples[origin] + share * held.reach * unit for share in (0.99, 1.0, 30.0))
    np.testing.assert_allclose(held(inside), free(inside), atol=1e-8 * size)
    np.testing.assert_allclose(held(beyond), free(edge), atol=1e-8 * size)


@pytest.mark.parametrize("kernel", ["exponential", "thin_plate"])
def test_functions_of_rotations_are_held_along_the_way_from_a_sample(kernel):
    rng = np.random.default_rng(0)
    samples = rotations(rng, 9, 1, reach=0.6)
    made = RBF(kernel).fit(samples, rng.normal(size=(9, 2)), "rotation", origin=2)
    held = made.with_reach(1.25)
    np.testing.assert_allclose(held(samples), made(samples), atol=1e-6)
    start, angle = Rotation.from_quat(samples[2]), 1.25 * distances(samples, samples[[2]], "rotation").max()
    way = angle * np.array([0.6, 0.8, 0.0])
    edge, beyond = ((start * Rotation.from_rotvec(part * way)).as_quat() for part in (1.0, 1.6))
    np.testing.assert_allclose(held(beyond[None]), made(edge[None]), atol=1e-6 * (1 + np.abs(made.weights).max()))


def test_a_reach_is_above_zero():
    made = RBF().fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(InputError, match="reach: expected above 0, from 1e-30, got 0"):
        dataclasses.replace(made, reach=0.0)
