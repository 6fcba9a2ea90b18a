"""The smooth step from 0 to 1, level at both ends."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def smoothstep(t: NDArray[np.floating[Any]]) -> NDArray[Any]:
    """Return 0 up to t = 0, 1 from t = 1 on, and between them 3t² - 2t³; in the precision of `t`."""
    t = np.clip(t, 0, 1)
    return np.asarray(t * t * (3 - 2 * t))


def step_across(x: NDArray[np.floating[Any]], reach: float) -> NDArray[Any]:
    """Return a smooth step from 0 at x = -reach to 1 at x = reach."""
    return smoothstep(0.5 + x / (2 * reach))
