"""PageSpace: poses and points as the page has them, in metres, and as the project's rig has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace import check
from posespace.check import Floats, Floats32
from posespace.errors import InputError
from posespace.formats.checked_json import Fields
from posespace.markers.markers import FASTEST
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.rig import Rig

_MOST_CONTROLS = 10_000


@dataclass(frozen=True, eq=False)
class PageSpace:
    """Converts between a page, which has what the skin's GLB has, and a rig.

    Parameters
    ----------
    rig : whose poses and points are converted
    """

    rig: Rig

    @property
    def metres(self) -> float:
        """Metres per unit of length of the rig."""
        return self.rig.mesh.unit

    def pose(self, fields: Fields) -> Pose:
        """Return the pose that a page sends: rotations, then translations from rest, of all joints; and controls."""
        joints = len(self.rig.skeleton)
        numbers = np.array(fields.numbers("joints", 7 * joints))
        controls = fields.part("controls", {})
        if len(controls.values) > _MOST_CONTROLS:
            raise InputError(f"controls: expected at most {_MOST_CONTROLS:,}, got {len(controls.values):,}")
        return Pose(
            numbers[: 4 * joints].reshape(joints, 4),
            numbers[4 * joints :].reshape(joints, 3) / self.metres,
            {name: controls.number(name) for name in controls},
        )

    def motion(self, joints: NDArray[Any], names: Sequence[str], values: NDArray[Any], rate: float) -> Motion:
        """Return the motion that a page sends, at `rate` frames per second.

        Parameters
        ----------
        joints : (F, 7J), or flat, the numbers of `pose` in each frame
        names : C controls
        values : (F, C), or flat
        rate : frames per second, above 0
        """
        count = len(self.rig.skeleton)
        if not joints.size or joints.size % (7 * count):
            raise InputError(f"frames: expected {7 * count} numbers for each frame, got {joints.size}")
        numbers = np.asarray(joints.reshape(-1, 7 * count), dtype=np.float64)
        if values.size != len(numbers) * len(names):
            raise InputError(f"values: expected {len(names)} for each of {len(numbers)} frames, got {values.size}")
        if not 0 < rate <= FASTEST:
            raise InputError(f"rate: expected frames per second, above 0 and at most {FASTEST:g}, got {rate}")
        return Motion(
            numbers[:, : 4 * count].reshape(-1, count, 4),
            numbers[:, 4 * count :].reshape(-1, count, 3) / self.metres,
            np.arange(len(numbers)) / rate,
            controls=values.reshape(len(numbers), len(names)),
            control_names=tuple(names),
        )

    def of_pose(self, pose: Pose) -> dict[str, Any]:
        """Return a pose as a page takes it."""
        numbers = [*pose.rotations.ravel().tolist(), *(self.metres * pose.translations).ravel().tolist()]
        return {"joints": numbers, "controls": dict(pose.controls)}

    def points(self, sent: NDArray[Any]) -> Floats:
        """Return points (N, 3) that a page sends in the rig's unit; raise unless there is one for each vertex."""
        shape = self.rig.mesh.points.shape
        # A page's arrays are flat.
        rows = sent.reshape(shape) if sent.ndim == 1 and sent.size == self.rig.mesh.points.size else sent
        checked = check.floats("points", rows, shape, check.LARGEST)
        return np.asarray(checked, dtype=np.float64) / self.metres

    def of_points(self, points: Floats) -> Floats32:
        """Return points (..., 3), or lengths, as a page has them."""
        return (self.metres * points).astype(np.float32)
