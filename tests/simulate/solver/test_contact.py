"""Skin that meets skin or bones: what is found, and what the solver makes of it."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.boxes import box, turn
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.simulate.bodies import capsules
from posespace.simulate.bodies.body import Bone
from posespace.simulate.solver import elements
from posespace.simulate.solver.contact import Contact, SkinContact
from posespace.simulate.solver.factor import conjugate_gradients
from posespace.simulate.solver.solve import Solver


def pads(nodes: int) -> tuple[Floats, elements.Nodes, Floats]:
    """Two pads, one above the other with a gap of 0.5, and which points are held, -1 below and 1 above."""
    low, tets = box((3, 3, 2), (1.0, 1.0, 0.6), nodes, jitter=0.1)
    points = np.concatenate([low, low * [1.0, 1.0, -1.0] + [0.0, 0.0, 1.7]])
    mirrored = tets[:, [0, 2, 1, 3] if nodes == 4 else [0, 2, 1, 3, 6, 5, 4, 7, 9, 8]]
    held = np.where(points[:, 2] < 1e-9, -1.0, np.where(points[:, 2] > 1.7 - 1e-9, 1.0, 0.0))
    return points, np.concatenate([tets, mirrored + len(low)]), held


def inner(points: Floats) -> NDArray[np.bool_]:
    """Which points are away from the pads' sharp rims, where the skin has no clear normal."""
    away: NDArray[np.bool_] = ((points[:, :2] > 0.1) & (points[:, :2] < 0.9)).all(axis=1)
    return away


@pytest.mark.parametrize("nodes", [4, 10])
def test_skin_in_contact_presses_instead_of_passing_through(nodes: int) -> None:
    points, tets, held = pads(nodes)

    def target(fraction: float) -> Floats:
        return points - fraction * 0.35 * held[:, None] * [0.0, 0.0, 1.0]

    low, high = (np.flatnonzero(np.isclose(points[:, 2], z) & inner(points)) for z in (0.6, 1.1))
    free = Solver(points, tets, held != 0).solve(points, target)
    assert (free.points[low, 2] > free.points[high, 2] + 0.19).all()
    touching = Solver(points, tets, held != 0, contact=Contact(apart=1.0)).solve(points, target)
    assert touching.converged, touching.reason
    depth = touching.points[low, 2] - touching.points[high, 2]
    assert np.abs(depth).max() < 0.1
    assert np.abs(touching.points[low, 2] - 0.85).max() < 0.05
    # The pads are mirror images, and so must their shapes be.
    mirrored = touching.points[: len(points) // 2] * [1.0, 1.0, -1.0] + [0.0, 0.0, 1.7]
    assert np.abs(mirrored - touching.points[len(points) // 2 :]).max() < 1e-3


def pressed(points: Floats) -> Floats:
    """The pads moved into each other by 0.2."""
    return points - 0.35 * np.where(points[:, 2:] > 0.8, 1.0, -1.0) * [0.0, 0.0, 1.0]


def test_contact_force_is_the_slope_of_its_energy() -> None:
    points, tets, held = pads(4)
    shape = pressed(points)
    skin = SkinContact(Contact(apart=1.0), points, tets, held != 0, young=1.0)
    assert len(skin.find(points)[0].nodes) == 0
    pairs, missed = skin.find(shape)
    assert missed == 0
    pairs = pairs.touching(shape)
    faces = (np.isclose(points[:, 2], 0.6) | np.isclose(points[:, 2], 1.1)) & inner(points)
    assert set(np.flatnonzero(faces)) <= set(pairs.nodes.tolist())
    on_faces = faces[pairs.nodes]
    assert np.allclose(np.abs(pairs.normal[on_faces, 2]), 1, atol=0.1)
    rng = np.random.default_rng(0)
    direction, h = rng.normal(size=points.shape), 1e-6
    slope = (pairs.energy(shape + h * direction) - pairs.energy(shape - h * direction)) / (2 * h)
    assert np.isclose((pairs.force(shape) * direction).sum(), slope, rtol=1e-6)
    change = (pairs.force(shape + h * direction) - pairs.force(shape - h * direction)) / (2 * h)
    assert np.allclose(pairs.product(direction), change, atol=1e-7)
    assert np.allclose(pairs.force(shape).sum(axis=0), 0, atol=1e-12)
    nodes, blocks = pairs.diagonal()
    for node in nodes[:3].tolist():
        unit = np.zeros_like(points)
        unit[node, 0] = 1.0
        # Where a triangle's corners are in two pairs or more, the blocks add up.
        assert np.allclose(pairs.product(unit)[node], blocks[nodes == node].sum(axis=0)[:, 0])


def test_skin_that_has_gone_too_deep_is_told() -> None:
    points, tets, held = pads(4)
    skin = SkinContact(Contact(apart=1.0), points, tets, held != 0, young=1.0)
    skin.deepest = 0.05
    assert skin.find(pressed(points))[1] > 0


def test_a_bone_pushes_skin_out_and_moves_with_its_nodes() -> None:
    points, tets, held = pads(4)
    bone = Bone(0, np.array([0.3, 0.5, 0.9]), np.array([0.7, 0.5, 0.9]), 0.4, 0.35)
    bone_of = np.where(held > 0, 0, -1)
    skin = SkinContact(Contact(apart=1.0), points, tets, held != 0, young=1.0, bones=(bone,), bone_of=bone_of)
    pairs = skin.find(points)[0].touching(points)
    assert len(pairs.nodes)
    depth = -capsules.distance(bone, points[pairs.nodes])
    assert np.allclose(pairs.depth(points), depth)
    out = points.copy()
    out[pairs.nodes] += depth[:, None] * pairs.normal
    assert np.allclose(capsules.distance(bone, out[pairs.nodes]), 0, atol=1e-9)
    turned = points @ turn(0.8).T + [1.0, 2.0, 3.0]
    again = skin.find(turned)[0].touching(turned)
    assert np.array_equal(again.nodes, pairs.nodes)
    assert np.allclose(again.normal, pairs.normal @ turn(0.8).T)


def test_contact_that_does_not_settle_ends_with_a_reason() -> None:
    points, tets, held = pads(4)
    solver = Solver(points, tets, held != 0, contact=Contact(apart=1.0), iterations=3, halvings=2)
    solution = solver.solve(points, lambda f: points - f * 0.35 * held[:, None] * [0.0, 0.0, 1.0])
    assert not solution.converged
    assert "no balance after 3 Newton iterations" in solution.reason
    assert len(solution.newton) < 12


def test_conjugate_gradients_tell_what_is_not_definite() -> None:
    diagonal, right = np.full((4, 3), 2.0), np.arange(12.0).reshape(4, 3)
    found = conjugate_gradients(lambda r: r / diagonal, lambda p: p[::-1], right, right / diagonal)
    assert found is not None
    assert np.allclose(2 * found + found[::-1], right, atol=1e-3)
    assert conjugate_gradients(lambda r: r / diagonal, lambda p: -3 * p, right, right / diagonal) is None
