"""Quasi-static equilibrium of soft tissue whose bones are placed: Newton's method inside load steps that adapt."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import numba
import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError
from posespace.simulate.bodies.body import Bone
from posespace.simulate.solver import elements
from posespace.simulate.solver.contact import Contact, Pairs, SkinContact
from posespace.simulate.solver.factor import BlockCholesky, conjugate_gradients
from posespace.simulate.solver.material import Material

Target = Callable[[float], Floats]
"""Fraction of the load path → (N, 3) positions; only those of fixed nodes are read."""

Guess = Callable[[Floats, float, float], Floats]
"""Points (N, 3) in equilibrium at a fraction, that fraction, the next fraction → (N, 3) a first guess there."""

_EASY = 8  # Newton iterations up to which a load step counts as easy, and the next one may be longer.
_FORCE_TOLERANCE = 1e-5  # Of the largest force of one element on a node.
_NEAR = 100.0  # Steps of at most this many tolerances are those of the end.
_TOUCHING = 1e-5  # The least tolerance in contact, where steps only shrink linearly.
_SETTLED = 12  # Iterations after which what touches what is fixed, so that it cannot alternate forever.
_MOST = 300  # Newton iterations of a whole solve, those of steps that failed included.
_STRIDE = 16  # Pieces of a load path in which its length is measured.
_COARSE = 100.0  # Steps on the way need only be a good start for the next: their tolerance is this much wider.


@dataclass(frozen=True, eq=False)
class Solution:
    """What a solve found.

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


@dataclass(frozen=True, eq=False)
class _State:
    """A shape (N, 3) with its energy, the force at free nodes (n, 3), an element's largest force, and least det F.

    Energy and force are those of the elements and of `pairs` in contact, if any.
    """

    points: Floats
    energy: float
    force: Floats
    largest: float
    least: float
    pairs: Pairs | None = None


class Solver:
    """Finds the shape of least elastic energy for given positions of some nodes.

    Setting up orders the unknowns once; solving is then done as often as there are poses.

    Parameters
    ----------
    points : (N, 3) rest shape
    tets : (T, 4) or (T, 10), positive volumes, mid-edge nodes in the order of `tetrahedra.EDGES`
    fixed : (N,) bool, nodes whose positions are given, e.g. those on bones
    law : "stable" or "calculix"; see `Material`
    poisson : Poisson's ratio
    young : Young's modulus; the shape does not depend on it
    tolerance : the solve ends when a full Newton step moves no node further than this fraction of the rest shape's
        diagonal, and forces balance. The error is then far smaller, because Newton's steps shrink quadratically
    iterations : the most Newton iterations in a load step
    halvings : how often a load step may be halved in a row before the solve gives up
    threads : for the kernels and for BLAS; None leaves both as they are. The shape depends on it by rounding only.
        More than one is slow where cores are busy, for BLAS spins: better solve several poses at once
    contact : how skin resists skin and bones; None lets it pass through both
    bones, bone_of : at rest, and (N,) the bone of each fixed node, for contact with them
    """

    def __init__(
        self,
        points: ArrayLike,
        tets: ArrayLike,
        fixed: ArrayLike,
        law: str = "stable",
        poisson: float = 0.45,
        young: float = 1.0,
        tolerance: float = 1e-6,
        iterations: int = 50,
        halvings: int = 6,
        threads: int | None = 1,
        contact: Contact | None = None,
        bones: Sequence[Bone] = (),
        bone_of: ArrayLike | None = None,
    ) -> None:
        self.material = Material(law, poisson, young)
        self.points = np.array(check.floats("points", points, ("N", 3)), dtype=np.float64)
        count = len(self.points)
        self.tets = np.array(check.indices("tets", tets, ("T", "4 or 10"), below=count), dtype=np.int64)
        if self.tets.shape[1] not in (4, 10) or not len(self.tets):
            raise InputError(f"tets: expected some, of 4 or 10 nodes, got shape {self.tets.shape}")
        self.fixed = np.array(fixed, dtype=bool)
        if self.fixed.shape != (count,):
            raise InputError(f"fixed: expected shape ({count},), got {self.fixed.shape}")
        used = np.zeros(count, dtype=bool)
        used[self.tets] = True
        self.free = np.flatnonzero(used & ~self.fixed)
        if not len(self.free) or not (used & self.fixed).any():
            raise InputError("fixed: expected some nodes of the tets fixed and some free")
        self.tolerance, self.iterations, self.halvings, self.threads = tolerance, iterations, halvings, threads
        self._rest = elements.rest_gradients(self.points, self.tets)
        self._volume = float(self._rest[1].sum())
        number = np.full(count, -1, dtype=np.int64)
        number[self.free] = np.arange(len(self.free))
        self._number = number
        self._skin = (
            None
            if contact is None
            else SkinContact(
                contact,
                self.points,
                self.tets,
                self.fixed,
                young,
                bones,
                None if bone_of is None else np.asarray(bone_of),
            )
        )
        self._pattern = elements.Pattern(self.tets, number)
        self._cholesky = BlockCholesky(self.points[self.free], self._pattern.rows, self._pattern.columns)
        self._diagonal = float(np.linalg.norm(np.ptp(self.points[used], axis=0)))

    def solve(self, start: ArrayLike, target: Target, guess: Guess | None = None, steps: int = 1) -> Solution:
        """Follow a load path from a shape in equilibrium to its end.

        Parameters
        ----------
        start : (N, 3) the shape at fraction 0, e.g. the rest shape or a solved neighbouring pose
        target : positions of the fixed nodes at any fraction from 0 to 1
        guess : first guess of the next shape, e.g. the last one moved by plain skinning; None follows the tangent
        steps : load steps to begin with; a step that fails is halved, and after an easy one the next is doubled again.
            With contact there are at least as many as it takes not to miss that two sides meet
        """
        points: Floats = np.array(check.floats("start", start, self.points.shape), dtype=np.float64)
        began = time.perf_counter()
        newton: list[int] = []
        steps = steps if self._skin is None else max(steps, int(np.ceil(2 * self._way(target) / self._skin.deepest)))
        done, fraction, size, reason = 0, 0.0, 1.0 / steps, ""
        with _pinned(self.threads):
            while fraction < 1.0:
                ahead = 1.0 if fraction + size > 1.0 - 1e-9 else fraction + size
                tolerance = self.tolerance if ahead == 1.0 else min(1e-3, _COARSE * self.tolerance)
                first = self._begin(points, fraction, ahead, target, guess)
                state, count, reason = self._newton(first, tolerance * self._diagonal)
                newton.append(count)
                if not reason:
                    points, fraction, done = state.points, ahead, done + 1
                    size = min(1.0 / steps, 2 * size) if count <= _EASY else size
                elif size < 1.5 / (steps * 2**self.halvings) or sum(newton) > _MOST:
                    reason = f"stopped at {fraction:.4g} of the load: {reason}"
                    break
                else:
                    size /= 2
            last = self._state(points)
        change = float(elements.volumes(points, self.tets).sum()) / self._volume - 1
        seconds = time.perf_counter() - began
        return Solution(points, not reason, reason, tuple(newton), done, last.least, change, seconds)

    def _way(self, target: Target) -> float:
        """The length of the load path of the fixed node that goes farthest."""
        places = [target(part / _STRIDE)[self.fixed] for part in range(_STRIDE + 1)]
        strides = [np.linalg.norm(after - before, axis=1) for before, after in pairwise(places)]
        return float(np.sum(strides, axis=0).max())

    def energy(self, points: Floats) -> float:
        """Return the elastic energy of a shape (N, 3)."""
        return self._state(points).energy

    def _state(self, points: Floats, pairs: Pairs | None = None) -> _State:
        law, mu, volume = self.material.constants
        parts, force, least = elements.element_forces(points, self.tets, *self._rest, law, mu, volume)
        energy, nodal = float(parts.sum()), elements.nodal_forces(force, self.tets, len(points))
        if pairs is not None:
            energy += pairs.energy(points)
            nodal += pairs.force(points)
        return _State(points, energy, nodal[self.free], float(np.abs(force).max()), float(least.min()), pairs)

    def _tangent(self, points: Floats, beta: float) -> Floats:
        return self._pattern.tangent(points, self.tets, self._rest, self.material.constants, beta)

    def _begin(self, points: Floats, fraction: float, ahead: float, target: Target, guess: Guess | None) -> _State:
        """Return the shape that Newton's method starts from, fixed nodes in their new places."""
        placed = target(ahead)[self.fixed]
        if guess is not None:
            first = np.array(guess(points, fraction, ahead), dtype=np.float64)
            first[self.fixed] = placed
            state = self._state(first)
            if np.isfinite(state.energy):
                return state
        return self._state(self._follow_tangent(points, placed))

    def _follow_tangent(self, points: Floats, placed: Floats) -> Floats:
        """Return the shape that keeps balance to first order while the fixed nodes move to `placed`."""
        move = np.zeros_like(points)
        move[self.fixed] = placed - points[self.fixed]
        small = 1e-6 * self._diagonal / max(float(np.abs(move).max()), 1e-300)
        if small > 1.0:
            return points + move
        before = self._state(points)
        pull = (self._state(points + small * move).force - before.force) / small
        step = self._cholesky.solve(self._tangent(points, 1.0), -pull)
        if step is not None:
            move[self.free] = step
        return points + move

    def _newton(self, state: _State, tolerance: float) -> tuple[_State, int, str]:
        """Lower the energy until balance; return the shape, the iterations, and what went wrong, if anything."""
        if not np.isfinite(state.energy):
            return state, 0, "the first guess has an inverted element"
        beta, easy = 0.0, 0
        for iteration in range(1, self.iterations + 1):
            if self._skin is not None and iteration <= _SETTLED:
                pairs, missed = self._skin.find(state.points)
                if missed:
                    return state, iteration, "skin has passed through skin"
                state = self._state(state.points, pairs)
                if len(pairs.nodes):
                    tolerance = max(tolerance, _TOUCHING * self._diagonal)
            step, needed = self._direction(state, beta)
            if step is None:
                return state, iteration, "the tangent could not be factored"
            length = float(np.sqrt((step**2).sum(axis=1).max()))
            easy = easy + 1 if needed == beta else 0
            beta = needed
            if easy >= 2:
                beta, easy = (0.0 if beta < 0.2 else beta / 2), 0
            if length <= _NEAR * tolerance:
                # At a minimum the tangent is definite as it is, and undamped steps shrink quadratically.
                beta = 0.0
            found, rate = self._search(state, step)
            if found is None:
                return state, iteration, "the line search found no lower energy"
            state = found
            if rate == 1.0 and length <= tolerance and self._balanced(state):
                return state, iteration, self._fault(state)
        return state, self.iterations, f"no balance after {self.iterations} Newton iterations"

    def _fault(self, state: _State) -> str:
        """What is wrong with a shape in balance, if anything."""
        if state.least <= 0:
            return "an element is inverted"
        return "skin has passed through skin" if self._skin is not None and self._skin.find(state.points)[1] else ""

    def _balanced(self, state: _State) -> bool:
        # The floor is the force of a strain of 1e-6 on a mean element: at rest, all forces are rounding.
        floor = 1e-6 * self.material.shear * (self._volume / len(self.tets)) ** (2 / 3)
        return bool(np.abs(state.force).max() <= _FORCE_TOLERANCE * max(state.largest, floor))

    def _direction(self, state: _State, beta: float) -> tuple[Floats | None, float]:
        """Return the Newton step (n, 3) at the least damping from `beta` on that makes the tangent definite."""
        while True:
            step = self._newton_step(state, beta)
            if step is not None or beta == 1.0:
                return step, beta
            beta = 0.25 if beta == 0.0 else min(1.0, 2 * beta)

    def _newton_step(self, state: _State, beta: float) -> Floats | None:
        """Solve for the step; None if the tangent is not definite.

        Contact couples nodes that share no element. The factor holds its diagonal blocks only, and conjugate
        gradients, preconditioned by it, do the rest; so the factor's own product with a direction is known for free.
        """
        blocks = self._tangent(state.points, beta)
        if state.pairs is None:
            return self._cholesky.solve(blocks, -state.force)
        pairs = state.pairs.touching(state.points)
        nodes, extra = pairs.diagonal()
        at = self._number[nodes]
        own = np.zeros((len(self.free), 3, 3))
        np.add.at(own, at[at >= 0], extra[at >= 0])
        blocks[self._pattern.diagonal] += own
        step = self._cholesky.solve(blocks, -state.force)
        if step is None or not len(pairs.nodes):
            return step
        moves = np.zeros_like(state.points)

        def rest(direction: Floats) -> Floats:
            """What contact adds to the product beyond its diagonal blocks."""
            moves[self.free] = direction
            beyond: Floats = pairs.product(moves)[self.free] - np.einsum("nij,nj->ni", own, direction)
            return beyond

        return conjugate_gradients(self._cholesky.backsolve, rest, -state.force, step)

    def _search(self, state: _State, step: Floats) -> tuple[_State | None, float]:
        """Shorten the step until the energy falls enough (Armijo); return the shape and the fraction taken."""
        slope = float((step * state.force).sum())
        # What rounding may add: near balance the gain is smaller than that.
        slack = 1e-13 * (abs(state.energy) + self.material.shear * self._volume)
        rate = 1.0
        for _ in range(16):
            points = state.points.copy()
            points[self.free] += rate * step
            found = self._state(points, state.pairs)
            if found.energy <= state.energy + 1e-4 * rate * slope + slack:
                return found, rate
            rate /= 2
        return None, 0.0


@contextmanager
def _pinned(threads: int | None) -> Iterator[None]:
    """Run the kernels and BLAS on `threads` threads, then as before."""
    if threads is None:
        yield
        return
    before = numba.get_num_threads()
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]
    try:
        with threadpool_limits(limits=threads, user_api="blas"):
            yield
    finally:
        numba.set_num_threads(before)
