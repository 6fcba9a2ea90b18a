"""Skin that keeps clear of itself: Incremental Potential Contact (Li et al. 2020), by the library `ipctk`.

Two points of the skin that are closer than a small distance repel each other, with a force that grows without limit as
they approach, and every step is checked for collisions on its whole path. This module knows only a triangle surface;
the caller moves it.
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
"""Skin that is close to itself at rest repels only within this fraction of that distance: no force acts at rest."""

_LEAST = 1e-3
"""The least distance of the barrier, as a fraction of the one asked for; skin closer than that at rest touches."""

_CAUTION = 0.9
"""Fraction of the path to the first collision that a step may take."""


@dataclass(frozen=True)
class Contact:
    """The barrier that keeps skin from passing through skin.

    Parameters
    ----------
    distance : within which two points repel each other, as a fraction of the skin's box diagonal
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
    rest : (S, 3) the surface at rest, with vertices of one position merged
    triangles : (T, 3)
    settings : distance and stiffness of the barrier
    young : Young's modulus of the tissue
    """

    def __init__(self, rest: Floats, triangles: Ints, settings: Contact, young: float = 1.0) -> None:
        self._ipc = _quiet_ipctk()
        faces = np.asfortranarray(triangles, dtype=np.int32)
        self._mesh = self._ipc.CollisionMesh(_columns(rest), np.asfortranarray(self._ipc.edges(faces)), faces)
        self._collision_detector, self._finder = self._ipc.AdditiveCCD(), self._ipc.LBVH()
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
        """Detect collisions on so many threads, then on as many as before."""
        before = self._ipc.get_num_threads()
        self._ipc.set_num_threads(threads)
        try:
            yield
        finally:
            self._ipc.set_num_threads(before)

    def collisions(self, skin: Floats, candidates: Any = None) -> Any:
        """Return the pairs of a surface (S, 3) within the barrier's distance; `candidates`: from `clear_fraction`."""
        collisions = self._ipc.NormalCollisions()
        collisions.use_area_weighting = True
        collisions.collision_set_type = self._ipc.NormalCollisions.CollisionSetType.IPC
        if candidates is None:
            collisions.build(self._mesh, _columns(skin), self.distance, 0.0, self._finder)
        else:
            collisions.build(candidates, self._mesh, _columns(skin), self.distance, 0.0)
        return collisions

    def energy(self, skin: Floats, collisions: Any) -> float:
        """Return the energy of the barrier."""
        return float(self._barrier(collisions, self._mesh, _columns(skin)))

    def slope(self, skin: Floats, collisions: Any) -> Floats:
        """Return the slope (S, 3) of the energy."""
        flat = self._barrier.gradient(collisions, self._mesh, _columns(skin))
        return np.asarray(flat, dtype=np.float64).reshape(-1, 3)

    def curvature(self, skin: Floats, collisions: Any, beta: float) -> Any:
        """Return the second derivative, sparse (3 S, 3 S); `beta` damps its negative eigenvalues, 1 wholly."""
        kinds, points = self._ipc.PSDProjectionMethod, _columns(skin)
        true = definite = None
        if beta < 1.0:
            true = self._barrier.hessian(collisions, self._mesh, points, kinds.NONE)
        if beta > 0.0:
            definite = self._barrier.hessian(collisions, self._mesh, points, kinds.CLAMP)
        if true is None or definite is None:
            return definite if true is None else true
        return (1 - beta) * true + beta * definite

    def clear_fraction(self, skin: Floats, ahead: Floats) -> tuple[float, Any]:
        """Return the collision-free fraction of the straight path between two shapes, and what may touch on it."""
        candidates = self._ipc.Candidates()
        here, there = _columns(skin), _columns(ahead)
        candidates.build(self._mesh, here, there, self.distance, self._finder)
        free = float(candidates.compute_collision_free_stepsize(self._mesh, here, there, 0.0, self._collision_detector))
        return (1.0 if free >= 1.0 else _CAUTION * free), candidates

    def intersects(self, skin: Floats) -> bool:
        """Whether a surface (S, 3) passes through itself."""
        return bool(self._ipc.has_intersections(self._mesh, _columns(skin)))

    def nearest(self, skin: Floats) -> float:
        """Return the surface's least distance from itself, up to ten times the barrier's distance; beyond, infinity."""
        collisions = self._ipc.NormalCollisions()
        collisions.build(self._mesh, _columns(skin), 10 * self.distance)
        # The library gives the square.
        return (
            float(np.sqrt(collisions.compute_minimum_distance(self._mesh, _columns(skin))))
            if len(collisions)
            else np.inf
        )


def _quiet_ipctk() -> Any:
    """Return the library with its log switched off.

    It writes a line to standard output for every pair of points that touch at the start of a step: thousands, between
    the lines of progress and into what is printed as JSON. Such a step is of length zero, which the solver notices.
    """
    library = require("ipctk", "simulate", "contact")
    library.set_logger_level(library.LoggerLevel.off)
    return library


def _columns(points: Floats) -> Floats:
    return np.asfortranarray(points, dtype=np.float64)
