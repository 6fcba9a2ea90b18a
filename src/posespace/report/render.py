"""Clay renders of triangle meshes without a display, a driver or a system library: a z-buffer in numba.
Also what puts renders on a page: the colour map of errors, captioned montages and PNG files."""

from __future__ import annotations

import math
import os
import secrets
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numba import njit  # type: ignore[import-untyped]
from numpy.typing import ArrayLike, NDArray

from posespace.errors import InputError

Floats = NDArray[np.float64]
Image = NDArray[np.uint8]

DIRECTIONS = {
    "front": (0.0, 0.0, 1.0),
    "back": (0.0, 0.0, -1.0),
    "left": (-1.0, 0.0, 0.0),
    "right": (1.0, 0.0, 0.0),
    "top": (0.0, 1.0, 0.0),
    "bottom": (0.0, -1.0, 0.0),
    "three_quarter": (0.55, 0.4, 0.733),
}
CLAY = (0.88, 0.82, 0.77)
NO_ERROR = (0.84, 0.84, 0.84)

_GAMMA = 2.2
_SUPERSAMPLING = 2
_OCCLUSION_SAMPLES = 12  # per sample; each pixel's four samples look in different places, 48 in all
_OCCLUSION_REACH = 0.09  # of the height of the picture

# Lights in the frame of the camera (right, up, towards the viewer): (direction, strength).
_KEY = (-0.53, 0.60, 0.60, 0.90)
_FILL = (0.78, 0.05, 0.62, 0.10)
_SKY, _GROUND = 0.08, 0.03


@dataclass(frozen=True)
class Camera:
    """An orthographic view of a scene.

    Parameters
    ----------
    direction : (3,) array or str
        From where we look: a vector from the target to the eye, or a name in `DIRECTIONS`. The names are those
        of glTF's frame, y up and the front towards +z; left and right are as the viewer of the front sees them.
    up : (3,) array
        What points up in the picture; replaced by another axis if we look along it.
    target : (3,) array, optional
        What is in the middle of the picture. None: the middle of the mesh.
    extent : float, optional
        Half the height of the view, in the units of the mesh. None: the mesh fits.
    half_width : float
        The view grows beyond `extent`, if it must, until half its width is this: what `fit` has framed is whole
        in pictures of any proportion.
    """

    direction: str | ArrayLike = "three_quarter"
    up: ArrayLike = (0.0, 1.0, 0.0)
    target: ArrayLike | None = None
    extent: float | None = None
    half_width: float = 0.0

    def __post_init__(self) -> None:
        direction = self.direction
        if isinstance(direction, str):
            if direction not in DIRECTIONS:
                raise InputError(f"direction must be one of {', '.join(DIRECTIONS)} or a vector, not {direction!r}")
            direction = DIRECTIONS[direction]
        # Plain tuples, so that cameras compare and hash whatever they were made from.
        object.__setattr__(self, "direction", _direction("direction", direction))
        object.__setattr__(self, "up", _direction("up", self.up))
        if self.target is not None:
            object.__setattr__(self, "target", _vector("target", self.target))
        if self.extent is not None and not 0 < self.extent < math.inf:
            raise InputError(f"extent must be a positive number, not {self.extent}")

    @classmethod
    def fit(
        cls,
        points: ArrayLike,
        direction: str | ArrayLike = "three_quarter",
        up: ArrayLike = (0.0, 1.0, 0.0),
        margin: float = 1.05,
    ) -> Camera:
        """The camera that frames all `points` (..., 3), of one shape or of many to be seen alike."""
        return cls(direction, up).framing(points, margin)

    def framing(self, points: ArrayLike, margin: float = 1.05) -> Camera:
        """This camera with what it leaves open, target or extent, chosen to show `points` (..., 3)."""
        if self.target is not None and self.extent is not None:
            return self
        axes = self.axes()
        local = np.asarray(points, dtype=np.float64).reshape(-1, 3)
        local = local[np.isfinite(local).all(axis=1)] @ axes.T
        if not len(local):
            local = np.zeros((1, 3))
        low, high = local.min(axis=0), local.max(axis=0)
        centre = (low + high) / 2 if self.target is None else axes @ np.asarray(self.target)
        half_width, half_height = (margin * np.maximum(high - centre, centre - low))[:2].tolist()
        target = tuple((centre @ axes).tolist())
        if self.extent is not None:
            return replace(self, target=target)
        return replace(self, target=target, extent=half_height or half_width or 1.0, half_width=half_width)

    def axes(self) -> Floats:
        """The frame of the picture (3, 3): rows right, up and towards the viewer, in the space of the mesh."""
        towards = np.array(self.direction, dtype=np.float64)
        for up in (self.up, (0.0, 0.0, -math.copysign(1.0, towards[1])), (0.0, 1.0, 0.0)):
            right = np.cross(np.asarray(up, dtype=np.float64), towards)
            length = float(np.linalg.norm(right))
            if length > 1e-6:
                break
        right /= length
        return np.stack([right, np.cross(towards, right), towards])


def render(
    points: ArrayLike,
    triangles: ArrayLike,
    camera: Camera | None = None,
    size: tuple[int, int] = (640, 480),
    colors: ArrayLike | None = None,
    background: ArrayLike = (1.0, 1.0, 1.0),
    normals: ArrayLike | None = None,
) -> Image:
    """A picture of a mesh under a soft key light, a fill light and a sky; both sides of triangles are lit.

    Parameters
    ----------
    points : (N, 3) array
        Triangles with a point that is not finite are left out.
    triangles : (T, 3) integer array
    camera : Camera, optional
        What it leaves open is fitted to `points`; None is a three-quarter view.
    size : (width, height) of the picture in pixels
    colors : (3,) or (N, 3) array, optional
        One colour, or one a point, sRGB in 0..1; None is clay.
    background : (3,) array
        sRGB in 0..1.
    normals : (N, 3) array, optional
        At the points; None: the mean of the normals of the triangles around, weighted by area.

    Returns
    -------
    (height, width, 3) uint8 array, sRGB
    """
    vertices, faces = _mesh(points, triangles)
    width, height = (int(n) for n in size)
    if width < 1 or height < 1:
        raise InputError(f"size must be (width, height) of at least one pixel each, not {size}")
    view = (camera or Camera()).framing(vertices)
    axes = view.axes()
    bends = _vertex_normals(vertices, faces) if normals is None else _per_point("normals", normals, len(vertices))
    albedo = _linear(CLAY if colors is None else colors, "colors", len(vertices))
    rows, columns = _SUPERSAMPLING * height, _SUPERSAMPLING * width

    assert view.extent is not None  # framing() has set it
    scale = rows / 2 / max(view.extent, view.half_width * height / width)
    screen = (vertices - np.asarray(view.target)) @ axes.T * scale
    screen[:, :2] = screen[:, :2] * (1, -1) + (columns / 2, rows / 2)
    depth = np.full((rows, columns), -np.inf)
    owner = np.full((rows, columns), -1, dtype=np.int32)
    weights = np.zeros((rows, columns, 2), dtype=np.float32)
    _rasterise(screen, faces, depth, owner, weights)

    empty = _linear(background, "background", 1)[0]
    picture = np.tile(empty, (height, width, 1))
    reach = _OCCLUSION_REACH * rows
    offsets = _occlusion_offsets(reach)
    _shade(screen, faces, bends @ axes.T, albedo, depth, owner, weights, offsets, reach, empty, picture)
    return np.asarray(np.clip(picture, 0, 1) ** (1 / _GAMMA) * 255 + 0.5).astype(np.uint8)


def heat(values: ArrayLike, top: float) -> Floats:
    """Colours (N, 3) of errors (N,): light grey at zero, then yellow, red and purple at `top` and above.

    Lightness falls all the way, so the map reads in black and white too. What is not a number is shown as `top`:
    a failure must not look like a success.
    """
    from matplotlib import colormaps

    if not 0 < top < math.inf:
        raise InputError(f"top must be a positive number, not {top}")
    share = np.clip(np.nan_to_num(np.asarray(values, dtype=np.float64) / top, nan=1.0), 0, 1)
    # The dark end of inferno is left out, for it would pass for shadow.
    warm = np.asarray(colormaps["inferno_r"](0.06 + 0.66 * share), dtype=np.float64)[..., :3]
    grey = np.clip(1 - share / 0.2, 0, 1)[..., None]
    return grey * np.array(NO_ERROR) + (1 - grey) * warm


def montage(
    rows: Sequence[Sequence[Image | None]],
    labels: Sequence[str] = (),
    titles: Sequence[str] = (),
    heading: str = "",
    scale: tuple[str, float] | None = None,
    gap: int = 8,
) -> Image:
    """One captioned picture of many, each at its own size.

    Parameters
    ----------
    rows : rows of (H, W, 3) uint8 pictures; None is an empty cell, and rows may be of different lengths
    labels : at the left of each row
    titles : above each column
    heading : above everything
    scale : (caption, top), the key to the colours of `heat`, below everything
    gap : pixels between pictures

    Returns
    -------
    (H, W, 3) uint8 array
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    pictures = [[None if cell is None else _picture(cell) for cell in row] for row in rows]
    columns = max((len(row) for row in pictures), default=0)
    sizes = np.zeros((len(pictures), columns, 2), dtype=np.int64)
    for r, row in enumerate(pictures):
        for c, cell in enumerate(row):
            sizes[r, c] = (0, 0) if cell is None else cell.shape[:2]
    heights, widths = sizes[..., 0].max(axis=1, initial=0), sizes[..., 1].max(axis=0, initial=0)
    font = float(np.clip(widths.max(initial=0) / 22, 11, 28))
    wrapped = [textwrap.fill(t, max(int(w / font / 0.52), 8)) for t, w in zip(titles, widths, strict=False)]
    line = 1.4 * font
    above = round(line * (1.5 * bool(heading) + max((t.count("\n") + 1 for t in wrapped), default=0))) + gap
    lefts = round(line * any(labels)) + gap + np.cumsum([0, *(widths + gap)])
    tops = above + np.cumsum([0, *(heights + gap)])
    width, height = int(lefts[-1]), int(tops[-1]) + round(3 * line * (scale is not None))

    page = np.full((height, width, 3), 255, dtype=np.uint8)
    for r, row in enumerate(pictures):
        for c, cell in enumerate(row):
            if cell is not None:
                y, x = tops[r] + (heights[r] - len(cell)) // 2, lefts[c] + (widths[c] - cell.shape[1]) // 2
                page[y : y + len(cell), x : x + cell.shape[1]] = cell
    figure = Figure(figsize=(width / 128, height / 128), dpi=128)  # a power of two: the size in pixels is exact

    def write(text: str, x: float, y: float, size: float = 1.0, rotation: float = 0.0) -> None:
        style = {"ha": "center", "va": "center", "fontsize": size * font * 72 / 128, "rotation": rotation}
        figure.text(x / width, 1 - y / height, text, color="0.15", **style)

    write(heading, width / 2, gap + 0.6 * line, 1.25)
    for c, title in enumerate(wrapped):
        write(title, lefts[c] + widths[c] / 2, above - gap / 2 - line * (title.count("\n") + 1) / 2)
    for label, y, h in zip(labels, tops, heights, strict=False):
        write(label, (gap + line) / 2, y + h / 2, rotation=90)
    if scale is not None:
        y, x, span = tops[-1], width // 4, width // 2
        page[y : y + round(line), x : x + span] = heat(np.linspace(0, 1, span), 1) * 255 + 0.5
        for text, across in (("0", x), (scale[0], width / 2), (f"{scale[1]:.3g}", x + span)):
            write(text, across, y + 1.7 * line)
    figure.figimage(page, origin="upper")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.array(canvas.buffer_rgba())[..., :3].copy()


def save_png(path: str | Path, image: ArrayLike) -> None:
    """Write an (H, W, 3) uint8 picture; the file appears whole or not at all."""
    from matplotlib.image import imsave

    path = Path(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        imsave(temporary, _picture(image), format="png")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _vector(name: str, value: ArrayLike) -> tuple[float, ...]:
    vector = np.asarray(value, dtype=np.float64)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InputError(f"{name} must be three finite numbers, not {value!r}")
    return tuple(vector.tolist())


def _direction(name: str, value: ArrayLike) -> tuple[float, ...]:
    vector = _vector(name, value)
    length = math.hypot(*vector)
    if length == 0:
        raise InputError(f"{name} must not be zero")
    return tuple(x / length for x in vector)


def _mesh(points: ArrayLike, triangles: ArrayLike) -> tuple[Floats, NDArray[np.int64]]:
    """Points (N, 3), and the triangles (T, 3) all of whose points are finite."""
    vertices = np.asarray(points, dtype=np.float64)
    faces = np.asarray(triangles)
    if vertices.size == 0:
        vertices = np.zeros((0, 3))
    if faces.size == 0:
        faces = np.zeros((0, 3), dtype=np.int64)
    if vertices.ndim != 2 or vertices.shape[1] != 3:
        raise InputError(f"points must have shape (N, 3), not {vertices.shape}")
    if faces.ndim != 2 or faces.shape[1] != 3 or faces.dtype.kind not in "iu":
        raise InputError(f"triangles must be integers of shape (T, 3), not {faces.dtype} of {faces.shape}")
    if len(faces) and not 0 <= faces.min() <= faces.max() < len(vertices):
        raise InputError(f"triangles must index the {len(vertices)} points, not {faces.min()}..{faces.max()}")
    kept = np.isfinite(vertices).all(axis=1)[faces].all(axis=1)
    return vertices, np.ascontiguousarray(faces[kept], dtype=np.int64)


def _per_point(name: str, values: ArrayLike, count: int) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (count, 3):
        raise InputError(f"{name} must have shape ({count}, 3), not {array.shape}")
    return array


def _linear(color: ArrayLike, name: str, count: int) -> Floats:
    """Linear light (count, 3) of one sRGB colour or of one a point; light adds up and averages, sRGB does not."""
    array = np.asarray(color, dtype=np.float64)
    if array.shape == (3,):
        array = np.broadcast_to(array, (count, 3))
    clean = np.nan_to_num(np.clip(_per_point(name, array, count), 0, 1), nan=0.5)
    return np.asarray(clean**_GAMMA)


def _picture(image: ArrayLike) -> Image:
    array = np.asarray(image)
    if array.ndim != 3 or array.shape[2] != 3 or array.dtype != np.uint8:
        raise InputError(f"a picture must be uint8 of shape (H, W, 3), not {array.dtype} of {array.shape}")
    return array


def _vertex_normals(vertices: Floats, faces: NDArray[np.int64]) -> Floats:
    """Normals (N, 3): sums of the cross products around each point, whose lengths are twice the areas."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    cross = np.repeat(np.cross(b - a, c - a), 3, axis=0)
    flat = faces.ravel()
    return np.stack([np.bincount(flat, cross[:, k], len(vertices)) for k in range(3)], axis=1)


def _occlusion_offsets(reach: float) -> Floats:
    """Where to look for occluders, (4, S, 2) in samples: a sunflower over a disc, dealt out to four samples."""
    index = np.arange(4 * _OCCLUSION_SAMPLES)
    radius = reach * np.sqrt((index + 0.5) / len(index))
    angle = index * math.pi * (3 - math.sqrt(5))
    spots = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return np.ascontiguousarray(spots.reshape(_OCCLUSION_SAMPLES, 4, 2).transpose(1, 0, 2))


@njit(cache=True)  # type: ignore[misc]
def _clamp(value: float, limit: int) -> int:
    """A whole number in 0..limit; clamped while still a float, for a huge one does not survive the cast."""
    return int(min(max(value, 0.0), float(limit)))


@njit(cache=True)  # type: ignore[misc]
def _rasterise(screen, faces, depth, owner, weights):  # type: ignore[no-untyped-def]
    """Find, at each sample, the nearest triangle and the weights of its second and third point."""
    rows, columns = depth.shape
    for t in range(len(faces)):
        x0, y0, z0 = screen[faces[t, 0]]
        x1, y1, z1 = screen[faces[t, 1]]
        x2, y2, z2 = screen[faces[t, 2]]
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        if not 1e-12 < abs(area) < np.inf:
            continue
        left = _clamp(np.ceil(min(x0, x1, x2) - 0.5), columns)
        right = _clamp(np.floor(max(x0, x1, x2) - 0.5) + 1, columns)
        top = _clamp(np.ceil(min(y0, y1, y2) - 0.5), rows)
        bottom = _clamp(np.floor(max(y0, y1, y2) - 0.5) + 1, rows)
        for row in range(top, bottom):
            dy = row + 0.5 - y0
            for column in range(left, right):
                dx = column + 0.5 - x0
                w1 = (dx * (y2 - y0) - (x2 - x0) * dy) / area
                w2 = ((x1 - x0) * dy - dx * (y1 - y0)) / area
                # The tolerance closes hairline gaps between neighbours that round a shared edge differently.
                if w1 < -1e-9 or w2 < -1e-9 or w1 + w2 > 1 + 1e-9:
                    continue
                z = z0 + w1 * (z1 - z0) + w2 * (z2 - z0)
                if z > depth[row, column]:
                    depth[row, column] = z
                    owner[row, column] = t
                    weights[row, column, 0] = w1
                    weights[row, column, 1] = w2


@njit(cache=True)  # type: ignore[misc]
def _facing(screen, corners, bends, w1, w2):  # type: ignore[no-untyped-def]
    """The interpolated normal of a sample, on the side of its triangle that is seen."""
    a, b, c = screen[corners[0]], screen[corners[1]], screen[corners[2]]
    ux, uy, uz = b[0] - a[0], a[1] - b[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], a[1] - c[1], c[2] - a[2]
    fx, fy, fz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    if fz < 0:
        fx, fy, fz = -fx, -fy, -fz
    w0 = 1 - w1 - w2
    n0, n1, n2 = bends[corners[0]], bends[corners[1]], bends[corners[2]]
    x = w0 * n0[0] + w1 * n1[0] + w2 * n2[0]
    y = w0 * n0[1] + w1 * n1[1] + w2 * n2[1]
    z = w0 * n0[2] + w1 * n1[2] + w2 * n2[2]
    # Turned by the triangle, not by the sign of z: near an outline z may be negative on the side that is seen.
    side = fx * x + fy * y + fz * z
    if side < 0:
        x, y, z = -x, -y, -z
    z = max(z, 0.0)
    length = math.sqrt(x * x + y * y + z * z)
    if not length > 1e-12 or side == 0:
        x, y, z = fx, fy, fz
        length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


@njit(cache=True)  # type: ignore[misc]
def _openness(depth, row, column, normal, offsets, reach):  # type: ignore[no-untyped-def]
    """Share of the surroundings, in 0..1, not hidden from a sample by the surface near it."""
    hidden = 0.0
    for k in range(len(offsets)):
        c, r = column + int(offsets[k, 0]), row + int(offsets[k, 1])
        if not (0 <= r < depth.shape[0] and 0 <= c < depth.shape[1]) or depth[r, c] == -np.inf:
            continue
        x, y, z = c - column, row - r, depth[r, c] - depth[row, column]
        square = x * x + y * y + z * z
        if 0 < square < reach * reach:
            cosine = (x * normal[0] + y * normal[1] + z * normal[2]) / math.sqrt(square)
            # Low occluders do not count: on a coarse mesh they are the facets of the surface itself.
            hidden += max(cosine - 0.15, 0.0) / 0.85 * (1 - square / (reach * reach))
    return 1 - hidden / len(offsets)


@njit(cache=True)  # type: ignore[misc]
def _light(normal):  # type: ignore[no-untyped-def]
    """Light that falls on a normal in the frame of the camera."""
    x, y, z = normal
    # Half-Lambert, squared: it fades to nothing without the visible edge of a hard terminator.
    key = (0.5 + 0.5 * (x * _KEY[0] + y * _KEY[1] + z * _KEY[2])) ** 2
    fill = (0.5 + 0.5 * (x * _FILL[0] + y * _FILL[1] + z * _FILL[2])) ** 2
    ambient = _GROUND + (_SKY - _GROUND) * (0.5 + 0.5 * y)
    # Darker where the surface turns away, so that outlines stand out from a white page.
    edge = 1 - 0.5 * (1 - z) ** 3
    return (_KEY[3] * key + _FILL[3] * fill + ambient) * edge


@njit(cache=True)  # type: ignore[misc]
def _shade(screen, faces, bends, albedo, depth, owner, weights, offsets, reach, background, picture):  # type: ignore[no-untyped-def]
    """Replace the background in `picture` by the lit surface, in linear light, averaging the samples of a pixel."""
    share = 1 / _SUPERSAMPLING**2
    for row in range(depth.shape[0]):
        for column in range(depth.shape[1]):
            t = owner[row, column]
            if t < 0:
                continue
            corners = faces[t]
            w1, w2 = weights[row, column]
            normal = _facing(screen, corners, bends, w1, w2)
            spots = offsets[row % 2 * 2 + column % 2]
            light = _light(normal) * _openness(depth, row, column, normal, spots, reach)
            pixel = picture[row // _SUPERSAMPLING, column // _SUPERSAMPLING]
            for k in range(3):
                a, b, c = albedo[corners[0], k], albedo[corners[1], k], albedo[corners[2], k]
                color = a + w1 * (b - a) + w2 * (c - a)
                pixel[k] += share * (min(light * color, 1.0) - background[k])
