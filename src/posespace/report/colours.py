"""The colours of meshes in pictures: clay, and the heat of errors."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from posespace.check import Floats
from posespace.errors import InputError

CLAY = (0.88, 0.82, 0.77)

# The page that `export` writes has the same colours: its script is built with this file. From light grey they go over
# to the colour map inferno by Nathaniel Smith and Stéfan van der Walt (public domain, CC0), from light to dark in even
# steps. Its dark end is left out, for it would pass for shadow.
_STOPS = np.array(
    [
        tuple(bytes.fromhex(colour.removeprefix("#")))
        for colour in json.loads(Path(__file__).with_name("heat.json").read_text(encoding="utf-8"))
    ]
)


def heat(values: ArrayLike, top: float) -> Floats:
    """Return colours (N, 3) of errors (N,): light grey at zero, then orange, red, and purple from `top` on.

    Lightness falls all the way and equal steps look about equal. What is not a number gets the colour of
    `top`: a failure must not look like a success.
    """
    if not 0 < top < math.inf:
        raise InputError(f"top of the heat scale: expected a positive number, got {top}")
    share = np.clip(np.nan_to_num(np.asarray(values, dtype=np.float64) / top, nan=1.0), 0, 1)
    knots = np.linspace(0, 1, len(_STOPS))
    return np.stack([np.interp(share, knots, channel / 255) for channel in _STOPS.T], axis=-1)
