"""Which poses of the hand can be simulated: bones never cross, and flesh is not pressed flat between them."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Ints
from posespace.simulation.bodies import hand_bones
from posespace.simulation.bodies.body import Bone
from posespace.simulation.bodies.clearance import gaps
from posespace.skeleton import Skeleton

LEAST_GAP = 2.5
"""The least distance in millimetres between bones that share no joint."""

FLESH_LEFT = 0.6
"""The fraction of its thickness that flesh between two bones keeps."""

_PATH_SAMPLES = 8
"""Number of poses that are checked between the rest pose and a pose."""


def bones_clear(angles: Floats, lengths: tuple[float, ...] = hand_bones.PLAIN) -> NDArray[np.bool_]:
    """Return which poses (P,) of the hand keep their bones and flesh apart.

    Two bones that share no joint stay at least 2.5 mm apart. The flesh around them, thinned to 0.6 of its thickness,
    stays apart too, so that contact compresses it by 0.4 at most; only flesh that is joined at rest, as at the root of
    the thumb, may overlap. Both hold on the whole path from the rest pose, on which every joint rotates evenly: the
    simulation takes that path, and a finger on the wrong side of another could not come back.

    Parameters
    ----------
    angles : (P, J, 3) joint angles of either hand from rest, in radians
    lengths : factors on the lengths of thumb, index, middle, ring and little finger
    """
    bone, flesh = _room(angles, lengths)
    clear: NDArray[np.bool_] = (bone.min(axis=1) >= LEAST_GAP) & (flesh.min(axis=1) >= 0)
    return clear


def _room(angles: Floats, lengths: tuple[float, ...]) -> tuple[Floats, Floats]:
    """The least gaps on the path to each pose: of pairs (P, K) of bones, and of pairs (P, L) of thinned flesh."""
    skeleton, bones, flesh, apart, parted = _hand(lengths)
    path = np.linspace(0, 1, _PATH_SAMPLES + 1)[1:, None, None, None] * angles
    rotated = skeleton.rotations(path.reshape(-1, *angles.shape[1:]))
    bone, soft = gaps(skeleton, bones, apart, rotated), gaps(skeleton, flesh, parted, rotated)
    shape = (_PATH_SAMPLES, len(angles), -1)
    return bone.reshape(shape).min(axis=0), soft.reshape(shape).min(axis=0)


@lru_cache(maxsize=2)
def _hand(lengths: tuple[float, ...]) -> tuple[Skeleton, tuple[Bone, ...], tuple[Bone, ...], Ints, Ints]:
    """The right hand: its skeleton, bones and thinned flesh, and which pairs of either must stay apart."""
    parts = hand_bones.segments(lengths=lengths)
    skeleton, bones = hand_bones.skeleton(parts), hand_bones.bones(parts)
    flesh = tuple(
        replace(part, start_radius=FLESH_LEFT * part.start_radius, end_radius=FLESH_LEFT * part.end_radius)
        for part in hand_bones.flesh(parts)
    )
    segments = list(parts.values())
    pairs = [
        (one, other)
        for other in range(len(segments))
        for one in range(other)
        if segments[one].joint != segments[other].joint
        and not np.allclose(segments[one].end, segments[other].start)
        and (segments[one].name, segments[other].name) != ("carpus", "thumb_metacarpal")
    ]
    apart = np.array(pairs)
    at_rest = gaps(skeleton, flesh, apart, skeleton.rest_rotations[None].astype(np.float64))[0]
    return skeleton, bones, flesh, apart, apart[at_rest > 0]
