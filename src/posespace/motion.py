"""Motion: poses over time, as arrays; which of its joints rotate and which of its controls are set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError, quoted, suggestion
from posespace.geometry import rotations
from posespace.pose import Pose
from posespace.skeleton import Skeleton

LEAST_ANGLE = 1e-3
"""Radians beyond which a joint counts as rotated: more than rounding in a file does to a rest pose."""

LEAST_CONTROL = 1e-6
"""Value beyond which a control counts as set. It is smaller than an angle's: controls have no rounding in files."""


@dataclass(frozen=True, eq=False)
class Motion:
    """Poses over time.

    Parameters
    ----------
    rotations : (P, J, 4) unit quaternions x y z w
    translations : (P, J, 3) of the joints in their local frames, from rest, or None for none
    times : (P,) seconds, in any order, or None for thirty poses per second
    names : P names of the poses, or None for "0", "1", ...
    controls : (P, C) values of the named controls
    control_names : C names
    """

    rotations: Floats
    translations: Floats = None  # type: ignore[assignment]  # each None becomes the default given above
    times: Floats = None  # type: ignore[assignment]
    names: tuple[str, ...] = None  # type: ignore[assignment]
    controls: Floats = None  # type: ignore[assignment]
    control_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        quaternions = check.floats("motion rotations", self.rotations, ("P", "J", 4))
        count, joints = quaternions.shape[:2]
        put = object.__setattr__
        put(self, "rotations", rotations.normalize(quaternions, "motion rotations"))
        shape: tuple[int, ...] = (count, joints, 3)
        translations = np.zeros(shape) if self.translations is None else self.translations
        put(self, "translations", check.floats("motion translations", translations, shape, check.LARGEST))
        times = np.arange(count) / 30.0 if self.times is None else self.times
        put(self, "times", check.floats("motion times", times, (count,)))
        put(self, "names", check.names("motion names", self.names or [str(k) for k in range(count)], count))
        put(self, "control_names", check.names("control names", self.control_names, len(self.control_names)))
        values = np.zeros((count, 0)) if self.controls is None else self.controls
        shape = (count, len(self.control_names))
        put(self, "controls", check.floats("motion controls", values, shape, check.LARGEST))

    @classmethod
    def from_poses(
        cls, poses: Sequence[Pose], names: Sequence[str] | None = None, times: ArrayLike | None = None
    ) -> Motion:
        """Stack poses of one skeleton; a control that a pose does not name is zero there."""
        if not isinstance(poses, Sequence | Motion):
            raise InputError(f"motion: expected a list of poses, got {type(poses).__name__}")
        if not len(poses):
            raise InputError("motion: expected at least one pose, got none")
        for pose in poses:
            check.kind("motion", pose, Pose)
        joints = {len(pose.rotations) for pose in poses}
        if len(joints) > 1:
            raise InputError(f"motion: expected poses of one skeleton, got {sorted(joints)} joints")
        controls = list(dict.fromkeys(name for pose in poses for name in pose.controls))
        return cls(
            np.stack([pose.rotations for pose in poses]),
            np.stack([pose.translations for pose in poses]),
            times,  # type: ignore[arg-type]
            names,  # type: ignore[arg-type]
            np.array([[pose.controls.get(name, 0.0) for name in controls] for pose in poses]),
            tuple(controls),
        )

    @classmethod
    def from_world(
        cls,
        skeleton: Skeleton,
        world: ArrayLike,
        times: ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> Motion:
        """Poses from each joint's transform to the world, `world` (P, J, 4, 4).

        A joint whose scale changes over time has no such pose: raises, naming the joint.
        """
        check.kind("skeleton", skeleton, Skeleton)
        transforms = check.transforms("world", world, ("P", len(skeleton), 4, 4), skeleton.names)
        quaternions, translations, misfit = skeleton.local(transforms.astype(np.float64))
        off = misfit.max(axis=0, initial=0.0)
        if (off > 1e-3).any():
            joint = skeleton.names[int(off.argmax())]
            raise InputError(f"world of joint {joint!r}: expected rotations and translations, got a scale that changes")
        return cls(
            quaternions,
            translations,
            times,  # type: ignore[arg-type]
            names,  # type: ignore[arg-type]
        )

    def with_rest(self, rest: Pose) -> Motion:
        """Return the poses followed by `rest`, all controls at zero, under the name "rest" or one like it.

        Its time is after all others, so that the poses make a clip.
        """
        name = "rest"
        while name in self.names:
            name += "_"
        at_rest = Pose(rest.rotations, rest.translations, dict.fromkeys(self.control_names, 0.0))
        times = [*self.times, self.times.max() + 1 / 30 if len(self) else 0.0]
        return Motion.from_poses([*self, at_rest], [*self.names, name], times)

    def __repr__(self) -> str:
        return f"Motion({len(self)} poses, {self.rotations.shape[1]} joints, {len(self.control_names)} controls)"

    def __len__(self) -> int:
        return len(self.rotations)

    def __iter__(self) -> Iterator[Pose]:
        return (self[k] for k in range(len(self)))

    @overload
    def __getitem__(self, key: int | str) -> Pose: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | NDArray[np.integer]) -> Motion: ...
    def __getitem__(self, key: int | str | slice | Sequence[int] | NDArray[np.integer]) -> Pose | Motion:
        if isinstance(key, str):
            key = self.index(key)
        if isinstance(key, int | np.integer):
            values = dict(zip(self.control_names, self.controls[key].tolist(), strict=True))
            return Pose(self.rotations[key], self.translations[key], values)
        chosen = np.arange(len(self))[key]
        return Motion(
            self.rotations[chosen],
            self.translations[chosen],
            self.times[chosen],
            tuple(self.names[k] for k in chosen),
            self.controls[chosen],
            self.control_names,
        )

    def index(self, name: str) -> int:
        """Return the number of the pose called `name`."""
        if name not in self.names:
            raise InputError(f"pose {quoted(name)}: not in the motion{suggestion(name, self.names)}")
        return self.names.index(name)

    def named(self, *patterns: str) -> Motion:
        """Return the poses whose name matches a pattern, e.g. "wrist.*"; "!" before a pattern excludes its matches."""
        return self[matching(self.names, patterns)]


def joined(motions: Sequence[Motion]) -> Motion:
    """Return the poses of several motions of one skeleton, numbered; a control that one lacks is zero in its poses."""
    names = list(dict.fromkeys(name for motion in motions for name in motion.control_names))
    controls = np.zeros((sum(map(len, motions)), len(names)))
    first = 0
    for motion in motions:
        rows = slice(first, first := first + len(motion))
        controls[rows, [names.index(name) for name in motion.control_names]] = motion.controls
    return Motion(
        np.concatenate([motion.rotations for motion in motions]),
        np.concatenate([motion.translations for motion in motions]),
        np.concatenate([motion.times for motion in motions]),
        controls=controls,
        control_names=tuple(names),
    )


def matching(names: Sequence[str], patterns: Sequence[str]) -> list[int]:
    """Return the numbers of the poses whose names match one of the patterns and none that begins with "!".

    Without a pattern that includes, all names are included. Raises where no pose remains.
    """
    wanted = [pattern for pattern in patterns if not pattern.startswith("!")] or ["*"]
    unwanted = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    chosen = [
        k
        for k, name in enumerate(names)
        if any(fnmatchcase(name, entry) for entry in wanted) and not any(fnmatchcase(name, entry) for entry in unwanted)
    ]
    if names and not chosen:
        listed = ", ".join(quoted(name) for name in names[:3])
        which = "the first are" if len(names) > 3 else "they are"
        only = " ".join(quoted(pattern) for pattern in patterns)
        if len(names) == 1:
            raise InputError(f"only {only}: does not match the only pose, {listed}")
        raise InputError(f"only {only}: matches none of the {len(names)} poses; {which} {listed}")
    return chosen


def rotated_joints(motion: Motion, still: Floats) -> NDArray[np.bool_]:
    """Return (P, J) which joints of each pose are rotated away from the rotations `still` (J, 4)."""
    return np.asarray(rotations.angles_between(motion.rotations, still) > LEAST_ANGLE)


def nonzero_controls(motion: Motion) -> NDArray[np.bool_]:
    """Return (P, C) which controls of each pose are not at zero."""
    return np.asarray(np.abs(motion.controls) > LEAST_CONTROL)


def rotating_joints(motion: Motion) -> NDArray[np.bool_]:
    """Return (J,) which joints rotate during a motion, away from its first pose."""
    if not len(motion):
        return np.zeros(motion.rotations.shape[1], dtype=bool)
    return np.asarray(rotated_joints(motion, motion.rotations[0]).any(axis=0))
