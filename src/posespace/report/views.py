"""Pictures of meshes on a page: which poses, from which side, on a clear background."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Ints
from posespace.mesh import Mesh
from posespace.report.camera import Camera
from posespace.report.colours import heat
from posespace.report.render import GAMMA, lit, render
from posespace.rig import Rig

_DIRECTIONS, _TRIAL = 40, (64, 56)

_FINER = (1, 2, 3, 5, 10, 20, 30, 50, 100)
"""How much finer than that of plain skinning the heat scale of the skins may be; beyond, rounding would look hot."""


def picture(
    points: Floats,
    triangles: Ints,
    camera: Camera,
    size: tuple[int, int],
    colors: Floats | None = None,
    normals: Floats | None = None,
) -> NDArray[np.uint8]:
    """Return a render (H, W, 4) uint8 whose background is clear, so that it suits light and dark pages."""
    return clear(lit(points, triangles, camera, size, normals).painted(colors))


def clear(drawn: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return what `Lit.painted` gives as a picture (H, W, 4) uint8 on a clear background."""
    colour = (drawn[..., :3] / np.maximum(drawn[..., 3:], 1e-6)) ** np.float32(1 / GAMMA)
    return np.asarray(np.concatenate([colour, drawn[..., 3:]], axis=2) * 255 + 0.5).astype(np.uint8)


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
    best = sorted(zip(_seen(normals, errors).tolist(), _sphere(), strict=True), reverse=True)[: _DIRECTIONS // 4]
    diagonal = float(np.linalg.norm(np.ptp(points, axis=0)))
    cameras = [_near(region, direction, diagonal) for _, direction in best]
    trials = [render(points, triangles, view, _TRIAL, colors=colors, normals=normals) for view in cameras]
    warmth = [float(np.ptp(trial, axis=2).sum()) for trial in trials]
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


def facing(rig: Rig, weights: Floats) -> Camera:
    """Return a camera on the whole rest shape, from the side where the weights (N,) are."""
    return Camera.fit(rig.mesh.points, _sphere()[int(np.argmax(_seen(rig.normals, weights)))])


def _seen(normals: Floats, weights: Floats) -> Floats:
    """How much of the weights (N,) faces each direction."""
    return np.asarray(weights @ np.maximum(normals @ np.asarray(_sphere()).T, 0))


def worst_poses(errors: Sequence[float], count: int) -> list[int]:
    """Return up to `count` poses of large error, the worst first, no two of them close together in the sequence."""
    apart, worst = max(1, len(errors) // 12), list[int]()
    for index in np.argsort(-np.asarray(errors)).tolist():
        if len(worst) < count and all(abs(index - other) >= apart for other in worst):
            worst.append(index)
    return worst


def finer(top: float, errors: Floats) -> int:
    """Return by how much, a round number, a heat scale up to `top` may be finer and still hold 99 % of `errors`."""
    least = float(np.percentile(errors, 99))
    return max(factor for factor in _FINER if factor == 1 or factor * least <= top)
