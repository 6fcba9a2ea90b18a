"""What the frames of a skin pass through besides its bones: a plain choice, made once from what the skin has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from posespace.runtime.cpu.blocks import Blocks
from posespace.runtime.detail.surface_normals import SurfaceNormals
from posespace.runtime.drive.tables import DriverTables
from posespace.skin.skin import Skin

if TYPE_CHECKING:
    from posespace.runtime.bones.dual_quaternions import DualQuaternions
    from posespace.runtime.cpu.bone_corrections import CorrectedRest
    from posespace.runtime.detail.detail import PosedDetail


_ONE = ((0, 1),)


@dataclass(frozen=True, eq=False)
class Stages:
    """The stages of a skin's frames; None where the skin has none of it.

    Parameters
    ----------
    corrections : the rest shape displaced by amounts of the bones
    dual : dual quaternion blending in place of linear
    surface_normals : normals of the posed surface, in place of normals that the bones carry
    detail : the posed surface subdivided and moved along its normals
    """

    corrections: CorrectedRest | None = None
    dual: DualQuaternions | None = None
    surface_normals: SurfaceNormals | None = None
    detail: PosedDetail | None = None

    @classmethod
    def of(cls, blocks: Blocks, skin: Skin, drivers: DriverTables, surface_normals: bool, threads: int) -> Stages:
        """Return the stages of a skin, with modules loaded only for those that it has: a start takes less time."""
        stages = cls()
        if skin.bones.correction_count:
            from posespace.runtime.cpu.bone_corrections import CorrectedRest

            rest = CorrectedRest(blocks, *skin.bones.corrections_of(skin.rig), threads)
            stages = replace(stages, corrections=rest)
        if skin.rig.blending == "dual_quaternion":
            from posespace.runtime.bones.dual_quaternions import DualQuaternions

            stages = replace(stages, dual=DualQuaternions(skin.rig, threads))
        if skin.detail is not None:
            from posespace.runtime.detail.detail import PosedDetail

            return replace(stages, detail=PosedDetail(skin, skin.detail, drivers.detail, threads))
        return replace(stages, surface_normals=SurfaceNormals(skin.mesh, threads)) if surface_normals else stages

    @property
    def together(self) -> bool:
        """Whether several poses are written by one call: all but linear blending works on one pose at a time."""
        return self.corrections is None and self.dual is None and self.detail is None

    def batches(self, poses: int) -> Sequence[tuple[int, int]]:
        """Return the first and last row, excluded, of the poses that one call writes."""
        if poses == 1:
            return _ONE
        return [(0, poses)] if self.together else [(row, row + 1) for row in range(poses)]

    @property
    def nbytes(self) -> int:
        """Bytes that a frame reads and writes in these stages."""
        stages = (self.corrections, self.surface_normals, self.detail)
        return sum(stage.nbytes for stage in stages if stage is not None)

    def clone(self) -> Stages:
        """Return the same with their own room to work in, for another thread."""
        surface_normals = self.surface_normals and self.surface_normals.clone()
        return replace(self, surface_normals=surface_normals, detail=self.detail and self.detail.clone())

    def on_one_core(self) -> None:
        """Use one core from now on."""
        for stage in (self.corrections, self.dual, self.surface_normals, self.detail):
            if stage is not None:
                stage.on_one_core()
