"""Corrections of learned bones as morph targets, for programs that know no drivers: principal components over clips.

Each bone has its own amounts of the corrections, and a morph target moves all vertices at once. So the displacements
in the frames of the clips are decomposed, and the clips play the coordinates of the components.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from posespace.check import Floats
from posespace.formats.gltf.write.morph_targets import Component
from posespace.skin.skin import Skin

MOST = 64
"""Components that are kept at most: many programs are slow with more targets."""
NEAR = 5e-5
"""Error, as a fraction of the box's diagonal, below which no more components are added."""
SEEN = 1e-4
"""Errors above this fraction of the box's diagonal are told."""

_AT_ONCE = 4
"""Components that are added before the error is measured again."""
_MOST_SHAPES, _MOST_NUMBERS = 256, 40_000_000
"""The components are found from so many shapes, or from as many as have so many numbers."""
_NOTHING = 1e-6
"""A component that is so much weaker than the first is rounding."""


class Fallback(NamedTuple):
    """Corrections for programs that know no drivers.

    Parameters
    ----------
    components : orthonormal displacements, and their coordinates in the frames
    error : the largest error of a vertex in the frames that were looked at, as a fraction of the box's diagonal
    """

    components: list[Component]
    error: float

    def notes(self) -> list[str]:
        """Return a line where the error may be seen."""
        if self.error <= SEEN:
            return []
        most = f"the {MOST} morph targets of its clips leave an error of {self.error:.1g} of the box"
        return [f"viewers that do not know POSESPACE_drivers show part of the corrections: {most}"]


def fallback_of(skin: Skin, shown: Floats, amounts: Floats) -> Fallback:
    """Return components that give the corrections in the frames of clips; none where there are no corrections.

    Parameters
    ----------
    skin : whose bones have the corrections
    shown : (B, A) amounts of each bone in the pose that the file shows
    amounts : (P, B, A) amounts in the frames
    """
    if not skin.bones.correction_count:
        return Fallback([], 0.0)
    size = 3 * len(skin.rig.mesh.points)
    most = min(_MOST_SHAPES, max(MOST, _MOST_NUMBERS // size))
    rows = np.unique(np.linspace(0, len(amounts) - 1, most).astype(int))
    shapes = np.stack([skin.corrections(amounts[row]).ravel() for row in rows]).astype(np.float32)
    basis, error = _enough(_principal(shapes), shapes, skin.rig.mesh.diagonal)
    played = np.stack([basis @ skin.corrections(frame).ravel().astype(np.float32) for frame in amounts])
    at_rest = basis @ skin.corrections(shown).ravel()
    vertices = np.arange(size // 3, dtype=np.int32)
    components = [
        Component(
            f"corrections {k + 1}",
            vertices,
            row.reshape(-1, 3).astype(np.float64),
            None,
            np.zeros(0),
            float(at_rest[k]),
            played[:, k].astype(np.float64),
            is_fallback=True,
        )
        for k, row in enumerate(basis)
    ]
    return Fallback(components, error)


def _principal(shapes: Floats) -> Floats:
    """Orthonormal rows (C, 3N), the strongest first, at most `MOST`, that span displacements (P, 3N)."""
    gram = (shapes @ shapes.T).astype(np.float64)
    values, vectors = np.linalg.eigh(gram)
    strengths = np.sqrt(np.maximum(values[::-1], 0.0))
    kept = np.flatnonzero(strengths > _NOTHING * max(strengths[0], 1e-30))[:MOST]
    rows = (vectors[:, ::-1][:, kept] / strengths[kept]).T.astype(np.float32) @ shapes
    # Rounding leaves weak rows a little oblique.
    return np.linalg.qr(rows.T)[0].T if len(rows) else rows


def _enough(basis: Floats, shapes: Floats, diagonal: float) -> tuple[Floats, float]:
    """The first rows of a basis (C, 3N) that give shapes (P, 3N) closely enough, and the largest error of a vertex."""
    left, count = shapes.copy(), 0
    while True:
        error = max(float(np.linalg.norm(row.reshape(-1, 3), axis=1).max(initial=0.0)) for row in left)
        if error <= NEAR * diagonal or count >= len(basis):
            return basis[:count], error / max(diagonal, 1e-30)
        block = basis[count : count + _AT_ONCE]
        left -= (left @ block.T) @ block
        count += len(block)
