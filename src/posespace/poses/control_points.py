"""Poses of control points, each on a vertex: taken from example shapes, or from a skeleton that moves the same mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.geometry import skinning
from posespace.motion import Motion
from posespace.rig import BLENDINGS, Rig

Vertices = Sequence[int] | NDArray[np.integer]


def motion_from_shapes(examples: Examples, rig: Rig, points: Vertices) -> Motion:
    """Return the poses of a rig of control points on vertices `points` (M,) at the shapes of examples."""
    rest = rig.skeleton.rest_world[1:, :3, 3]
    translations = np.zeros((len(examples), len(rig.skeleton), 3))
    for row in range(len(examples)):
        shape = np.asarray(examples.shapes[row], dtype=np.float64)
        translations[row, 1:] = shape[np.asarray(points)] - rest
    return _translated(rig, translations, examples.motion)


def are_unposed(examples: Examples, rig: Rig, points: Vertices) -> bool:
    """Return whether a rig has control points, on vertices `points` (M,), that examples have no poses of."""
    return len(points) > 0 and examples.rig.skeleton.names != rig.skeleton.names


def motion_at(examples: Examples, rig: Rig, points: Vertices) -> Motion:
    """Return the poses of a rig at examples: theirs, or if they have none of its control points, from their shapes."""
    return motion_from_shapes(examples, rig, points) if are_unposed(examples, rig, points) else examples.motion


def examples_from_shapes(examples: Examples, rig: Rig, points: Vertices) -> Examples:
    """Return examples of the same shapes whose poses are those of control points."""
    return replace(examples, rig=rig, motion=motion_from_shapes(examples, rig, points))


def motion_from_rig(driving_rig: Rig, motion: Motion, rig: Rig, points: Vertices) -> Motion:
    """Return the poses of a rig of control points on vertices `points` (M,) as another rig's skeleton moves them.

    Parameters
    ----------
    driving_rig : a rig of the same vertices, in the same order and unit, whose skeleton moves
    motion : poses of its skeleton
    rig : the rig of control points
    points : (M,) the vertices that they are on
    """
    count, expected = len(driving_rig.mesh.points), len(rig.mesh.points)
    if count != expected:
        raise InputError(f"rig: expected the {expected:,} vertices of the skin, in its order, got {count:,}")
    chosen = np.asarray(points)
    rest, blend = driving_rig.mesh.points[chosen], BLENDINGS[driving_rig.blending]
    influences, weights = driving_rig.influences[chosen], driving_rig.weights[chosen]
    translations = np.zeros((len(motion), len(rig.skeleton), 3))
    for row, transforms in enumerate(driving_rig.transforms(motion)):
        translations[row, 1:] = skinning.apply(blend(transforms, influences, weights), rest) - rest
    return _translated(rig, translations, motion)


def _translated(rig: Rig, translations: Floats, like: Motion) -> Motion:
    """A motion of joints that only translate, with the times and names of another."""
    rotations = np.broadcast_to(rig.skeleton.rest_rotations, (*translations.shape[:2], 4))
    return Motion(rotations, translations, like.times, like.names)
