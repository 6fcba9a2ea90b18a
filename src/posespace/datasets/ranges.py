"""The ranges of single degrees of freedom in a set of examples: how the correction changes along them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from posespace.check import Floats
from posespace.examples import Examples
from posespace.pose import Pose


@dataclass(frozen=True, eq=False)
class Range:
    """One side of a degree of freedom's range, outwards from rest.

    Parameters
    ----------
    name : e.g. "index_pip.x +"
    degrees : (P,) from 0 on, away from it
    poses : P of them, the rest pose first
    corrections : (P, N, 3) shape less plain skinning
    """

    name: str
    degrees: Floats
    poses: Sequence[Pose]
    corrections: Floats

    def changes(self) -> tuple[Floats, Floats]:
        """Return the change of the correction per degree in each step (P - 1,): its RMS, and its maximum."""
        steps = np.abs(np.diff(self.degrees))
        changes = [np.linalg.norm(after - before, axis=1) for before, after in pairwise(self.corrections)]
        rms = np.array([np.sqrt((change**2).mean()) for change in changes])
        return rms / steps, np.array([change.max() for change in changes]) / steps

    def jumps(self, factor: float = 2.0) -> list[tuple[float, float]]:
        """Return the steps, from and to degrees, whose largest change per degree is above `factor` times the median."""
        _, most = self.changes()
        sudden = np.flatnonzero(most > factor * np.median(most))
        return [(float(self.degrees[k]), float(self.degrees[k + 1])) for k in sudden]


def ranges_of(*sets: Examples) -> list[Range]:
    """Return all ranges of sets of one rig, by pose names such as `index_pip.x +69` and `between index_pip.x +77`.

    The first set starts with the rest pose; poses with other names are left out.
    """
    first = sets[0]
    rest = 0.0, first.motion[0], np.zeros_like(first.rig.mesh.points, dtype=np.float64)
    sides: dict[str, list[tuple[float, Pose, Floats]]] = {}
    for examples in sets:
        skeleton = examples.rig.skeleton
        # Names are rounded to whole degrees, the poses are not.
        degrees_of = np.degrees(skeleton.angles(examples.motion.rotations.astype(np.float64)))
        for index, name in enumerate(examples.motion.names):
            freedom, _, degrees = name.removeprefix("between ").partition(" ")
            joint, _, axis = freedom.partition(".")
            if axis and degrees:
                pose = examples.motion[index]
                correction = np.asarray(examples.shapes[index]) - examples.rig.skin(pose)
                angle = float(degrees_of[index, skeleton.index(joint), "xyz".index(axis)])
                sides.setdefault(f"{freedom} {degrees[0]}", [rest]).append((angle, pose, correction))
    ranges = []
    for name, side in sides.items():
        side.sort(key=lambda entry: abs(entry[0]))
        angles, corrections = np.array([entry[0] for entry in side]), np.stack([entry[2] for entry in side])
        ranges.append(Range(name, angles, [entry[1] for entry in side], corrections))
    return ranges
