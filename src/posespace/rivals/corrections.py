"""Corrections of all examples in the rest shape, and one layer over all that moves: shared by several rivals."""

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
    """Corrections of examples at samples of a pose space; the rest pose is one of them.

    Parameters
    ----------
    examples : the examples
    space : what they are interpolated over
    samples : (M, D) their positions in the pose space
    names : M names of the poses
    support : (S,) the vertices that any of them moves
    values : (M, S, 3) the corrections, in the rest shape
    damped : vertices, summed over the poses, whose corrections are damped
    """

    examples: Examples
    space: PoseSpace
    samples: Floats
    names: tuple[str, ...]
    support: Ints
    values: Floats
    damped: int

    @classmethod
    def of(cls, examples: Examples, kind: str = "joint") -> Corrections:
        """Gather the corrections of `examples` over a space of the given kind, "joint" or "freedoms"."""
        rig, motion = examples.rig, examples.motion
        space = whole_space(rig, motion, kind)
        samples, names = space.coordinates(motion, rig.skeleton), motion.names
        pairs = [examples.residual(index) for index in range(len(examples))]
        residuals, damped = np.stack([residual for residual, _ in pairs]), sum(int(low.sum()) for _, low in pairs)
        if not at_rest(rig, motion).any():
            samples = np.vstack([samples, space.coordinates(rig.rest, rig.skeleton)])
            names = (*names, "the rest pose")
            residuals = np.concatenate([residuals, np.zeros((1, *residuals.shape[1:]))])
        moved = np.linalg.norm(residuals, axis=2).max(axis=0) > _STILL * rig.mesh.diagonal
        support = np.flatnonzero(moved).astype(np.int32)
        return cls(examples, space, samples, names, support, residuals[:, support], damped)

    @property
    def columns(self) -> Floats:
        """The corrections as (M, 3S)."""
        return self.values.reshape(len(self.names), -1)

    def skin(self, cardinal: RBFInterpolant | ShepardInterpolant, method: str, settings: object) -> Skin:
        """Return the skin that blends corrections by M cardinal functions, each 1 at its example and 0 at the others.

        `method` and `settings` go into its `about`.
        """
        layer = Layer(method, Driver(self.space, cardinal), self.support, self.values.astype(np.float32))
        about = about_fit(method, settings, pose_digests(self.examples.motion, self.examples.rig.skeleton), self.damped)
        return Skin(self.examples.rig, (layer,), about=about)
