"""The renderer's loops, in numba: what is seen at each sample of a picture, and how the light falls on it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from posespace.check import Floats
from posespace.jit import njit

# Unit directions of the lights in the frame of the camera (right, up, towards the viewer), then strengths.
# Together they reach about 1, so that a lit colour is never brighter than the colour that was asked for.
_KEY, _KEY_LIGHT = (-0.53, 0.60, 0.60), 0.90
_FILL, _FILL_LIGHT = (0.78, 0.05, 0.62), 0.10
_SKY_LIGHT, _GROUND_LIGHT = 0.08, 0.03


@njit()
def _light(x: float, y: float, z: float) -> float:
    """Light that falls on a unit normal in the frame of the camera."""
    # Half-Lambert, squared: it fades to nothing, without the visible edge where a plain cosine stops.
    key = (0.5 + 0.5 * (x * _KEY[0] + y * _KEY[1] + z * _KEY[2])) ** 2
    fill = (0.5 + 0.5 * (x * _FILL[0] + y * _FILL[1] + z * _FILL[2])) ** 2
    ambient = _GROUND_LIGHT + (_SKY_LIGHT - _GROUND_LIGHT) * (0.5 + 0.5 * y)
    # Darker where the surface turns away, so that outlines stand out from a white page.
    return (_KEY_LIGHT * key + _FILL_LIGHT * fill + ambient) * (1 - 0.5 * (1 - z) ** 3)


@njit()
def _openness(depth: Floats, row: int, column: int, normal: Any, spots: Any) -> float:
    """Share, in 0..1, of the surroundings of a sample that the surface at the spots does not hide."""
    reach2 = float(spots[-1, 0] ** 2 + spots[-1, 1] ** 2)
    hidden = 0.0
    # The spots are dealt out to the four samples of a pixel, whose mean then sees them all.
    for k in range(row % 2 * 2 + column % 2, len(spots), 4):
        x, y = spots[k]
        if 0 <= row - y < depth.shape[0] and 0 <= column + x < depth.shape[1]:
            z = depth[row - y, column + x] - depth[row, column]
            distance2 = x * x + y * y + z * z
            if 0 < distance2 < reach2:
                rise = (x * normal[0] + y * normal[1] + z * normal[2]) / math.sqrt(distance2)
                # Low occluders do not count: on a coarse mesh they are the facets of the surface itself.
                hidden += max(rise - 0.15, 0.0) / 0.85 * (1 - distance2 / reach2)
    return 1 - 4 * hidden / len(spots)


@njit()
def shade(depth: Floats, surface: Floats, spots: Any) -> Floats:
    """The picture (H, W, 3) in linear light, from the samples that `rasterise` finds, four per pixel."""
    picture = np.zeros((depth.shape[0] // 2, depth.shape[1] // 2, 3), dtype=np.float32)
    for row in range(depth.shape[0]):
        for column in range(depth.shape[1]):
            light = 1.0
            if depth[row, column] > -np.inf:
                x, y, z = surface[row, column, :3]
                z = max(z, 0.0)  # smoothing may turn a normal away just inside an outline
                length = math.sqrt(x * x + y * y + z * z) + 1e-30
                normal = (x / length, y / length, z / length)
                light = _light(*normal) * _openness(depth, row, column, normal, spots)
            for k in range(3):
                picture[row // 2, column // 2, k] += min(light * surface[row, column, 3 + k], 1.0) / 4
    return picture


@njit()
def rasterise(corners: Floats, rows: int, columns: int, background: Floats) -> tuple[Floats, Floats]:
    """Find what is nearest to the viewer at the centre of each sample.

    `corners` (T, 3, 9) hold position, normal and colour. Returns the depth (rows, columns), -inf where there
    is nothing, and the surface (rows, columns, 6): normal and colour.
    """
    depth = np.full((rows, columns), -np.inf)
    surface = np.zeros((rows, columns, 6), dtype=np.float32)
    surface[:, :, 3:] = background
    for a, b, c in corners:
        area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
        if not 1e-12 < abs(area) < np.inf:
            continue
        # Clamped as floats: coordinates far outside do not survive the cast to an integer.
        left, right = max(min(a[0], b[0], c[0]) - 0.5, 0.0), min(max(a[0], b[0], c[0]) + 0.5, columns)
        top, bottom = max(min(a[1], b[1], c[1]) - 0.5, 0.0), min(max(a[1], b[1], c[1]) + 0.5, rows)
        for row in range(math.ceil(min(top, rows)), int(max(bottom, 0.0))):
            for column in range(math.ceil(min(left, columns)), int(max(right, 0.0))):
                x, y = column + 0.5 - a[0], row + 0.5 - a[1]
                v = (x * (c[1] - a[1]) - (c[0] - a[0]) * y) / area
                w = ((b[0] - a[0]) * y - x * (b[1] - a[1])) / area
                z = a[2] + v * (b[2] - a[2]) + w * (c[2] - a[2])
                # The tolerance closes the gaps between neighbours that round a shared edge differently.
                if min(v, w, 1 - v - w) > -1e-9 and z > depth[row, column]:
                    depth[row, column] = z
                    for k in range(6):
                        surface[row, column, k] = (1 - v - w) * a[3 + k] + v * b[3 + k] + w * c[3 + k]
    return depth, surface
