"""Bones for a rig that has joints only: rounded cones from joint to joint, as thick as the flesh around them allows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.errors import InputError
from posespace.geometry.surface import Surface
from posespace.rig import Rig
from posespace.simulation.bodies import capsules
from posespace.simulation.bodies.body import Bone
from posespace.simulation.mesh.repair import closed_surface
from posespace.skeleton import invert_affine

_SAMPLES = 49
_SHALLOW = 0.4
"""The bone ends where the flesh around its axis is thinner than this fraction of its usual depth."""


def bones_of_rig(rig: Rig, thickness: float = 0.35, trim: float = 0.1) -> tuple[Bone, ...]:
    """Make bones for a rig.

    A joint has a bone to each of its children, or on to its tip if it has none, kept inside the skin. A joint that
    moves no vertex, or whose bones would lie outside the skin, has none: its flesh follows the bones around it. Of
    bones that meet, only the longest stays, and of those of one joint, which move as one, only the long ones.

    Parameters
    ----------
    rig : its skin may be open at one cut end
    thickness : a bone's radius as a fraction of the smallest distance from its axis to the skin, above 0 and below 1
    trim : fraction of the distance between two joints that stays free at each end, 0 to 0.4, besides the rounded ends

    Returns
    -------
    At least one bone, ordered by joint.
    """
    if not 0 < thickness < 1:
        raise InputError(f"thickness: expected above 0 and below 1, got {thickness}")
    if not 0 <= trim <= 0.4:
        raise InputError(f"trim: expected 0 to 0.4, got {trim}")
    positions = invert_affine(rig.inverse_bind)[:, :3, 3]
    skin, _ = closed_surface(rig.mesh, _joint_spots(positions))
    bones: list[Bone] = []
    for joint in np.unique(rig.influences[rig.weights > 0]).tolist():
        made = [
            _bone(joint, positions[joint], end, leaf, skin, thickness, trim)
            for end, leaf in _ends(rig, positions, joint)
        ]
        longest_first = sorted((bone for bone in made if bone is not None), key=lambda bone: -bone.length)
        kept: list[Bone] = []
        for bone in longest_first:
            if bone.length > longest_first[0].length / 2 and all(_apart(bone, other) for other in kept):
                kept.append(bone)
        bones += kept
    bones = _without_meetings(bones)
    if not bones:
        raise InputError("rig: none of its joints lies inside the skin, so it has no bone; check scale and bind pose")
    return tuple(bones)


def _joint_spots(positions: Floats) -> list[Bone]:
    """Each joint as a tiny bone, to find out which pieces of a surface hold joints."""
    step = np.array([1e-9, 0, 0])
    return [Bone(joint, position, position + step, 1e-9, 1e-9) for joint, position in enumerate(positions)]


def _ends(rig: Rig, positions: Floats, joint: int) -> list[tuple[Floats, bool]]:
    """The ends of a joint's bones: its children, or for a last joint the far end of its skin."""
    far = 1e-4 * rig.mesh.diagonal
    children = [positions[child] for child in rig.skeleton.children[joint]]
    children = [position for position in children if np.linalg.norm(position - positions[joint]) > far]
    if children:
        return [(position, False) for position in children]
    strength = (rig.weights * (rig.influences == joint)).sum(axis=1)
    strongest = strength >= 0.5 * strength.max()
    points = rig.mesh.points[strongest].astype(np.float64)
    parent = int(rig.skeleton.parents[joint])
    direction = positions[joint] - positions[parent] if parent >= 0 else points.mean(axis=0) - positions[joint]
    if np.linalg.norm(direction) < far:
        direction = points.mean(axis=0) - positions[joint]
    length = float(np.linalg.norm(direction))
    if length < far:
        return []
    reach = float(((points - positions[joint]) @ direction).max() / length)
    return [(positions[joint] + direction * (reach / length), True)] if reach > far else []


def _bone(
    joint: int, start: Floats, end: Floats, leaf: bool, skin: Surface, thickness: float, trim: float
) -> Bone | None:
    """The bone between two positions, or None where too little of it is inside the skin."""
    whole = float(np.linalg.norm(end - start))
    share = np.linspace(trim, 1.0 if leaf else 1 - trim, _SAMPLES)
    depth = -skin.signed_distance(start + share[:, None] * (end - start))
    usual = float(np.median(depth[depth > 0])) if (depth > 0).any() else 0.0
    low, high = _longest_run(depth > _SHALLOW * usual)
    if usual <= 0 or high - low < 3:
        return None
    share, depth = share[low:high], depth[low:high]
    half = len(depth) // 2
    radii = thickness * np.array([depth[: half + 1].min(), depth[half:].min()])
    # The rounded ends stay within the part that was kept.
    room = (share[-1] - share[0]) * whole
    if radii.sum() > 0.6 * room:
        radii *= 0.6 * room / radii.sum()
    if room - radii.sum() <= 1.1 * abs(radii[0] - radii[1]):
        radii[:] = radii.min()
    first, last = share[0] + radii[0] / whole, share[-1] - radii[1] / whole
    return Bone(joint, start + first * (end - start), start + last * (end - start), float(radii[0]), float(radii[1]))


def _longest_run(mask: NDArray[np.bool_]) -> tuple[int, int]:
    """The longest stretch of True: its first index, and the one after its last."""
    steps = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    if not len(steps):
        return 0, 0
    begins, ends = steps[::2], steps[1::2]
    best = int((ends - begins).argmax())
    return int(begins[best]), int(ends[best])


def _apart(bone: Bone, other: Bone) -> bool:
    """Whether two bones leave at least a third of the thinner one's radius between them."""
    gap = min(bone.start_radius, bone.end_radius, other.start_radius, other.end_radius) / 3
    near = capsules.distance(other, capsules.surface(bone, bone.start_radius)[0]).min()
    return bool(min(near, capsules.distance(bone, capsules.surface(other, other.start_radius)[0]).min()) > gap)


def _without_meetings(bones: list[Bone]) -> list[Bone]:
    """Drop bones that meet a longer one of another joint; their flesh then follows that one."""
    kept: list[Bone] = []
    for bone in sorted(bones, key=lambda bone: -bone.length):
        if all(_apart(bone, other) for other in kept):
            kept.append(bone)
    return sorted(kept, key=lambda bone: bone.joint)
