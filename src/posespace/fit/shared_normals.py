"""Corrections of normals driven by the coordinates of the points' layers, fitted to all poses at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from posespace.check import Floats32
from posespace.examples import Examples
from posespace.fit.block_least_squares import consecutive_folds, solve_blocks
from posespace.skin.basis import PackedBasis
from posespace.skin.layer import Layer


def share_normals(examples: Examples, layers: list[Layer], data: Floats32, bits: int) -> list[Layer]:
    """Give each layer corrections of the normals, by least squares against the normal residuals `data` (P, N, 3).

    They are regularised as cross-validation finds best.
    """
    rig = examples.rig
    coordinates = [
        layer.driver.interpolant(layer.driver.space.coordinates(examples.motion, rig.skeleton)) for layer in layers
    ]
    masks = [np.zeros(len(rig.mesh.points), dtype=np.float32) for _ in layers]
    for mask, layer in zip(masks, layers, strict=True):
        mask[layer.support] = 1
    # Fitted exactly to every pose, the corrections would oscillate between poses that move several joints.
    folds = consecutive_folds(np.arange(len(examples)))
    bases = solve_blocks(coordinates, data, masks, [np.eye(values.shape[1]) for values in coordinates], folds)
    shared = []
    for layer, basis in zip(layers, bases, strict=True):
        # A component acts on the normals where it acts on the points, so that the budget holds for both.
        acts = (np.asarray(layer.basis) != 0).max(axis=2, keepdims=True)
        shared.append(replace(layer, normal_basis=PackedBasis.pack(basis * acts, bits)))
    return shared
