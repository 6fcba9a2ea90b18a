"""The surfaces of bones: distance to a rounded cone, triangles on it, and room made between bones and skin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.geometry.surface import Surface
from posespace.simulation.bodies.body import Bone

_SHRINK = 0.94
"""The factor by which a bone that lacks room shrinks in one step."""

_LEAST = 0.5
"""The fraction of its size that a bone may shrink to."""


def distance(bone: Bone, points: Floats) -> Floats:
    """Return the signed distance (N,) of `points` (N, 3) to the hull of the bone's two end spheres."""
    _, slope = _axis(bone)
    along, across, centre = _nearest_sphere(bone, points)
    gap: Floats = np.hypot(across, along - centre) - (bone.start_radius - centre * slope)
    return gap


def outward(bone: Bone, points: Floats) -> Floats:
    """Return the unit gradient (N, 3) of that distance; on the axis, any direction across it."""
    axis, _ = _axis(bone)
    *_, centre = _nearest_sphere(bone, points)
    away = points - bone.start - centre[:, None] * axis
    length = np.linalg.norm(away, axis=1, keepdims=True)
    across = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
    across /= np.linalg.norm(across)
    unit: Floats = np.where(length > 1e-12 * bone.length, away / np.maximum(length, 1e-300), across)
    return unit


def _nearest_sphere(bone: Bone, points: Floats) -> tuple[Floats, Floats, Floats]:
    """Positions of points (N, 3) along and across the axis, and of the centre along it (N,) of the nearest sphere."""
    axis, slope = _axis(bone)
    offset = points - bone.start
    along = offset @ axis
    across = np.linalg.norm(offset - along[:, None] * axis, axis=1)
    # The spheres between the ends shrink evenly; the nearest one lies along the slanted normal.
    return along, across, np.clip(along - across * slope / np.sqrt(1 - slope**2), 0, bone.length)


def surface(bone: Bone, edge: float) -> tuple[Floats, Ints]:
    """Return points (N, 3) on a bone and triangles (T, 3) facing out, with edges of about `edge`.

    Thin bones get six sides, so their edges are shorter.
    """
    axis, slope = _axis(bone)
    helper = np.eye(3)[np.abs(axis).argmin()]
    first = np.cross(axis, helper)
    first /= np.linalg.norm(first)
    second = np.cross(axis, first)
    sides = max(6, round(2 * np.pi * max(bone.start_radius, bone.end_radius) / edge))
    along, across = _profile(bone, slope, sides, edge)
    # Every other ring is rotated by half a side, for triangles of nearly equal sides.
    angle = 2 * np.pi * (np.arange(sides) + 0.5 * (np.arange(len(along))[:, None] % 2)) / sides
    radial = np.cos(angle)[..., None] * first + np.sin(angle)[..., None] * second
    rings = bone.start + along[:, None, None] * axis + across[:, None, None] * radial
    poles = [bone.start - bone.start_radius * axis, bone.end + bone.end_radius * axis]
    points = np.vstack([rings.reshape(-1, 3), poles])
    return points, _ring_triangles(len(along), sides)


def _axis(bone: Bone) -> tuple[Floats, float]:
    """The unit axis and the sine of the cone's slope. Raises where one end swallows the other."""
    length, difference = bone.length, bone.start_radius - bone.end_radius
    if length <= abs(difference) * 1.001 or length == 0:
        raise InputError(
            f"bone of joint {bone.joint}: expected a length above the difference of its radii, got {length:g}"
        )
    return (bone.end - bone.start).astype(np.float64) / length, difference / length


def _profile(bone: Bone, slope: float, sides: int, edge: float) -> tuple[Floats, Floats]:
    """The rings of a bone without its poles: their positions along the axis, and their radii."""
    tilt = np.arcsin(slope)
    rings: list[tuple[float, float]] = []
    for centre, radius, low, high in (
        (0.0, bone.start_radius, -np.pi / 2, tilt),
        (bone.length, bone.end_radius, tilt, np.pi / 2),
    ):
        steps = max(2, round(radius * (high - low) / edge))
        angles = np.linspace(low, high, steps + 1)
        inner = angles[1:] if centre == 0 else angles[:-1]
        rings += [(centre + radius * np.sin(angle), radius * np.cos(angle)) for angle in inner]
    (from_along, from_across), (to_along, to_across) = _seam(rings, bone, tilt)
    side = np.pi * (from_across + to_across) / sides
    steps = max(1, round(np.hypot(to_along - from_along, to_across - from_across) / min(edge, 2.2 * side)))
    share = np.linspace(0, 1, steps + 1)[1:-1]
    shaft = [
        (from_along + s * (to_along - from_along), from_across + s * (to_across - from_across)) for s in share.tolist()
    ]
    ordered = np.array(sorted(rings + shaft))
    return ordered[:, 0], ordered[:, 1]


def _seam(rings: list[tuple[float, float]], bone: Bone, tilt: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """The two rings where the cone meets the spheres."""
    starts = [ring for ring in rings if ring[0] <= bone.start_radius * np.sin(tilt) + 1e-12 * bone.length]
    ends = [ring for ring in rings if ring not in starts]
    return max(starts), min(ends)


def _ring_triangles(rings: int, sides: int) -> Ints:
    here = np.arange(sides)
    there = (here + 1) % sides
    parts = []
    for k in range(rings - 1):
        a, b = k * sides + here, k * sides + there
        c, d = a + sides, b + sides
        if k % 2 == 0:
            parts += [np.stack([a, b, c], axis=1), np.stack([b, d, c], axis=1)]
        else:
            parts += [np.stack([a, b, d], axis=1), np.stack([a, d, c], axis=1)]
    last = (rings - 1) * sides
    bottom, top = np.full(sides, rings * sides), np.full(sides, rings * sides + 1)
    parts += [np.stack([bottom, there, here], axis=1), np.stack([top, last + here, last + there], axis=1)]
    return np.concatenate(parts).astype(np.int32)


class CrowdedError(InputError):
    """There is no room for a bone at this edge length: `problem` says which and why, the message also the remedy."""

    def __init__(self, name: str, blocked: str) -> None:
        self.problem = f"the bone of {name} {blocked}"
        super().__init__(f"bone of {name}: it {blocked}; move it, make it thinner or ask for more elements")


def with_room(
    bones: Sequence[Bone], skin: Surface, edge: float, gap: float, name: Callable[[int], str]
) -> tuple[tuple[Bone, ...], list[str]]:
    """Shrink bones about their middles until each is `gap` away from the skin and from every other bone.

    Parameters
    ----------
    bones : with their axes inside the skin
    skin : the surface around them
    edge : length of the edges that the bones will have
    gap : the least distance; bones thinner than it keep 0.4 of their radius
    name : what a joint is called in messages

    Returns
    -------
    The bones, and a note for each that shrank. Raises where one would lose half its size.
    """
    scale = np.ones(len(bones))
    blocked = [""] * len(bones)
    fitted = list(bones)
    for _ in range(64):
        short = _crowded(fitted, skin, edge, gap, name, blocked)
        if not short:
            break
        for k in short:
            scale[k] *= _SHRINK
            if scale[k] < _LEAST:
                raise CrowdedError(name(bones[k].joint), blocked[k])
            fitted[k] = _scaled(bones[k], float(scale[k]))
    notes = [
        f"bone of {name(bone.joint)}: it {blocked[k]}, so it was shrunk to {scale[k]:.0%}"
        for k, bone in enumerate(bones)
        if scale[k] < 1
    ]
    return tuple(fitted), notes


def _scaled(bone: Bone, scale: float) -> Bone:
    middle = (bone.start + bone.end) / 2
    return replace(
        bone,
        start=middle + scale * (bone.start - middle),
        end=middle + scale * (bone.end - middle),
        start_radius=scale * bone.start_radius,
        end_radius=scale * bone.end_radius,
    )


def _crowded(
    bones: Sequence[Bone], skin: Surface, edge: float, gap: float, name: Callable[[int], str], blocked: list[str]
) -> set[int]:
    """The bones closer than `gap` to the skin or to each other; what each meets is written to `blocked`."""
    shells = [surface(bone, edge)[0] for bone in bones]
    crowded = set()
    owner = np.repeat(np.arange(len(bones)), [len(shell) for shell in shells])
    depth = -skin.signed_distance(np.vstack(shells))
    least = [min(gap, 0.4 * bone.start_radius, 0.4 * bone.end_radius) for bone in bones]
    for k, bone in enumerate(bones):
        if min(depth[owner == k].min(), distance(bone, skin.points).min()) < least[k]:
            crowded.add(k)
            blocked[k] = "meets the skin"
        others = distance(bone, np.vstack(shells))
        for other in np.unique(owner[(others < least[k]) & (owner != k)]).tolist():
            crowded |= {k, other}
            blocked[k], blocked[other] = (f"meets the bone of {name(bones[j].joint)}" for j in (other, k))
    return crowded
