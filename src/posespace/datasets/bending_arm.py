"""A procedural arm that bends at the elbow, bulges and twists at the wrist: small, exact, made in an instant."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats
from posespace.examples import Examples
from posespace.fit.weights.by_distance import distance_weights
from posespace.geometry import rotations
from posespace.geometry.smoothstep import smoothstep
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.rig import Rig
from posespace.skeleton import Skeleton

NAMES = ("upper_arm", "forearm", "hand")
_ELBOW = 0.42
"""Half the length of the arm, in metres from the elbow, that bends as a circle when the elbow does."""


def bending_arm(rings: int = 72, sides: int = 40) -> tuple[Examples, Examples]:
    """Return examples to fit on and unseen ones to evaluate on: an arm in metres, shoulder at x = -1, fingers at 1.2.

    The fit set has 30 poses, six elbow angles by five wrist twists; the other set has 25 random ones in between.
    """
    mesh = _arm_mesh(rings, sides)
    rest = np.tile(np.eye(4), (3, 1, 1))
    rest[:, 0, 3] = (-1.0, 0.0, 0.85)
    limits = np.zeros((3, 3, 2))
    limits[1, 2], limits[2, 0] = (0.0, np.radians(125)), np.radians((-95.0, 95.0))
    axes = np.zeros((3, 3, 3))
    axes[1, 2, 2] = axes[2, 0, 0] = 1.0
    skeleton = Skeleton.from_world(NAMES, (-1, 0, 1), rest, axes, limits)
    rig = Rig(mesh, skeleton, *distance_weights(mesh, skeleton, influences=3))
    grid = [(bend, twist) for bend in np.linspace(0, 120, 6) for twist in np.linspace(-90, 90, 5)]
    generator = np.random.default_rng(2002)
    unseen = np.column_stack([generator.uniform(5, 118, 25), generator.uniform(-85, 85, 25)])
    return _examples(rig, np.radians(grid)), _examples(rig, np.radians(unseen))


def _examples(rig: Rig, angles: Floats) -> Examples:
    """Examples at elbow and wrist angles (P, 2) in radians."""
    local = np.tile(rotations.IDENTITY, (len(angles), 3, 1))
    local[:, 1] = rotations.from_axis_angle((0.0, 0.0, 1.0), angles[:, 0])
    local[:, 2] = rotations.from_axis_angle((1.0, 0.0, 0.0), angles[:, 1])
    degrees = np.degrees(angles)
    names = tuple(f"bend {bend:.0f} twist {twist:.0f} #{k}" for k, (bend, twist) in enumerate(degrees))
    shapes = np.stack([true_shape(rig.mesh.points, bend, twist) for bend, twist in angles])
    return Examples.from_shapes(rig, Motion(local, names=names), shapes)


def true_shape(points: Floats, bend: float, twist: float) -> Floats:
    """Return the true shape (N, 3) of the arm: twist spread over the forearm, biceps raised, elbow round."""
    x, y, z = np.asarray(points, dtype=np.float64).T
    share = smoothstep((x - 0.1) / (0.85 - 0.1)) * twist
    y, z = np.cos(share) * y - np.sin(share) * z, np.sin(share) * y + np.cos(share) * z
    effort = 0.5 - 0.5 * np.cos(bend)
    radius = np.hypot(y, z)
    upward = np.clip(y / np.where(radius > 0, radius, 1), 0, None) ** 1.5
    biceps = 1 + 0.42 * effort * upward * np.exp(-(((x + 0.55) / 0.2) ** 2))
    y, z = y * biceps, z * (1 + 0.1 * effort * np.exp(-(((x + 0.55) / 0.2) ** 2)))
    return _bent(x, y, z, bend)


def _bent(x: Floats, y: Floats, z: Floats, bend: float) -> Floats:
    """Carry cross-sections along a centre line that bends by `bend` on a circle touching both bones."""
    along = np.clip((x + _ELBOW) / (2 * _ELBOW), 0, 1)
    angle = bend * along
    if bend > 1e-9:
        circle = _ELBOW / np.tan(bend / 2)
        centre_x, centre_y = circle * np.sin(angle) - _ELBOW, circle * (1 - np.cos(angle))
    else:
        centre_x, centre_y = 2 * _ELBOW * along - _ELBOW, np.zeros_like(along)
    before, after = np.minimum(x + _ELBOW, 0), np.maximum(x - _ELBOW, 0)
    px = centre_x + before + after * np.cos(bend) - np.sin(angle) * y
    py = centre_y + after * np.sin(bend) + np.cos(angle) * y
    return np.stack([px, py, z], axis=1)


def _arm_mesh(rings: int, sides: int) -> Mesh:
    """A closed tube with an arm's profile: rings along x, a pole at each end."""
    x = np.linspace(-0.995, 1.195, rings)
    angle = np.arange(sides) * 2 * np.pi / sides
    key = np.array([-1.0, -0.9, -0.55, -0.1, 0.2, 0.6, 0.82, 0.98, 1.12, 1.2])
    high = np.array([0.02, 0.15, 0.19, 0.145, 0.165, 0.115, 0.085, 0.08, 0.06, 0.01])
    wide = np.array([0.02, 0.16, 0.175, 0.15, 0.17, 0.125, 0.105, 0.135, 0.1, 0.01])
    radius_y, radius_z = np.interp(x, key, high), np.interp(x, key, wide)
    for _ in range(6):
        for radius in (radius_y, radius_z):
            radius[1:-1] = 0.5 * radius[1:-1] + 0.25 * (radius[:-2] + radius[2:])
    body = np.stack(
        [
            np.repeat(x, sides),
            (radius_y[:, None] * np.cos(angle)).ravel(),
            (radius_z[:, None] * np.sin(angle)).ravel(),
        ],
        axis=1,
    )
    points = np.vstack([body, [[-1.0, 0, 0], [1.2, 0, 0]]])
    ring, side = np.meshgrid(np.arange(rings - 1), np.arange(sides), indexing="ij")
    a, b = ring * sides + side, ring * sides + (side + 1) % sides
    quads = np.stack([a, b, b + sides, a + sides], axis=-1).reshape(-1, 4)
    first, last, here = rings * sides, rings * sides + 1, np.arange(sides)
    there, end = (here + 1) % sides, (rings - 1) * sides
    caps = [np.stack([np.full(sides, first), there, here], axis=1)]
    caps.append(np.stack([np.full(sides, last), end + here, end + there], axis=1))
    corners = np.concatenate([quads.ravel(), *[cap.ravel() for cap in caps]])
    sizes = np.concatenate([np.full(len(quads), 4), np.full(2 * sides, 3)])
    return Mesh.from_polygons(points.astype(np.float32), corners, sizes)
