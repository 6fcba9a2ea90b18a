"""Corrections of normals for a layer of points: at the same poses, driven by the same coordinates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.skin.basis import widened
from posespace.skin.layer import Layer

LEAST = 1e-3
"""A normal that is corrected by less than this, about 0.06 degrees, in every sculpt is not corrected."""


def noticeable(corrections: Floats) -> NDArray[np.bool_]:
    """Return (...,) which corrections (..., 3) are longer than `LEAST`."""
    return np.asarray(np.linalg.norm(corrections, axis=-1) > LEAST)


def with_normals(layer: Layer, corrections: Floats) -> Layer:
    """Return the layer with the corrections of normals (C, N, 3) that go with its components.

    Its support grows by the vertices whose normals change although they do not move: neighbours of those that move.
    """
    changed: NDArray[np.bool_] = np.any(noticeable(corrections), axis=0)
    changed[layer.support] = True
    support = np.flatnonzero(changed).astype(np.int32)
    basis = widened(layer.basis, layer.support, support)
    return replace(layer, support=support, basis=basis, normal_basis=corrections[:, support].astype(np.float32))
