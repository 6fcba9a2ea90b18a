"""Pose space deformation: example corrections interpolated over the poses they were made for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posespace.check import Floats
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.interpolate import RBF
from posespace.skin import Driver, Layer, Skin
from posespace.spaces import PoseSpace


@dataclass(frozen=True)
class PSD:
    """Fits one layer over the joints and controls that the examples move.

    Parameters
    ----------
    kernel : of the RBF, see `posespace.interpolate.RBF`
    radius : the falloff, in radians or the controls' unit, above 0; None: chosen by leave-one-out
    smoothing : at least 0; above 0 the examples are only come close to, which calms contradictory ones
    anchor : take the rest shape as an example where none is at rest
    tolerance : a vertex whose corrections all stay below this part of the box diagonal is left out
    """

    kernel: str = "gaussian"
    radius: float | None = None
    smoothing: float = 0.0
    anchor: bool = True
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        RBF(self.kernel, self.radius, smoothing=self.smoothing)
        if not 0 <= self.tolerance < 1:
            raise InputError(f"tolerance: expected from 0 to 1, got {self.tolerance}")

    def fit(self, examples: Examples) -> Skin:
        """Return the skin that reproduces every example."""
        rig = examples.rig
        space = moved_space(examples)
        where = space.coordinates(examples.motion, rig.skeleton)
        names = list(examples.motion.names)
        residuals = np.stack([examples.residual(index)[0] for index in range(len(examples))])
        if self.anchor and not rig.at_rest(examples.motion).any():
            still = space.coordinates(rig.rest, rig.skeleton)
            where, names = np.vstack([where, still]), [*names, "the rest pose"]
            residuals = np.concatenate([residuals, np.zeros((1, *residuals.shape[1:]))])
        moved = np.linalg.norm(residuals, axis=2).max(axis=0) > self.tolerance * rig.mesh.diagonal
        support = np.flatnonzero(moved).astype(np.int32)
        values = residuals[:, support].reshape(len(names), -1)
        radius = self.radius
        if radius is None and values.size:
            chosen = RBF(self.kernel, smoothing=self.smoothing).fit(where, values, space.metric, names)
            radius = float(chosen.radius[0])
        # Cardinal functions: one coordinate an example, so that the basis is the corrections themselves.
        settings = RBF(self.kernel, radius, smoothing=self.smoothing)
        cardinal = settings.fit(where, np.eye(len(names)), space.metric, names)
        layer = Layer("psd", Driver(space, cardinal), support, residuals[:, support].astype(np.float32))
        return Skin(rig, (layer,), about={"method": "psd", "kernel": self.kernel, "radius": radius})


def moved_space(examples: Examples, tolerance: float = 1e-6) -> PoseSpace:
    """Return the space of the joints, or else the controls, that differ from rest in some example."""
    motion, rig = examples.motion, examples.rig
    near = np.abs((motion.rotations * rig.rest.rotations).sum(axis=2))
    joints = np.flatnonzero((1 - near > tolerance**2).any(axis=0))
    controls: Floats = np.abs(motion.controls).max(axis=0, initial=0)
    if len(joints) and (controls > tolerance).any():
        raise InputError("examples: they move joints and controls at once; give one or the other")
    if len(joints):
        return PoseSpace("joint", tuple(rig.skeleton.names[joint] for joint in joints))
    moved = tuple(name for name, size in zip(motion.control_names, controls, strict=True) if size > tolerance)
    if not moved:
        raise InputError("examples: no pose differs from rest, so there is nothing to interpolate over")
    return PoseSpace("controls", moved)
