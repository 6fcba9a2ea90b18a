"""The error of a skin with only the first components of its layers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from posespace.check import Floats, Ints
from posespace.examples import Examples
from posespace.geometry import skinning
from posespace.skin.basis import Basis, combined
from posespace.skin.skin import Skin


def error_by_level(skin: Skin, levels: Sequence[int], examples: Examples) -> list[float]:
    """Return the relative error of `skin.truncated(level)` for each level, ascending from 0, of a skin without detail.

    Each pose is driven and blended once, and every component is added once.
    """
    rig, squares, base = skin.rig, np.zeros(len(levels)), 0.0
    steps = [_step(skin, first, last, examples) for first, last in itertools.pairwise([0, *levels])]
    for index, (pose, shape) in enumerate(examples):
        base += float(((examples.rig.skin(pose) - shape) ** 2).sum())
        blend, moved = rig.blend(pose), np.zeros(rig.mesh.points.shape)
        for number, step in enumerate(steps):
            for support, basis, coordinates in step:
                moved[support] += combined(basis, coordinates[index])
            squares[number] += ((skinning.apply(blend, rig.mesh.points + moved) - shape) ** 2).sum()
    return [math.sqrt(square / (base or 1.0)) for square in squares.tolist()]


def _step(skin: Skin, first: int, last: int, examples: Examples) -> list[tuple[Ints, Basis, Floats]]:
    """Components `first` to `last` of each layer that has any: its support, their basis, their coordinates (P, C)."""
    parts = []
    for layer in skin.layers:
        components = slice(first, min(last, layer.driver.components))
        if components.start < components.stop:
            coordinates = skin.coordinates(layer.driver, examples.motion)[:, components]
            parts.append((layer.support, layer.basis[components], coordinates))
    return parts
