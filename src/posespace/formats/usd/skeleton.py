"""The skeletons of a USD file and the animations that move them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.formats.contents import unique
from posespace.formats.usd.process import Extracted, Record, affine, afford
from posespace.geometry import rotations
from posespace.motion import Motion
from posespace.skeleton import Skeleton, invert_affine

_SAME_SCALE = 1e-3
"""An animated scale this close to the rest scale is the same: files store it with 3 digits."""
_NO_SCALE = 1e-5
"""A rest scale this close to one is none; animations, with their 3 digits, do not show it either."""


def read_skeleton(extracted: Extracted, path: str) -> Skeleton:
    """Return the skeleton at `path`; a file without a rest pose takes it from the bind pose."""
    record = extracted.description["skeletons"][path]
    joints = record["joints"]
    parents = _parents(joints, path)
    rest, bind = extracted.array(record["rest"]), extracted.array(record["bind"])
    if rest is not None:
        local = affine(f"{path} restTransforms", rest, len(joints))
    elif bind is not None:
        local = affine(f"{path} bindTransforms", bind, len(joints))
        child = parents >= 0
        local[child] = invert_affine(local[parents[child]]) @ local[child]
    else:
        raise InputError(f"{path}: expected restTransforms or bindTransforms, got neither")
    rest_rotations, stretches = rotations.polar(local[:, :3, :3])
    frames = np.tile(np.eye(4), (len(joints), 1, 1))
    frames[:, :3, 3] = local[:, :3, 3]
    rigid = np.abs(stretches - np.eye(3)).max(initial=0.0) < _NO_SCALE
    names = unique((joint.rpartition("/")[2] for joint in joints), "joint")
    return Skeleton(tuple(names), parents, frames, rest_rotations, None if rigid else stretches)


def read_inverse_bind(extracted: Extracted, path: str) -> Floats | None:
    """Return the inverse bind transforms (J, 4, 4) of the skeleton at `path`; None where the file has none."""
    record = extracted.description["skeletons"][path]
    bind = extracted.array(record["bind"])
    return None if bind is None else invert_affine(affine(f"{path} bindTransforms", bind, len(record["joints"])))


def _parents(paths: Sequence[str], skeleton: str) -> Ints:
    """Return the parent (J,) of each joint: the one whose path is the longest beginning of the joint's own."""
    # Beginnings are numbered element by element, so that long paths cost no more than their length.
    numbers: dict[tuple[int, str], int] = {}
    joint_at: dict[int, int] = {}
    for joint, path in enumerate(paths):
        at = 0
        for element in path.split("/"):
            at = numbers.setdefault((at, element), len(numbers) + 1)
        if joint_at.setdefault(at, joint) != joint:
            raise InputError(f"{skeleton}: expected each joint once, got {path!r} twice")
    parents = np.full(len(paths), -1, np.int32)
    for joint, path in enumerate(paths):
        at = 0
        for element in path.split("/")[:-1]:
            at = numbers[at, element]
            parents[joint] = joint_at.get(at, parents[joint])
    return parents


def read_motion(extracted: Extracted, record: Record, skeleton: Skeleton, paths: Sequence[str]) -> Motion:
    """Return an animation as poses of a skeleton whose joints have these `paths`.

    Joints that the animation does not name stay at rest; on a skeleton without paths, all do.
    """
    name, times = f"animation {record['name']!r}", np.array(record["times"] or [0.0])
    rate = extracted.description["rate"]
    if not (np.isfinite(rate) and rate > 0):
        raise InputError(f"timeCodesPerSecond: expected a number above 0, got {rate}")
    afford(len(times) * (7 * len(skeleton) + len(record["shapes"])), name)
    number = {path: k for k, path in enumerate(paths)}
    source = [k for k, joint in enumerate(record["joints"]) if joint in number]
    target = [number[record["joints"][k]] for k in source]
    joint_rotations = np.tile(skeleton.rest_rotations.astype(np.float64), (len(times), 1, 1))
    translations = np.zeros((len(times), len(skeleton), 3))
    values = _channel(extracted, record, "rotations", 4)
    if values is not None:
        joint_rotations[:, target] = rotations.normalize(values[:, source], f"{name} rotations")
    values = _channel(extracted, record, "translations", 3)
    if values is not None:
        translations[:, target] = values[:, source] - skeleton.local_frames[target, :3, 3]
    values = _channel(extracted, record, "scales", 3)
    if values is not None:
        joint_rotations[:, target], misfit = _unscaled(joint_rotations[:, target], values[:, source], skeleton, target)
        extracted.note(int((misfit > _SAME_SCALE).sum()), f"joints change their scale in {name}: it is left out")
    controls, shapes = extracted.array(record["weights"]), record["shapes"]
    if controls is None or not shapes:
        return Motion(joint_rotations, translations, times / rate)
    controls = check.floats(f"{name} blendShapeWeights", controls, ("P", len(shapes)))
    spread = np.broadcast_to(controls, (len(times), len(shapes)))
    return Motion(joint_rotations, translations, times / rate, controls=spread, control_names=tuple(shapes))


def _channel(extracted: Extracted, record: Record, part: str, width: int) -> Floats | None:
    """Return (P, J, width) values of the animation's joints, or (1, J, width) where they do not vary."""
    values = extracted.array(record[part])
    if values is None or not values.shape[1]:
        return None
    name = f"animation {record['name']!r} {part}"
    return check.floats(name, values, ("P", len(record["joints"]), width)).astype(np.float64)


def _unscaled(
    joint_rotations: Floats, scales: Floats, skeleton: Skeleton, target: Sequence[int]
) -> tuple[Floats, Floats]:
    """Separate the rotations (P, J, 4) of joints that also scale from the skeleton's own stretch.

    Returns
    -------
    rotations : (P, J, 4)
    misfit : (J,) the largest difference of a joint's scale from that of the skeleton
    """
    if skeleton.stretches is None:
        return joint_rotations, np.abs(scales - 1).max(axis=(0, 2), initial=0.0)
    linear = rotations.matrices(joint_rotations) * scales[:, :, None, :]
    joint_rotations, stretches = rotations.polar(linear @ invert_affine(skeleton.stretches[target]))
    return joint_rotations, np.abs(stretches - np.eye(3)).max(axis=(0, 2, 3), initial=0.0)
