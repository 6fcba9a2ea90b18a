"""Corrections of normals for layers of points, driven by the same coordinates, where all poses are fitted at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from posespace.check import Floats32
from posespace.examples import Examples
from posespace.fit.eigenskin.term_solve import runs_of, solve_for
from posespace.skin.basis import PackedBasis
from posespace.skin.layer import Layer


def share_normals(examples: Examples, layers: list[Layer], data: Floats32, bits: int) -> list[Layer]:
    """Give each layer corrections of the normals, driven by its own coordinates: least squares against (P, N, 3).

    How much large corrections are held back is what best predicts poses that are left out.
    """
    rig = examples.rig
    coordinates = [
        layer.driver.interpolant(layer.driver.space.coordinates(examples.motion, rig.skeleton)) for layer in layers
    ]
    masks = [np.zeros(len(rig.mesh.points), dtype=np.float32) for _ in layers]
    for mask, layer in zip(masks, layers, strict=True):
        mask[layer.support] = 1
    # Fitted to every pose as it is, the corrections would swing between poses that move much at once.
    folds = runs_of(np.arange(len(examples)))
    bases, _ = solve_for(coordinates, data, masks, [np.eye(values.shape[1]) for values in coordinates], folds)
    shared = []
    for layer, basis in zip(layers, bases, strict=True):
        # A component acts on the normals where it acts on the points, so that the budget holds for both.
        acts = (np.asarray(layer.basis) != 0).max(axis=2, keepdims=True)
        shared.append(replace(layer, normal_basis=PackedBasis.pack(basis * acts, bits)))
    return shared
