"""The scanned hands before they are scanned: the truth, in correspondence."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posespace import check
from posespace.check import Floats
from posespace.datasets import stored
from posespace.datasets.scanned.landmarks import landmarks_of
from posespace.datasets.scanned.surface import ScanSurface, scan_surface
from posespace.datasets.scanned.wrinkles import along_fingers, pressed_along, skin_detail
from posespace.datasets.simulated import HAND, HAND_MORE
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.geometry.edges import edges_of
from posespace.geometry.normals import vertex_normals
from posespace.geometry.subdivision import Subdivision
from posespace.mesh import Mesh
from posespace.rig import Rig, pack_weights
from posespace.simulation.bodies.hand_poses import SPANNING

HAND_SLENDER = Path(__file__).parents[1] / "hand_slender.npz"
_FILES = {1: (HAND, HAND_MORE), 2: (HAND_SLENDER,)}
_DRAWN = 13
POSES = {
    "spanning": SPANNING,
    "random": (SPANNING[0], *(f"random {k}" for k in range(_DRAWN))),
    "grasps": (SPANNING[0], *(f"grasp {k}" for k in range(_DRAWN))),
}
"""The names of the poses in each group. Each begins with the rest pose: a template is scanned too."""

_SEED = 2006
"""Of the irregularity of the skin, plus the number of the hand."""

_HELD = 12.0
"""Millimetres from the end of the forearm on which there are no landmarks."""


@dataclass(frozen=True, eq=False)
class ScannedHand:
    """What scans of a hand show, known exactly: P shapes in correspondence, on a base surface and a fine one.

    Parameters
    ----------
    examples : rig of the base surface at rest (N vertices), poses, and base shapes (P, N, 3), millimetres
    level : how the base surface is subdivided
    heights : (P, M) of the fine vertices above the subdivided base shape, along its normals
    pressed : (P, M) strain across the wrinkles, above 0 where the skin is pressed together
    landmarks : vertices of the base by name, 120 of them, the same on both hands; the first 15, 30 and 60 are spread
        over the hand too
    """

    examples: Examples
    level: Subdivision
    heights: Floats
    pressed: Floats
    landmarks: dict[str, int]

    @property
    def mesh(self) -> Mesh:
        """The base surface at rest."""
        return self.examples.rig.mesh

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the P poses."""
        return self.examples.motion.names

    def __len__(self) -> int:
        return len(self.examples)

    def shape(self, index: int) -> Floats:
        """Return the base shape (N, 3) of a pose."""
        return np.asarray(self.examples.shapes[index])

    def fine_shape(self, index: int) -> Floats:
        """Return the fine shape (M, 3) of a pose: the base shape, subdivided and moved along its normals."""
        points = self.level.refine(self.shape(index))
        normals = vertex_normals(points, self.level.triangles)
        return np.asarray(points + self.heights[index][:, None] * normals)


def scanned_hand(which: int = 1, poses: str = "spanning", vertices: int = 49_000) -> ScannedHand:
    """Return a simulated hand in 14 poses, fine and wrinkled, as scans would show it.

    Both hands have the same surface: a vertex is at the same point of the skin in both.

    Parameters
    ----------
    which : 1 for the hand of `hand`, 2 for a slender one with longer fingers
    poses : "spanning": each finger, thumb and wrist alone, a spread, half fists, a fist, a pinch; "random": every joint
        drawn uniformly from its whole range; "grasps": random grasps, in which joints go together as in people.
        The first of all three is the rest pose
    vertices : about how many the base surface has, 500 to 100,000; the fine one has four times as many
    """
    if which not in _FILES:
        raise InputError(f"hand: expected 1 or 2, got {which}")
    wanted = POSES[check.choice("poses", poses, list(POSES))]
    surface = scan_surface(vertices)
    coarse = _simulated(which, wanted)
    rig = _base_rig(coarse.rig, surface)
    shapes = np.stack([surface.to_base @ shape for _, shape in coarse])
    fine_rest = surface.to_fine @ coarse.rig.mesh.points
    ends = fine_rest[edges_of(surface.level.triangles).ends]
    edge = float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).mean())
    along = along_fingers(coarse.rig)
    detail = skin_detail(coarse.rig, fine_rest, surface.to_fine @ along, edge, _SEED + which)
    pressed, heights = [], []
    for (_, shape), base in zip(coarse, shapes, strict=True):
        strain = pressed_along(coarse.rig.mesh.points, shape, coarse.rig.mesh.triangles, along)
        pressed.append(surface.to_fine @ strain)
        heights.append(_roundness(surface, base, shape) + detail.heights(pressed[-1]))
    examples = Examples.from_shapes(rig, coarse.motion, shapes)
    first = rig if which == 1 else _base_rig(_simulated(1, SPANNING[:1]).rig, surface)
    landmarks = landmarks_of(first, first.mesh.box[0, 1] + _HELD)
    return ScannedHand(examples, surface.level, np.stack(heights), np.stack(pressed), landmarks)


def _simulated(which: int, names: tuple[str, ...]) -> Examples:
    """The stored examples of a hand with these names, in this order."""
    left, parts = list(names), []
    for path in _FILES[which]:
        held, _ = stored.read(path)
        here = [name for name in held.motion.names if name in left]
        left = [name for name in left if name not in here]
        if here:
            parts.append(held[[held.motion.names.index(name) for name in here]])
    if left:
        raise InputError(f"scanned hand {which}: expected all poses to be stored, got none named {left[0]!r}")
    together = parts[0].joined(*parts[1:])
    return together[[together.motion.names.index(name) for name in names]]


def _base_rig(rig: Rig, surface: ScanSurface) -> Rig:
    """The simulated hand's rig on the base surface."""
    mesh = Mesh(surface.to_base @ rig.mesh.points, surface.triangles, unit=rig.mesh.unit)
    weights = np.maximum(surface.to_base @ rig.dense_weights(), 0)
    influences, packed = pack_weights(weights, rig.weights.shape[1])
    return Rig(mesh, rig.skeleton, influences, packed / packed.sum(axis=1, keepdims=True), rig.inverse_bind)


def _roundness(surface: ScanSurface, base: Floats, shape: Floats) -> Floats:
    """How far (M,) the smooth skin bulges over the subdivided base (N, 3), along its normals."""
    flat = surface.level.refine(base)
    bulge: Floats = ((surface.to_fine @ shape - flat) * vertex_normals(flat, surface.level.triangles)).sum(axis=1)
    return bulge
