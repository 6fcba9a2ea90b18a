"""Skin that keeps clear of itself: the barrier's slopes, ways that are clear, and what the solver makes of it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.boxes import box
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.errors import InputError
from posespace.geometry.tetrahedra import boundary
from posespace.simulation.solver import elements
from posespace.simulation.solver.contact import Contact, SkinContact
from posespace.simulation.solver.material import Material
from posespace.simulation.solver.solve import Effort, Solver
from posespace.simulation.solver.system import System


def pads(nodes: int) -> tuple[Floats, elements.Nodes, Floats]:
    """Two pads, one above the other with a gap of 0.5, and which points are held, -1 below and 1 above."""
    low, tets = box((3, 3, 2), (1.0, 1.0, 0.6), nodes, jitter=0.1)
    points = np.concatenate([low, low * [1.0, 1.0, -1.0] + [0.0, 0.0, 1.7]])
    mirrored = tets[:, [0, 2, 1, 3] if nodes == 4 else [0, 2, 1, 3, 6, 5, 4, 7, 9, 8]]
    held = np.where(points[:, 2] < 1e-9, -1.0, np.where(points[:, 2] > 1.7 - 1e-9, 1.0, 0.0))
    return points, np.concatenate([tets, mirrored + len(low)]), held


def skin_of(points: Floats, tets: elements.Nodes) -> tuple[SkinContact, sp.csr_array]:
    """The contact of the pads' own boundary, and the matrix from the nodes to its vertices."""
    faces = boundary(tets[:, :4])[0]
    used, numbered = np.unique(faces, return_inverse=True)
    ones = np.ones(len(used))
    embedding = sp.csr_array((ones, (np.arange(len(used)), used)), shape=(len(used), len(points)))
    return SkinContact(points[used], numbered.reshape(-1, 3).astype(np.int32), Contact(0.01)), embedding


def closing(points: Floats, held: Floats, way: float) -> Floats:
    """The held points moved towards each other, each by `way`."""
    return points - way * held[:, None] * [0.0, 0.0, 1.0]


@pytest.mark.parametrize("nodes", [4, 10])
def test_skin_presses_and_never_passes_through(nodes: int) -> None:
    points, tets, held = pads(nodes)
    contact, embedding = skin_of(points, tets)
    free = Solver(points, tets, held != 0, Material("calculix")).solve(
        points, lambda f: closing(points, held, 0.35 * f)
    )
    assert contact.intersects(embedding @ free.points)
    solver = Solver(points, tets, held != 0, Material("calculix"), contact=contact, embedding=embedding)
    pressed = solver.solve(points, lambda f: closing(points, held, 0.35 * f))
    assert pressed.converged, pressed.reason
    assert not contact.intersects(embedding @ pressed.points)
    assert 0 < contact.nearest(embedding @ pressed.points) < contact.distance
    middle: NDArray[np.bool_] = np.isclose(points[:, 2], 0.6)
    assert np.abs(pressed.points[middle, 2] - 0.85).max() < 0.05
    # The pads are mirror images; sideways they may slip a little, for there is no friction.
    low, high = pressed.points[: len(points) // 2], pressed.points[len(points) // 2 :]
    assert np.abs(1.7 - low[:, 2] - high[:, 2]).max() < 0.005
    assert np.abs(low[:, :2] - high[:, :2]).max() < 0.02


def test_where_nothing_touches_contact_changes_nothing() -> None:
    points, tets, held = pads(4)
    contact, embedding = skin_of(points, tets)
    found = [
        Solver(points, tets, held != 0, Material("calculix"), contact=one, embedding=two).solve(
            points, lambda f: closing(points, held, 0.1 * f)
        )
        for one, two in ((None, None), (contact, embedding))
    ]
    np.testing.assert_allclose(found[0].points, found[1].points, atol=1e-9)


def near(points: Floats, contact: SkinContact) -> Floats:
    """The pads rigidly moved together until they repel, without touching."""
    away = 0.5 - 0.4 * contact.distance
    side = np.where(points[:, 2:] > 0.8, 1.0, -1.0)
    # Moved sideways too: where corners face corners, the distance has kinks.
    return np.asarray(points + side * [0.06, 0.04, -0.5 * away])


def test_force_and_tangent_are_the_slopes_of_the_energy() -> None:
    points, tets, held = pads(4)
    contact, embedding = skin_of(points, tets)
    system = System(points, tets, held != 0, Material("calculix"), None, contact, embedding)
    shape = near(points, contact)
    state = system.state(shape)
    assert state.in_contact
    rng, h = np.random.default_rng(0), 1e-7
    direction = np.zeros_like(points)
    direction[system.free] = rng.normal(size=(len(system.free), 3))
    ahead, behind = (system.state(shape + sign * h * direction) for sign in (1.0, -1.0))
    slope = (ahead.energy - behind.energy) / (2 * h)
    assert slope == pytest.approx(float((state.force * direction[system.free]).sum()), rel=1e-4)
    skins = [embedding @ (shape + sign * h * direction) for sign in (1.0, -1.0)]
    change = np.subtract(*(contact.slope(skin, contact.collisions(skin)) for skin in skins)) / (2 * h)
    curvature = contact.curvature(embedding @ shape, state.touching, 0.0)
    product = (curvature @ (embedding @ direction).ravel()).reshape(-1, 3)
    np.testing.assert_allclose(product, change, atol=1e-4 * np.abs(change).max())


def test_damping_takes_the_negative_eigenvalues_of_the_barrier() -> None:
    points, tets, _ = pads(4)
    contact, embedding = skin_of(points, tets)
    skin = embedding @ near(points, contact)
    touching = contact.collisions(skin)
    plain, half, whole = (contact.curvature(skin, touching, beta).toarray() for beta in (0.0, 0.5, 1.0))
    np.testing.assert_allclose(half, (plain + whole) / 2, atol=1e-12 * np.abs(plain).max())
    assert np.linalg.eigvalsh(plain).min() < -1e-3 * np.abs(plain).max()
    assert np.linalg.eigvalsh(whole).min() > -1e-9 * np.abs(plain).max()


def test_a_way_ends_before_the_first_collision() -> None:
    points, tets, _ = pads(4)
    contact, embedding = skin_of(points, tets)
    ahead = points - 0.5 * np.where(points[:, 2:] > 0.8, 1.0, -1.0) * [0.0, 0.0, 1.0]
    fraction, _ = contact.clear_fraction(embedding @ points, embedding @ ahead)
    assert 0.4 < fraction < 0.5
    assert contact.clear_fraction(embedding @ points, embedding @ (points + np.array([3.0, 0.0, 0.0])))[0] == 1.0


def test_skin_that_crosses_itself_at_rest_is_named() -> None:
    points, tets, _ = pads(4)
    crossing = points - 0.3 * np.where(points[:, 2:] > 0.8, 1.0, -1.0) * [0.0, 0.0, 1.0]
    with pytest.raises(InputError, match="passes through itself at rest"):
        skin_of(crossing, tets)


def test_contact_that_does_not_settle_ends_with_a_reason() -> None:
    points, tets, held = pads(4)
    contact, embedding = skin_of(points, tets)
    solver = Solver(
        points,
        tets,
        held != 0,
        Material("calculix"),
        Effort(iterations=2, halvings=1),
        contact=contact,
        embedding=embedding,
    )
    solution = solver.solve(points, lambda f: closing(points, held, 0.35 * f))
    assert not solution.converged
    assert "stopped at" in solution.reason


def test_places_that_touch_do_not_flood_standard_output() -> None:
    # In a process of its own: the library buffers what it writes until the process ends.
    code = (
        "import numpy as np\n"
        "from posespace.simulation.solver.contact import Contact, SkinContact\n"
        "rest = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, 0.5], [1, 0, 1], [0, 1, 1.0]])\n"
        "contact = SkinContact(rest, np.array([[0, 1, 2], [3, 4, 5]]), Contact(0.01))\n"
        "touching = rest - [0, 0, 0.5] * (np.arange(6)[:, None] >= 3)\n"
        "print(contact.clear_fraction(touching, touching - [0, 0, 0.1] * (np.arange(6)[:, None] >= 3))[0])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0.0\n"
    assert done.stderr == ""
