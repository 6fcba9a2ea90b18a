"""Clay renders of triangle meshes without a display, a driver or a system library."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.mesh import Mesh
from posespace.report.camera import FAR, Camera
from posespace.report.colours import CLAY
from posespace.report.raster import light_on, paint, rasterise

Image = NDArray[np.uint8]
GAMMA = 2.2


def render(
    points: ArrayLike,
    triangles: ArrayLike,
    camera: Camera | None = None,
    size: tuple[int, int] = (640, 480),
    *,
    colors: ArrayLike | None = None,
    background: ArrayLike = (1.0, 1.0, 1.0),
    normals: ArrayLike | None = None,
) -> Image:
    """Return a picture of a mesh, (height, width, 3) uint8 sRGB, softly lit on both sides of its triangles.

    Parameters
    ----------
    points : (N, 3) array; triangles with a point that is not finite are left out
    triangles : (T, 3) integer array
    camera : what it leaves open is fitted to `points`; None is a three-quarter view
    size : width and height of the picture in pixels
    colors : (3,) or (N, 3) array, one colour or one per point, sRGB in 0..1; None is clay
    background : (3,) array, sRGB in 0..1
    normals : (N, 3) array; None: the mean over the triangles around each point, weighted by area
    """
    drawn = lit(points, triangles, camera, size, normals).painted(colors)
    behind = _linear("background", background, 0)
    picture = drawn[..., :3] + (1 - drawn[..., 3:]) * behind.astype(np.float32)
    return np.asarray(picture ** np.float32(1 / GAMMA) * 255 + 0.5).astype(np.uint8)


@dataclass(frozen=True, eq=False)
class Lit:
    """A mesh as a camera sees it, in the light, to be painted in one colouring or in several.

    Parameters
    ----------
    count : N, how many points it has
    triangles : (T, 3)
    light, seen, shares : of each sample, two per pixel each way: see `light_on` and `rasterise`
    """

    count: int
    triangles: Ints
    light: NDArray[np.float32]
    seen: NDArray[np.int32]
    shares: NDArray[np.float32]

    def painted(self, colors: ArrayLike | None) -> NDArray[np.float32]:
        """Return the picture (height, width, 4) on nothing: linear light, and how much of each pixel is covered."""
        albedo = np.broadcast_to(_linear("colors", CLAY if colors is None else colors, self.count), (self.count, 3))
        picture: NDArray[np.float32] = paint(
            self.light, self.seen, self.shares, self.triangles, np.ascontiguousarray(albedo)
        )
        return picture


def lit(
    points: ArrayLike,
    triangles: ArrayLike,
    camera: Camera | None = None,
    size: tuple[int, int] = (640, 480),
    normals: ArrayLike | None = None,
) -> Lit:
    """Return what a picture shows before it has colours; the parameters are those of `render`."""
    width, height = size
    if width < 1 or height < 1:
        raise InputError(f"picture size: expected at least one pixel each way, got {size}")
    mesh = _drawable(points, triangles)
    count = len(mesh.points)
    point_normals = mesh.normals() if normals is None else check.floats("normals", np.nan_to_num(normals), (count, 3))
    view = (camera or Camera()).framing(points)
    axes = view.axes()
    scale = height / max(view.extent or 0, view.half_width * height / width)
    # From here on in samples: right, down and towards the viewer.
    positions = (mesh.points - np.asarray(view.target)) @ axes.T * (scale * np.array([1, -1, 1])) + (width, height, 0)
    view_normals = _unit(point_normals @ axes.T)
    depth, sample_normals, seen, shares = rasterise(positions, view_normals, mesh.triangles, (2 * height, 2 * width))
    return Lit(count, mesh.triangles, light_on(depth, sample_normals, _spots(0.18 * height)), seen, shares)


def _drawable(points: ArrayLike, triangles: ArrayLike) -> Mesh:
    """The mesh without the triangles of points that are not finite or absurdly far; these go to zero."""
    array = np.asarray(points, dtype=np.float64)
    usable = np.abs(array) < FAR
    vertices = check.floats("points", np.where(usable, array, 0), ("N", 3))
    faces = check.indices("triangles", triangles, ("T", 3), below=len(vertices))
    return Mesh(vertices, faces[usable[faces].all(axis=(1, 2))])


def _linear(name: str, color: ArrayLike, count: int) -> Floats:
    """Linear light of one sRGB colour (3,) or one per point (count, 3): light adds up, sRGB does not."""
    array = np.nan_to_num(np.asarray(color, dtype=np.float64))
    shape = (3,) if array.ndim == 1 else (count, 3)
    return np.asarray(np.clip(check.floats(name, array, shape), 0, 1) ** GAMMA)


def _unit(vectors: Floats) -> Floats:
    finite = np.nan_to_num(vectors)
    return np.asarray(finite / np.maximum(np.linalg.norm(finite, axis=-1, keepdims=True), 1e-200))


def _spots(reach: float) -> NDArray[np.int64]:
    """Offsets (48, 2) at which to look for occluders, in samples: a sunflower, its seeds numbered from the middle."""
    index = np.arange(48)
    radius, angle = reach * np.sqrt((index + 0.5) / 48), index * math.pi * (3 - math.sqrt(5))
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).astype(np.int64)
