"""The fine relief of the hand's skin: flexion creases, wrinkles over the knuckles, tendons on the back.

Lines are given on the bones, so that they fit every build, and are carried from there out to the smooth skin.
Millimetres; an angle around a finger is 0 in the middle of the palm's side or of the back, positive to the little
finger.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from posespace.check import Floats
from posespace.simulation.bodies.distance_field import DistanceField
from posespace.simulation.bodies.hand_bones import FINGERS, Segment
from posespace.simulation.bodies.relief import Line

_PALM, _BACK = -1.0, 1.0
_REACH = 45.0
"""From a bone to the skin at most."""
_SPACING = 1.5
"""Between the points of a line in the palm or on the back."""

_BASES = {"index": (0.47, -1.2), "middle": (0.44, 0.0), "ring": (0.45, 0.8), "little": (0.47, 2.2)}
"""Where on the first bone each finger's creases at its base lie, and how far they slant to the tip at the little
finger's side."""

# Across: 0 to 3 from the index to the little finger's metacarpal. Along: share of its length.
_PALM_LINES = {
    "distal": (((3.6, 0.74), (3.0, 0.83), (2.2, 0.86), (1.4, 0.88), (0.8, 0.96), (0.42, 1.16)), 0.95),
    "proximal": (((-0.52, 0.89), (-0.1, 0.86), (0.6, 0.78), (1.4, 0.68), (2.2, 0.60), (2.9, 0.53)), 0.85),
    "thenar": (((-0.5, 0.85), (-0.05, 0.80), (0.6, 0.64), (1.0, 0.42), (1.2, 0.18), (1.1, -0.08)), 1.0),
}


def hand_relief(skin: DistanceField, parts: dict[str, Segment]) -> list[Line]:
    """Return the lines on a smooth `skin` around the bones `parts`."""
    lines = [line for name in FINGERS for line in _finger(skin, name, parts)]
    return [*lines, *_thumb(skin, parts), *_palm(skin, parts), *_wrist(skin, parts), *_tendons(skin, parts)]


def _finger(skin: DistanceField, name: str, parts: dict[str, Segment]) -> list[Line]:
    near, middle, far = (parts[f"{name}_{k}"] for k in (1, 2, 3))
    share, slant = _BASES[name]
    base = share * near.length
    return [
        _arc(skin, near, base, _PALM, 62, -0.8, 2.9, slant=slant),
        _arc(skin, near, base + 4.2, _PALM, 48, -0.45, 2.4, slant=slant),
        _arc(skin, middle, -2.4, _PALM, 80, -0.85, 2.7, bow=0.8),
        _arc(skin, middle, 1.8, _PALM, 72, -0.65, 2.4, bow=-0.4),
        _arc(skin, far, -1.2, _PALM, 80, -0.85, 2.7, bow=0.6),
        *_knuckle(skin, middle, (-5.0, -1.0, 3.0), 52, -0.75),
        *_knuckle(skin, far, (-2.6, 1.0), 46, -0.55),
    ]


def _thumb(skin: DistanceField, parts: dict[str, Segment]) -> list[Line]:
    near, far = parts["thumb_1"], parts["thumb_2"]
    return [
        _arc(skin, near, -0.5, _PALM, 58, -0.7, 2.9, slant=1.5),
        _arc(skin, near, 4.2, _PALM, 45, -0.5, 2.5, slant=1.5),
        _arc(skin, far, -1.8, _PALM, 78, -0.8, 2.7, bow=0.8),
        _arc(skin, far, 2.2, _PALM, 58, -0.5, 2.3),
        *_knuckle(skin, far, (-4.2, -0.4, 3.4), 50, -0.7),
    ]


def _knuckle(skin: DistanceField, part: Segment, places: Sequence[float], degrees: float, height: float) -> list[Line]:
    """Wrinkles across the back of the joint where `part` starts, bowed around its middle: together they are oval."""
    middle, half = np.mean(places), np.ptp(places) / 2
    lines = []
    for place in places:
        aside = (place - middle) / half
        wide = degrees * (1 - 0.35 * aside**2)
        lines.append(_arc(skin, part, place, _BACK, wide, height, 2.4, bow=-1.2 * aside))
    return lines


def _palm(skin: DistanceField, parts: dict[str, Segment]) -> list[Line]:
    return [
        _over(skin, [_between(parts, *place) for place in places], _PALM, -depth, 2.9)
        for places, depth in _PALM_LINES.values()
    ]


def _wrist(skin: DistanceField, parts: dict[str, Segment]) -> list[Line]:
    forearm = parts["forearm"]
    return [
        _arc(skin, forearm, forearm.length + place, _PALM, 62, height, 3.0, bow=bow)
        for place, height, bow in ((7.0, -0.65, -2.5), (-3.0, -0.5, -1.5))
    ]


def _tendons(skin: DistanceField, parts: dict[str, Segment]) -> list[Line]:
    lines = []
    for number, name in enumerate(FINGERS):
        part = parts[f"{name}_metacarpal"]
        gathered = _between(parts, 1.4 + 0.7 * (number - 1.5), -0.05)
        lines.append(_over(skin, [gathered, part.at(0.45), part.at(0.75), part.at(0.98)], _BACK, 0.7, 5.0))
    meta, near = parts["thumb_metacarpal"], parts["thumb_1"]
    start = meta.start + np.array([4.0, -14.0, 6.0])
    inside = np.array([start, meta.at(0.3, 2.0), meta.at(0.7, 1.0), near.at(0.05), near.at(0.75)])
    lines.append(_over(skin, inside, _BACK, 0.7, 4.5, outward=meta.frame[:, 2]))
    return lines


def _arc(
    skin: DistanceField,
    part: Segment,
    place: float,
    side: float,
    degrees: float,
    height: float,
    reach: float,
    *,
    slant: float = 0.0,
    bow: float = 0.0,
) -> Line:
    """A line around a finger, `place` along `part`, to `degrees` either way; it fades towards its ends.

    `slant` is how far along the finger the line lies further at its end than in its middle, `bow` how far both ends do.
    """
    turn = np.linspace(-1, 1, 2 * int(degrees // 8) + 3)
    angle = np.radians(degrees) * turn
    outward = np.sin(angle)[:, None] * part.frame[:, 0] + side * np.cos(angle)[:, None] * part.frame[:, 2]
    along = place + slant * turn + bow * turn**2
    inside = part.start + along[:, None] * part.frame[:, 1]
    return Line(_carried(skin, inside, outward), height * _fading(turn), reach)


def _over(
    skin: DistanceField,
    places: ArrayLike,
    side: float,
    height: float,
    reach: float,
    outward: ArrayLike = (0.0, 0.0, 1.0),
) -> Line:
    """A line on the skin over a smooth curve through `places` (K, 3); it fades towards its ends."""
    curve = _smooth(np.asarray(places))
    away = np.broadcast_to(side * np.asarray(outward), curve.shape)
    return Line(_carried(skin, curve, away), height * _fading(np.linspace(-1, 1, len(curve))), reach)


def _between(parts: dict[str, Segment], across: float, along: float) -> Floats:
    """The point (3,) a share `along` of the metacarpals and between two of them, or beyond the outer ones."""
    places = [parts[f"{name}_metacarpal"].at(along) for name in FINGERS]
    first = int(np.clip(across, 0, len(places) - 2))
    return np.asarray(places[first] + (across - first) * (places[first + 1] - places[first]))


def _fading(turn: Floats) -> Floats:
    """Shares (N,) of the height at -1 to 1 along a line."""
    return np.asarray((1 - turn**6) ** 2)


def _smooth(places: Floats) -> Floats:
    """A Catmull-Rom spline (N, 3) through places (K, 3), in even steps."""
    ends = np.concatenate([2 * places[:1] - places[1:2], places, 2 * places[-1:] - places[-2:-1]])
    t = np.linspace(0, 1, 40, endpoint=False)[:, None]
    pieces = []
    for a, b, c, d in zip(ends, ends[1:], ends[2:], ends[3:], strict=False):
        pieces.append(b + t * (c - a) / 2 + t**2 * (a - 2.5 * b + 2 * c - d / 2) + t**3 * (1.5 * (b - c) + (d - a) / 2))
    dense = np.concatenate([*pieces, places[-1:]])
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(dense, axis=0), axis=1))])
    even = np.linspace(0, length[-1], int(length[-1] / _SPACING) + 2)
    return np.stack([np.interp(even, length, dense[:, k]) for k in range(3)], axis=1)


def _carried(skin: DistanceField, inside: Floats, outward: Floats) -> Floats:
    """Where rays from points (N, 3) inside along `outward` (N, 3) first leave the skin, (N, 3)."""
    steps = np.arange(0.0, _REACH, 0.5)
    on_ray = inside[:, None] + steps[:, None] * outward[:, None]
    free = skin(on_ray.reshape(-1, 3)).reshape(len(inside), -1) > 0
    high = steps[free.argmax(axis=1)]
    low = high - 0.5
    for _ in range(24):
        middle = (low + high) / 2
        within = skin(inside + middle[:, None] * outward) <= 0
        low, high = np.where(within, middle, low), np.where(within, high, middle)
    return np.asarray(inside + low[:, None] * outward)
