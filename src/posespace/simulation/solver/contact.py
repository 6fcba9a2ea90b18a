"""Skin that keeps clear of itself: Incremental Potential Contact (Li et al. 2020), by the library `ipctk`.

Two places of the skin that come nearer than a small distance repel each other, the more the nearer they are and without
limit, and no step may pass through: the way of every step is checked for collisions. All of it is about a triangle
surface; what moves the surface is the caller's business.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from posespace.check import Floats, Ints
from posespace.errors import InputError, require
from posespace.mesh import Mesh

_ROOM = 0.5
"""Skin that lies nearer to itself at rest repels only from this fraction of that distance on: the rest shape rests."""

_LEAST = 1e-3
"""The least distance of the barrier, as a fraction of the one asked for; skin nearer to itself at rest touches."""

_CAUTION = 0.9
"""Fraction of the way up to the first collision that a step may go."""


@dataclass(frozen=True)
class Contact:
    """How skin keeps clear of itself.

    Parameters
    ----------
    distance : from which on two places repel each other, as a fraction of the skin's box diagonal
    stiffness : of the barrier between them, in units of Young's modulus
    """

    distance: float = 1.2e-3
    stiffness: float = 1.0

    def __post_init__(self) -> None:
        for name in ("distance", "stiffness"):
            if not 0 < getattr(self, name) < np.inf:
                raise InputError(f"contact {name}: expected above 0, got {getattr(self, name)}")


class TouchingError(InputError):
    """The skin touches itself at rest, so nothing could keep it apart."""


class SkinContact:
    """The barrier of one surface.

    Parameters
    ----------
    rest : (S, 3) the surface at rest, vertices of one place being one
    triangles : (T, 3)
    settings : how far and how strongly it repels
    young : Young's modulus of the tissue
    """

    def __init__(self, rest: Floats, triangles: Ints, settings: Contact, young: float = 1.0) -> None:
        self._ipc = _quiet_ipctk()
        faces = np.asfortranarray(triangles, dtype=np.int32)
        self._mesh = self._ipc.CollisionMesh(_columns(rest), np.asfortranarray(self._ipc.edges(faces)), faces)
        self._way_checker, self._finder = self._ipc.AdditiveCCD(), self._ipc.LBVH()
        self.distance = settings.distance * float(np.linalg.norm(np.ptp(rest, axis=0)))
        if self.intersects(rest):
            raise TouchingError("the skin passes through itself at rest")
        nearest = self.nearest(rest)
        if nearest < _LEAST * self.distance:
            raise TouchingError("the skin touches itself at rest")
        self.distance = min(self.distance, _ROOM * nearest)
        self._barrier = self._ipc.BarrierPotential(self.distance, settings.stiffness * young, True)

    @classmethod
    def of(cls, mesh: Mesh, settings: Contact) -> SkinContact:
        """Return the contact of a rig's mesh, whose vertices are those of `mesh.weld`."""
        corners = mesh.weld.groups[mesh.triangles]
        proper = (corners != np.roll(corners, 1, axis=1)).all(axis=1)
        return cls(mesh.points[mesh.weld.first], corners[proper], settings)

    @contextmanager
    def pinned(self, threads: int) -> Iterator[None]:
        """Look for collisions on so many threads, then on as many as before."""
        before = self._ipc.get_num_threads()
        self._ipc.set_num_threads(threads)
        try:
            yield
        finally:
            self._ipc.set_num_threads(before)

    def collisions(self, skin: Floats, candidates: Any = None) -> Any:
        """Return what is nearer than the barrier's distance on a surface (S, 3); `candidates` as `way` gives them."""
        found = self._ipc.NormalCollisions()
        found.use_area_weighting = True
        found.collision_set_type = self._ipc.NormalCollisions.CollisionSetType.IPC
        if candidates is None:
            found.build(self._mesh, _columns(skin), self.distance, 0.0, self._finder)
        else:
            found.build(candidates, self._mesh, _columns(skin), self.distance, 0.0)
        return found

    def energy(self, skin: Floats, collisions: Any) -> float:
        """Return the energy of the barrier."""
        return float(self._barrier(collisions, self._mesh, _columns(skin)))

    def slope(self, skin: Floats, collisions: Any) -> Floats:
        """Return the slope (S, 3) of the energy."""
        flat = self._barrier.gradient(collisions, self._mesh, _columns(skin))
        return np.asarray(flat, dtype=np.float64).reshape(-1, 3)

    def curvature(self, skin: Floats, collisions: Any, beta: float) -> Any:
        """Return the second derivative, sparse (3 S, 3 S); `beta` damps its negative eigenvalues, 1 wholly."""
        kinds, places = self._ipc.PSDProjectionMethod, _columns(skin)
        true = definite = None
        if beta < 1.0:
            true = self._barrier.hessian(collisions, self._mesh, places, kinds.NONE)
        if beta > 0.0:
            definite = self._barrier.hessian(collisions, self._mesh, places, kinds.CLAMP)
        if true is None or definite is None:
            return definite if true is None else true
        return (1 - beta) * true + beta * definite

    def way(self, skin: Floats, ahead: Floats) -> tuple[float, Any]:
        """Return the fraction of the straight way from one shape to another that is clear, and what may touch on it."""
        candidates = self._ipc.Candidates()
        here, there = _columns(skin), _columns(ahead)
        candidates.build(self._mesh, here, there, self.distance, self._finder)
        free = float(candidates.compute_collision_free_stepsize(self._mesh, here, there, 0.0, self._way_checker))
        return (1.0 if free >= 1.0 else _CAUTION * free), candidates

    def intersects(self, skin: Floats) -> bool:
        """Whether a surface (S, 3) passes through itself."""
        return bool(self._ipc.has_intersections(self._mesh, _columns(skin)))

    def nearest(self, skin: Floats) -> float:
        """Return how near the surface comes to itself, up to ten times the barrier's distance; beyond, infinity."""
        found = self._ipc.NormalCollisions()
        found.build(self._mesh, _columns(skin), 10 * self.distance)
        # The library gives the square.
        return float(np.sqrt(found.compute_minimum_distance(self._mesh, _columns(skin)))) if len(found) else np.inf


def _quiet_ipctk() -> Any:
    """Return the library with its log switched off.

    It writes a line to standard output for every pair of places that touch at the start of a step: thousands, between
    the lines of progress and into what is printed as JSON. Such a step is of length zero, which the solver notices.
    """
    library = require("ipctk", "simulate", "contact")
    library.set_logger_level(library.LoggerLevel.off)
    return library


def _columns(points: Floats) -> Floats:
    return np.asfortranarray(points, dtype=np.float64)
