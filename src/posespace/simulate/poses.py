"""Which poses to simulate, and which one each starts from: every joint's range in steps, and random poses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.motion import Motion
from posespace.skeleton import Skeleton

AXES = "xyz"


@dataclass(frozen=True, eq=False)
class PoseList:
    """Poses to solve.

    Parameters
    ----------
    motion : the poses, each with a name
    after : (P,) int32, the pose whose solution each one starts from; -1 starts from the rest shape
    """

    motion: Motion
    after: Ints

    def __post_init__(self) -> None:
        after = check.indices("pose list after", self.after, (len(self.motion),), len(self.motion), least=-1)
        if (after >= np.arange(len(after))).any():
            raise InputError("pose list after: expected each pose to start from an earlier one")
        object.__setattr__(self, "after", after)

    @classmethod
    def independent(cls, motion: Motion) -> PoseList:
        """Return a list of poses that each start from the rest shape."""
        return cls(motion, np.full(len(motion), -1))


def joint_ranges(skeleton: Skeleton, step: float = 18.0) -> PoseList:
    """Return the rest pose, then each degree of freedom alone through its limits, outwards from rest.

    Each side of a range is divided into equal steps of at most `step` degrees, and each pose starts from its inner
    neighbour, so that one load step reaches it.
    """
    if skeleton.limits is None:
        raise InputError("skeleton: expected joint limits, got none; give the poses to simulate in a file")
    if not step > 0:
        raise InputError(f"step: expected above 0 degrees, got {step}")
    angles, names, after = [np.zeros((len(skeleton), 3))], ["rest"], [-1]
    for joint, axis in _freedoms(skeleton):
        for limit in np.degrees(skeleton.limits[joint, axis]):
            count = int(np.ceil(abs(limit) / step - 1e-9))
            for part in range(1, count + 1):
                degrees = limit * part / count
                turned = np.zeros((len(skeleton), 3))
                turned[joint, axis] = np.radians(degrees)
                after.append(len(angles) - 1 if part > 1 else 0)
                angles.append(turned)
                names.append(f"{skeleton.names[joint]}.{AXES[axis]} {degrees:+.0f}")
    return PoseList(_motion(skeleton, np.stack(angles), names), np.array(after))


def random_poses(skeleton: Skeleton, count: int, seed: int, fraction: float = 0.8) -> PoseList:
    """Return poses that turn every joint at once, each degree of freedom uniformly within a `fraction` of its range."""
    if skeleton.limits is None:
        raise InputError("skeleton: expected joint limits, got none; give the poses to simulate in a file")
    generator = np.random.default_rng(seed)
    angles = np.zeros((count, len(skeleton), 3))
    for joint, axis in _freedoms(skeleton):
        low, high = fraction * skeleton.limits[joint, axis]
        angles[:, joint, axis] = generator.uniform(low, high, count)
    return PoseList.independent(_motion(skeleton, angles, [f"random {k}" for k in range(count)]))


def between(skeleton: Skeleton, step: float = 18.0, closely: Sequence[str] = ()) -> Motion:
    """Return angles halfway between those of `joint_ranges`: one per degree of freedom, all for joints in `closely`."""
    ranges = joint_ranges(skeleton, step).motion
    turned = np.degrees(skeleton.angles(ranges.rotations.astype(np.float64)))
    angles, names = [], []
    for joint, axis in _freedoms(skeleton):
        stops = np.unique(turned[:, joint, axis].round(6))
        middles = ((stops[1:] + stops[:-1]) / 2).tolist()
        if skeleton.names[joint] not in closely:
            middles = [middles[-2] if len(middles) > 4 else middles[-1]]
        for degrees in middles:
            one = np.zeros((len(skeleton), 3))
            one[joint, axis] = np.radians(degrees)
            angles.append(one)
            names.append(f"between {skeleton.names[joint]}.{AXES[axis]} {degrees:+.0f}")
    return _motion(skeleton, np.stack(angles), names)


def joined(first: PoseList, second: PoseList) -> PoseList:
    """Return both lists in one, the second after the first."""
    one, other = first.motion, second.motion
    motion = Motion(
        np.concatenate([one.rotations, other.rotations]),
        np.concatenate([one.translations, other.translations]),
        names=(*one.names, *other.names),
    )
    after = np.where(second.after >= 0, second.after + len(one), -1)
    return PoseList(motion, np.concatenate([first.after, after]))


def _freedoms(skeleton: Skeleton) -> list[tuple[int, int]]:
    """Joint and axis of each degree of freedom that has a range."""
    assert skeleton.limits is not None
    open_range = np.ptp(skeleton.limits, axis=2) > 0
    if skeleton.axes is not None:
        open_range &= np.abs(skeleton.axes).max(axis=2) > 0
    if not np.isfinite(skeleton.limits[open_range]).all():
        raise InputError("skeleton limits: expected finite ranges; give the poses to simulate in a file")
    return [(int(joint), int(axis)) for joint, axis in np.argwhere(open_range)]


def _motion(skeleton: Skeleton, angles: Floats, names: list[str]) -> Motion:
    return Motion(skeleton.rotations(angles), names=tuple(names))
