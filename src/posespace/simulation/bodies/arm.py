"""A procedural right arm in millimetres: shoulder stump to wrist stump, a bending elbow and a twisting forearm.

The arm lies along y from shoulder to wrist, elbow at the origin. z points to the back: the arm bends towards -z.
`python -m posespace.simulation.bodies.arm clip.json` writes the poses of its clip.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.formats import pose_json
from posespace.geometry.smoothstep import step_across
from posespace.mesh import UNITS, Mesh
from posespace.motion import Motion
from posespace.rig import Rig, pack_weights
from posespace.simulation.bodies.body import Body, Bone, Cut
from posespace.simulation.bodies.distance_field import DistanceField, FieldBuilder
from posespace.simulation.bodies.field_mesh import triangulate
from posespace.simulation.settings import Settings
from posespace.skeleton import Skeleton

NAMES = ("upper_arm", "forearm", "wrist")
_SHOULDER, _WRIST = -300.0, 260.0
_TOP, _BOTTOM = -292.0, 282.0
_CAP = 12.0
_BOX = ((-70.0, -305.0, -75.0), (70.0, 295.0, 70.0))
_GRID = 6.0
# Degrees: elbow flexion, and pronation and supination as in American Academy of Orthopaedic Surgeons, Joint Motion:
# Method of Measuring and Recording (1965); without the last degrees of flexion, where flesh presses on flesh.
_ELBOW, _TWIST = (0.0, 145.0), (-80.0, 80.0)
# Past 85 degrees a solve from rest jumps to a fold in the crook of the elbow: the clip stays below.
_CLIP_ELBOW, _CLIP_TWIST = 80.0, 70.0
_CLIP_RATE = 24.0


def arm(vertices: int = 3234) -> Body:
    """Return a straight arm at rest, palm side towards -z.

    Joints: upper_arm (root), forearm (the elbow, flexion positive) and wrist (the forearm's twist about its length).

    Parameters
    ----------
    vertices : exact number of vertices of the skin, at least 200; the arm of the virtual-muscles paper has 3,234
    """
    if not 200 <= vertices <= 200_000:
        raise InputError(f"arm vertices: expected 200 to 200000, got {vertices}")
    # Euler: a closed surface without handles has two triangles per vertex, less four.
    points, triangles = triangulate(_flesh(), _BOX, 2 * vertices - 4, _GRID, _sizing)
    influences, weights = _weights(points)
    return Body(Rig(Mesh(points, triangles, unit=UNITS["mm"]), _skeleton(), influences, weights), _bones(), _cuts())


def body(_: Settings) -> Body:
    """Return the body that `simulate("arm", ...)` simulates."""
    return arm()


def clip(frames: int = 100) -> Motion:
    """Return poses of the arm at 24 per second, the first at rest, in which elbow and forearm swing independently.

    The elbow bends to 80 degrees and back in 25 frames. The period of the forearm's twist, 70 degrees to
    either side, is longer by the golden ratio, so that no pair of angles comes up twice.
    """
    phase = 2 * np.pi * np.arange(frames) / 25
    angles = np.zeros((frames, 3, 3))
    angles[:, 1, 0] = np.radians(_CLIP_ELBOW) * (1 - np.cos(phase)) / 2
    angles[:, 2, 0] = np.radians(_CLIP_TWIST) * np.sin(phase * 2 / (1 + np.sqrt(5)))
    names = tuple(f"frame {k}" for k in range(frames))
    return Motion(_skeleton().rotations(angles), times=np.arange(frames) / _CLIP_RATE, names=names)


def _skeleton() -> Skeleton:
    world = np.tile(np.eye(4), (3, 1, 1))
    world[:, 1, 3] = (_SHOULDER, 0.0, _WRIST)
    axes, limits = np.zeros((3, 3, 3)), np.zeros((3, 3, 2))
    axes[1, 0, 0], limits[1, 0] = -1.0, np.radians(_ELBOW)
    axes[2, 0, 1], limits[2, 0] = 1.0, np.radians(_TWIST)
    return Skeleton.from_world(NAMES, (-1, 0, 1), world, axes, limits)


def _bones() -> tuple[Bone, ...]:
    """Humerus; ulna and radius as one bone, in two parts so that the far one can twist."""
    along = ((0, -270.0, -24.0, 12.0, 13.0), (1, 24.0, 150.0, 12.5, 10.0), (2, 185.0, 256.0, 10.0, 12.0))
    return tuple(
        Bone(joint, np.array([0.0, start, 0.0]), np.array([0.0, end, 0.0]), low, high)
        for joint, start, end, low, high in along
    )


def _cuts() -> tuple[Cut, ...]:
    """Both ends, where the skin rounds off into a flat cap."""
    along = np.array([0.0, 1.0, 0.0])
    return Cut((_TOP + _CAP) * along, -along), Cut((_BOTTOM - _CAP) * along, along)


def _flesh() -> DistanceField:
    shape = FieldBuilder((("forearm", "upper_arm", 18.0),))
    # Cones that continue one another blend little, because a blend swells where they overlap.
    shape.cone("upper_arm", (0, -340, 2), (0, -170, 0), (55, 42), 3.0, stretch=(0.92, 1.04))
    shape.cone("upper_arm", (0, -170, 0), (0, 0, 2), (42, 34), 3.0, stretch=(0.95, 0.98))
    # Biceps, triceps, and the point of the elbow.
    shape.ellipsoid("upper_arm", (2, -130, -20), np.eye(3), (31, 85, 29), 18.0)
    shape.ellipsoid("upper_arm", (-4, -165, 22), np.eye(3), (32, 100, 25), 18.0)
    shape.ellipsoid("upper_arm", (3, 6, 22), np.eye(3), (12, 24, 14), 14.0)
    shape.cone("forearm", (0, 0, 0), (0, 60, -1), (33, 36), 3.0, stretch=(1.06, 0.95))
    shape.cone("forearm", (0, 60, -1), (0, 170, 0), (36, 29), 3.0, stretch=(1.06, 0.9))
    shape.cone("forearm", (0, 170, 0), (0, 235, 0), (29, 25), 3.0, stretch=(1.08, 0.82))
    shape.cone("forearm", (0, 235, 0), (0, 330, 0), (25, 27), 3.0, stretch=(1.12, 0.74))
    # The muscles that bend and stretch the wrist.
    shape.ellipsoid("forearm", (-16, 55, -9), np.eye(3), (24, 75, 27), 16.0)
    shape.ellipsoid("forearm", (16, 62, 4), np.eye(3), (24, 80, 27), 16.0)
    shape.cut((0, _TOP, 0), (0, -1, 0), 30.0)
    shape.cut((0, _BOTTOM, 0), (0, 1, 0), 24.0)
    return shape.build()


def _sizing(points: Floats) -> Floats:
    """Relative edge lengths: shorter at the elbow, which bends, and at the wrist, which is thin."""
    y = points[:, 1]
    return np.asarray(1.1 - 0.3 * np.exp(-((y / 70) ** 2)) - 0.25 * step_across(y - 220.0, 60.0))


def _weights(points: Floats) -> tuple[Ints, Floats]:
    y = points[:, 1]
    below, twisted = step_across(y, 42.0), step_across(y - 150.0, 105.0)
    dense = np.stack([1 - below, below * (1 - twisted), below * twisted], axis=1)
    return pack_weights(dense)


if __name__ == "__main__":
    pose_json.write(Path(sys.argv[1]), clip(), _skeleton())
