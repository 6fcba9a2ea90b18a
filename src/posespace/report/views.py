"""Pictures of meshes on the page: which poses to show, from which side, on a clear background."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Ints
from posespace.mesh import Mesh
from posespace.report.camera import Camera
from posespace.report.colours import heat
from posespace.report.render import GAMMA, render

_DIRECTIONS = 40


def picture(
    points: Floats, triangles: Ints, camera: Camera, size: tuple[int, int], colors: Floats | None = None
) -> NDArray[np.uint8]:
    """Return a render (H, W, 4) uint8 whose background is clear, so that it suits light and dark pages."""
    on_white, on_black = (
        render(points, triangles, camera, size, colors=colors, background=(grey,) * 3).astype(np.float64) / 255
        for grey in (1.0, 0.0)
    )
    cover = 1 - (on_white**GAMMA - on_black**GAMMA).max(axis=2)
    colour = (on_black**GAMMA / np.maximum(cover, 1e-6)[..., None]) ** (1 / GAMMA)
    both = np.concatenate([np.clip(colour, 0, 1), np.clip(cover, 0, 1)[..., None]], axis=2)
    return np.asarray(both * 255 + 0.5).astype(np.uint8)


def looking_at(shapes: Floats, triangles: Ints, errors: Floats) -> Camera:
    """Return the camera that frames all `shapes` (S, N, 3), from the side that shows most of the large errors (N,).

    The first shape is the one that has the errors. Small trial pictures show what other parts of its surface hide.
    """
    top, points = float(errors.max(initial=0.0)), shapes[0]
    if top <= 0:
        return Camera.fit(shapes)
    region = points[errors > 0.35 * top]
    colors = heat(errors, top)
    normals = Mesh(points, triangles).normals()
    # Only sides that face the errors are tried.
    facing = [float((errors * np.maximum(normals @ np.asarray(d), 0)).sum()) for d in _sphere()]
    best = sorted(zip(facing, _sphere(), strict=True), reverse=True)[: _DIRECTIONS // 4]
    diagonal = float(np.linalg.norm(np.ptp(points, axis=0)))
    cameras = [_near(region, direction, diagonal) for _, direction in best]
    warmth = [float(np.ptp(render(points, triangles, view, (64, 56), colors=colors), axis=2).sum()) for view in cameras]
    return Camera.fit(shapes, best[int(np.argmax(warmth))][1])


def _near(region: Floats, direction: tuple[float, ...], diagonal: float) -> Camera:
    view = Camera.fit(region, direction, margin=1.9)
    extent = max(view.extent or 0.0, view.half_width / 1.15, 0.12 * diagonal)
    return Camera(view.direction, view.up, view.target, extent)


def _sphere() -> list[tuple[float, ...]]:
    """Directions spread evenly, none from straight above or below, where nothing is up."""
    index = np.arange(_DIRECTIONS)
    height, angle = 0.8 * (1 - (2 * index + 1) / _DIRECTIONS), index * np.pi * (3 - np.sqrt(5))
    across = np.sqrt(1 - height**2)
    return [tuple(d) for d in np.stack([across * np.sin(angle), height, across * np.cos(angle)], axis=1).tolist()]


def facing(mesh: Mesh, weights: Floats) -> Camera:
    """Return a camera on the whole mesh, from the side where the weights (N,) are."""
    normals = mesh.normals()
    seen = [float((weights * np.maximum(normals @ np.asarray(d), 0)).sum()) for d in _sphere()]
    return Camera.fit(mesh.points, _sphere()[int(np.argmax(seen))])


def worst_poses(errors: Sequence[float], count: int) -> list[int]:
    """Return up to `count` poses of large error, the worst first, no two of them close together in the sequence."""
    apart, found = max(1, len(errors) // 12), list[int]()
    for index in np.argsort(-np.asarray(errors)).tolist():
        if len(found) < count and all(abs(index - other) >= apart for other in found):
            found.append(index)
    return found
