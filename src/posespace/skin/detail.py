"""Detail: the skinned surface subdivided, and heights along its normals that a pose drives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError
from posespace.geometry.subdivision import MOST_LEVELS
from posespace.skin.driver import Driver


@dataclass(frozen=True, eq=False)
class Detail:
    """A height map: the skinned surface subdivided, then moved along its normals by driven heights.

    Parameters
    ----------
    levels : number of subdivisions, 0 to 6
    driver : pose to coordinates (C,); None: learned bones give them, each bone its own
    heights : (C, F) height of each fine vertex per unit of each coordinate, in the mesh's unit; or whole numbers of 16
        or 8 bits, to be multiplied by `scales`
    scales : (C,) the length of one unit of each component's heights, or None where they are lengths
    """

    levels: int
    driver: Driver | None
    heights: NDArray[Any]
    scales: Floats | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.levels <= MOST_LEVELS:
            raise InputError(f"detail levels: expected 0 to {MOST_LEVELS}, got {self.levels}")
        count = len(self.heights) if self.driver is None else self.driver.components
        if self.scales is None:
            heights = check.floats("detail heights", self.heights, (count, "F"), check.LARGEST)
        else:
            heights = _whole(self.heights, count)
            object.__setattr__(self, "scales", check.floats("detail scales", self.scales, (count,), check.LARGEST))
        object.__setattr__(self, "heights", heights)

    def heights_at(self, coordinates: Floats) -> Floats:
        """Return the heights (F,) at coordinates (C,), or at those of each vertex (F, C)."""
        amounts = coordinates if self.scales is None else coordinates * self.scales
        return np.asarray(amounts @ self.heights if amounts.ndim == 1 else np.einsum("fc,cf->f", amounts, self.heights))

    def packed(self, bits: int) -> Detail:
        """Return the detail with its heights in 32, 16 or 8 bits per number."""
        if check.bits(bits) == 32:
            heights = self.heights if self.scales is None else self.heights * self.scales[:, None]
            return replace(self, heights=heights.astype(np.float32), scales=None)
        plain = self.packed(32).heights
        most = 2 ** (bits - 1) - 1
        scales = np.abs(plain).max(axis=1, initial=0.0).astype(np.float64) / most
        rounded = np.rint(plain / np.where(scales > 0, scales, 1.0)[:, None])
        return replace(self, heights=rounded.astype(f"i{bits // 8}"), scales=scales)


def _whole(heights: NDArray[Any], count: int) -> NDArray[Any]:
    """Heights (C, F) in whole numbers, read-only."""
    whole = np.asarray(heights)
    if whole.dtype not in (np.int16, np.int8) or whole.ndim != 2 or len(whole) != count:
        wanted = f"whole numbers of 16 or 8 bits of shape ({count}, F)"
        raise InputError(f"detail heights: expected {wanted}, got {whole.dtype} of shape {whole.shape}")
    view = whole.view()
    view.flags.writeable = False
    return view
