"""BonesOnMesh: what learned bones make of the mesh they move, the solver of their positions and their limits."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from posespace.mesh import Mesh
from posespace.skin.bones.positions import BonePositions
from posespace.skin.bones.stage import Binding, Corrections
from posespace.skin.bound import Neighbourhoods, limits_of

if TYPE_CHECKING:
    from posespace.skin.bones.learned import LearnedBones


class BonesOnMesh:
    """What learned bones need besides their data to move a mesh; each part is made when it is first used."""

    def __init__(self, bones: LearnedBones, mesh: Mesh) -> None:
        self.mesh, self._bones = mesh, bones

    @cached_property
    def positions(self) -> BonePositions:
        """Solves for the positions of the bones from their rotations."""
        return BonePositions(self._bones, self.mesh)

    @cached_property
    def corrections(self) -> Corrections:
        """The corrections and their limits."""
        bones, count = self._bones, len(self.mesh.points)
        if bones.corrections is None:
            return Corrections.none(count)
        dense, binding = np.asarray(bones.corrections), Binding(bones.influences, bones.weights, len(bones))
        amounts = (bones.predict(positions - bones.rest)[1] for positions in bones.samples)
        coordinates = (binding.per_vertex(row[:, : bones.correction_count]) for row in amounts)
        displaced = (np.einsum("nc,cnx->nx", row, dense) for row in coordinates)
        return Corrections(dense, limits_of(displaced, np.arange(count, dtype=np.int32), Neighbourhoods(self.mesh)))
