"""Outliers among examples: shapes far from plain skinning, what explains them, and torn seams."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from posespace.check import Floats
from posespace.examples import Examples, require_examples
from posespace.gathering.causes import Cause, CauseSearch
from posespace.gathering.seams import OPEN, seams_of, tears
from posespace.geometry.weld import Weld
from posespace.progress import track
from posespace.rig import Rig

_SAME = 5e-6
"""Largest distance, in diagonals, of a shape that equals plain skinning: rounding in a file of six digits."""
_NOTABLE = 1e-3
"""An example nearer to plain skinning than this fraction of the diagonal needs no explanation."""

_FAR, _TOO_FAR = 0.05, 0.25
"""An example stands out if its distance exceeds the first and that of the others, or exceeds the second."""

_OTHERS = 4.0
"""Multiple of the median distance beyond which an example is farther than the others."""


@dataclass(frozen=True)
class Finding:
    """The result of checking one example; distances are fractions of the box's diagonal.

    Parameters
    ----------
    pose : the name of its pose
    rms : root mean square distance of its vertices from plain skinning
    largest : the distance of the farthest vertex
    vertex : the number of that vertex
    near : the joint that moves that vertex most, or its position in the box if there is only one joint
    stands_out : whether it is much farther from plain skinning than the others
    cause : what explains it, or None
    torn : the distance of vertices that a seam splits and plain skinning keeps together
    torn_vertices : the two that are farthest apart, and the joint that moves them most
    """

    pose: str
    rms: float
    largest: float
    vertex: int
    near: str
    stands_out: bool = False
    cause: Cause | None = None
    torn: float = 0.0
    torn_vertices: tuple[int, int, str] | None = None

    @property
    def is_torn(self) -> bool:
        """Whether its seams are open."""
        return self.torn_vertices is not None

    @property
    def is_doubtful(self) -> bool:
        """Whether someone should look at this example."""
        return self.stands_out or self.cause is not None or self.is_torn


def check_examples(examples: Examples, reordered: Collection[str] = ()) -> list[Finding]:
    """Return the result of checking each example: its distance from plain skinning, and why if that is known.

    Parameters
    ----------
    examples : a rig, poses and shapes; see `Examples.open` and `Examples.from_shapes`
    reordered : names of poses whose shapes are known to have their vertices in another order
    """
    require_examples(examples)
    if not len(examples):
        return []
    rig, findings = examples.rig, []
    search = CauseSearch(rig, examples.motion)
    scale, seams = max(rig.mesh.diagonal, 1e-300), seams_of(rig)
    for index in track(range(len(examples)), "checking shapes"):
        shape, name = np.asarray(examples.shapes[index], np.float64), examples.motion.names[index]
        skinned = rig.skin(examples.motion[index])
        finding = _distance(name, shape, skinned, rig)
        if finding.rms > _NOTABLE:
            cause = search.find(shape, skinned, finding.rms * scale, name in reordered)
            finding = replace(finding, cause=cause)
        findings.append(finding if finding.cause is not None else _torn(finding, shape, skinned, rig, seams))
    usual = float(np.median([finding.rms for finding in findings]))
    limit = min(max(_FAR, _OTHERS * usual), _TOO_FAR)
    return [replace(finding, stands_out=finding.rms > limit) for finding in findings]


def outlier_notes(findings: Sequence[Finding], metres: float | None = None) -> list[str]:
    """Return one line per suspicious example, with the setting that corrects it; those with the same cause share one.

    `metres` is the length of the box's diagonal, for lengths in millimetres; None: lengths are fractions of it.
    """
    lines = []
    if findings and max(finding.largest for finding in findings) < _SAME:
        lines.append("every shape is that of plain skinning, so there is nothing to learn: were the sculpts saved?")
    groups: dict[Cause, list[str]] = {}
    for finding in findings:
        if finding.cause is not None:
            groups.setdefault(finding.cause, []).append(finding.pose)
    checked = sum(finding.rms > _NOTABLE for finding in findings)
    for cause, poses in groups.items():
        # What explains all shapes is one setting; what explains only some must leave the others alone.
        settings = cause.remedy if len(poses) == checked else cause.remedy_for(poses[:4])
        remedy = f"give {_arguments(settings)}" if settings else "rename it, or correct the list of poses"
        lines.append(f"{listed(poses)}: {cause}; {remedy}")
    for finding in findings:
        if finding.stands_out and finding.cause is None:
            away = f"lies {finding.rms:.0%} of the diagonal from plain skinning, {finding.largest:.0%} at vertex "
            lines.append(f"{finding.pose!r} {away}{finding.vertex} ({finding.near}): is it the shape of this pose?")
    torn = [finding for finding in findings if finding.is_torn]
    return [*lines, *(_torn_line(finding, metres) for finding in torn)]


def _torn(finding: Finding, shape: Floats, skinned: Floats, rig: Rig, seams: Weld) -> Finding:
    """The finding, with the seam that is open in the shape and closed in plain skinning."""
    gaps = (tears(seams, shape) - tears(seams, skinned)) / max(rig.mesh.diagonal, 1e-300)
    if not len(gaps) or gaps.max() <= OPEN:
        return finding
    vertex = int(gaps.argmax())
    ends = (int(seams.first[seams.groups[vertex]]), vertex, _near(vertex, rig))
    return replace(finding, torn=float(gaps[vertex]), torn_vertices=ends)


def _arguments(settings: Mapping[str, object]) -> str:
    """Settings as they are passed in Python, between backquotes, which the command line shows as its options."""
    return f"`{', '.join(f'{name}={value!r}' for name, value in settings.items())}`"


def _torn_line(finding: Finding, metres: float | None) -> str:
    """One line about a torn seam."""
    assert finding.torn_vertices is not None
    first, second, near = finding.torn_vertices
    apart = f"{finding.torn:.2%} of the diagonal" if metres is None else f"{1000 * metres * finding.torn:.3g} mm"
    where = f"vertices {first} and {second} ({near}), which are one at rest, are {apart} apart"
    remedy = "sculpt it with its seams merged, as the OBJ files of `posespace pose` have them"
    return f"{finding.pose!r} tore a seam: {where}; {remedy}"


def listed(poses: Sequence[str]) -> str:
    """Return names for a message: the first four, and how many more there are."""
    shown = ", ".join(repr(pose) for pose in poses[:4])
    return f"{shown} and {len(poses) - 4} more" if len(poses) > 4 else shown


def _distance(name: str, shape: Floats, skinned: Floats, rig: Rig) -> Finding:
    """The finding with the distance of a shape from plain skinning."""
    gaps = np.linalg.norm(shape - skinned, axis=1) / max(rig.mesh.diagonal, 1e-300)
    if not len(gaps):
        return Finding(name, 0.0, 0.0, 0, "")
    vertex = int(gaps.argmax())
    return Finding(name, float(np.sqrt((gaps**2).mean())), float(gaps[vertex]), vertex, _near(vertex, rig))


def _near(vertex: int, rig: Rig) -> str:
    """The joint that moves a vertex most, or the position of the vertex in the box if there is only one joint."""
    if len(rig.skeleton) > 1:
        strongest = int(rig.weights[vertex].argmax())
        return rig.skeleton.names[int(rig.influences[vertex, strongest])]
    low, high = rig.mesh.box
    position = (rig.mesh.points[vertex] - low) / np.maximum(high - low, 1e-300)
    return ", ".join(f"{axis} {fraction:.0%}" for axis, fraction in zip("xyz", position.tolist(), strict=True))
