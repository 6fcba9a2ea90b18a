"""A few of many places, spread as far apart as they can be."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from posespace.check import Floats


def spread(gaps: Floats, distances_to: Callable[[int], Floats], most: int, least: float) -> list[int]:
    """Choose places one after the other, each the farthest from all before.

    Parameters
    ----------
    gaps : (P,) how far each place is from those taken beforehand
    distances_to : the distances (P,) of all places to the one of a number
    most : how many to choose at most
    least : no place that is this near to one before is chosen
    """
    chosen: list[int] = []
    while len(chosen) < most and gaps.max() > least:
        chosen.append(int(gaps.argmax()))
        gaps = np.minimum(gaps, distances_to(chosen[-1]))
    return chosen
