"""A motion as the keys of an animation: in the order of time, and with frames in between.

Between two keys a player rotates the joints at a constant speed, but what a pose drives does not change linearly; and
some players interpolate rotations in another way. Frames in between keep both errors small.
"""

from __future__ import annotations

import numpy as np

from posespace.budget import FRAMES
from posespace.check import Floats
from posespace.errors import InputError
from posespace.geometry import rotations
from posespace.motion import Motion
from posespace.rig import Rig


def in_order(motion: Motion, rig: Rig) -> Motion:
    """Return the motion sorted by time, from 0 on: a clip plays from its first pose, whatever its file held before."""
    joint_count, expected = motion.rotations.shape[1], len(rig.skeleton)
    if joint_count != expected or not len(motion):
        raise InputError(
            f"motion: expected poses of {expected} joints as in the rig, got {len(motion)} poses of {joint_count}"
        )
    sorted_by_time = motion[np.argsort(motion.times, kind="stable")]
    times = np.asarray(sorted_by_time.times, dtype=np.float64)
    times = (times - times[0]).astype(np.float32)
    twice = np.flatnonzero(np.diff(times) <= 0)
    if len(twice):
        first, second = sorted_by_time.names[twice[0] : twice[0] + 2]
        got = f"poses {first!r} and {second!r} at the same time"
        raise InputError(f"motion times: expected each time once, got {got}; leave one of them out")
    return Motion(
        sorted_by_time.rotations,
        sorted_by_time.translations,
        times,
        sorted_by_time.names,
        sorted_by_time.controls,
        sorted_by_time.control_names,
    )


def with_frames(keys: Motion, rate: float, cost: int = 1) -> Motion:
    """Return the keys, and between them evenly spaced poses, as near to `rate` per second as whole steps allow.

    A clip of 24 frames per second stays as it is at a rate of 30.
    Joints rotate along the shortest arc; translations and controls change linearly, as glTF defines linear keys.
    `cost` is how many ordinary frames the work on one is worth: so many times fewer are made at most.
    """
    times = np.asarray(keys.times, dtype=np.float64)
    gaps = np.diff(times)
    steps = np.maximum(np.rint(gaps * rate), 1)
    held = keys.rotations.nbytes + keys.translations.nbytes + keys.controls.nbytes
    if (steps.sum() - len(gaps)) * cost > FRAMES.of(held):
        raise InputError(f"motion: {times[-1]:g} s at {rate:g} frames per second are too many frames; lower the rate")
    counts = steps.astype(np.int64)
    key = np.repeat(np.arange(len(gaps)), counts)
    along = (np.arange(len(key)) - np.repeat(np.cumsum(counts) - counts, counts)) / steps[key]
    # Far from zero, single precision cannot tell all frames apart; a key is the first of its frames, and is kept.
    when, first = np.unique((times[key] + along * gaps[key]).astype(np.float32), return_index=True)
    key, along = np.append(key[first], len(times) - 1), np.append(along[first], 0.0)
    after = np.minimum(key + 1, len(times) - 1)
    mix = along[:, None]
    joint_rotations = rotations.slerp(
        keys.rotations[key], keys.rotations[after], np.broadcast_to(mix, keys.rotations[key].shape[:2])
    )
    joint_rotations = continuous(joint_rotations)
    translations = keys.translations[key] + mix[..., None] * (keys.translations[after] - keys.translations[key])
    dials = keys.controls[key] + mix * (keys.controls[after] - keys.controls[key])
    return Motion(joint_rotations, translations, np.append(when, keys.times[-1]), None, dials, keys.control_names)  # type: ignore[arg-type]


def continuous(quaternions: Floats) -> Floats:
    """Return rotations (P, J, 4), of the two quaternions of each the one closer to the pose before.

    Not all players take the shortest way.
    """
    flips = np.where((quaternions[1:] * quaternions[:-1]).sum(axis=2) < 0, -1.0, 1.0)
    signs = np.concatenate([np.ones((1, quaternions.shape[1])), np.cumprod(flips, axis=0)])
    return np.asarray(quaternions * signs[..., None])
