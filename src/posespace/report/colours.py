"""The colours of meshes in pictures: clay, and the heat of errors."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from posespace.check import Floats
from posespace.errors import InputError

CLAY, NO_ERROR = (0.88, 0.82, 0.77), (0.86, 0.86, 0.86)

# The colour map inferno by Nathaniel Smith and Stéfan van der Walt (public domain, CC0), from light to dark in even
# steps. Its dark end is left out, for it would pass for shadow.
_INFERNO = """
    f6d746 fac42a fcb014 fb9d07 f98b0b f47918 ed6925 e45a31 da4e3c
    ce4347 c03a51 b1325a a22b62 922568 82206c 721a6e 62146e
"""
_WARM = np.array([tuple(bytes.fromhex(colour)) for colour in _INFERNO.split()]) / 255


def heat(values: ArrayLike, top: float) -> Floats:
    """Return colours (N, 3) of errors (N,): light grey at zero, then orange, red, and purple from `top` on.

    Lightness falls all the way and equal steps look about equal. What is not a number gets the colour of
    `top`: a failure must not look like a success.
    """
    if not 0 < top < math.inf:
        raise InputError(f"top of the heat scale: expected a positive number, got {top}")
    share = np.clip(np.nan_to_num(np.asarray(values, dtype=np.float64) / top, nan=1.0), 0, 1)
    knots = np.linspace(0, 1, len(_WARM))
    warm = np.stack([np.interp(share, knots, channel) for channel in _WARM.T], axis=-1)
    blend = np.minimum(share / 0.5, 1)[..., None]
    return np.asarray((1 - blend) * NO_ERROR + blend * warm)
