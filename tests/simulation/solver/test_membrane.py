"""The skin as a membrane: its slopes, that it bears no pressure, and what it does to flesh."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.boxes import box
from hypothesis import given, settings
from hypothesis import strategies as st

from posespace.check import Floats
from posespace.geometry.tetrahedra import boundary
from posespace.simulation.solver.material import Material
from posespace.simulation.solver.membrane import Membrane
from posespace.simulation.solver.solve import Solver
from posespace.simulation.solver.system import System

TRIANGLES = np.array([[0, 1, 2], [2, 1, 3], [3, 1, 4]])
POINTS = np.array([[0.0, 0, 0], [1, 0, 0.1], [0, 1, 0], [1, 1.2, 0.2], [2, 0.5, 0]])


def sheet() -> Membrane:
    return Membrane(POINTS, TRIANGLES, 2.0)


def moved(seed: int) -> Floats:
    """The sheet stretched here and pressed there."""
    return np.asarray(1.1 * POINTS + 0.35 * np.random.default_rng(seed).normal(size=POINTS.shape))


def energy(points: Floats) -> float:
    return float(sheet().forces(points)[0].sum())


def slope(points: Floats) -> Floats:
    total = np.zeros_like(points)
    np.add.at(total, TRIANGLES.ravel(), sheet().forces(points)[1].reshape(-1, 3))
    return total


def tangent(points: Floats) -> Floats:
    membrane = sheet()
    parts, (rows, columns) = membrane.tangents(points), membrane.blocks()
    whole = np.zeros((len(points), 3, len(points), 3))
    for t, k in np.ndindex(parts.shape[:2]):
        block, (a, b) = parts[t, k].reshape(3, 3), (rows[t, k], columns[t, k])
        whole[a, :, b] += block
        if a != b:
            whole[b, :, a] += block.T
    return whole.reshape(3 * len(points), -1)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000))
def test_slope_and_tangent_are_derivatives_of_the_energy(seed: int) -> None:
    points, step = moved(seed), 1e-6
    turns = step * np.eye(points.size).reshape(-1, *points.shape)
    slopes = np.array([energy(points + turn) - energy(points - turn) for turn in turns]) / (2 * step)
    np.testing.assert_allclose(slope(points).ravel(), slopes, atol=1e-6 * max(1.0, np.abs(slopes).max()))
    curves = np.array([slope(points + turn) - slope(points - turn) for turn in turns]).reshape(points.size, -1)
    gap = np.abs(tangent(points) - curves / (2 * step))
    # Where a triangle is about to wrinkle, the tangent jumps: there the difference quotient sees both sides.
    assert np.median(gap) < 1e-5 * np.abs(curves).max() / (2 * step)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_it_is_convex_and_never_negative(seed: int) -> None:
    points = moved(seed)
    assert energy(points) >= 0
    values = np.linalg.eigvalsh(tangent(points))
    assert values.min() >= -1e-9 * max(values.max(), 1.0)


def test_it_bears_no_pressure() -> None:
    pressed = POINTS * 0.7
    assert energy(pressed) == 0.0
    assert np.abs(slope(pressed)).max() == 0.0
    assert energy(POINTS) == pytest.approx(0.0, abs=1e-12)


def test_a_strip_that_is_pulled_pulls_along_its_length_only() -> None:
    """Narrowed by more than the pull alone would narrow it, it wrinkles: ψ = k/2 (λ² + 2/λ − 3) per area."""
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    strip = Membrane(points, np.array([[0, 1, 2]]), 3.0)
    (found,), (pull,) = strip.forces(points * [1.5, 0.4, 1.0])
    assert found == pytest.approx(0.5 * 3.0 / 2 * (1.5**2 + 2 / 1.5 - 3))
    assert np.abs(pull[:, 1:]).max() < 1e-12


@pytest.mark.parametrize("nodes", [4, 10])
def test_the_tangent_with_a_membrane_is_the_slope_of_the_force(nodes: int) -> None:
    points, tets = box((3, 2, 2), (1.5, 1.0, 1.0), nodes, jitter=0.1)
    fixed = points[:, 0] < 1e-9
    faces, _ = boundary(tets)
    membrane = Membrane(points, faces[~fixed[faces].all(axis=1)], 0.5)
    system = System(points, tets, fixed, Material("calculix"), membrane)
    shape = points * [1.3, 1.0, 1.1]
    shape[fixed] = points[fixed]
    right = np.random.default_rng(3).normal(size=(len(system.free), 3))
    found = system.solve(system.state(shape), right, 0.0, 0.0)
    assert found is not None
    step = 1e-6
    ahead, behind = shape.copy(), shape.copy()
    ahead[system.free] += step * found
    behind[system.free] -= step * found
    change = (system.state(ahead).force - system.state(behind).force) / (2 * step)
    np.testing.assert_allclose(change, right, atol=2e-3 * np.abs(right).max())


def test_a_stiffer_skin_stretches_less() -> None:
    points, tets = box((6, 2, 2), (3.0, 1.0, 1.0), 4)
    ends = (points[:, 0] < 1e-9) | (points[:, 0] > 3 - 1e-9)
    middle = ends.copy()
    middle[np.linalg.norm(points - [1.5, 0.5, 1.0], axis=1) < 0.6] = True

    def lifted(skin: float) -> Floats:
        solver = Solver(points, tets, middle, Material("calculix"), skin=skin)
        up = np.where((middle & ~ends)[:, None], [0.0, 0.0, 0.5], 0.0)
        solution = solver.solve(points, lambda fraction: points + fraction * up, steps=2)
        assert solution.converged, solution.reason
        return solution.points

    faces, _ = boundary(tets)

    def area(shape: Floats) -> float:
        a, b, c = (shape[faces[:, k]] for k in range(3))
        return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)

    assert area(lifted(5.0)) < area(lifted(0.0)) - 1e-3
