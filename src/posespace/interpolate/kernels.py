"""Kernels: the radial functions of an RBF, and the polynomial tails that may be added to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from posespace.interpolate.distances import Array

TAILS = ("none", "constant", "linear")


class Kernel(NamedTuple):
    """A radial function, the sign that makes it (conditionally) positive definite, and its usual tail."""

    value: Callable[[Array], Array]
    sign: float
    tail: str
    scale_free: bool


KERNELS = {
    "gaussian": Kernel(lambda r: np.exp(-0.5 * r * r), 1.0, "none", scale_free=False),
    "exponential": Kernel(lambda r: np.exp(-r), 1.0, "none", scale_free=False),
    "multiquadric": Kernel(lambda r: np.sqrt(1.0 + r * r), -1.0, "constant", scale_free=False),
    "thin_plate": Kernel(lambda r: r * r * np.log(np.where(r > 0.0, r, 1.0)), 1.0, "linear", scale_free=True),
    "linear": Kernel(lambda r: r.copy(), -1.0, "constant", scale_free=True),
    "cubic": Kernel(lambda r: r * r * r, 1.0, "linear", scale_free=True),
}
