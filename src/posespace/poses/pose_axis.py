"""PoseAxis: the way through a pose space from one position through another, and where any position stands along it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from posespace.check import Floats
from posespace.geometry import rotations
from posespace.poses.spaces import PoseSpace
from posespace.skeleton import Skeleton

_LEAST = 1e-9

RADIANS, CONTROL, LENGTH, FRACTION = "radians", "control", "length", "fraction"
"""What distances along an axis are measured in: all that moves rotates, is a control, or is translated in the rig's
unit; where these are mixed, 1 is the distance between the two positions."""


@dataclass(frozen=True, eq=False)
class PoseAxis:
    """The shortest way from one position of a pose space through another, and beyond: joints rotate about fixed axes.

    Parameters
    ----------
    space : the pose space
    start, end : (D,) two positions in it
    radius : (axes,) of an interpolant over the space: what counts as near, along each of its axes
    skeleton : the joints of the space
    """

    space: PoseSpace
    start: Floats
    end: Floats
    radius: Floats
    skeleton: Skeleton

    @property
    def is_quaternions(self) -> bool:
        """Whether positions are four numbers per joint."""
        return self.space.kind in ("joint", "quaternions")

    @cached_property
    def direction(self) -> Floats:
        """(axes,) the differences of the end from the start, or (K, 3) the rotation vector of each joint."""
        return np.asarray(self._offsets(self.end[None])[0])

    @property
    def units(self) -> tuple[str, ...]:
        """What each name of the space is measured in."""
        if self.is_quaternions:
            return (RADIANS,) * len(self.space.names)
        degrees = [self.space.degree_of(name, self.skeleton) for name in self.space.names]
        return tuple(CONTROL if degree is None else RADIANS if degree[1] < 3 else LENGTH for degree in degrees)

    @property
    def unit(self) -> str:
        """What distances along the axis are measured in."""
        if self.is_quaternions:
            return RADIANS
        both = zip(self.units, self.direction.tolist(), strict=True)
        kinds = {unit for unit, step in both if abs(step) > _LEAST}
        return kinds.pop() if len(kinds) == 1 else FRACTION

    @property
    def length(self) -> float:
        """The distance from the start to the end, in `unit`; 0 where they are the same."""
        length = float(np.linalg.norm(self.direction))
        return length if self.unit != FRACTION or length <= _LEAST else 1.0

    @property
    def radius_along(self) -> float:
        """The distance along the axis, in `unit`, at which the interpolant's radius is reached."""
        return self.length / float(np.sqrt(self._weights().sum()))

    @property
    def scale(self) -> float:
        """What `radius_along` is where the radius is 1 along every axis of the space."""
        return replace(self, radius=np.ones_like(self.radius)).radius_along

    @cached_property
    def gains(self) -> Floats:
        """(axes,) the fraction of the way per step along each axis of the space, or (K,) per radian of each joint."""
        weights = self._weights()
        steps = np.linalg.norm(self.direction, axis=1) if self.is_quaternions else self.direction
        moves = np.abs(steps) > _LEAST
        return np.asarray(np.where(moves, weights / np.where(moves, steps, 1.0), 0.0) / weights.sum())

    @cached_property
    def joint_axes(self) -> Floats:
        """(K, 3) the unit axes that joints rotate about; zero for a joint that does not."""
        angles = np.linalg.norm(self.direction, axis=1)
        return np.asarray(self.direction / np.where(angles > 0, angles, 1.0)[:, None])

    def farthest(self, most: float) -> float:
        """Return the largest fraction, up to `most`, at which no joint has made more than half a turn."""
        if self.is_quaternions:
            angles = np.linalg.norm(self.direction, axis=1)
        else:
            degrees = [self.space.degree_of(name, self.skeleton) for name in self.space.names]
            squares: dict[int, float] = {}
            for degree, end in zip(degrees, self.end.tolist(), strict=True):
                if degree is not None and degree[1] < 3:
                    squares[degree[0]] = squares.get(degree[0], 0.0) + end**2
            angles = np.sqrt(list(squares.values()))
        return max(1.0, min(most, np.pi / max(float(angles.max(initial=0.0)), _LEAST)))

    def positions(self, fractions: Floats) -> Floats:
        """Return the positions (S, D) at fractions (S,) of the way: 0 is the start, 1 the end."""
        steps = np.asarray(fractions, dtype=np.float64)
        if not self.is_quaternions:
            return np.asarray(self.start + steps[:, None] * self.direction)
        angles, axes = np.linalg.norm(self.direction, axis=1), self.joint_axes
        turned = rotations.from_axis_angle(np.broadcast_to(axes, (len(steps), *axes.shape)), steps[:, None] * angles)
        return rotations.multiply(self.start.reshape(-1, 4), turned).reshape(len(steps), -1)

    def fractions(self, positions: Floats) -> Floats:
        """Return the fraction (Q,) of the way at which each of some positions (Q, D) stands.

        Of one joint it is the nearest point of the axis: the rotation about it, without what rotates the axis away. Of
        several, their mean, weighted by how far each goes.
        """
        if not self.is_quaternions:
            return np.asarray(self._offsets(positions) @ self.gains)
        relative = self._relative(positions)
        about = 2.0 * np.arctan2((relative[..., :3] * self.joint_axes).sum(axis=2), relative[..., 3])
        return np.asarray(about @ self.gains)

    def _weights(self) -> Floats:
        """The squared distance that each axis of the space, or joint, covers, over its radius."""
        if self.is_quaternions:
            # The chord between quaternions is half the angle of a small rotation.
            radius = self.radius if self.space.kind == "joint" else 2.0 * self.radius.reshape(-1, 4).mean(axis=1)
            return np.asarray(np.square(self.direction).sum(axis=1) / radius**2)
        return np.square(self.direction / self.radius)

    def _offsets(self, positions: Floats) -> Floats:
        """The offsets (Q, D), or rotation vectors (Q, K, 3), of positions (Q, D) from the start."""
        return rotations.vectors(self._relative(positions)) if self.is_quaternions else positions - self.start

    def _relative(self, positions: Floats) -> Floats:
        """The rotations (Q, K, 4) from the start to positions (Q, D), on the shorter way."""
        joints = positions.reshape(len(positions), -1, 4)
        return rotations.same_side(rotations.multiply(rotations.inverse(self.start.reshape(-1, 4)), joints))
