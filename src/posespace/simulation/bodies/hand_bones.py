"""The measures of the hand: positions of its bones, its skeleton, the range of each joint.

Millimetres, a right hand at rest: x to the little finger, y to the fingertips, z to the back of the hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posespace.check import Floats
from posespace.geometry import rotations
from posespace.simulation.bodies.body import Bone
from posespace.simulation.bodies.distance_field import frame_along
from posespace.skeleton import Skeleton


@dataclass(frozen=True)
class Finger:
    """A finger at rest: metacarpal from `base` to `knuckle`, then three bones of `lengths`, bent by `flexion`.

    `spread` rotates it to the little finger's side and `roll` its back to the thumb's side, in degrees as `flexion`;
    `radii` are those of the flesh at the three joints and near the tip.
    """

    base: tuple[float, float, float]
    knuckle: tuple[float, float, float]
    lengths: tuple[float, float, float]
    spread: float
    roll: float
    flexion: tuple[float, float, float]
    radii: tuple[float, float, float, float]


FINGERS = {
    "index": Finger((-12, 21, 1), (-27, 88, 0), (43, 25, 21), -12, 4, (8, 14, 8), (10.8, 9.6, 8.6, 7.2)),
    "middle": Finger((-1, 22, 3), (-5, 92, 3), (48, 29, 22), -2, 0, (10, 14, 8), (11.0, 9.8, 8.8, 7.4)),
    "ring": Finger((9, 20, 2), (17, 86, 1), (44, 28, 22), 9, -4, (12, 16, 9), (10.5, 9.3, 8.4, 7.0)),
    "little": Finger((17, 18, -1), (36, 75, -4), (35, 20, 19), 22, -10, (14, 18, 10), (9.4, 8.3, 7.5, 6.3)),
}
_THUMB_BASE = (-17.0, 19.0, -8.0)
_THUMB_DORSAL = (-0.62, -0.25, 0.74)
_THUMB = (  # direction, length
    ((-0.62, 0.68, -0.39), 46.0),
    ((-0.46, 0.85, -0.27), 33.0),
    ((-0.36, 0.92, -0.16), 27.0),
)
THUMB_RADII = (13.0, 11.4, 10.4, 8.6)

PLAIN = (1.0, 1.0, 1.0, 1.0, 1.0)
"""Factors on the lengths of thumb, index, middle, ring and little finger: those of the plain hand."""

NAMES = (
    "forearm",
    "wrist",
    *(f"thumb_{joint}" for joint in ("cmc", "mcp", "ip")),
    *(f"{finger}_{joint}" for finger in FINGERS for joint in ("mcp", "pip", "dip")),
)
STUMP = -42.0
"""Height at which the forearm is cut off."""

# Degrees of flexion and of deviation to the thumb's side (for the thumb: away from the palm) from the straight hand.
# Sources: American Academy of Orthopaedic Surgeons, Joint Motion: Method of Measuring and Recording (1965), with the
# fingers' spread of 20 degrees away from their neighbours as usual, towards a neighbour at rest until the two touch
# lightly, and extension of their MCP joints kept to what they do unaided;
# DIP flexion and hyperextension of the thumb's MCP from The Electronic Textbook of Hand Surgery (eatonhand.com);
# thumb CMC: the total ranges of 53 and 42 degrees of Cooney et al., The kinesiology of the thumb trapeziometacarpal
# joint, J. Bone Joint Surg. 63-A (1981), about this rest pose in mid-range.
_RANGES = {
    "wrist": ((-70, 80), (-30, 20)),
    "thumb_cmc": ((-18, 35), (-20, 22)),
    "thumb_mcp": ((-10, 50), None),
    "thumb_ip": ((-20, 80), None),
    "index_mcp": ((-25, 90), (-12, 20)),
    "middle_mcp": ((-25, 90), (-14, 12)),
    "ring_mcp": ((-25, 90), (-20, 14)),
    "little_mcp": ((-25, 90), (-20, 18)),
    "pip": ((0, 100), None),
    "dip": ((0, 80), None),
}


@dataclass(frozen=True, eq=False)
class Segment:
    """A bone before it is trimmed: it moves with `joint` and runs from `start` to `end` (3,).

    The columns of `frame` (3, 3) are x across, y along, z to the back of the hand.
    """

    name: str
    joint: str
    start: Floats
    end: Floats
    frame: Floats

    @property
    def length(self) -> float:
        """Distance from joint to joint."""
        return float(np.linalg.norm(self.end - self.start))

    def at(self, share: float, across: float = 0.0, above: float = 0.0) -> Floats:
        """Return the point (3,) at a `share` of the length, offset in millimetres along x and z of the frame."""
        offset = across * self.frame[:, 0] + above * self.frame[:, 2]
        return np.asarray(self.start + share * (self.end - self.start) + offset)


def thickness(build: float) -> float:
    """Return what `build`, from -1 (slim) to 1 (strong), multiplies the widths of the hand by."""
    return 1 + 0.1 * build


def segments(build: float = 0.0, lengths: Sequence[float] = PLAIN) -> dict[str, Segment]:
    """Return the bones of a right hand by name: forearm, carpus, metacarpals and phalanges 1 to 3 of each finger.

    `lengths` are factors on all bones of the thumb and on the phalanges of the fingers, the index finger first.
    """
    upright = np.eye(3)
    # The knuckles move apart as the fingers thicken, which keeps the webs where they are.
    widen = np.array([thickness(build), 1.0, 1.0])
    made = [
        Segment("forearm", "forearm", np.array([2.0, -60.0, 0.0]), np.zeros(3), upright),
        Segment("carpus", "wrist", np.zeros(3), np.array([0.0, 20.0, 0.0]), upright),
    ]
    start: Floats = widen * _THUMB_BASE
    parts = (("thumb_metacarpal", "thumb_cmc"), ("thumb_1", "thumb_mcp"), ("thumb_2", "thumb_ip"))
    for (name, joint), (direction, length) in zip(parts, _THUMB, strict=True):
        frame = frame_along(direction, _THUMB_DORSAL)
        made.append(Segment(name, joint, start, start + lengths[0] * length * frame[:, 1], frame))
        start = made[-1].end
    for longer, (name, finger) in zip(lengths[1:], FINGERS.items(), strict=True):
        base, knuckle = widen * finger.base, widen * finger.knuckle
        palm = frame_along(knuckle - base, (0.0, 0.0, 1.0))
        made.append(Segment(f"{name}_metacarpal", "wrist", base, knuckle, palm))
        frame = _rotation((0, 0, 1), -finger.spread) @ _rotation((0, 1, 0), -finger.roll)
        start = knuckle
        for k, joint in enumerate(("mcp", "pip", "dip")):
            frame = frame @ _rotation((-1, 0, 0), finger.flexion[k])
            end = start + longer * finger.lengths[k] * frame[:, 1]
            made.append(Segment(f"{name}_{k + 1}", f"{name}_{joint}", start, end, frame))
            start = end
    return {segment.name: segment for segment in made}


def rest_flexion(name: str) -> float:
    """Return by how many degrees a joint is bent at rest, from the straight hand that its range is counted from."""
    finger, _, joint = name.partition("_")
    return FINGERS[finger].flexion[("mcp", "pip", "dip").index(joint)] if finger in FINGERS else 0.0


def skeleton(parts: dict[str, Segment]) -> Skeleton:
    """Return the right hand's skeleton; each joint's rest frame is that of the bone it starts."""
    first = {segment.joint: segment for segment in reversed(parts.values())}
    world = np.tile(np.eye(4), (len(NAMES), 1, 1))
    axes, limits = np.zeros((len(NAMES), 3, 3)), np.zeros((len(NAMES), 3, 2))
    parents = np.full(len(NAMES), -1)
    for number, name in enumerate(NAMES):
        world[number, :3, :3], world[number, :3, 3] = first[name].frame, first[name].start
        *_, joint = name.partition("_")
        if name == "wrist":
            parents[number] = 0
        elif joint:
            parents[number] = 1 if joint in ("cmc", "mcp") and name != "thumb_mcp" else number - 1
        if name == "forearm":
            continue
        bend, deviation = _RANGES[name if name in _RANGES else joint]
        # A positive rotation about x moves y to the back of the hand: flexion is the opposite.
        axes[number, 0, 0] = -1.0
        limits[number, 0] = np.radians(np.array(bend) - rest_flexion(name))
        if deviation is not None:
            axes[number, 1, 2] = 1.0
            limits[number, 1] = np.radians(deviation)
    return Skeleton.from_world(NAMES, parents, world, axes, limits)


# Trimmed off at the two ends, then radii there.
_TRIMS = {
    "forearm": (34.0, 19.0, 8.5, 8.0),
    "carpus": (5.0, 10.0, 6.5, 6.5),
    "thumb_metacarpal": (9.0, 8.5, 4.6, 4.4),
    "thumb_1": (8.5, 7.0, 4.2, 3.7),
    "thumb_2": (7.0, 7.5, 3.6, 2.9),
    "metacarpal": (9.0, 8.5, 3.8, 4.2),
    "1": (8.5, 6.8, 3.9, 3.3),
    "2": (6.8, 5.6, 3.2, 2.8),
    "3": (5.6, 7.0, 2.7, 2.2),
}


def bones(parts: dict[str, Segment]) -> tuple[Bone, ...]:
    """Return the solids inside the flesh: each segment, trimmed so that tissue is left at the joints."""
    solids = []
    for name, segment in parts.items():
        finger, _, rest = name.partition("_")
        head, tail, low, high = _TRIMS[name if name in _TRIMS else rest]
        slim = 0.88 if finger == "little" else 1.0
        start = segment.start + slim * head * segment.frame[:, 1]
        end = segment.end - slim * tail * segment.frame[:, 1]
        solids.append(Bone(NAMES.index(segment.joint), start, end, slim * low, slim * high))
    return tuple(solids)


_WRIST = {"forearm": (19.0, 18.0), "carpus": (16.0, 14.0)}
_PALM = 11.0


def flesh(parts: dict[str, Segment]) -> tuple[Bone, ...]:
    """Return the flesh around each segment, in the order of `bones`, as a rounded cone from joint to joint.

    It is the flesh of a hand of build 0; that of forearm and palm is as thick as these are from palm to back.
    """
    cones = []
    for name, segment in parts.items():
        finger, _, rest = name.partition("_")
        if rest == "metacarpal" and finger in FINGERS:
            low = high = _PALM
        elif finger in FINGERS:
            low, high = FINGERS[finger].radii[int(rest) - 1 : int(rest) + 1]
        elif finger == "thumb":
            number = ("metacarpal", "1", "2").index(rest)
            low, high = THUMB_RADII[number : number + 2]
        else:
            low, high = _WRIST[name]
        # The ends of finger and thumb are round: their last cone stops a radius short.
        end = segment.end - high * segment.frame[:, 1] if rest == ("2" if finger == "thumb" else "3") else segment.end
        cones.append(Bone(NAMES.index(segment.joint), segment.start, end, low, high))
    return tuple(cones)


def _rotation(axis: tuple[int, int, int], degrees: float) -> Floats:
    return rotations.matrices(rotations.from_axis_angle(np.array(axis, dtype=np.float64), np.radians(degrees)))
