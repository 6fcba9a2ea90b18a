"""The fine detail of a scanned hand: pores, and wrinkles across the fingers that deepen where the skin is pressed.

The lines stay where they are on the skin; their depth follows from the strain across them, so that the heights are a
function of the pose. Millimetres.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posespace.check import Floats, Ints
from posespace.geometry.normals import vertex_sums
from posespace.geometry.smoothstep import smoothstep
from posespace.rig import Rig

_SPACING = 2.6
"""Between two wrinkles, where the surface is fine enough to carry them."""

_SAMPLES = 4.5
"""Fine edges between two wrinkles, at least."""

_DEEPEST = 0.5
"""Strain beyond which wrinkles deepen no more."""

_DEPTH = 0.4
"""Depth of a wrinkle over its spacing, per unit of strain."""

_PORES = 0.045
_SLACK = 0.2
"""Strain that the skin has to spare over the knuckles of the stretched hand: there it is wrinkled at rest."""

_WAVES = 40


@dataclass(frozen=True, eq=False)
class SkinDetail:
    """The detail of skin: what does not change with the pose, per fine vertex.

    Parameters
    ----------
    along : (V,) millimetres along the hand and its fingers, of the simulated vertices at rest
    lines : (M,) 0 between wrinkles to 1 in the middle of one, less the mean
    slack : (M,) strain to spare at rest
    pores : (M,) heights that are always there
    spacing : millimetres between wrinkles
    """

    along: Floats
    lines: Floats
    slack: Floats
    pores: Floats
    spacing: float

    def heights(self, pressed: Floats) -> Floats:
        """Return the heights (M,) where the skin is `pressed` (M,) across the wrinkles, as a strain."""
        strain = np.clip(pressed + self.slack, 0, _DEEPEST)
        return np.asarray(self.pores - _DEPTH * self.spacing * strain * self.lines)


def skin_detail(rig: Rig, points: Floats, along: Floats, edge: float, seed: int) -> SkinDetail:
    """Return the detail of a hand's skin.

    Parameters
    ----------
    rig : the simulated hand
    points : (M, 3) the fine surface at rest
    along : (M,) what `along_fingers` gives, carried to the fine surface
    edge : mean length of the fine edges
    seed : of the irregularity of lines and pores
    """
    generator = np.random.default_rng(seed)
    spacing = max(_SPACING, _SAMPLES * edge)
    bent = 0.45 * _noise(points, 5 * spacing, generator) + 0.2 * _noise(points, 2 * spacing, generator)
    crest = 0.5 + 0.5 * np.cos(2 * np.pi * (along / spacing + bent))
    # Lines begin and end: the noise that makes them strong or weak is longer than they are wide.
    strength = smoothstep(0.55 + 0.5 * _noise(points, 3 * spacing, generator))
    pores = 0.6 * _noise(points, 3 * edge, generator) + 0.4 * _noise(points, 8 * edge, generator)
    lines = strength * (crest**2 - 0.375)
    return SkinDetail(along_fingers(rig), lines, _slack(rig, points), _PORES * pores, spacing)


def along_fingers(rig: Rig) -> Floats:
    """Return the distance (V,) of each vertex along the hand at rest: from the wrist, and on along its finger."""
    skeleton, points = rig.skeleton, rig.mesh.points.astype(np.float64)
    world = skeleton.rest_world
    start, axis = world[:, :3, 3], world[:, :3, 1]
    offset = np.zeros(len(skeleton))
    for joint, parent in enumerate(skeleton.parents):
        if parent >= 0:
            offset[joint] = offset[parent] + (start[joint] - start[parent]) @ axis[parent]
    lengths = np.einsum("vjc,jc->vj", points[:, None] - start, axis) + offset
    return np.asarray((rig.dense_weights() * lengths).sum(axis=1))


def pressed_along(rest: Floats, shape: Floats, triangles: Ints, along: Floats) -> Floats:
    """Return by which strain (V,) a shape (V, 3) is shorter than `rest` (V, 3) in the direction of rising `along` (V,).

    0 where lengths are kept, 0.3 where they shrink to 0.7, below 0 where the skin is stretched.
    """
    first, second = (rest[triangles[:, k]] - rest[triangles[:, 0]] for k in (1, 2))
    rise = np.stack([along[triangles[:, k]] - along[triangles[:, 0]] for k in (1, 2)], axis=1)
    gram = np.stack([(first * first).sum(1), (first * second).sum(1), (second * second).sum(1)], axis=1)
    area = np.maximum(gram[:, 0] * gram[:, 2] - gram[:, 1] ** 2, 1e-12)
    # The gradient of `along` in the plane of the triangle, as shares of its two sides.
    a = (gram[:, 2] * rise[:, 0] - gram[:, 1] * rise[:, 1]) / area
    b = (gram[:, 0] * rise[:, 1] - gram[:, 1] * rise[:, 0]) / area
    before = np.linalg.norm(a[:, None] * first + b[:, None] * second, axis=1)
    sides = [shape[triangles[:, k]] - shape[triangles[:, 0]] for k in (1, 2)]
    after = np.linalg.norm(a[:, None] * sides[0] + b[:, None] * sides[1], axis=1)
    strain = 1 - after / np.maximum(before, 1e-12)
    weights = np.sqrt(area)
    total = vertex_sums(weights[:, None], triangles, len(rest))
    summed = vertex_sums((weights * strain)[:, None], triangles, len(rest))
    return np.asarray((summed / np.maximum(total, 1e-12))[:, 0])


def _slack(rig: Rig, points: Floats) -> Floats:
    """Strain to spare (M,): most on the backs of the fingers' joints, a little in their crooks and at the wrist."""
    world, names = rig.skeleton.rest_world, rig.skeleton.names
    slack = np.zeros(len(points))
    for frame, name in zip(world, names, strict=True):
        if name == "forearm":
            continue
        local = (points - frame[:3, 3]) @ frame[:3, :3]
        reach = 9.0 if name.endswith(("pip", "ip", "dip")) else 14.0
        near = np.exp(-((local[:, 1] / reach) ** 2) - ((np.hypot(local[:, 0], local[:, 2]) / (2.2 * reach)) ** 4))
        back = smoothstep(0.5 + local[:, 2] / reach)
        slack = np.maximum(slack, _SLACK * near * np.where(reach < 10, 0.35 + 0.65 * back, 0.4))
    return slack


def _noise(points: Floats, size: float, generator: np.random.Generator) -> Floats:
    """Smooth noise (M,) in space of mean 0 and deviation 1, whose waves are about `size` long."""
    waves = generator.normal(size=(_WAVES, 3))
    waves *= 2 * np.pi / size * generator.uniform(0.7, 1.4, (_WAVES, 1)) / np.linalg.norm(waves, axis=1, keepdims=True)
    phases = generator.uniform(0, 2 * np.pi, _WAVES)
    total = np.zeros(len(points))
    for wave, phase in zip(waves, phases, strict=True):
        total += np.cos(points @ wave + phase)
    return np.asarray(total * np.sqrt(2 / _WAVES))
