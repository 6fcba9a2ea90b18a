"""Skeleton: named joints with their parents, rest transforms and limits; forward kinematics and its inverse."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError, quoted, suggestion
from posespace.geometry import rotations

AXES = ("x", "y", "z")
"""The names of a joint's three axes."""

Ranges = Mapping[str, Mapping[str, tuple[float, float]]]
"""Limits as people write them: by joint and axis, the lowest and the highest angle in degrees, from rest."""


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Joints in the order of their file; parents may come before or after their children.

    A joint's transform to its parent is ``local_frame · [R·stretch | t]``, where the pose gives R and t. In the rest
    pose R is the joint's rest rotation and t is zero.

    Parameters
    ----------
    names : J names, each once
    parents : (J,) int32, -1 for a root
    local_frames : (J, 4, 4) from the joint, before its rotation, to its parent (for a root: to the world)
    rest_rotations : (J, 4) unit quaternions x y z w
    stretches : (J, 3, 3) scale or shear of the joint, or None for none
    axes : (J, 3, 3) each joint's degrees of freedom: orthonormal rows in the joint's local frame at rest; a zero row is
        none. One row: a revolute joint. None: all are ball joints
    limits : (J, 3, 2) lowest and highest angle about each axis in radians, from rest; -inf and inf where the axis has
        no limits. None: unlimited
    links : (J,) int32, the joint that each joint's rotation and translation are measured from in pose spaces, see
        `Parts`; -1: none, the joint moves the whole. None: the parents
    """

    names: tuple[str, ...]
    parents: Ints
    local_frames: Floats
    rest_rotations: Floats
    stretches: Floats | None = None
    axes: Floats | None = None
    limits: Floats | None = None
    links: Ints | None = None
    order: tuple[int, ...] = field(init=False, repr=False)
    """The joints sorted parents first."""

    def __post_init__(self) -> None:
        parents = check.indices("skeleton parents", self.parents, ("J",), len(self.parents), least=-1)
        count = len(parents)
        if not count:
            raise InputError("skeleton: expected at least one joint, got none")
        put = object.__setattr__
        put(self, "names", check.names("skeleton names", self.names, count))
        put(self, "parents", parents)
        put(
            self,
            "local_frames",
            check.transforms("skeleton local_frames", self.local_frames, (count, 4, 4), self.names),
        )
        rest = check.floats("skeleton rest_rotations", self.rest_rotations, (count, 4))
        put(self, "rest_rotations", rotations.normalize(rest, "skeleton rest_rotations"))
        for part, shape in (("stretches", (count, 3, 3)), ("axes", (count, 3, 3))):
            if getattr(self, part) is not None:
                put(self, part, check.floats(f"skeleton {part}", getattr(self, part), shape))
        if self.limits is not None:
            put(self, "limits", _checked_limits(self.limits, self.names))
        if self.axes is not None:
            _check_axes(self.axes, self.names)
        if self.links is not None:
            put(self, "links", check.indices("skeleton links", self.links, (count,), count, least=-1))
            parents_first(self.links, self.names, "links")
        put(self, "order", parents_first(parents, self.names))

    @classmethod
    def from_world(
        cls,
        names: Sequence[str],
        parents: ArrayLike,
        rest_world: ArrayLike,
        axes: ArrayLike | None = None,
        limits: ArrayLike | None = None,
    ) -> Skeleton:
        """Make a skeleton from each joint's rest transform to the world, `rest_world` (J, 4, 4)."""
        above = np.asarray(parents)
        if not above.size:
            raise InputError("skeleton: expected at least one joint, got none; without joints, take Rig.from_mesh")
        world = check.transforms("rest_world", rest_world, (len(above), 4, 4), names).astype(np.float64)
        above = check.indices("skeleton parents", above, ("J",), len(above), least=-1)
        for name, determinant in zip(names, np.linalg.det(world[:, :3, :3]), strict=False):
            if abs(determinant) < 1e-12:
                raise InputError(f"rest_world of joint {name!r}: expected an invertible transform, got a flat one")
        local = world.copy()
        child = above >= 0
        local[child] = np.linalg.solve(world[above[child]], world[child])
        rest_rotations, stretches = rotations.polar(local[:, :3, :3])
        frames = np.tile(np.eye(4), (len(above), 1, 1))
        frames[:, :3, 3] = local[:, :3, 3]
        rigid = np.abs(stretches - np.eye(3)).max() < 1e-9
        return cls(
            tuple(names),
            above,
            frames,
            rest_rotations,
            None if rigid else stretches,
            None if axes is None else np.asarray(axes),
            None if limits is None else np.asarray(limits),
        )

    def __repr__(self) -> str:
        return f"Skeleton({len(self)} joints: {', '.join(self.names[:4])}{', ...' if len(self) > 4 else ''})"

    def __len__(self) -> int:
        return len(self.names)

    def index(self, name: str) -> int:
        """Return the number of the joint called `name`."""
        number = self._numbers.get(name)
        if number is None:
            raise InputError(f"joint {quoted(name)}: not in the skeleton{suggestion(name, self.names)}")
        return number

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: joint for joint, name in enumerate(self.names)}

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each joint."""
        children: list[list[int]] = [[] for _ in self.names]
        for joint, parent in enumerate(self.parents):
            if parent >= 0:
                children[parent].append(joint)
        return tuple(map(tuple, children))

    def same_as(self, other: Skeleton) -> bool:
        """Whether the two have the same joints and rest pose, so that poses of one fit the other unchanged."""
        return (
            self.names == other.names
            and np.array_equal(self.parents, other.parents)
            and np.allclose(self.local_frames, other.local_frames, atol=1e-6)
            and np.allclose(self.rest_rotations, other.rest_rotations, atol=1e-6)
        )

    @cached_property
    def rest_world(self) -> Floats:
        """(J, 4, 4) each joint's transform to the world in the rest pose."""
        return self.world(self.rest_rotations.astype(np.float64))

    def world(self, local: Floats, translations: Floats | None = None) -> Floats:
        """Forward kinematics: each joint's transform to the world.

        Parameters
        ----------
        local : (..., J, 4) unit quaternions, each joint's rotation
        translations : (..., J, 3) of each joint in its local frame, from rest; None for none

        Returns
        -------
        (..., J, 4, 4) float64
        """
        if local.shape[-2:] != (len(self), 4):
            raise InputError(f"rotations: expected (..., {len(self)}, 4) for this skeleton, got {local.shape}")
        transforms = np.zeros((*local.shape[:-1], 4, 4))
        transforms[..., :3, :3] = rotations.matrices(local)
        if self.stretches is not None:
            transforms[..., :3, :3] = transforms[..., :3, :3] @ self.stretches
        if translations is not None:
            transforms[..., :3, 3] = translations
        transforms[..., 3, 3] = 1.0
        transforms = self.local_frames @ transforms
        for joint in self.order:
            parent = self.parents[joint]
            if parent >= 0:
                transforms[..., joint, :, :] = transforms[..., parent, :, :] @ transforms[..., joint, :, :]
        return transforms

    def local(self, world: Floats) -> tuple[Floats, Floats, Floats]:
        """Inverse of forward kinematics: rotations and translations from transforms to the world.

        Parameters
        ----------
        world : (..., J, 4, 4) each joint's transform to the world

        Returns
        -------
        rotations : (..., J, 4) the nearest unit quaternions
        translations : (..., J, 3)
        misfit : (..., J) difference of the joint's scale from the skeleton's, which no pose has
        """
        parent_world = np.tile(np.eye(4), (*world.shape[:-2], 1, 1))
        child = self.parents >= 0
        parent_world[..., child, :, :] = world[..., self.parents[child], :, :]
        local = invert_affine(parent_world @ self.local_frames) @ world
        linear = local[..., :3, :3]
        if self.stretches is not None:
            linear = linear @ invert_affine(self.stretches)
        quaternions, scale = rotations.polar(linear)
        return quaternions, local[..., :3, 3], np.abs(scale - np.eye(3)).max(axis=(-1, -2))

    def degrees_of_freedom(self, joint: int) -> int:
        """Return the number of axes that `joint` rotates about: 3 for a ball joint, 1 for a revolute one."""
        return 3 if self.axes is None else int((np.abs(self.axes[joint]).max(axis=1) > 0).sum())

    def angles(self, local: Floats) -> Floats:
        """Return the angles (..., J, 3) in radians of rotations (..., J, 4) about each joint's axes, from rest.

        They are the components of the rotation vector (axis times angle) along the axes.
        """
        return self.angles_from(self.rest_rotations.astype(np.float64), local)

    def angles_from(self, rest: Floats, local: Floats) -> Floats:
        """Return the angles (..., J, 3) about the joints' axes from rotations `rest` (J, 4) to others (..., J, 4)."""
        vector = rotations.vectors(rotations.multiply(rotations.inverse(rest), local))
        return vector if self.axes is None else np.einsum("jab,...jb->...ja", self.axes, vector)

    def rotations(self, angles: ArrayLike) -> Floats:
        """Return the rotations (..., J, 4) of joints rotated from rest by `angles` (..., J, 3) about their axes."""
        return self.rotated_from(self.rest_rotations.astype(np.float64), angles)

    def rotated_from(self, rest: Floats, angles: ArrayLike) -> Floats:
        """Return rotations `rest` (J, 4) followed by `angles` (..., J, 3) about the joints' axes: (..., J, 4)."""
        vector = np.asarray(angles, dtype=np.float64)
        if self.axes is not None:
            vector = np.einsum("jab,...ja->...jb", self.axes, vector)
        size = np.linalg.norm(vector, axis=-1)
        axis = vector / np.where(size > 0, size, 1)[..., None]
        return rotations.multiply(rest, rotations.from_axis_angle(axis, size))

    def clamp(self, local: Floats) -> Floats:
        """Return rotations (..., J, 4) brought within the joints' axes and limits."""
        angles = self.angles(local)
        if self.limits is not None:
            angles = np.clip(angles, self.limits[..., 0], self.limits[..., 1])
        return self.rotations(angles)

    def beyond_limits(self, local: Floats, tolerance: float = 1e-6) -> list[str]:
        """Return the names of the joints whose rotations (J, 4) exceed their limits by more than `tolerance`."""
        if self.limits is None:
            return []
        angles = self.angles(local)
        outside = (angles < self.limits[..., 0] - tolerance) | (angles > self.limits[..., 1] + tolerance)
        return [name for name, out in zip(self.names, np.any(outside, axis=-1).tolist(), strict=True) if out]

    @property
    def ranges(self) -> Ranges:
        """The limits in degrees, by joint and axis, of the axes that have any."""
        if self.limits is None:
            return {}
        degrees = np.degrees(self.limits).round(9) + 0.0
        limited = np.isfinite(degrees).all(axis=2) & self._freedoms
        return {
            name: {AXES[axis]: (degrees[joint, axis, 0].item(), degrees[joint, axis, 1].item()) for axis in axes}
            for joint, name in enumerate(self.names)
            if len(axes := np.flatnonzero(limited[joint]))
        }

    def with_ranges(self, ranges: Ranges) -> Skeleton:
        """Return the skeleton with these limits and no others, as `ranges` gives them.

        An axis that is not named is not limited. Raises where a joint or an axis is not in the skeleton, and where a
        range goes beyond 180 degrees, the most that a joint can rotate, or leaves out the rest pose, at 0 degrees.
        """
        limits = np.where(self._freedoms[..., None], [-np.inf, np.inf], 0.0)
        for name, by_axis in ranges.items():
            joint = self.index(name)
            known = [AXES[axis] for axis in np.flatnonzero(self._freedoms[joint])]
            for axis, (low, high) in by_axis.items():
                where = f"limits of joint {quoted(name)}"
                if axis not in known:
                    raise InputError(f"{where}: it has no axis {axis[:20]!r}; it has {', '.join(known) or 'none'}")
                if not -180 <= low <= 0 <= high <= 180:
                    wanted = "LOW:HIGH with -180 <= LOW <= 0 <= HIGH <= 180 (degrees from rest)"
                    raise InputError(f"{where}: {axis}: expected {wanted}, got {low:g}:{high:g}")
                limits[joint, AXES.index(axis)] = np.radians((low, high))
        return replace(self, limits=limits if ranges else None)

    @property
    def _freedoms(self) -> NDArray[np.bool_]:
        """(J, 3) which axes each joint has."""
        if self.axes is None:
            return np.ones((len(self), 3), dtype=bool)
        return np.asarray(np.abs(self.axes).max(axis=2) > 0)

    @cached_property
    def counterparts(self) -> Ints:
        """(J,) the joint on the other side of each joint, by its name; a joint with none is its own."""
        others = [self._numbers.get(other_side(name), joint) for joint, name in enumerate(self.names)]
        return np.array(others, dtype=np.int32)


_SIDES = {"left": "right", "right": "left", "l": "r", "r": "l"}
_SIDE = re.compile(
    # Left/Right anywhere; l/r standing alone; L/R after a small letter, as in bentL; before a word, as in lShldr.
    r"(?i:left|right|(?<![^\W_\d])[lr](?![^\W_\d]))|(?<=[a-z\d])[LR](?![^\W_\d])|(?<![^\W_\d])[lrLR](?=[A-Z][a-z])"
)


def other_side(name: str) -> str:
    """Return the name of the joint on the other side: ``hand_L`` → ``hand_R``, ``LeftArm`` → ``RightArm``."""

    def swap(match: re.Match[str]) -> str:
        text = match.group()
        swapped = _SIDES[text.lower()]
        return swapped.upper() if text.isupper() else swapped.title() if text[0].isupper() else swapped

    return _SIDE.sub(swap, name)


def side_of(name: str) -> str:
    """Return the side that a name has: "l", "r", or "" for none."""
    side = _SIDE.search(name)
    return side.group()[0].lower() if side else ""


def invert_affine(matrices: Floats) -> Floats:
    """Invert transforms (..., n, n); singular ones, by which some rigs hide things, get the pseudo-inverse."""
    wide = matrices.astype(np.float64)
    try:
        return np.linalg.inv(wide)
    except np.linalg.LinAlgError:
        return np.linalg.pinv(wide)


def parents_first(parents: Ints, names: tuple[str, ...], what: str = "parents") -> tuple[int, ...]:
    """Return the joints sorted parents first; raises where the parents form a cycle."""
    order: list[int] = []
    done = [False] * len(parents)
    for start in range(len(parents)):
        path: list[int] = []
        on_path: set[int] = set()
        joint = start
        while joint >= 0 and not done[joint]:
            if joint in on_path:
                loop = " → ".join(names[k] for k in [*path[path.index(joint) :][:4], joint])
                raise InputError(f"skeleton {what}: expected a tree, got a cycle {loop}")
            path.append(joint)
            on_path.add(joint)
            joint = int(parents[joint])
        for joint in reversed(path):
            done[joint] = True
            order.append(joint)
    return tuple(order)


def _checked_limits(limits: ArrayLike, names: tuple[str, ...]) -> Floats:
    array = np.asarray(limits, dtype=np.float64)
    if array.shape != (len(names), 3, 2) or np.isnan(array).any():
        raise InputError(f"skeleton limits: expected numbers of shape ({len(names)}, 3, 2), got {array.shape}")
    wrong = (array[..., 0] > array[..., 1]).any(axis=1)
    if wrong.any():
        raise InputError(f"skeleton limits of {names[int(wrong.argmax())]!r}: the lowest angle is above the highest")
    array.flags.writeable = False
    return array


def _check_axes(axes: Floats, names: tuple[str, ...]) -> None:
    gram = axes @ np.swapaxes(axes, 1, 2)
    wanted = np.eye(3) * (np.abs(axes).max(axis=2) > 0)[:, None, :]
    wrong = np.abs(gram - wanted).max(axis=(1, 2)) > 1e-6
    if wrong.any():
        raise InputError(f"skeleton axes of {names[int(wrong.argmax())]!r}: expected orthonormal rows or zero rows")
