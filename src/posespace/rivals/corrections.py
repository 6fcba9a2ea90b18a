"""What the rivals share: the corrections of all examples in the rest shape, and one layer over all that moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posespace.check import Floats, Ints
from posespace.examples import Examples
from posespace.interpolate.fitted import RBFInterpolant, ShepardInterpolant
from posespace.poses.active import at_rest, whole_space
from posespace.poses.digests import pose_digests
from posespace.poses.spaces import PoseSpace
from posespace.skin.driver import Driver
from posespace.skin.layer import Layer
from posespace.skin.provenance import about_fit
from posespace.skin.skin import Skin

_STILL = 1e-6  # of the box diagonal: smaller corrections count as none


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
    damped : vertices, summed over the poses, whose corrections are damped
    """

    examples: Examples
    space: PoseSpace
    where: Floats
    names: tuple[str, ...]
    support: Ints
    values: Floats
    damped: int

    @classmethod
    def of(cls, examples: Examples, kind: str = "joint") -> Corrections:
        """Gather the corrections of `examples` over a space of the given kind, "joint" or "freedoms"."""
        rig, motion = examples.rig, examples.motion
        space = whole_space(rig, motion, kind)
        where, names = space.coordinates(motion, rig.skeleton), motion.names
        found = [examples.residual(index) for index in range(len(examples))]
        residuals, damped = np.stack([each for each, _ in found]), sum(int(low.sum()) for _, low in found)
        if not at_rest(rig, motion).any():
            where = np.vstack([where, space.coordinates(rig.rest, rig.skeleton)])
            names = (*names, "the rest pose")
            residuals = np.concatenate([residuals, np.zeros((1, *residuals.shape[1:]))])
        moved = np.linalg.norm(residuals, axis=2).max(axis=0) > _STILL * rig.mesh.diagonal
        support = np.flatnonzero(moved).astype(np.int32)
        return cls(examples, space, where, names, support, residuals[:, support], damped)

    @property
    def columns(self) -> Floats:
        """The corrections as (M, 3S)."""
        return self.values.reshape(len(self.names), -1)

    def skin(self, cardinal: RBFInterpolant | ShepardInterpolant, method: str, settings: object) -> Skin:
        """Return the skin that mixes the corrections by M functions, each 1 at its own example and 0 at the others.

        `method` and `settings` are what it says about how it was made.
        """
        layer = Layer(method, Driver(self.space, cardinal), self.support, self.values.astype(np.float32))
        about = about_fit(method, settings, pose_digests(self.examples.motion, self.examples.rig.skeleton), self.damped)
        return Skin(self.examples.rig, (layer,), about=about)
