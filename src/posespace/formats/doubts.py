"""How far each example lies from plain skinning, which of them stand out, and what would explain it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from posespace.check import Floats
from posespace.examples import Examples, require_examples
from posespace.formats.causes import Cause, Causes
from posespace.progress import track
from posespace.rig import Rig

_NOTABLE = 1e-3
"""An example nearer to plain skinning than this fraction of the box needs no explanation."""

_FAR, _TOO_FAR = 0.05, 0.25
"""An example stands out if it is farther than the first and than others are, or farther than the second."""

_OTHERS = 4.0
"""How many times as far as the median of all examples counts as farther than others are."""


@dataclass(frozen=True)
class Finding:
    """What was found about one example; distances are fractions of the box's diagonal.

    Parameters
    ----------
    pose : the name of its pose
    rms : root mean square distance of its vertices from plain skinning
    largest : the distance of the vertex that is farthest
    vertex : the number of that vertex
    near : the joint that moves that vertex most, or where in the box it is if there is but one joint
    stands_out : whether it is much farther away than the others
    cause : what would explain it, or None
    """

    pose: str
    rms: float
    largest: float
    vertex: int
    near: str
    stands_out: bool = False
    cause: Cause | None = None

    @property
    def is_doubtful(self) -> bool:
        """Whether someone should look at this example."""
        return self.stands_out or self.cause is not None


def check_examples(examples: Examples, reordered: Collection[str] = ()) -> list[Finding]:
    """Return what was found about each example: how far it is from plain skinning, and why if it can be told.

    Parameters
    ----------
    examples : a rig, poses and shapes; see `Examples.open` and `Examples.from_shapes`
    reordered : names of poses whose shapes are known to have their vertices in another order
    """
    require_examples(examples)
    if not len(examples):
        return []
    rig, found = examples.rig, []
    causes = Causes(rig, examples.motion)
    scale = max(rig.mesh.diagonal, 1e-300)
    for index in track(range(len(examples)), "checking shapes"):
        shape, name = np.asarray(examples.shapes[index], np.float64), examples.motion.names[index]
        skinned = rig.skin(examples.motion[index])
        finding = _distance(name, shape, skinned, rig)
        if finding.rms > _NOTABLE:
            cause = causes.find(shape, skinned, finding.rms * scale, name in reordered)
            finding = replace(finding, cause=cause)
        found.append(finding)
    usual = float(np.median([finding.rms for finding in found]))
    limit = min(max(_FAR, _OTHERS * usual), _TOO_FAR)
    return [replace(finding, stands_out=finding.rms > limit) for finding in found]


def doubts(findings: Sequence[Finding]) -> list[str]:
    """Return one line per doubt, with the option that mends it; examples with the same cause share a line."""
    lines = []
    groups: dict[Cause, list[str]] = {}
    for finding in findings:
        if finding.cause is not None:
            groups.setdefault(finding.cause, []).append(finding.pose)
    checked = sum(finding.rms > _NOTABLE for finding in findings)
    for cause, poses in groups.items():
        # What explains all shapes is one option; what explains some must leave the others alone.
        names = [""] if len(poses) == checked else poses[:4]
        options = " ".join(dict.fromkeys(cause.options(name) for name in names))
        remedy = f"give {options}" if options else "rename it, or correct the list of poses"
        lines.append(f"{listed(poses)}: {cause}; {remedy}")
    for finding in findings:
        if finding.stands_out and finding.cause is None:
            away = f"lies {finding.rms:.0%} of the diagonal from plain skinning, {finding.largest:.0%} at vertex "
            lines.append(f"{finding.pose!r} {away}{finding.vertex} ({finding.near}): is it the shape of this pose?")
    return lines


def listed(poses: Sequence[str]) -> str:
    """Return names for a message: the first four, and how many more there are."""
    shown = ", ".join(repr(pose) for pose in poses[:4])
    return f"{shown} and {len(poses) - 4} more" if len(poses) > 4 else shown


def _distance(name: str, shape: Floats, skinned: Floats, rig: Rig) -> Finding:
    gaps = np.linalg.norm(shape - skinned, axis=1) / max(rig.mesh.diagonal, 1e-300)
    if not len(gaps):
        return Finding(name, 0.0, 0.0, 0, "")
    vertex = int(gaps.argmax())
    return Finding(name, float(np.sqrt((gaps**2).mean())), float(gaps[vertex]), vertex, _near(vertex, rig))


def _near(vertex: int, rig: Rig) -> str:
    if len(rig.skeleton) > 1:
        strongest = int(rig.weights[vertex].argmax())
        return rig.skeleton.names[int(rig.influences[vertex, strongest])]
    low, high = rig.mesh.box
    place = (rig.mesh.points[vertex] - low) / np.maximum(high - low, 1e-300)
    return ", ".join(f"{axis} {share:.0%}" for axis, share in zip("xyz", place.tolist(), strict=True))
