"""The hyperelastic solver: elements, laws, factorisation, Newton's method and load steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from helpers.boxes import box, turn
from scipy.optimize import brentq
from scipy.sparse import coo_array
from scipy.sparse.linalg import spsolve

from posespace.check import Floats
from posespace.errors import InputError
from posespace.geometry.cholesky import BlockCholesky
from posespace.geometry.tetrahedra import EDGES
from posespace.simulation.solver import elements
from posespace.simulation.solver.material import LAWS, Material, stress, tangent
from posespace.simulation.solver.solve import Effort, Solver


def bend(points: Floats, angle: float) -> Callable[[float], Floats]:
    """Turn the end x > middle about the middle of the beam; only fixed nodes will be read."""
    middle = np.array([points[:, 0].max() / 2, 0.0, points[:, 2].mean()])

    def target(fraction: float) -> Floats:
        placed = points.copy()
        far = points[:, 0] > middle[0]
        placed[far] = (points[far] - middle) @ turn(-fraction * angle).T + middle
        return placed

    return target


def random_gradients(count: int) -> Floats:
    return np.eye(3) + np.random.default_rng(5).normal(scale=0.25, size=(count, 3, 3))


def at(material: Material, f: Floats) -> tuple[float, Floats]:
    p = np.empty((3, 3))
    energy, _ = stress(*material.constants, f, p)
    return energy, p


def tangent_at(material: Material, f: Floats, beta: float) -> Floats:
    h = np.empty((9, 9))
    tangent(*material.constants, beta, f, h, np.empty((9, 9)))
    return h


@pytest.mark.parametrize("nodes", [4, 10])
def test_shape_functions_sum_to_one_and_quadrature_gives_the_volume(nodes: int) -> None:
    barycentric, weights = elements.quadrature(nodes)
    assert np.allclose(elements.shape_functions(nodes, barycentric).sum(axis=1), 1)
    assert np.allclose(elements.shape_gradients(nodes, barycentric).sum(axis=1), 0)
    assert np.isclose(weights.sum(), 1 / 6)
    points, tets = box((2, 2, 2), (1.0, 2.0, 3.0), nodes, jitter=0.2)
    assert np.isclose(elements.volumes(points, tets).sum(), 6)
    assert np.isclose(elements.rest_gradients(points, tets)[1].sum(), 6)


def test_middle_nodes_lie_between_the_nodes_of_their_edge() -> None:
    points, tets = box((2, 1, 1), (2.0, 1.0, 1.0), 4)
    wide_points, wide, edges = elements.to_quadratic(points, tets)
    assert np.array_equal(wide_points[: len(points)], points)
    assert np.array_equal(wide[:, :4], tets)
    assert np.allclose(wide_points[len(points) :], points[edges].mean(axis=1))
    for k, (i, j) in enumerate(EDGES):
        assert np.allclose(wide_points[wide[:, 4 + k]], (points[tets[:, i]] + points[tets[:, j]]) / 2)


@pytest.mark.parametrize("law", LAWS)
def test_stress_is_the_slope_of_the_energy_and_the_tangent_that_of_the_stress(law: str) -> None:
    material = Material(law, 0.4, 2.0)
    h = 1e-6
    for f in random_gradients(20):
        if np.linalg.det(f) < 0.1:
            continue
        _, p = at(material, f)
        exact = tangent_at(material, f, 0.0)
        for k in range(9):
            step = np.zeros(9)
            step[k] = h
            (up, p_up), (down, p_down) = at(material, f + step.reshape(3, 3)), at(material, f - step.reshape(3, 3))
            assert np.isclose((up - down) / (2 * h), p.ravel()[k], rtol=1e-6, atol=1e-7)
            assert np.allclose((p_up - p_down).ravel() / (2 * h), exact[:, k], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("law", LAWS)
def test_small_strain_is_that_of_the_given_constants(law: str) -> None:
    material = Material(law, 0.3, 5.0)
    delta = np.eye(3)
    hooke = material.lame * np.einsum("ij,kl->ijkl", delta, delta) + material.shear * (
        np.einsum("ik,jl->ijkl", delta, delta) + np.einsum("il,jk->ijkl", delta, delta)
    )
    assert np.allclose(tangent_at(material, np.eye(3), 0.0), hooke.reshape(9, 9))
    assert np.allclose(at(material, np.eye(3))[1], 0)


@pytest.mark.parametrize("law", LAWS)
def test_damping_multiplies_the_negative_eigenvalues_only(law: str) -> None:
    material = Material(law)
    seen = 0
    for f in [*random_gradients(60), np.diag([1.0, 1.0, 0.3]), np.diag([0.2, 0.2, 0.2])]:
        if law == "calculix" and np.linalg.det(f) <= 0.05:
            continue
        values, axes = np.linalg.eigh(tangent_at(material, f, 0.0))
        seen += int((values < -1e-6).sum())
        size = np.abs(values).max()
        for beta in (0.25, 1.0):
            want = (axes * np.where(values < 0, (1 - beta) * values, values)) @ axes.T
            assert np.allclose(tangent_at(material, f, beta), want, atol=1e-9 * size)
        assert np.linalg.eigvalsh(tangent_at(material, f, 1.0)).min() > -1e-10 * size
    assert seen > 20


def test_damping_holds_where_the_gradient_has_lost_rank() -> None:
    for f in (np.zeros((3, 3)), np.diag([1.0, 0.0, 0.0]), np.diag([1.0, 1.0, 0.0]), np.diag([1.0, 1.0, -1.0])):
        h = tangent_at(Material(), f, 1.0)
        assert np.isfinite(h).all()
        assert np.linalg.eigvalsh(h).min() > -1e-12


def test_the_calculix_law_forbids_inversion() -> None:
    assert at(Material("calculix"), np.diag([1.0, 1.0, -0.1]))[0] == np.inf


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("nodes", [4, 10])
def test_rigid_motion_costs_no_energy(law: str, nodes: int) -> None:
    points, tets = box((2, 2, 2), (1.0, 1.0, 1.0), nodes, jitter=0.2)
    solver = Solver(points, tets, points[:, 0] == 0, Material(law))
    assert abs(solver.energy(points @ turn(1.1).T + [3.0, -2.0, 0.5])) < 1e-14
    assert solver.energy(points * [1.1, 1.0, 1.0]) > 1e-4


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("nodes", [4, 10])
def test_patch_a_linear_field_is_reproduced(law: str, nodes: int) -> None:
    points, tets = box((3, 3, 3), (1.0, 1.0, 1.0), nodes, jitter=0.25)
    outside = ((points < 1e-9) | (points > 1 - 1e-9)).any(axis=1)
    field = turn(0.4) @ np.array([[1.2, 0.1, 0.0], [-0.1, 0.9, 0.2], [0.0, 0.1, 1.1]])
    whole = points @ field.T
    solution = Solver(points, tets, outside, Material(law)).solve(points, lambda f: points + f * (whole - points))
    assert solution.converged, solution.reason
    assert np.abs(solution.points - whole).max() < 1e-9
    assert np.isclose(solution.volume_change, np.linalg.det(field) - 1)


@pytest.mark.parametrize("law", LAWS)
def test_the_tangent_of_the_whole_is_the_slope_of_its_force(law: str) -> None:
    points, tets = box((2, 1, 1), (2.0, 1.0, 1.0), 10)
    material = Material(law)
    rest = elements.rest_gradients(points, tets)
    pattern = elements.Pattern(tets, np.arange(len(points)))
    rng = np.random.default_rng(0)
    shape = points + rng.normal(scale=0.02, size=points.shape)
    blocks = pattern.tangent(shape, tets, rest, material.constants, 0.0)
    direction, h = rng.normal(size=points.shape), 1e-6

    def force(x: Floats) -> Floats:
        return elements.nodal_forces(elements.element_forces(x, tets, *rest, *material.constants)[1], tets, len(x))

    difference = (force(shape + h * direction) - force(shape - h * direction)) / (2 * h)
    product = (dense(pattern.rows, pattern.columns, blocks) @ direction.ravel()).reshape(-1, 3)
    assert np.allclose(product, difference, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("law", LAWS)
def test_a_stretched_bar_thins_as_the_law_says(law: str) -> None:
    # The ends are held in place along the bar only where it is cut: the free sides take the analytic stretch.
    material = Material(law, 0.4)
    long = 1.5

    def side_stress(wide: float) -> float:
        return float(at(material, np.diag([long, wide, wide]))[1][1, 1])

    wide = brentq(side_stress, 0.5, 1.0, xtol=1e-14)
    points, tets = box((4, 2, 2), (2.0, 1.0, 1.0), 10, jitter=0.15)
    ends = (points[:, 0] == 0) | (points[:, 0] == 2)
    exact = points * [long, wide, wide]
    solution = Solver(points, tets, ends, Material(law, 0.4)).solve(points, lambda f: points + f * (exact - points))
    assert solution.converged, solution.reason
    assert np.abs(solution.points - exact).max() < 1e-8
    assert np.isclose(solution.volume_change, long * wide**2 - 1, atol=1e-9)


@pytest.mark.parametrize(("law", "nodes"), [("stable", 4), ("stable", 10), ("calculix", 10)])
def test_a_beam_bends_by_ninety_degrees(law: str, nodes: int) -> None:
    points, tets = box((8, 2, 2), (4.0, 1.0, 1.0), nodes)
    solver = Solver(points, tets, (points[:, 0] < 0.01) | (points[:, 0] > 3.99), Material(law))
    solution = solver.solve(points, bend(points, np.pi / 2), steps=2)
    assert solution.converged, solution.reason
    assert solution.reason == ""
    assert solution.least_jacobian > 0
    assert abs(solution.volume_change) < 0.05
    assert len(solution.newton) >= solution.load_steps >= 1


def test_the_shape_is_a_minimum_and_does_not_depend_on_the_way_there() -> None:
    points, tets = box((6, 2, 2), (3.0, 1.0, 1.0), 10)
    solver = Solver(points, tets, (points[:, 0] == 0) | (points[:, 0] == 3))
    target = bend(points, 0.6)
    direct = solver.solve(points, target)
    slowly = solver.solve(points, target, guess=lambda x, _from, _to: x, steps=4)
    assert direct.converged
    assert slowly.converged
    assert slowly.load_steps >= 4
    assert np.abs(direct.points - slowly.points).max() < 1e-8
    wiggle = np.random.default_rng(0).normal(scale=1e-4, size=points.shape) * ~solver.system.fixed[:, None]
    assert solver.energy(direct.points + wiggle) > solver.energy(direct.points)


def test_youngs_modulus_does_not_change_the_shape() -> None:
    points, tets = box((4, 2, 2), (2.0, 1.0, 1.0), 4)
    ends = (points[:, 0] == 0) | (points[:, 0] == 2)
    soft, hard = (
        Solver(points, tets, ends, Material(young=young)).solve(points, bend(points, 0.5)) for young in (1e-3, 1e6)
    )
    assert np.abs(soft.points - hard.points).max() < 1e-9


@pytest.mark.parametrize("law", LAWS)
def test_an_absurd_load_is_refused_with_a_reason(law: str) -> None:
    points, tets = box((2, 2, 2), (1.0, 1.0, 1.0), 4)
    ends = (points[:, 0] == 0) | (points[:, 0] == 1)
    far = points[:, 0] == 1
    solver = Solver(points, tets, ends, Material(law), Effort(halvings=4))
    solution = solver.solve(points, lambda f: points - 1.5 * f * far[:, None] * [1.0, 0.0, 0.0])
    assert not solution.converged
    assert solution.reason.startswith("stopped at 0.")
    assert solution.halvings > 0
    assert solution.least_jacobian > 0
    assert len(solution.newton) == solution.load_steps + solution.halvings


def test_a_step_that_fails_is_halved() -> None:
    points, tets = box((4, 2, 2), (2.0, 1.0, 1.0), 4)
    ends = (points[:, 0] == 0) | (points[:, 0] == 2)
    target = bend(points, 1.2)
    patient = Solver(points, tets, ends).solve(points, target)
    hasty = Solver(points, tets, ends, effort=Effort(iterations=5)).solve(points, target)
    assert patient.converged
    assert hasty.converged, hasty.reason
    assert hasty.halvings >= 1
    assert hasty.load_steps >= 2
    assert np.abs(patient.points - hasty.points).max() < 1e-6


def test_two_runs_give_the_same_bits_and_two_threads_the_same_shape() -> None:
    points, tets = box((4, 2, 2), (2.0, 1.0, 1.0), 10)
    ends = (points[:, 0] == 0) | (points[:, 0] == 2)
    target = bend(points, 0.7)
    first, again, both = (
        Solver(points, tets, ends, effort=Effort(threads=threads)).solve(points, target).points for threads in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert np.abs(first - both).max() < 1e-12


def test_kernels_give_the_same_bits_on_any_number_of_threads() -> None:
    import numba

    points, tets = box((6, 3, 3), (3.0, 1.0, 1.0), 10)
    shape = points * [1.1, 0.8, 1.0]
    rest = elements.rest_gradients(points, tets)
    pattern = elements.Pattern(tets, np.arange(len(points)))
    results = []
    before = numba.get_num_threads()
    for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
        numba.set_num_threads(threads)
        energy, force, _ = elements.element_forces(shape, tets, *rest, *Material().constants)
        results.append((energy, force, pattern.tangent(shape, tets, rest, Material().constants, 0.5)))
    numba.set_num_threads(before)
    assert all(np.array_equal(one, two) for one, two in zip(*results, strict=True))


def dense(rows: elements.Nodes, columns: elements.Nodes, blocks: Floats) -> coo_array:
    """The whole symmetric matrix of the blocks below and on its diagonal."""
    inner = np.arange(3)
    i = np.broadcast_to(3 * rows[:, None, None] + inner[:, None], blocks.shape).ravel()
    j = np.broadcast_to(3 * columns[:, None, None] + inner, blocks.shape).ravel()
    off = np.repeat(rows != columns, 9)
    values = blocks.ravel()
    size = 3 * (int(rows.max()) + 1)
    return coo_array(
        (np.append(values, values[off]), (np.append(i, j[off]), np.append(j, i[off]))), shape=(size, size)
    ).tocsc()


@pytest.mark.parametrize("pieces", [1, 3])
def test_the_factorisation_solves_and_reports_what_is_not_definite(pieces: int) -> None:
    points, tets = box((8, 3, 3), (4.0, 1.0, 1.0), 10)
    one = len(points)
    points = np.concatenate([points + 5.0 * k * np.eye(3)[2] for k in range(pieces)])
    tets = np.concatenate([tets + one * k for k in range(pieces)])
    pattern = elements.Pattern(tets, np.arange(len(points)))
    rng = np.random.default_rng(1)
    cholesky = BlockCholesky(points, pattern.rows, pattern.columns)
    for _ in range(2):
        blocks = rng.normal(size=(len(pattern.rows), 3, 3))
        on = pattern.rows == pattern.columns
        blocks[on] = blocks[on] + np.swapaxes(blocks[on], 1, 2) + 250 * np.eye(3)
        right = rng.normal(size=points.shape)
        matrix = dense(pattern.rows, pattern.columns, blocks)
        x = cholesky.solve(blocks, right)
        assert x is not None
        assert np.allclose(x.ravel(), spsolve(matrix, right.ravel()), rtol=1e-10, atol=1e-13)
        blocks[np.flatnonzero(on)[7]] -= 500 * np.eye(3)
        assert cholesky.solve(blocks, right) is None
        blocks[:] = np.nan
        assert cholesky.solve(blocks, right) is None


def test_wrong_input_is_named() -> None:
    points, tets = box((1, 1, 1), (1.0, 1.0, 1.0), 4)
    fixed = points[:, 0] == 0
    with pytest.raises(InputError, match="positive volume"):
        Solver(points, tets[:, [1, 0, 2, 3]], fixed)
    with pytest.raises(InputError, match="some nodes"):
        Solver(points, tets, np.ones(len(points), bool))
    with pytest.raises(InputError, match="4 or 10"):
        Solver(points, tets[:, :3], fixed)
    with pytest.raises(InputError, match="poisson"):
        Solver(points, tets, fixed, Material(poisson=0.5))
    with pytest.raises(InputError, match="law"):
        Solver(points, tets, fixed, Material("hooke"))
