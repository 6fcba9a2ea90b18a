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
_LOW = 0.15


@njit(error_model="numpy")
def _light(x: float, y: float, z: float) -> float:
    """Light that falls on a unit normal in the frame of the camera."""
    # Half-Lambert, squared: it fades to nothing, without the visible edge where a plain cosine stops.
    key = (0.5 + 0.5 * (x * _KEY[0] + y * _KEY[1] + z * _KEY[2])) ** 2
    fill = (0.5 + 0.5 * (x * _FILL[0] + y * _FILL[1] + z * _FILL[2])) ** 2
    ambient = _GROUND_LIGHT + (_SKY_LIGHT - _GROUND_LIGHT) * (0.5 + 0.5 * y)
    # Darker where the surface turns away, so that outlines stand out from a white page.
    return (_KEY_LIGHT * key + _FILL_LIGHT * fill + ambient) * (1 - 0.5 * (1 - z) ** 3)


@njit(error_model="numpy")
def _openness(depth: Floats, row: int, column: int, normal: Any, spots: Any) -> float:
    """Share, in 0..1, of the surroundings of a sample that the surface at the spots does not hide."""
    reach2 = float(spots[-1, 0] ** 2 + spots[-1, 1] ** 2)
    here, hidden = depth[row, column], 0.0
    # The spots are dealt out to the four samples of a pixel, whose mean then sees them all.
    for k in range(row % 2 * 2 + column % 2, len(spots), 4):
        x, y = spots[k, 0], spots[k, 1]
        if 0 <= row - y < depth.shape[0] and 0 <= column + x < depth.shape[1]:
            z = depth[row - y, column + x] - here
            distance2 = x * x + y * y + z * z
            rise = x * normal[0] + y * normal[1] + z * normal[2]
            # Low occluders do not count: on a coarse mesh they are the facets of the surface itself.
            if 0 < distance2 < reach2 and rise > 0 and rise * rise > _LOW * _LOW * distance2:
                hidden += (rise / math.sqrt(distance2) - _LOW) / (1 - _LOW) * (1 - distance2 / reach2)
    return 1 - 4 * hidden / len(spots)


@njit(error_model="numpy")
def light_on(depth: Floats, normals: Floats, spots: Any) -> Floats:
    """The light (rows, columns) that falls on what `rasterise` found at each sample."""
    light = np.zeros(depth.shape, dtype=np.float32)
    for row in range(depth.shape[0]):
        for column in range(depth.shape[1]):
            if depth[row, column] > -np.inf:
                x, y, z = normals[row, column]
                z = max(z, 0.0)  # smoothing may make a normal point away just inside an outline
                length = math.sqrt(x * x + y * y + z * z) + 1e-30
                normal = (x / length, y / length, z / length)
                light[row, column] = _light(*normal) * _openness(depth, row, column, normal, spots)
    return light


@njit(error_model="numpy")
def paint(light: Floats, seen: Any, shares: Floats, triangles: Any, albedo: Floats) -> Floats:
    """The picture (H, W, 4) of four samples per pixel: linear light, and how much of each pixel is covered.

    `albedo` (N, 3) are the colours of the points in linear light; the other arguments are as `rasterise` gives them.
    """
    picture = np.zeros((light.shape[0] // 2, light.shape[1] // 2, 4), dtype=np.float32)
    for row in range(light.shape[0]):
        for column in range(light.shape[1]):
            if seen[row, column] < 0:
                continue
            i, j, k = triangles[seen[row, column]]
            v, w = shares[row, column]
            pixel = picture[row // 2, column // 2]
            for m in range(3):
                colour = (1 - v - w) * albedo[i, m] + v * albedo[j, m] + w * albedo[k, m]
                pixel[m] += min(light[row, column] * colour, 1.0) / 4
            pixel[3] += 0.25
    return picture


@njit(error_model="numpy")
def rasterise(
    positions: Floats, point_normals: Floats, triangles: Any, shape: Any
) -> tuple[Floats, Floats, Any, Floats]:
    """Find what is nearest to the viewer at the centre of each sample.

    Parameters
    ----------
    positions : (N, 3) points in samples: right, down and towards the viewer
    point_normals : (N, 3) unit normals: right, up and towards the viewer
    triangles : (T, 3)
    shape : rows and columns

    Returns
    -------
    depth : (rows, columns), -inf where there is nothing
    normals : (rows, columns, 3)
    seen : (rows, columns) int32, the triangle, -1 where there is none
    shares : (rows, columns, 2) how much of the triangle's second and third point there is
    """
    rows, columns = shape
    depth = np.full((rows, columns), -np.inf)
    normals = np.zeros((rows, columns, 3), dtype=np.float32)
    seen = np.full((rows, columns), -1, dtype=np.int32)
    shares = np.zeros((rows, columns, 2), dtype=np.float32)
    corners = np.empty((3, 3))
    for number in range(len(triangles)):
        i, j, k = triangles[number]
        a, b, c = positions[i], positions[j], positions[k]
        area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
        if not 1e-12 < abs(area) < np.inf:
            continue
        vx, vy = (c[1] - a[1]) / area, (c[0] - a[0]) / area
        wx, wy = (b[1] - a[1]) / area, (b[0] - a[0]) / area
        # Clamped as floats: coordinates far outside do not survive the cast to an integer.
        left, right = max(min(a[0], b[0], c[0]) - 0.5, 0.0), min(max(a[0], b[0], c[0]) + 0.5, columns)
        top, bottom = max(min(a[1], b[1], c[1]) - 0.5, 0.0), min(max(a[1], b[1], c[1]) + 0.5, rows)
        fresh = True
        for row in range(math.ceil(min(top, rows)), int(max(bottom, 0.0))):
            y = row + 0.5 - a[1]
            for column in range(math.ceil(min(left, columns)), int(max(right, 0.0))):
                x = column + 0.5 - a[0]
                v, w = x * vx - y * vy, y * wy - x * wx
                # The tolerance closes the gaps between neighbours that round a shared edge differently.
                if v <= -1e-9 or w <= -1e-9 or 1 - v - w <= -1e-9:
                    continue
                z = a[2] + v * (b[2] - a[2]) + w * (c[2] - a[2])
                if z > depth[row, column]:
                    if fresh:
                        _fill_corners(corners, (i, j, k), positions, point_normals)
                        fresh = False
                    depth[row, column], seen[row, column] = z, number
                    shares[row, column, 0], shares[row, column, 1] = v, w
                    for m in range(3):
                        normals[row, column, m] = (1 - v - w) * corners[0, m] + v * corners[1, m] + w * corners[2, m]
    return depth, normals, seen, shares


@njit(error_model="numpy")
def _fill_corners(corners: Floats, points: Any, positions: Floats, point_normals: Floats) -> None:
    """Write the normals of a triangle's points to `corners` (3, 3), on the side that is seen."""
    a, b, c = positions[points[0]], positions[points[1]], positions[points[2]]
    # Positions run down, normals up.
    px, py, pz = b[0] - a[0], a[1] - b[1], b[2] - a[2]
    qx, qy, qz = c[0] - a[0], a[1] - c[1], c[2] - a[2]
    x, y, z = py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx
    length = math.copysign(math.sqrt(x * x + y * y + z * z) + 1e-200, z)
    x, y, z = x / length, y / length, z / length
    along = 0.0
    for point in points:
        along += point_normals[point, 0] * x + point_normals[point, 1] * y + point_normals[point, 2] * z
    # One sign for the whole triangle: near an outline, single normals may point away from the viewer.
    side = -1.0 if along < 0 else 1.0
    for corner, point in enumerate(points):
        # A trace of the triangle's own normal stands in where none was given.
        corners[corner, 0] = side * point_normals[point, 0] + 1e-6 * x
        corners[corner, 1] = side * point_normals[point, 1] + 1e-6 * y
        corners[corner, 2] = side * point_normals[point, 2] + 1e-6 * z
