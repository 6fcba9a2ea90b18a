"""Surface detail of the hand: flexion creases, wrinkles over the knuckles, tendons on the back.

Lines are defined on the bones, so that they fit every build, and projected from there onto the smooth skin.
Lengths are millimetres. An angle around a finger is 0 at the middle of the palm side or of the back, and positive
towards the little finger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from posespace.check import Floats
from posespace.simulation.bodies.distance_field import DistanceField
from posespace.simulation.bodies.hand_bones import FINGERS, Segment
from posespace.simulation.bodies.height_lines import HeightLine

_PALM, _BACK = -1.0, 1.0
_REACH = 45.0
"""The largest distance from a bone to the skin."""
_SPACING = 1.5
"""Distance between the points of a line in the palm or on the back."""

_BASES = {"index": (0.47, -1.2), "middle": (0.44, 0.0), "ring": (0.45, 0.8), "little": (0.47, 2.2)}
"""Position of each finger's base creases, as a fraction of its first bone, and their slant towards the tip on the
little finger's side."""

# Across: 0 to 3 from the index to the little finger's metacarpal. Along: fraction of its length.
_PALM_LINES = {
    "distal": (((3.6, 0.74), (3.0, 0.83), (2.2, 0.86), (1.4, 0.88), (0.8, 0.96), (0.42, 1.16)), 0.95),
    "proximal": (((-0.52, 0.89), (-0.1, 0.86), (0.6, 0.78), (1.4, 0.68), (2.2, 0.60), (2.9, 0.53)), 0.85),
    "thenar": (((-0.5, 0.85), (-0.05, 0.80), (0.6, 0.64), (1.0, 0.42), (1.2, 0.18), (1.1, -0.08)), 1.0),
}


def detail_lines(skin: DistanceField, parts: dict[str, Segment]) -> list[HeightLine]:
    """Return the detail of a smooth `skin` around the bones `parts`."""
    pen = _Pen(skin)
    lines = [line for name in FINGERS for line in _finger(pen, name, parts)]
    return [*lines, *_thumb(pen, parts), *_palm(pen, parts), *_wrist(pen, parts), *_tendons(pen, parts)]


def _finger(pen: _Pen, name: str, parts: dict[str, Segment]) -> list[HeightLine]:
    near, middle, far = (parts[f"{name}_{k}"] for k in (1, 2, 3))
    fraction, slant = _BASES[name]
    base = fraction * near.length
    return [
        pen.arc(near, base, _PALM, 62, -0.8, 2.9, slant=slant),
        pen.arc(near, base + 4.2, _PALM, 48, -0.45, 2.4, slant=slant),
        pen.arc(middle, -2.4, _PALM, 80, -0.85, 2.7, bow=0.8),
        pen.arc(middle, 1.8, _PALM, 72, -0.65, 2.4, bow=-0.4),
        pen.arc(far, -1.2, _PALM, 80, -0.85, 2.7, bow=0.6),
        *_knuckle(pen, middle, (-5.0, -1.0, 3.0), 52, -0.75),
        *_knuckle(pen, far, (-2.6, 1.0), 46, -0.55),
    ]


def _thumb(pen: _Pen, parts: dict[str, Segment]) -> list[HeightLine]:
    near, far = parts["thumb_1"], parts["thumb_2"]
    return [
        pen.arc(near, -0.5, _PALM, 58, -0.7, 2.9, slant=1.5),
        pen.arc(near, 4.2, _PALM, 45, -0.5, 2.5, slant=1.5),
        pen.arc(far, -1.8, _PALM, 78, -0.8, 2.7, bow=0.8),
        pen.arc(far, 2.2, _PALM, 58, -0.5, 2.3),
        *_knuckle(pen, far, (-4.2, -0.4, 3.4), 50, -0.7),
    ]


def _knuckle(pen: _Pen, part: Segment, positions: Sequence[float], degrees: float, height: float) -> list[HeightLine]:
    """Wrinkles across the back of the joint where `part` starts, bowed so that together they form an oval."""
    middle, half = np.mean(positions), np.ptp(positions) / 2
    lines = []
    for position in positions:
        aside = (position - middle) / half
        wide = degrees * (1 - 0.35 * aside**2)
        lines.append(pen.arc(part, position, _BACK, wide, height, 2.4, bow=-1.2 * aside))
    return lines


def _palm(pen: _Pen, parts: dict[str, Segment]) -> list[HeightLine]:
    return [
        pen.over([_between(parts, *position) for position in positions], _PALM, -depth, 2.9)
        for positions, depth in _PALM_LINES.values()
    ]


def _wrist(pen: _Pen, parts: dict[str, Segment]) -> list[HeightLine]:
    forearm = parts["forearm"]
    return [
        pen.arc(forearm, forearm.length + position, _PALM, 62, height, 3.0, bow=bow)
        for position, height, bow in ((7.0, -0.65, -2.5), (-3.0, -0.5, -1.5))
    ]


def _tendons(pen: _Pen, parts: dict[str, Segment]) -> list[HeightLine]:
    lines = []
    for number, name in enumerate(FINGERS):
        part = parts[f"{name}_metacarpal"]
        gathered = _between(parts, 1.4 + 0.7 * (number - 1.5), -0.05)
        lines.append(pen.over([gathered, part.at(0.45), part.at(0.75), part.at(0.98)], _BACK, 0.7, 5.0))
    meta, near = parts["thumb_metacarpal"], parts["thumb_1"]
    start = meta.start + np.array([4.0, -14.0, 6.0])
    inside = np.array([start, meta.at(0.3, 2.0), meta.at(0.7, 1.0), near.at(0.05), near.at(0.75)])
    lines.append(pen.over(inside, _BACK, 0.7, 4.5, outward=meta.frame[:, 2]))
    return lines


@dataclass(frozen=True, eq=False)
class _Pen:
    """Draws lines on a smooth skin."""

    skin: DistanceField

    def arc(
        self,
        part: Segment,
        position: float,
        side: float,
        degrees: float,
        height: float,
        reach: float,
        *,
        slant: float = 0.0,
        bow: float = 0.0,
    ) -> HeightLine:
        """A line around a finger at `position` along `part`, `degrees` to either side; it fades towards its ends.

        `slant` moves one end towards the fingertip and the other away from it; `bow` moves both ends towards it.
        """
        across = np.linspace(-1, 1, 2 * int(degrees // 8) + 3)
        angle = np.radians(degrees) * across
        outward = np.sin(angle)[:, None] * part.frame[:, 0] + side * np.cos(angle)[:, None] * part.frame[:, 2]
        along = position + slant * across + bow * across**2
        inside = part.start + along[:, None] * part.frame[:, 1]
        return HeightLine(_project(self.skin, inside, outward), height * _fading(across), reach)

    def over(
        self,
        positions: ArrayLike,
        side: float,
        height: float,
        reach: float,
        outward: ArrayLike = (0.0, 0.0, 1.0),
    ) -> HeightLine:
        """A line on the skin over a smooth curve through `positions` (K, 3); it fades towards its ends."""
        curve = _smooth(np.asarray(positions))
        away = np.broadcast_to(side * np.asarray(outward), curve.shape)
        return HeightLine(_project(self.skin, curve, away), height * _fading(np.linspace(-1, 1, len(curve))), reach)


def _between(parts: dict[str, Segment], across: float, along: float) -> Floats:
    """The point (3,) at a fraction `along` the metacarpals and between two of them, or beyond the outer ones."""
    positions = [parts[f"{name}_metacarpal"].at(along) for name in FINGERS]
    first = int(np.clip(across, 0, len(positions) - 2))
    return np.asarray(positions[first] + (across - first) * (positions[first + 1] - positions[first]))


def _fading(along: Floats) -> Floats:
    """Fractions (N,) of the full height at positions from -1 to 1 along a line."""
    return np.asarray((1 - along**6) ** 2)


def _smooth(positions: Floats) -> Floats:
    """A Catmull-Rom spline (N, 3) through `positions` (K, 3), evenly sampled."""
    ends = np.concatenate([2 * positions[:1] - positions[1:2], positions, 2 * positions[-1:] - positions[-2:-1]])
    t = np.linspace(0, 1, 40, endpoint=False)[:, None]
    pieces = []
    for a, b, c, d in zip(ends, ends[1:], ends[2:], ends[3:], strict=False):
        pieces.append(b + t * (c - a) / 2 + t**2 * (a - 2.5 * b + 2 * c - d / 2) + t**3 * (1.5 * (b - c) + (d - a) / 2))
    dense = np.concatenate([*pieces, positions[-1:]])
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(dense, axis=0), axis=1))])
    even = np.linspace(0, length[-1], int(length[-1] / _SPACING) + 2)
    return np.stack([np.interp(even, length, dense[:, k]) for k in range(3)], axis=1)


def _project(skin: DistanceField, inside: Floats, outward: Floats) -> Floats:
    """The points (N, 3) where rays from `inside` (N, 3) along `outward` (N, 3) first leave the skin."""
    steps = np.arange(0.0, _REACH, 0.5)
    on_ray = inside[:, None] + steps[:, None] * outward[:, None]
    is_out = skin(on_ray.reshape(-1, 3)).reshape(len(inside), -1) > 0
    high = steps[is_out.argmax(axis=1)]
    low = high - 0.5
    for _ in range(24):
        middle = (low + high) / 2
        within = skin(inside + middle[:, None] * outward) <= 0
        low, high = np.where(within, middle, low), np.where(within, high, middle)
    return np.asarray(inside + low[:, None] * outward)
