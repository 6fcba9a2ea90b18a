"""Learned bones read back from a file's `POSESPACE_drivers`; all that they make players hold and compute is counted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from posespace import check
from posespace.budget import Budget
from posespace.check import Floats
from posespace.errors import InputError
from posespace.formats import gltf
from posespace.formats.checked_json import Fields
from posespace.formats.gltf.accessors import Accessors
from posespace.formats.gltf.buffers import Document
from posespace.formats.gltf.drivers import Pool
from posespace.formats.gltf.extension import EXTENSION
from posespace.formats.gltf.meshes import influences as bone_weights
from posespace.formats.gltf.point_joints import learned_part
from posespace.formats.gltf.write.conversion import Conversion
from posespace.rig import Rig
from posespace.skin.basis import Basis, PackedBasis
from posespace.skin.bones.learned import MOST_BONES, LearnedBones
from posespace.skin.bones.skeleton import SkeletonBones
from posespace.skin.bones.stage import BoneStage

_NUMBERS_A_STEP = 20_000
"""Numbers that are gathered and added up in a step; multiplied and added, five times as many."""
_ROTATIONS_A_STEP = 20
"""Rotations that are fitted to points in a step."""
_EDGES_AT_ONCE = 8192


@dataclass(frozen=True)
class Sizes:
    """The lengths of the axes of learned bones, by their letters in `LearnedBones`.

    Parameters
    ----------
    vertices, edges, ties : of the mesh, at most, and between its pieces
    points, bones, samples, near, models, values, slots, corrections : M, B, S, C, L, V, and K of influences, of
        corrections
    """

    vertices: int
    edges: int
    ties: int
    points: int
    bones: int
    samples: int
    near: int
    models: int
    values: int
    slots: int
    corrections: int

    @property
    def displacements(self) -> tuple[int, int, int]:
        """The shape of the corrections."""
        return self.corrections, self.vertices, 3

    def count(self, budget: Budget) -> None:
        """Count what playing the bones holds and computes; raise if the file's size does not explain it."""
        where = f"{EXTENSION}: bones"
        kernels = self.bones * self.models * self.samples
        budget.hold(2 * kernels * self.values, where)
        # The matrix and its inverse, the levers of three axes, and what is added to one of these.
        budget.hold(7 * self.bones**2, where)
        budget.hold(12 * self.bones * self.samples * self.near, where)
        budget.hold(4 * self.samples * self.points * 3, where)
        budget.hold(2 * self.vertices * self.slots * self.values, where)
        budget.hold(6 * self.vertices * self.corrections, where)
        blocks = -(-self.edges // _EDGES_AT_ONCE) - (-self.ties // _EDGES_AT_ONCE)
        products = 4 * (self.edges + self.ties + self.points) * (2 * self.slots) ** 2 + 4 * blocks * self.bones**2
        predicted = self.samples * kernels * self.values if self.corrections else kernels * self.values
        displaced = self.samples * self.vertices * self.corrections * (3 + self.slots)
        steps = (products + displaced) // _NUMBERS_A_STEP + (self.bones**3 // 10 + predicted) // (5 * _NUMBERS_A_STEP)
        fitted = self.bones * self.samples * (2 if self.corrections else 1)
        budget.work(steps + fitted // _ROTATIONS_A_STEP, "bones, samples and corrections", "export the skin again")


def read_bones(opened: gltf.Opened, fields: Fields, rig: Rig, conversion: Conversion) -> BoneStage:
    """Return the bones of a file, in the unit and axes of its `rig`: learned ones, or its joints.

    `fields` are the file's part of the extension.
    """
    part = learned_part(opened.document)
    if part is None:
        return SkeletonBones()
    accessors = Accessors(opened.document, part)
    binding = opened.bindings[0]
    *bones, root = binding.inverse_bind
    if root != opened.joints(binding)[0]:
        raise InputError(f"{part.where}: expected a skin whose joints are the bones and last the root")
    influences, weights = bone_weights(opened.document, binding.parts, [*bones, root])
    size = _sizes(accessors, part, rig, len(bones), weights.shape[1])
    size.count(opened.document.budget)
    scale, models = conversion.scale, (size.bones, size.models)
    rest, samples, widths = _in_double(Pool(opened.document, fields), accessors, part, size)
    return LearnedBones(
        points=accessors.whole("points", (size.points,), below=size.vertices),
        rest=conversion.offsets(rest),
        anchors=accessors.double("anchors", (size.points,)),
        samples=conversion.offsets(samples),
        near=accessors.whole("near", (size.bones, size.near), below=size.points),
        widths=scale * widths,
        offsets=conversion.quaternions(accessors.real("offsets", (*models, size.values))),
        coefficients=conversion.quaternions(accessors.real("coefficients", (*models, size.samples, size.values))),
        heat=scale * accessors.real("heat", (size.bones,)),
        blended=part.integer("blended"),
        centres=conversion.offsets(accessors.double("centres", (size.bones, 3))),
        influences=influences,
        weights=weights,
        beta=part.number("beta"),
        holds=accessors.double("holds", (size.bones, size.near)) if "holds" in part else None,
        ties=accessors.whole("ties", (size.ties, 2), below=size.vertices) if "ties" in part else None,
        corrections=_corrections(opened.document, part, size, conversion),
    )


def _in_double(pool: Pool, accessors: Accessors, part: Fields, size: Sizes) -> tuple[Floats, ...]:
    """The points' rest (M, 3), the samples (S, M, 3) and the widths (B, L): the exact ones, where there are any."""
    shapes = (size.points, 3), (size.samples, size.points, 3), (size.bones, size.models)
    if "exact" not in part:
        keys = "rest", "samples", "widths"
        return tuple(accessors.double(key, shape) for key, shape in zip(keys, shapes, strict=True))
    starts = accumulate((math.prod(shape) for shape in shapes), initial=part.integer("exact"))
    return tuple(pool.slice(part, start, shape) for start, shape in zip(starts, shapes, strict=False))


def _sizes(accessors: Accessors, part: Fields, rig: Rig, bones: int, slots: int) -> Sizes:
    """The sizes that the numbers of elements of the accessors imply; nothing is read."""
    vertices, points = len(rig.mesh.points), len(rig.skeleton) - 1
    if bones > MOST_BONES:
        raise InputError(f"{part.where}: expected at most {MOST_BONES}, got {bones}")
    models = accessors.axis("widths", bones)
    corrections = 0
    if "corrections" in part:
        corrections = Accessors(accessors.document, part.part("corrections")).axis("values", vertices, 3)
    return Sizes(
        vertices=vertices,
        edges=3 * len(rig.mesh.triangles),
        ties=accessors.axis("ties", 2) if "ties" in part else 0,
        points=points,
        bones=bones,
        samples=accessors.axis("samples", points, 3),
        near=accessors.axis("near", bones),
        models=models,
        values=accessors.axis("offsets", bones, models),
        slots=slots,
        corrections=corrections,
    )


def _corrections(document: Document, part: Fields, size: Sizes, conversion: Conversion) -> Basis | None:
    """The corrections (K, N, 3), as they were stored: lengths, or whole numbers and the length of one step of each."""
    if "corrections" not in part:
        return None
    stored = part.part("corrections")
    accessors, bits, shape = Accessors(document, stored), check.bits(stored.integer("bits")), size.displacements
    if bits == 32:
        return conversion.offsets(accessors.real("values", shape))
    steps = conversion.steps(accessors.steps("values", shape, bits)).reshape(-1, 3)
    scales = (conversion.scale * accessors.real("scales", shape[:1]).astype(np.float64)).astype(np.float32)
    starts = (size.vertices * np.arange(size.corrections + 1)).astype(np.int32)
    return PackedBasis(size.vertices, starts, np.zeros(0, np.uint16), steps, scales)
