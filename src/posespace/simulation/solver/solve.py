"""Quasi-static equilibrium of soft tissue with prescribed bones: Newton's method inside adaptive load steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError, require
from posespace.geometry.tetrahedra import boundary
from posespace.simulation.solver import elements
from posespace.simulation.solver.contact import SkinContact
from posespace.simulation.solver.material import Material
from posespace.simulation.solver.membrane import Membrane
from posespace.simulation.solver.system import State, System

Target = Callable[[float], Floats]
"""Fraction of the load path → (N, 3) positions; only those of fixed nodes are read."""

Guess = Callable[[Floats, float, float], Floats]
"""Points (N, 3) in equilibrium at a fraction, that fraction, the next fraction → (N, 3) a first guess there."""

_EASY = 8  # Newton iterations up to which a load step counts as easy, and the next one may be longer.
_FORCE_TOLERANCE = 1e-5  # Of the largest force of one element on a node.
_NEAR = 100.0  # Steps of at most this many tolerances are those of the end.
_MOST = 300  # Newton iterations of a whole solve, those of steps that failed included.
_LONGEST = 0.05  # Of the diagonal: a step in contact moves no node farther.
_ADVANCES, _BETWEEN, _ROUGH = 30, 2, 1e-3  # Moves along the tangent in a load step, and what follows each.
_LEAST_ADVANCE = 0.02  # A move along the tangent that gets less far gives up.
_COARSE = 100.0  # Intermediate steps only start the next one: their tolerance is this much wider.


@dataclass(frozen=True, eq=False)
class Solution:
    """The result of a solve.

    Parameters
    ----------
    points : (N, 3) in equilibrium at the end of the load path; if not converged, at the last step that did
    converged : whether the end of the path was reached
    reason : why it was not; empty if it was
    newton : iterations of each load step that was tried, in order, those that failed included
    load_steps : steps that succeeded; every other one tried was halved
    least_jacobian : the least det F over all quadrature points; above 0 if converged
    volume_change : volume over rest volume, less one
    seconds : wall time
    """

    points: Floats
    converged: bool
    reason: str
    newton: tuple[int, ...]
    load_steps: int
    least_jacobian: float
    volume_change: float
    seconds: float

    @property
    def halvings(self) -> int:
        """How often a load step failed and was halved."""
        return len(self.newton) - self.load_steps


@dataclass(frozen=True)
class Effort:
    """How long and how exactly a solver works.

    Parameters
    ----------
    tolerance : the solve ends when a full Newton step moves no node farther than this fraction of the rest shape's
        diagonal, and forces balance. The error is then far smaller, because Newton's steps shrink quadratically
    iterations : the most Newton iterations in a load step
    halvings : how often in a row a load step may be halved before the solve gives up
    threads : for the kernels, BLAS and contact; None: unchanged. The shape depends on it only by rounding. More than
        one is slow where cores are busy, because BLAS spins: better solve several poses at once
    """

    tolerance: float = 1e-6
    iterations: int = 50
    halvings: int = 6
    threads: int | None = 1


@dataclass
class _Damping:
    """How much of their negative eigenvalues the tangents of elements and of contact lose, each from 0 to 1.

    Contact is damped first: where skin slides on skin, its tangent is the one that is not definite.
    """

    elements: float = 0.0
    contact: float = 0.0
    easy: int = 0

    def rise(self, touching: bool) -> bool:
        """Damp more; False if there is no more."""
        if touching and self.contact < 1.0:
            self.contact = _more(self.contact)
        elif self.elements < 1.0:
            self.elements = _more(self.elements)
        else:
            return False
        return True

    def worked(self, raised: bool) -> None:
        """Damp less after two steps that needed no more."""
        self.easy = 0 if raised else self.easy + 1
        if self.easy >= 2:
            self.elements, self.contact, self.easy = _less(self.elements), _less(self.contact), 0


def _more(damping: float) -> float:
    return 0.25 if damping == 0.0 else min(1.0, 2 * damping)


def _less(damping: float) -> float:
    return 0.0 if damping < 0.2 else damping / 2


class Solver:
    """Finds the shape of least energy for given positions of some nodes.

    Setting up orders the unknowns once; solving is then done as often as there are poses.

    Parameters
    ----------
    points : (N, 3) rest shape
    tets : (T, 4) or (T, 10), positive volumes, mid-edge nodes in the order of `tetrahedra.EDGES`
    fixed : (N,) bool, nodes whose positions are given, e.g. those on bones
    material : of the tissue; None: that of `Material()`
    effort : tolerance, iterations and threads; None: that of `Effort()`
    contact : of the skin with itself; None: it may pass through
    embedding : sparse (S, N), from the nodes to the vertices of the contact's surface
    skin : stiffness of the skin as a membrane: (skin/tissue shear modulus) × thickness; 0: no membrane
    """

    def __init__(
        self,
        points: ArrayLike,
        tets: ArrayLike,
        fixed: ArrayLike,
        material: Material | None = None,
        effort: Effort | None = None,
        contact: SkinContact | None = None,
        embedding: Any = None,
        skin: float = 0.0,
    ) -> None:
        material = material or Material()
        self.effort = effort or Effort()
        nodes: Floats = np.array(check.floats("points", points, ("N", 3)), dtype=np.float64)
        count = len(nodes)
        corners = np.array(check.indices("tets", tets, ("T", "4 or 10"), below=count), dtype=np.int64)
        if corners.shape[1] not in (4, 10) or not len(corners):
            raise InputError(f"tets: expected some, of 4 or 10 nodes, got shape {corners.shape}")
        held = np.array(fixed, dtype=bool)
        if held.shape != (count,):
            raise InputError(f"fixed: expected shape ({count},), got {held.shape}")
        used = np.isin(np.arange(count), corners)
        if not (used & ~held).any() or not (used & held).any():
            raise InputError("fixed: expected some nodes of the tets fixed and some free")
        membrane = None
        if skin > 0:
            faces, _ = boundary(corners)
            membrane = Membrane(nodes, faces[~held[faces].all(axis=1)], skin * material.shear)
        self.system = System(nodes, corners, held, material, membrane, contact, embedding)

    def solve(
        self, start: ArrayLike, target: Target, guess: Guess | None = None, steps: int = 1, patience: int = 1
    ) -> Solution:
        """Follow a load path from a shape in equilibrium to its end.

        Parameters
        ----------
        start : (N, 3) the shape at fraction 0, e.g. the rest shape or a solved neighbouring pose
        target : positions of the fixed nodes at any fraction from 0 to 1
        guess : first guess of the next shape, e.g. the last one moved by plain skinning; None follows the tangent
        steps : load steps to begin with; a step that fails is halved, and after an easy one the next is doubled again
        patience : how many times the usual Newton iterations a load step, and all of them together, may take
        """
        system = self.system
        system.forget()
        points: Floats = np.array(check.floats("start", start, system.points.shape), dtype=np.float64)
        began = time.perf_counter()
        newton: list[int] = []
        done, fraction, size, reason = 0, 0.0, 1.0 / steps, ""
        with _pinned(self.effort.threads, system.contact):
            while fraction < 1.0:
                ahead = 1.0 if fraction + size > 1.0 - 1e-9 else fraction + size
                tolerance = self.effort.tolerance if ahead == 1.0 else min(1e-3, _COARSE * self.effort.tolerance)
                prescribed = target(ahead)[system.fixed]
                guessed = None if guess is None else np.array(guess(points, fraction, ahead), dtype=np.float64)
                state, count, reason = self._step(points, prescribed, guessed, tolerance * system.diagonal, patience)
                newton.append(count)
                if not reason:
                    points, fraction, done = state.points, ahead, done + 1
                    size = min(1.0 / steps, 2 * size) if count <= _EASY else size
                elif size < 1.5 / (steps * 2**self.effort.halvings) or sum(newton) > patience * _MOST:
                    reason = f"stopped at {fraction:.4g} of the load: {reason}"
                    break
                else:
                    size /= 2
        return self._solution(points, reason, newton, done, began)

    def settle(self, start: ArrayLike, prescribed: ArrayLike) -> Solution:
        """Bring a shape (N, 3) that is not in balance into balance; `prescribed` (N, 3) is read at the fixed nodes."""
        system = self.system
        system.forget()
        points: Floats = np.array(check.floats("start", start, system.points.shape), dtype=np.float64)
        points[system.fixed] = np.asarray(prescribed)[system.fixed]
        began = time.perf_counter()
        with _pinned(self.effort.threads, system.contact):
            state, count, reason = self._newton(system.state(points), self.effort.tolerance * system.diagonal, _MOST)
        return self._solution(state.points, reason, [count], int(not reason), began)

    def _solution(self, points: Floats, reason: str, newton: list[int], done: int, began: float) -> Solution:
        system = self.system
        change = float(elements.volumes(points, system.tets).sum()) / system.volume - 1
        least, seconds = system.state(points).least, time.perf_counter() - began
        return Solution(points, not reason, reason, tuple(newton), done, least, change, seconds)

    def energy(self, points: Floats) -> float:
        """Return the energy of a shape (N, 3)."""
        return self.system.state(points).energy

    def _step(
        self, points: Floats, prescribed: Floats, guessed: Floats | None, tolerance: float, patience: int
    ) -> tuple[State, int, str]:
        """Bring the fixed nodes to `prescribed` and the rest into balance; what went wrong, if anything, comes last."""
        first = self._advance(points, prescribed, guessed)
        if first is None:
            return self.system.state(points), 0, "the bones cannot move on without skin passing through skin"
        return self._newton(first, tolerance, patience * self.effort.iterations)

    def _advance(self, points: Floats, prescribed: Floats, guessed: Floats | None) -> State | None:
        """Return a shape with the fixed nodes at `prescribed` that Newton's method can start from.

        With contact the path there must be free of collisions: the guess if it is, else small moves along the tangent,
        each followed by a little of Newton's method. None where that does not get there.
        """
        system = self.system
        if guessed is not None:
            guessed[system.fixed] = prescribed
            rate, candidates = system.clear_fraction(points, guessed)
            state = system.state(guessed, candidates) if rate == 1.0 else None
            if state is not None and _sound(state, system.contact is not None):
                return state
        if system.contact is None:
            return system.state(self._along_tangent(system.state(points), prescribed))
        state = system.state(points)
        for _ in range(_ADVANCES):
            moved, rate = self._clear_part(state, self._along_tangent(state, prescribed))
            if rate == 1.0 or moved is None:
                return moved
            state, _, _ = self._newton(moved, _ROUGH * system.diagonal, _BETWEEN)
        return None

    def _clear_part(self, state: State, ahead: Floats) -> tuple[State | None, float]:
        """Return the shape as far towards `ahead` as nothing collides or inverts, and that fraction of the path."""
        rate, candidates = self.system.clear_fraction(state.points, ahead)
        while rate > _LEAST_ADVANCE:
            trial = self.system.state(state.points + rate * (ahead - state.points), candidates)
            if _sound(trial, True):
                return trial, rate
            rate *= 0.6
        return None, 0.0

    def _along_tangent(self, state: State, prescribed: Floats) -> Floats:
        """Return the shape that keeps balance to first order while the fixed nodes move to `prescribed`."""
        system, points = self.system, state.points
        move = np.zeros_like(points)
        move[system.fixed] = prescribed - points[system.fixed]
        small = 1e-6 * system.diagonal / max(float(np.abs(move).max()), 1e-300)
        if small > 1.0:
            return points + move
        pull = (system.state(points + small * move).force - state.force) / small
        step = system.solve(state, -pull - state.force if state.in_contact else -pull, 1.0, 1.0)
        if step is not None:
            move[system.free] = step
        return points + move

    def _newton(self, state: State, tolerance: float, most: int) -> tuple[State, int, str]:
        """Lower the energy until balance; return the shape, the iterations, and what went wrong, if anything."""
        if not np.isfinite(state.energy):
            return state, 0, "the first guess has an inverted element"
        damping, diagonal = _Damping(contact=float(state.in_contact)), self.system.diagonal
        for iteration in range(1, most + 1):
            step = self._direction(state, damping)
            if step is None:
                return state, iteration, "the tangent could not be factored"
            length = float(np.sqrt((step**2).sum(axis=1).max()))
            if length <= _NEAR * tolerance:
                # At a minimum the tangent is definite as it is, and undamped steps shrink quadratically.
                damping = _Damping()
            if state.in_contact and length > _LONGEST * diagonal:
                step = step * (_LONGEST * diagonal / length)
            trial, rate = self._search(state, step)
            if trial is None:
                return state, iteration, "the line search found no lower energy"
            state = trial
            if rate == 1.0 and length <= tolerance and self._balanced(state):
                return state, iteration, "an element is inverted" if state.least <= 0 else ""
        return state, most, f"no balance after {most} Newton iterations"

    def _balanced(self, state: State) -> bool:
        # The floor is the force of a strain of 1e-6 on a mean element: at rest, all forces are rounding.
        system = self.system
        floor = 1e-6 * system.material.shear * (system.volume / len(system.tets)) ** (2 / 3)
        return bool(np.abs(state.force).max() <= _FORCE_TOLERANCE * max(state.largest, floor))

    def _direction(self, state: State, damping: _Damping) -> Floats | None:
        """Return the Newton step (n, 3) at the least damping from the last one on that makes the tangent definite."""
        raised = False
        while True:
            step = self.system.solve(state, -state.force, damping.elements, damping.contact)
            if step is not None:
                damping.worked(raised)
                return step
            raised = True
            if not damping.rise(state.in_contact):
                return None

    def _search(self, state: State, step: Floats) -> tuple[State | None, float]:
        """Shorten the step until nothing collides and the energy falls enough (Armijo); return shape and fraction."""
        system = self.system
        slope = float((step * state.force).sum())
        # What rounding may add: near balance the gain is smaller than that.
        slack = 1e-13 * (abs(state.energy) + system.material.shear * system.volume)
        full = state.points.copy()
        full[system.free] += step
        rate, candidates = system.clear_fraction(state.points, full)
        for _ in range(20):
            points = state.points.copy()
            points[system.free] += rate * step
            trial = system.state(points, candidates)
            if trial.energy <= state.energy + 1e-4 * rate * slope + slack:
                return trial, rate
            rate /= 2
        return None, 0.0


def _sound(state: State, upright: bool) -> bool:
    """Whether Newton's method can start from a shape; `upright`: no element may be inverted."""
    return bool(np.isfinite(state.energy) and (state.least > 0 or not upright))


@contextmanager
def _pinned(threads: int | None, contact: SkinContact | None) -> Iterator[None]:
    """Run the kernels, BLAS and contact on `threads` threads, then as before."""
    if threads is None:
        yield
        return
    blas = require("threadpoolctl", "simulate", "solving poses")
    before = numba.get_num_threads()
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]
    try:
        with (
            blas.threadpool_limits(limits=threads, user_api="blas"),
            contact.pinned(threads) if contact else nullcontext(),
        ):
            yield
    finally:
        numba.set_num_threads(before)
