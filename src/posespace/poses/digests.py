"""Digests of poses: a few digits that are equal for equal poses, whatever the rigid motion of the whole."""

from __future__ import annotations

import hashlib

import numpy as np

from posespace.motion import Motion
from posespace.poses.parts import parts_of
from posespace.skeleton import Skeleton


def pose_digests(motion: Motion, skeleton: Skeleton) -> list[str]:
    """Return 12 hexadecimal digits per pose that identify its joints' parts and its controls, rounded.

    The rigid motion of the whole is in no joint's part, so poses that differ only in that have the same digits.

    A fit keeps them under ``about["poses"]``, so that `evaluate` can report how many of its poses the fit has seen.
    """
    rotations, translations = parts_of(skeleton).of(motion)
    size = float(np.ptp(skeleton.rest_world[:, :3, 3], axis=0).max()) or 1.0
    # Of the two quaternions of a rotation, the one whose largest part is positive.
    largest = np.take_along_axis(rotations, np.abs(rotations.round(5)).argmax(axis=2)[..., None], axis=2)
    rounded = (rotations * np.where(largest < 0, -1, 1)).round(5) + 0.0
    translations = (translations / size).round(5) + 0.0
    order = sorted(range(len(motion.control_names)), key=lambda k: motion.control_names[k])
    digests = []
    for quaternions, translation, values in zip(rounded, translations, motion.controls.round(5) + 0.0, strict=True):
        text = "".join(f"{motion.control_names[k]}={values[k]:.5f};" for k in order if values[k])
        numbers = np.concatenate([quaternions.ravel(), translation.ravel()]).astype("<f8")
        digests.append(hashlib.sha256(numbers.tobytes() + text.encode()).hexdigest()[:12])
    return digests
