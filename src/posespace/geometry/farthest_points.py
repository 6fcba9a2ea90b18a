"""Farthest-point sampling: a few of many points, spread as far apart as possible."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from posespace.check import Floats


def spread(gaps: Floats, distances_to: Callable[[int], Floats], most: int, least: float) -> list[int]:
    """Choose points one after the other, each the farthest from all before.

    Parameters
    ----------
    gaps : (P,) distance of each point from those chosen beforehand
    distances_to : the distances (P,) of all points from one, by its number
    most : largest number of points to choose
    least : distance within which no second point is chosen
    """
    chosen: list[int] = []
    while len(chosen) < most and gaps.max() > least:
        chosen.append(int(gaps.argmax()))
        gaps = np.minimum(gaps, distances_to(chosen[-1]))
    return chosen
