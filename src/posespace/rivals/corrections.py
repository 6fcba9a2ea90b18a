"""What the rivals share: the corrections of all examples in the rest shape, and one layer over all that moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.interpolate.fitted import RBFInterpolant, ShepardInterpolant
from posespace.layer import Driver, Layer
from posespace.motion import pose_digests
from posespace.skin import Skin
from posespace.spaces import AXES, PoseSpace

_STILL = 1e-6  # of the box diagonal: corrections below it are none


@dataclass(frozen=True, eq=False)
class Corrections:
    """Corrections of examples at points of a pose space; the rest pose is one of them.

    Parameters
    ----------
    examples : where they come from
    space : what they are interpolated over
    where : (M, D) their places
    names : M names of the poses
    support : (S,) the vertices that any of them moves
    values : (M, S, 3) the corrections, in the rest shape
    """

    examples: Examples
    space: PoseSpace
    where: Floats
    names: tuple[str, ...]
    support: Ints
    values: Floats

    @classmethod
    def of(cls, examples: Examples, kind: str = "joint") -> Corrections:
        """Gather the corrections of `examples` over a space of the given kind, "joint" or "angles"."""
        rig, motion = examples.rig, examples.motion
        space = moved_space(examples, kind)
        where, names = space.coordinates(motion, rig.skeleton), motion.names
        residuals = np.stack([examples.residual(index)[0] for index in range(len(examples))])
        if not rig.at_rest(motion).any():
            where = np.vstack([where, space.coordinates(rig.rest, rig.skeleton)])
            names = (*names, "the rest pose")
            residuals = np.concatenate([residuals, np.zeros((1, *residuals.shape[1:]))])
        moved = np.linalg.norm(residuals, axis=2).max(axis=0) > _STILL * rig.mesh.diagonal
        support = np.flatnonzero(moved).astype(np.int32)
        return cls(examples, space, where, names, support, residuals[:, support])

    @property
    def columns(self) -> Floats:
        """The corrections as (M, 3S)."""
        return self.values.reshape(len(self.names), -1)

    def skin(self, cardinal: RBFInterpolant | ShepardInterpolant, method: str) -> Skin:
        """Return the skin that mixes the corrections by M functions, each 1 at its own example and 0 at the others."""
        layer = Layer(method, Driver(self.space, cardinal), self.support, self.values.astype(np.float32))
        about = {"method": method, "poses": pose_digests(self.examples.motion)}
        return Skin(self.examples.rig, (layer,), about=about)


def moved_joints(examples: Examples) -> list[int]:
    """Return the joints that turn from rest in some example."""
    return [int(joint) for joint in np.flatnonzero(examples.rig.turned(examples.motion).any(axis=0))]


def moved_space(examples: Examples, kind: str = "joint") -> PoseSpace:
    """Return the space of all joints and controls that differ from rest in some example.

    With controls beside joints, or asked for by kind "angles", the joints count by their degrees of freedom.
    """
    motion, skeleton = examples.motion, examples.rig.skeleton
    if not len(motion):
        raise InputError("examples: expected at least one, got none")
    size = np.abs(motion.controls).max(axis=0, initial=0)
    controls = tuple(name for name, largest in zip(motion.control_names, size, strict=True) if largest > 0)
    joints = tuple(skeleton.names[joint] for joint in moved_joints(examples))
    if not joints and not controls:
        raise InputError("examples: no pose differs from rest, so there is nothing to interpolate over")
    if not joints:
        return PoseSpace("controls", controls)
    if not controls and kind == "joint":
        return PoseSpace("joint", joints)
    turned = np.abs(skeleton.angles(motion.rotations)).max(axis=0) > 1e-6
    degrees = [f"{name}.{axis}" for name, row in zip(skeleton.names, turned, strict=True) for axis in _axes(row)]
    return PoseSpace("angles", (*degrees, *controls))


def _axes(turned: Floats) -> list[str]:
    return [axis for axis, used in zip(AXES, turned, strict=True) if used]
