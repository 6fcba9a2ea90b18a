"""A rig from plain arrays, three sculpts of a bent elbow, a pose space deformation: fitted, saved, loaded, evaluated.

Run: python examples/fit_sculpts.py
It writes elbow.skin into the current folder.
"""

import numpy as np

import posespace as ps

RINGS, SIDES = 40, 16


def tube() -> tuple[np.ndarray, np.ndarray]:
    """The points (N, 3) and triangles (T, 3) of a tube along x, from -1 to 1, open at both ends."""
    along, around = np.linspace(-1, 1, RINGS), np.arange(SIDES) * 2 * np.pi / SIDES
    x, angle = np.meshgrid(along, around, indexing="ij")
    points = np.stack([x, 0.2 * np.cos(angle), 0.2 * np.sin(angle)], axis=-1).reshape(-1, 3)
    ring, side = np.meshgrid(np.arange(RINGS - 1), np.arange(SIDES), indexing="ij")
    a, b = ring * SIDES + side, ring * SIDES + (side + 1) % SIDES
    quads = np.stack([a, b, b + SIDES, a, b + SIDES, a + SIDES], axis=-1)
    return points, quads.reshape(-1, 3)


def bent(rig: ps.Rig, degrees: float) -> ps.Pose:
    """The pose with the elbow rotated about z; rotations are quaternions x y z w."""
    half = np.radians(degrees) / 2
    return ps.Pose.from_joints(rig.skeleton, {"elbow": [0, 0, np.sin(half), np.cos(half)]})


def sculpt(rig: ps.Rig, degrees: float) -> np.ndarray:
    """What an artist would sculpt over plain skinning: a biceps that swells. You would read files here."""
    x, y, _ = rig.mesh.points.T
    swelling = np.sin(np.radians(degrees) / 2) ** 2 * np.exp(-(((x + 0.5) / 0.2) ** 2)) * np.clip(y, 0, None)
    return rig.skin(bent(rig, degrees), np.outer(swelling, [0, 1, 0]))


points, triangles = tube()
forearm = np.clip(points[:, 0] / 0.4 + 0.5, 0, 1)  # The elbow's weight goes from 0 to 1 around x = 0.
weights = np.column_stack([1 - forearm, forearm])
rest_world = np.tile(np.eye(4), (2, 1, 1))
rest_world[0, 0, 3] = -1  # The shoulder is at x = -1, the elbow at the origin.
rig = ps.Rig.from_arrays(points, triangles, weights, [-1, 0], rest_world, ["shoulder", "elbow"])

sculpts = ps.Sculpts(rig, ps.PSD())
for degrees in (40, 80, 120):
    sculpts.add(f"bent by {degrees}", bent(rig, degrees), sculpt(rig, degrees))
sculpts.skin().save("elbow.skin")

skin = ps.Skin.load("elbow.skin")
unseen = ps.Motion.from_poses([bent(rig, degrees) for degrees in (20, 60, 100)])
truth = ps.Examples.from_shapes(rig, unseen, [sculpt(rig, degrees) for degrees in (20, 60, 100)])
print(f"error on unseen poses, plain skinning being 1: {ps.evaluate(skin, truth).rel_err:.4f}")
