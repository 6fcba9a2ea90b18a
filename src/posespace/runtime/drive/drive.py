"""Drive, compiled: a pose's joint transforms and every layer's coordinates in one call on flat tables."""

from __future__ import annotations

import math

import numpy as np

from posespace.check import LARGEST, Floats, Floats32
from posespace.errors import InputError
from posespace.runtime.compiled import inlined, relaxed
from posespace.runtime.drive.bound import keep_within
from posespace.runtime.drive.features import copy_part, orient, part_from_link, polynomial, quaternion, write_features
from posespace.runtime.drive.span import onto_span
from posespace.runtime.drive.tables import (
    ALL_TRANSLATIONS,
    ANGLED,
    BIND,
    CENTRES,
    COLUMNS,
    DIMENSIONS,
    DIRECTIONS,
    EXTRA,
    FEATURES,
    FIRST_COLUMN,
    FRAME,
    HEAD,
    IS_ROTATION,
    JOINT,
    KERNEL,
    KERNELS,
    LINK,
    LINKED_TO,
    ORDER,
    ORIENTED,
    PARENT,
    POSE_NUMBERS,
    RADII,
    ROTATION,
    SAMPLES,
    SHEPARD,
    SLOTS,
    STRETCH,
    TAIL,
    TRANSFORM,
    TRANSLATION,
    WEIGHTS,
    DriverArrays,
)
from posespace.runtime.pointers import Pointer, after, pointer

_GAUSSIAN, _EXPONENTIAL, _MULTIQUADRIC, _THIN_PLATE, _LINEAR, _CUBIC = range(len(KERNELS))


# To eleven digits: it saves a root and an arc function, and vectorises. Each number has a name, as a list would be read
# from memory at every step.
# The squared angle between two rotations is (4·asin(√s/2))², s the squared distance of their quaternions, 0 to 2.
_A14, _A13, _A12, _A11, _A10, _A9, _A8, _A7, _A6, _A5, _A4, _A3, _A2, _A1, _A0 = polynomial(
    lambda s: (4 * np.arcsin(0.5 * np.sqrt(s))) ** 2 / s, 0.0, 2.0, 14
)


@relaxed
def drive(
    arrays: DriverArrays, pose: Floats, scratch: Floats, palette: Floats32, coordinates: Floats
) -> None:  # pragma: no cover - compiled
    """Write the transforms (12 J,) and coordinates (C,) of a pose; see `DriverTables` for the sizes of the others.

    Where no joint is a bone, the palette is empty, and its transforms are not computed.
    """
    joints, interpolants = len(arrays.links), len(arrays.heads)
    controls = len(pose) - POSE_NUMBERS * joints
    links, rows, rotations, out = pointer(arrays.links), pointer(arrays.joints), pointer(pose), pointer(palette)
    world, translations = pointer(scratch), after(rotations, ROTATION * joints)
    if len(palette) == 0 and interpolants == 0:
        world[len(scratch) - 1] = 0.0
        return
    for k in range(joints):
        joint = links[LINK * k + ORDER]
        row, at = after(rows, JOINT * joint), TRANSFORM * joint
        _to_world(row, joint, links[LINK * joint + PARENT], rotations, translations, world)
        if len(palette) > 0:
            _bind(after(world, at), after(row, BIND), after(out, at))
    beyond = _beyond(out, len(palette))
    world[len(scratch) - 1] = beyond
    if interpolants == 0:
        return
    oriented = after(world, TRANSFORM * joints)
    features = after(oriented, ROTATION * joints)
    for k in range(joints):
        joint = links[LINK * k + ORDER]
        if links[LINK * joint + ORIENTED]:
            orient(after(rows, JOINT * joint), joint, links[LINK * joint + PARENT], rotations, oriented)
    for joint in range(joints):
        row, link = after(rows, JOINT * joint), links[LINK * joint + LINKED_TO]
        if link >= 0 and link == links[LINK * joint + PARENT]:
            copy_part(joint, rotations, translations, features, after(features, ALL_TRANSLATIONS * joints))
        else:
            part_from_link(row, joint, link, world, oriented, features, after(features, ALL_TRANSLATIONS * joints))
        write_features(row, joint, joints, links[LINK * joint + ANGLED], features)
    for k in range(controls):
        features[FEATURES * joints + k] = rotations[POSE_NUMBERS * joints + k]
    heads, slots, numbers = pointer(arrays.heads), pointer(arrays.slots), pointer(arrays.numbers)
    terms, values = after(features, FEATURES * joints + controls), pointer(coordinates)
    for which in range(interpolants):
        _interpolate(after(heads, HEAD * which), slots, numbers, features, terms, values)
    world[len(scratch) - 1] = beyond + _beyond(values, len(coordinates))
    entries, lengths, longest = pointer(arrays.entries), pointer(arrays.lengths), pointer(arrays.longest)
    for which in range(interpolants):
        head = after(heads, HEAD * which)
        keep_within(head, numbers, entries, lengths, longest, after(values, head[FIRST_COLUMN]))


@relaxed
def _beyond(numbers: Pointer, count: int) -> int:  # pragma: no cover - compiled
    """How many numbers are too large to move points by, or not numbers at all."""
    beyond = 0
    for k in range(count):
        beyond += 0 if abs(numbers[k]) <= LARGEST else 1
    return beyond


def require_ordinary(beyond: float) -> None:
    """Raise where some of the numbers that `drive` gave are too large, as the reference does."""
    if beyond:
        raise InputError(f"pose: expected bone transforms and coordinates from {-LARGEST:g} to {LARGEST:g}, got others")


@relaxed
def drive_again(
    arrays: DriverArrays, pose: Floats, scratch: Floats, palette: Floats32, coordinates: Floats, times: int
) -> None:  # pragma: no cover - compiled
    """Drive a pose `times` times: what it costs within a frame, without a call from Python each time."""
    for _ in range(times):
        drive(arrays, pose, scratch, palette, coordinates)


@relaxed
def _to_world(
    row: Pointer, joint: int, parent: int, rotations: Pointer, translations: Pointer, world: Pointer
) -> None:  # pragma: no cover - compiled
    """Write a joint's transform to the world, 3 rows of 4; its parent's is there already."""
    x, y, z, w = quaternion(rotations, joint)
    r = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )
    at, frame, stretch = TRANSFORM * joint, after(row, FRAME), after(row, STRETCH)
    for column in range(4):
        if column < 3:
            p, q, s = stretch[column], stretch[3 + column], stretch[6 + column]
            a = r[0][0] * p + r[0][1] * q + r[0][2] * s
            b = r[1][0] * p + r[1][1] * q + r[1][2] * s
            c = r[2][0] * p + r[2][1] * q + r[2][2] * s
        else:
            a, b, c = (
                translations[TRANSLATION * joint],
                translations[TRANSLATION * joint + 1],
                translations[TRANSLATION * joint + 2],
            )
        d = frame[0] * a + frame[1] * b + frame[2] * c
        e = frame[4] * a + frame[5] * b + frame[6] * c
        f = frame[8] * a + frame[9] * b + frame[10] * c
        if column == 3:
            d, e, f = d + frame[3], e + frame[7], f + frame[11]
        if parent >= 0:
            up = TRANSFORM * parent
            a = world[up] * d + world[up + 1] * e + world[up + 2] * f
            b = world[up + 4] * d + world[up + 5] * e + world[up + 6] * f
            c = world[up + 8] * d + world[up + 9] * e + world[up + 10] * f
            if column == 3:
                a, b, c = a + world[up + 3], b + world[up + 7], c + world[up + 11]
            d, e, f = a, b, c
        world[at + column], world[at + 4 + column], world[at + 8 + column] = d, e, f


@relaxed
def _bind(world: Pointer, bind: Pointer, out: Pointer) -> None:  # pragma: no cover - compiled
    """Write the transform from rest to posed space, row by row."""
    for row in range(0, 12, 4):
        a, b, c = world[row], world[row + 1], world[row + 2]
        for column in range(3):
            out[row + column] = a * bind[column] + b * bind[4 + column] + c * bind[8 + column]
        out[row + 3] = a * bind[3] + b * bind[7] + c * bind[11] + world[row + 3]


@relaxed
def _interpolate(
    head: Pointer, slots: Pointer, numbers: Pointer, features: Pointer, terms: Pointer, coordinates: Pointer
) -> None:  # pragma: no cover - compiled
    """Write an interpolant's columns."""
    indices, samples, extra = after(slots, head[SLOTS]), head[SAMPLES], after(numbers, head[EXTRA])
    position = after(terms, samples + head[TAIL])
    for k in range(head[DIMENSIONS]):
        position[k] = features[indices[k]]
    if head[DIRECTIONS] >= 0:
        onto_span(head, numbers, position, terms)
    _squares(head, numbers, position, terms)
    if head[KERNEL] == SHEPARD:
        _shares(samples, extra[0], extra[1], terms)
    else:
        if terms[0] > extra[0]:
            # Beyond its reach from the first sample: the position at that distance in the same direction.
            _toward(head, numbers, math.sqrt(extra[0] / terms[0]), position)
            _squares(head, numbers, position, terms)
        _radial(head[KERNEL], samples, terms)
        _tail(head, numbers, position, terms)
    _weigh(
        samples + head[TAIL],
        head[COLUMNS],
        after(numbers, head[WEIGHTS]),
        terms,
        after(coordinates, head[FIRST_COLUMN]),
    )


@relaxed
def _squares(head: Pointer, numbers: Pointer, position: Pointer, terms: Pointer) -> None:  # pragma: no cover - compiled
    """Write the squared distances of a position from an interpolant's samples."""
    count, dimensions = head[SAMPLES], head[DIMENSIONS]
    radii, centres = after(numbers, head[RADII]), after(numbers, head[CENTRES])
    for m in range(count):
        terms[m] = 0.0
    if not head[IS_ROTATION]:
        for k in range(dimensions):
            scale, centre, here = radii[k], after(centres, k * count), position[k]
            for m in range(count):
                gap = (here - centre[m]) * scale
                terms[m] += gap * gap
        return
    for joint in range(dimensions // ROTATION):
        scale, centre = radii[joint] ** 2, after(centres, ROTATION * joint * count)
        x, y, z, w = quaternion(position, joint)
        for m in range(count):
            dot = x * centre[m] + y * centre[count + m] + z * centre[2 * count + m] + w * centre[3 * count + m]
            terms[m] += scale * _square_angle(max(0.0, 2.0 - 2.0 * abs(dot)))


@relaxed
def _toward(head: Pointer, numbers: Pointer, within: float, position: Pointer) -> None:  # pragma: no cover - compiled
    """Scale by `within`, 0 to 1, the distance of a position from an interpolant's first sample."""
    count, dimensions, centres = head[SAMPLES], head[DIMENSIONS], after(numbers, head[CENTRES])
    if not head[IS_ROTATION]:
        for k in range(dimensions):
            position[k] = centres[k * count] + within * (position[k] - centres[k * count])
        return
    for joint in range(dimensions // ROTATION):
        centre, rotation = after(centres, ROTATION * joint * count), after(position, ROTATION * joint)
        dot = 0.0
        for k in range(ROTATION):
            dot += rotation[k] * centre[k * count]
        side = -1.0 if dot < 0.0 else 1.0
        angle = math.acos(min(side * dot, 1.0))
        sine = math.sin(angle)
        if sine > 1e-9:
            kept, taken = math.sin((1.0 - within) * angle) / sine, side * math.sin(within * angle) / sine
            for k in range(ROTATION):
                rotation[k] = kept * centre[k * count] + taken * rotation[k]


@inlined
def _square_angle(chord: float) -> float:  # pragma: no cover - compiled
    """The squared angle between rotations from the squared distance, at most 2, of their quaternions."""
    t = chord - 1.0
    high = ((((((_A14 * t + _A13) * t + _A12) * t + _A11) * t + _A10) * t + _A9) * t + _A8) * t + _A7
    low = ((((((high * t + _A6) * t + _A5) * t + _A4) * t + _A3) * t + _A2) * t + _A1) * t + _A0
    return chord * low


@relaxed
def _radial(kernel: int, count: int, terms: Pointer) -> None:  # noqa: PLR0912 # pragma: no cover - compiled
    """Replace each squared distance by the radial function of it; one loop per function is by far the fastest."""
    if kernel == _THIN_PLATE:
        for m in range(count):
            terms[m] = 0.5 * terms[m] * math.log(terms[m]) if terms[m] > 0.0 else 0.0
    elif kernel == _GAUSSIAN:
        for m in range(count):
            terms[m] = math.exp(-0.5 * terms[m])
    elif kernel == _EXPONENTIAL:
        for m in range(count):
            terms[m] = math.exp(-math.sqrt(terms[m]))
    elif kernel == _MULTIQUADRIC:
        for m in range(count):
            terms[m] = math.sqrt(1.0 + terms[m])
    elif kernel == _LINEAR:
        for m in range(count):
            terms[m] = math.sqrt(terms[m])
    elif kernel == _CUBIC:
        for m in range(count):
            terms[m] *= math.sqrt(terms[m])
    else:
        # No table has such a kernel; if one had, its coordinates would be refused as no numbers.
        for m in range(count):
            terms[m] = math.nan


@relaxed
def _tail(head: Pointer, numbers: Pointer, position: Pointer, terms: Pointer) -> None:  # pragma: no cover - compiled
    """Write the terms of the polynomial after those of the samples; it is centred on the first sample."""
    count, tail, centres = head[SAMPLES], head[TAIL], after(numbers, head[CENTRES])
    if tail > 0:
        terms[count] = 1.0
    if head[IS_ROTATION]:
        for joint in range((tail - 1) // ROTATION):
            first, rotation = after(centres, ROTATION * joint * count), after(position, ROTATION * joint)
            dot = 0.0
            for k in range(ROTATION):
                dot += rotation[k] * first[k * count]
            for k in range(ROTATION):
                value = -rotation[k] if dot < 0 else rotation[k]
                terms[count + 1 + ROTATION * joint + k] = value - first[k * count]
        return
    for k in range(tail - 1):
        terms[count + 1 + k] = position[k] - centres[k * count]


@relaxed
def _shares(count: int, power: float, reach: float, terms: Pointer) -> None:  # pragma: no cover - compiled
    """Replace each squared distance by the sample's share; ratios to the nearest, so that no power overflows."""
    nearest = 0
    for m in range(count):
        if terms[m] < terms[nearest]:
            nearest = m
    least, total = terms[nearest], 0.0
    for m in range(count):
        if math.sqrt(least) <= reach:
            terms[m] = 1.0 if m == nearest else 0.0
        else:
            terms[m] = (least / terms[m]) ** (0.5 * power) if terms[m] > 0.0 else 1.0
        total += terms[m]
    for m in range(count):
        terms[m] /= total


@relaxed
def _weigh(
    count: int, columns: int, weights: Pointer, terms: Pointer, out: Pointer
) -> None:  # pragma: no cover - compiled
    """Write an interpolant's values: its terms times their weights."""
    for c in range(columns):
        total = 0.0
        for m in range(count):
            total += terms[m] * weights[c * count + m]
        out[c] = total
