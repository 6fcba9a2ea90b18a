"""Scans of a hand whose truth is known: other triangles, noise, holes, an open wrist, and another position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from posespace.check import Floats, Ints
from posespace.datasets.scanned.hand import ScannedHand
from posespace.errors import InputError
from posespace.geometry.edges import edges_of
from posespace.geometry.normals import vertex_normals
from posespace.geometry.remesh import retile
from posespace.geometry.surface import Surface
from posespace.mesh import UNITS, Mesh

_PROBES = (0.6, 1.4, 3.0)
"""Millimetres over the skin at which other skin is looked for."""

_CUT = 9.0
"""Millimetres from the end of the forearm at which a scan ends, give or take a third."""

_AWAY = 150.0
"""Millimetres that a scan is moved along each axis, at most."""

_PICKED = 2.5
"""Millimetres beyond which a landmark has no skin to be picked on."""


@dataclass(frozen=True)
class Scanner:
    """How scans are made; lengths in millimetres.

    Parameters
    ----------
    noise : deviation of the points along the normals, 0 to 1
    holes : how many there are, 0 to 100, of a radius of 2 to 6; more where skin faces skin, which no camera sees
    picking : deviation of the landmarks, 0 to 5, as if picked by hand
    retiled : whether each scan has its own triangles; otherwise those of the fine surface
    cut : whether the wrist is open and skin that faces skin is left out
    moved : whether each scan has its own position and orientation
    """

    noise: float = 0.04
    holes: int = 6
    picking: float = 0.4
    retiled: bool = True
    cut: bool = True
    moved: bool = True

    def __post_init__(self) -> None:
        for name, most in (("noise", 1), ("holes", 100), ("picking", 5)):
            if not 0 <= getattr(self, name) <= most:
                raise InputError(f"scanner {name}: expected 0 to {most}, got {getattr(self, name)}")

    def scan(self, hand: ScannedHand, index: int, seed: int = 1) -> Scan:
        """Return the scan of a pose of a hand; the same seed gives the same scan, whichever others are made."""
        generator = np.random.default_rng((seed, index))
        truth = hand.fine_shape(index)
        points, triangles = truth, hand.level.triangles
        if self.retiled:
            surface = Surface(points, triangles)
            points, triangles = retile(surface, _sizes(surface, generator))
        normals = vertex_normals(points, triangles)
        lost = _in_holes(points, normals, self.holes, generator)
        if self.cut:
            lost |= _beyond_cut(points, generator) | _facing_skin(points, normals)
        points = points + self.noise * generator.normal(size=(len(points), 1)) * normals
        points, triangles = _kept(points, triangles, lost)
        motion = _motion(generator) if self.moved else np.eye(4)
        picked = self._pick(truth, hand.landmarks, points, generator)
        mesh = Mesh(_carried(motion, points), triangles, unit=UNITS["mm"])
        return Scan(hand.names[index], mesh, {name: _carried(motion, point) for name, point in picked.items()}, motion)

    def _pick(
        self, truth: Floats, landmarks: dict[str, int], points: Floats, generator: np.random.Generator
    ) -> dict[str, Floats]:
        """The landmarks as someone would pick them on the scan; those without skin near them are left out."""
        meant = truth[list(landmarks.values())]
        aimed = meant + self.picking * generator.normal(size=meant.shape)
        picked = points[cKDTree(points).query(aimed)[1]] if self.picking else meant
        near = np.asarray(cKDTree(points).query(meant)[0]) < _PICKED + self.picking
        return {name: point for name, point, is_near in zip(landmarks, picked, near, strict=True) if is_near}


@dataclass(frozen=True, eq=False)
class Scan:
    """One scan.

    Parameters
    ----------
    name : of its pose
    mesh : its triangles, in millimetres, open where nothing was seen
    landmarks : (3,) points on it by name
    motion : (4, 4) the rigid motion that took the hand to where it was scanned
    """

    name: str
    mesh: Mesh
    landmarks: dict[str, Floats]
    motion: Floats


def _sizes(surface: Surface, generator: np.random.Generator) -> Floats:
    """Edge lengths (N,) wanted: about those that are there, longer to one side, as scanners see one side better."""
    ends = surface.points[edges_of(surface.triangles).ends]
    edge = float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).mean())
    side = generator.normal(size=3)
    across = surface.points @ (side / np.linalg.norm(side))
    return np.asarray(edge * (0.9 + 0.3 * (across - across.min()) / np.ptp(across)))


def _in_holes(points: Floats, normals: Floats, count: int, generator: np.random.Generator) -> NDArray[np.bool_]:
    """Which points (N,) lie in round holes with ragged edges."""
    lost = np.zeros(len(points), dtype=bool)
    for centre in generator.integers(len(points), size=count):
        radius = generator.uniform(2, 6)
        distance = np.linalg.norm(points - points[centre], axis=1) * generator.uniform(0.85, 1.15, len(points))
        lost |= (distance < radius) & (normals @ normals[centre] > 0)
    return lost


def _beyond_cut(points: Floats, generator: np.random.Generator) -> NDArray[np.bool_]:
    """Which points (N,) lie beyond a slanted cut through the forearm, whose end does not move with the pose."""
    along = np.array([generator.normal(0, 0.1), 1.0, generator.normal(0, 0.1)])
    # The forearm's end is fixed in the hand's axes; a bent wrist may bring fingers below it.
    forearm = points[np.hypot(points[:, 0], points[:, 2]) < 45]
    end = forearm[:, 1].min() + _CUT * generator.uniform(2 / 3, 4 / 3)
    lost: NDArray[np.bool_] = (points - np.array([0.0, end, 0.0])) @ along < 0
    return lost & (np.hypot(points[:, 0], points[:, 2]) < 45)


def _facing_skin(points: Floats, normals: Floats) -> NDArray[np.bool_]:
    """Which points (N,) have other skin close over them."""
    tree, lost = cKDTree(points), np.zeros(len(points), dtype=bool)
    for over in _PROBES:
        gap, other = map(np.asarray, tree.query(points + over * normals, distance_upper_bound=0.6 * over))
        covered = np.isfinite(gap)
        lost[covered] |= (normals[covered] * normals[other[covered]]).sum(axis=1) < -0.3
    return lost


def _kept(points: Floats, triangles: Ints, lost: NDArray[np.bool_]) -> tuple[Floats, Ints]:
    """The surface without the points (N,) that are lost, and without what hangs together with little else."""
    left = triangles[~lost[triangles].any(axis=1)]
    ends = edges_of(left).ends
    graph = sparse.coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(points),) * 2)
    _, part = connected_components(graph, directed=False)
    sizes = np.bincount(part[left[:, 0]], minlength=part.max() + 1)
    left = left[sizes[part[left[:, 0]]] == sizes.max()]
    used, renumbered = np.unique(left, return_inverse=True)
    return points[used], renumbered.reshape(-1, 3).astype(np.int32)


def _motion(generator: np.random.Generator) -> Floats:
    """Any rotation, and a translation."""
    motion = np.eye(4)
    motion[:3, :3] = Rotation.random(random_state=generator).as_matrix()
    motion[:3, 3] = generator.uniform(-_AWAY, _AWAY, 3)
    return motion


def _carried(motion: Floats, points: Floats) -> Floats:
    return np.asarray(points @ motion[:3, :3].T + motion[:3, 3])
