"""The flesh of the hand around its bones, as a signed distance field."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posespace.check import Floats
from posespace.simulation.bodies.distance_field import DistanceField, FieldBuilder, frame_along
from posespace.simulation.bodies.hand_bones import FINGERS, PLAIN, STUMP, THUMB_RADII, Segment, segments, thickness
from posespace.simulation.bodies.hand_detail import detail_lines

BOX = ((-100.0, -52.0, -66.0), (84.0, 205.0, 36.0))
"""A box around every build of the hand, millimetres."""

_JOINS = (
    *((finger, "fingers", 14.0) for finger in FINGERS),
    ("forearm", "palm", 18.0),
    ("web", "palm", 14.0),
    ("fingers", "palm", 8.0),
    ("thumb", "palm", 16.0),
)


def hand_field(build: float = 0.0, detail: bool = True, lengths: Sequence[float] = PLAIN) -> DistanceField:
    """Return the skin of a right hand as a field; `build` and `lengths` are those of `hand`."""
    shape = FieldBuilder(_JOINS)
    parts, thick = segments(build, lengths), thickness(build)
    for name in FINGERS:
        _finger(shape, name, parts, thick, detail)
        _metacarpal(shape, name, parts, thick)
    _thumb(shape, parts, thick, detail)
    _palm(shape, parts, thick)
    shape.cut((0.0, STUMP, 0.0), (0.0, -1.0, 0.0), 22.0)
    if detail:
        shape.add_lines(*detail_lines(shape.build(), parts))
    return shape.build()


def _finger(shape: FieldBuilder, name: str, parts: dict[str, Segment], thick: float, detail: bool) -> None:
    near, middle, far = (parts[f"{name}_{k}"] for k in (1, 2, 3))
    root, pip, dip, tip = (thick * radius for radius in FINGERS[name].radii)
    waist = 0.5 * (pip + dip) * 0.975
    flat = (1.0, 0.95)

    def rod(part: Segment, low: float, high: float, radii: tuple[float, float]) -> None:
        shape.cone(name, part.at(low), part.at(high), radii, 1.0, upward=part.frame[:, 2], stretch=flat)

    rod(near, 0.0, 0.5, (root, pip * 0.99))
    rod(near, 0.5, 1.0, (pip * 0.99, pip))
    rod(middle, 0.0, 0.5, (pip, waist))
    rod(middle, 0.5, 1.0, (waist, dip))
    end = far.end - 0.55 * tip * far.frame[:, 1] - 0.6 * far.frame[:, 2]
    shape.cone(name, far.start, end, (dip, tip * 1.03), 1.5, upward=far.frame[:, 2], stretch=(1.03, 0.88))
    # Soft pads on the palm's side, one per bone, leave creases between them.
    shape.ellipsoid(name, near.at(0.55, above=-0.26 * pip), near.frame, (0.93 * pip, 15.0, 0.88 * pip), 4.0)
    shape.ellipsoid(
        name, middle.at(0.5, above=-0.25 * dip), middle.frame, (0.94 * dip, 0.42 * middle.length, 0.88 * dip), 3.0
    )
    pulp = 0.35 * far.start + 0.65 * end - 0.3 * tip * far.frame[:, 2]
    shape.ellipsoid(name, pulp, far.frame, (1.02 * tip, 1.55 * tip, 0.84 * tip), 3.0)
    shape.ellipsoid(name, near.at(1.0, above=0.17 * pip), near.frame, (0.86 * pip, 0.98 * pip, 0.84 * pip), 3.0)
    if detail:
        _nail(shape, name, far, end, tip)


def _nail(shape: FieldBuilder, group: str, part: Segment, end: Floats, tip: float) -> None:
    centre = 0.25 * part.start + 0.75 * end + 0.7 * tip * part.frame[:, 2]
    shape.ellipsoid(group, centre, part.frame, (0.82 * tip, 1.1 * tip, 0.36 * tip), 0.7)


def _metacarpal(shape: FieldBuilder, name: str, parts: dict[str, Segment], thick: float) -> None:
    part, near = parts[f"{name}_metacarpal"], parts[f"{name}_1"]
    root = thick * FINGERS[name].radii[0]
    up = part.frame[:, 2]
    shape.cone("palm", part.start, part.end, (12.5 * thick, 1.13 * root), 9.0, upward=up, stretch=(1.05, 0.95))
    knuckle = part.end + np.array([0.0, 0.0, 2.6])
    shape.ellipsoid("palm", knuckle, part.frame, (0.93 * root, 1.1 * root, 0.92 * root), 6.0)
    # The pad under the knuckles reaches as far as the web.
    web = near.at(0.33, above=-2.0)
    start = part.at(0.65) - np.array([0.0, 0.0, 4.0])
    shape.cone("palm", start, web, (1.05 * root, 0.8 * root), 8.0, upward=up, stretch=(1.05, 0.88))


def _thumb(shape: FieldBuilder, parts: dict[str, Segment], thick: float, detail: bool) -> None:
    meta, near, far = parts["thumb_metacarpal"], parts["thumb_1"], parts["thumb_2"]
    root, mcp, ip, tip = (thick * radius for radius in THUMB_RADII)

    def rod(
        part: Segment, low: float, high: float, radii: tuple[float, float], blend: float, flat: tuple[float, float]
    ) -> None:
        shape.cone("thumb", part.at(low), part.at(high), radii, blend, upward=part.frame[:, 2], stretch=flat)

    rod(meta, 0.1, 1.0, (root, mcp), 6.0, (1.0, 0.97))
    rod(near, 0.0, 0.5, (mcp, 0.97 * ip), 1.0, (1.0, 0.97))
    rod(near, 0.5, 1.0, (0.97 * ip, ip), 1.0, (1.0, 0.95))
    end = far.end - 4.2 * far.frame[:, 1] - 0.8 * far.frame[:, 2]
    shape.cone("thumb", far.start, end, (ip, tip), 1.5, upward=far.frame[:, 2], stretch=(1.07, 0.84))
    shape.ellipsoid("thumb", near.at(0.5, above=-2.6), near.frame, (0.9 * ip, 15.0, 0.86 * ip), 4.0)
    shape.ellipsoid("thumb", near.at(1.0, above=1.2), near.frame, (0.91 * ip, 9.5, 0.87 * ip), 4.0)
    shape.ellipsoid("thumb", meta.at(1.0, above=1.2), meta.frame, (0.92 * mcp, 11.0, 0.9 * mcp), 4.0)
    pulp = 0.35 * far.start + 0.65 * end - 2.6 * far.frame[:, 2]
    shape.ellipsoid("thumb", pulp, far.frame, (tip, 12.5, 0.82 * tip), 4.0)
    if detail:
        _nail(shape, "thumb", far, end, tip)


def _palm(shape: FieldBuilder, parts: dict[str, Segment], thick: float) -> None:
    shape.cone("palm", (4, 18, -3), (2, 70, -2), (24 * thick, 27 * thick), 10.0, stretch=(1.15, 0.5))
    # Ball of the little finger, then of the thumb.
    lean = frame_along((0.22, 1.0, 0.0), (0.0, 0.0, 1.0))
    shape.ellipsoid("palm", (27 * thick, 42, -10), lean, (13.5 * thick, 30.0, 12.5 * thick), 12.0)
    meta = parts["thumb_metacarpal"]
    along = frame_along(meta.end - meta.start + np.array([8.0, 0.0, 0.0]), (0.0, 0.0, 1.0))
    ball = meta.at(0.55) + np.array([7.0, -2.0, -2.0])
    shape.ellipsoid("palm", ball, along, (14.5 * thick, 30.0, 11.5 * thick), 20.0)
    shape.cone("forearm", (2, 34, -2), (2, -6, 0), (19 * thick, 25 * thick), 2.0, stretch=(1.12, 0.7))
    shape.cone("forearm", (2, -6, 0), (2, -75, 1), (25 * thick, 31 * thick), 2.0, stretch=(1.12, 0.72))
    index = parts["index_metacarpal"]
    down = np.array([0.0, 0.0, -4.0])
    shape.sheet("web", (meta.at(0.4), meta.at(0.88), index.at(0.78) + down), 5.2 * thick, 6.0)
    shape.sheet("web", (meta.at(0.2), meta.at(0.75), index.at(0.5) + down), 7.0 * thick, 6.0)
