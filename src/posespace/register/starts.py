"""Starting shapes: earlier registrations of a template, of which the closest to a scan is its start."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posespace.check import Floats
from posespace.errors import FileError
from posespace.examples import Examples
from posespace.formats.landmarks import Spots
from posespace.mesh import Mesh
from posespace.register.align import align
from posespace.register.landmarks import shared
from posespace.register.registration import Registrar


@dataclass(frozen=True, eq=False)
class Starts:
    """Shapes of the template by name.

    Parameters
    ----------
    names : S of them
    shapes : (S, N, 3)
    """

    names: tuple[str, ...]
    shapes: Floats

    @classmethod
    def open(cls, path: Path, template: Mesh) -> Starts:
        """Read the shapes of an example store that was made from the same template."""
        examples = Examples.open(path)
        mesh = examples.rig.mesh
        if len(mesh.points) != len(template.points) or not np.array_equal(mesh.triangles, template.triangles):
            raise FileError(path, "its shapes are not of this template; give a store that was registered from it")
        if not len(examples):
            raise FileError(path, "has no finished shape to start from")
        shapes = np.stack([np.asarray(shape, dtype=np.float64) for _, shape in examples])
        return cls(tuple(examples.motion.names), shapes)

    @property
    def digest(self) -> str:
        """Digits that identify these shapes."""
        return hashlib.sha256("\n".join(self.names).encode() + self.shapes.tobytes()).hexdigest()[:16]

    def nearest(self, registrar: Registrar, scan: Mesh, landmarks: Spots, name: str) -> int | None:
        """Return the shape whose landmarks are nearest to a scan's; None where the template's are nearer.

        A shape with the name of the scan does not count: it is the registration of that scan.
        """
        theirs = registrar.landmarks_on_scan(scan, landmarks)
        gaps = [_gap(registrar.landmarks_on(shape), theirs) for shape in self.shapes]
        gaps = [np.inf if shape_name == name else gap for shape_name, gap in zip(self.names, gaps, strict=True)]
        best = int(np.argmin(gaps))
        return best if gaps[best] < _gap(registrar.landmarks, theirs) else None


def _gap(ours: dict[str, Floats], theirs: dict[str, Floats]) -> float:
    """The root mean square distance of a scan's landmarks from those of a shape it is aligned to."""
    _, one, other = shared(ours, theirs)
    return float(np.sqrt(((align(other, one).moved(other) - one) ** 2).sum(axis=1).mean()))
