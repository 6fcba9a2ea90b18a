"""Landmarks of the hand by name: around its joints, at its tips, and spread over the rest of its skin."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats
from posespace.geometry.farthest_points import spread
from posespace.rig import Rig

COUNT = 120
_SIDES = {"back": (2, 1.0), "palm": (2, -1.0), "thumb side": (0, -1.0), "little side": (0, 1.0)}
"""For each side of a joint, the axis of its local frame that points there, and its sign."""

_TILT = 0.9
"""Cosine of the angle by which a landmark may lie off its side of a joint."""

_OUT = 28.0
"""Millimetres from a joint to its landmarks, at most."""


def landmarks_of(rig: Rig, stump: float) -> dict[str, int]:
    """Return 120 vertices of a hand by name; the first 15, 30 and 60 are spread over it too.

    Parameters
    ----------
    rig : the hand, whose joints' axes are y along and z to the back
    stump : the y below which there are none, near the end of the forearm
    """
    points = rig.mesh.points.astype(np.float64)
    landmarks = _tips(rig, points)
    first = len(landmarks)
    for name, frame in zip(rig.skeleton.names, rig.skeleton.rest_world, strict=True):
        if name != "forearm":
            landmarks |= {
                f"{name} {side}": k for side, k in _around(points, frame).items() if k not in landmarks.values()
            }
    free = np.where(points[:, 1] > stump, _gap(points, np.array(list(landmarks.values()))), 0.0)
    more = spread(free, lambda k: np.linalg.norm(points - points[k], axis=1), COUNT - len(landmarks), 0.0)
    landmarks |= {f"skin {number}": vertex for number, vertex in enumerate(more)}
    return _ordered(points, landmarks, first)


def _tips(rig: Rig, points: Floats) -> dict[str, int]:
    """The vertex furthest along each last joint's bone."""
    landmarks = {}
    for joint, name in enumerate(rig.skeleton.names):
        if not rig.skeleton.children[joint]:
            frame = rig.skeleton.rest_world[joint]
            moved = (rig.weights * (rig.influences == joint)).sum(axis=1) > 0.5
            along = np.where(moved, (points - frame[:3, 3]) @ frame[:3, 1], -np.inf)
            landmarks[f"{name.partition('_')[0]} tip"] = int(along.argmax())
    return landmarks


def _around(points: Floats, frame: Floats) -> dict[str, int]:
    """The vertices nearest to a joint on its four sides; a side where the skin is far off, as in a web, has none."""
    away = points - frame[:3, 3]
    distance = np.linalg.norm(away, axis=1)
    landmarks = {}
    for side, (axis, sign) in _SIDES.items():
        facing = sign * (away @ frame[:3, axis]) / np.maximum(distance, 1e-9)
        fits = (facing > _TILT) & (distance < _OUT)
        if fits.any():
            landmarks[side] = int(np.where(fits, distance + 40 * (1 - facing), np.inf).argmin())
    return landmarks


def _gap(points: Floats, taken: Floats) -> Floats:
    """Distance (N,) of each point to the nearest of those `taken`."""
    return np.asarray(np.min([np.linalg.norm(points - points[k], axis=1) for k in taken], axis=0))


def _ordered(points: Floats, landmarks: dict[str, int], first: int) -> dict[str, int]:
    """The same landmarks, the `first` as they are, then each the farthest from all before."""
    names, positions = list(landmarks), points[list(landmarks.values())]
    gaps = np.min([np.linalg.norm(positions - position, axis=1) for position in positions[:first]], axis=0)
    rest = spread(gaps, lambda k: np.linalg.norm(positions - positions[k], axis=1), len(names) - first, 0.0)
    return {names[k]: landmarks[names[k]] for k in (*range(first), *rest)}
