"""Scripted sculpts: a smooth bulge at a joint that grows with its bend, and a rough one of single vertices.

A joint that is translated takes a step of `SHIFT` where another one is rotated by a right angle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sets.bulge import HEIGHT, REACH, Bends

import posespace as ps
from posespace.check import Floats
from posespace.geometry import rotations
from posespace.geometry.smoothstep import smoothstep
from posespace.skeleton import invert_affine
from sculpting.subjects import Subject

BEND = np.array([0.0, 0.0, 1.0])
OTHERS = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""The axis that the sculpts bend a joint about, in its frame, and those of poses off that axis."""

FULL = 90.0
"""Degrees of the last sculpt."""

SHIFT = 0.1
"""How far a joint is translated instead of a rotation by 90 degrees, as a fraction of the diagonal."""

EVERY, ROUGH = 7, 0.01
"""Which vertices a rough sculpt moves, and by which fraction of the largest side of the box."""

NOISE = 1e-8
"""Standard deviation of the noise, as a fraction of the diagonal where it is a length."""


@dataclass(frozen=True, eq=False)
class Script:
    """What is sculpted on a rig.

    Parameters
    ----------
    subject : the rig
    count : how many sculpts, at even steps up to `FULL` degrees
    joints : at how many joints, 1 or 2, that bend by the same angle
    rough : single vertices are moved, by as much in every sculpt, in place of a bulge
    """

    subject: Subject
    count: int
    joints: int
    rough: bool = False

    @cached_property
    def numbers(self) -> list[int]:
        """The joints by number."""
        return [self.subject.rig.skeleton.index(name) for name in self.subject.joints[: self.joints]]

    @cached_property
    def own(self) -> Floats:
        """(count,) the degrees of the sculpts."""
        return FULL * np.arange(1, self.count + 1) / self.count

    @cached_property
    def field(self) -> Floats:
        """(N, 3) the bulge at 180 degrees, in the rest shape."""
        rig = self.subject.rig
        bends = Bends.of(rig)
        heights = np.zeros(len(rig.mesh.points))
        for joint in self.numbers:
            row = np.flatnonzero(bends.joints == joint)
            heights += bends.fields[row[0]] if len(row) else _around(rig, joint)
        return heights[:, None] * rig.normals

    def posed(self, *steps: Floats) -> ps.Pose:
        """Return the rest pose with the joints moved by steps, one after the other: axis times degrees.

        A step is (3,) for all joints or (joints, 3) for each its own.
        """
        rest, size = self.subject.rig.rest, self.subject.rig.mesh.diagonal
        turn, shift = rest.rotations.astype(np.float64), rest.translations.astype(np.float64)
        for step in steps:
            for joint, vector in zip(self.numbers, np.broadcast_to(step, (self.joints, 3)), strict=True):
                if self.subject.shifts:
                    shift[joint] += vector / FULL * SHIFT * size
                else:
                    angle = float(np.linalg.norm(vector))
                    change = rotations.from_axis_angle(vector / (angle or 1.0), np.radians(angle))
                    turn[joint] = rotations.multiply(turn[joint], change)
        return ps.Pose(turn, shift)

    def shape(self, degrees: float) -> Floats:
        """Return the true shape (N, 3) where the joints bend by an angle."""
        rig, pose = self.subject.rig, self.posed(degrees * BEND)
        if not self.rough:
            return rig.skin(pose, np.sin(np.radians(degrees) / 2) ** 2 * self.field)
        shape, groups = rig.skin(pose), rig.mesh.weld.groups
        # With all vertices of the same position: a sculpt that tears seams is another matter.
        shape[np.isin(groups, groups[::EVERY]), 1] += ROUGH * np.ptp(rig.mesh.points, axis=0).max()
        return shape

    def examples(self, degrees: Sequence[float] | Floats) -> ps.Examples:
        """Return the true shapes at some angles."""
        motion = ps.Motion.from_poses([self.posed(angle * BEND) for angle in degrees])
        return ps.Examples.from_shapes(self.subject.rig, motion, [self.shape(angle) for angle in degrees])


def noisy(examples: ps.Examples) -> ps.Examples:
    """Return the examples with noise in every rotation, translation and vertex."""
    random, size = np.random.default_rng(0), NOISE * examples.rig.mesh.diagonal
    shapes = np.stack([shape + size * random.normal(size=shape.shape) for _, shape in examples])
    return ps.Examples.from_shapes(examples.rig, noisy_motion(examples.motion, examples.rig), shapes)


def noisy_motion(motion: ps.Motion, rig: ps.Rig) -> ps.Motion:
    """Return the poses with noise in every rotation and translation."""
    random, size = np.random.default_rng(len(motion)), NOISE * rig.mesh.diagonal
    turn = motion.rotations + NOISE * random.normal(size=motion.rotations.shape)
    shift = motion.translations + size * random.normal(size=motion.translations.shape)
    return ps.Motion(turn, shift, motion.times, motion.names)


def _around(rig: ps.Rig, joint: int) -> Floats:
    """A bulge (N,) around a joint that hangs from no other."""
    gaps = np.linalg.norm(rig.mesh.points - invert_affine(rig.inverse_bind)[joint, :3, 3], axis=1)
    size = rig.mesh.diagonal
    return np.asarray(2 * HEIGHT * size * (1 - smoothstep((gaps - gaps.min()) / (REACH * size))))
