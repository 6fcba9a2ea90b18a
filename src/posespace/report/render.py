"""Clay renders of triangle meshes without a display, a driver or a system library: a z-buffer in numba.
Also what puts renders on a page: the colours of errors, captioned montages and PNG files."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError
from posespace.formats.files import atomic_write
from posespace.mesh import Mesh

Image = NDArray[np.uint8]

# glTF's frame: y up, the front towards +z; left and right as the viewer of the front sees them.
DIRECTIONS = {
    "front": (0.0, 0.0, 1.0),
    "back": (0.0, 0.0, -1.0),
    "left": (-1.0, 0.0, 0.0),
    "right": (1.0, 0.0, 0.0),
    "top": (0.0, 1.0, 0.0),
    "bottom": (0.0, -1.0, 0.0),
    "three_quarter": (0.55, 0.4, 0.73),
}
CLAY, NO_ERROR = (0.88, 0.82, 0.77), (0.86, 0.86, 0.86)

# Unit directions of the lights in the frame of the camera (right, up, towards the viewer), then strengths.
# Together they reach about 1, so that a lit colour is never brighter than the colour that was asked for.
_KEY, _KEY_LIGHT = (-0.53, 0.60, 0.60), 0.90
_FILL, _FILL_LIGHT = (0.78, 0.05, 0.62), 0.10
_SKY_LIGHT, _GROUND_LIGHT = 0.08, 0.03
_GAMMA = 2.2
_FAR = 1e60  # products of coordinates beyond this would overflow


@dataclass(frozen=True)
class Camera:
    """An orthographic view of a scene.

    Parameters
    ----------
    direction : (3,) from where we look, a vector from the target to the eye, or a name in `DIRECTIONS`
    up : (3,) what points up in the picture; another axis takes over if we look along it
    target : (3,) the middle of the picture; None is the middle of the mesh
    extent : half the height of the view in the units of the mesh; None makes the mesh fit
    half_width : the view grows beyond `extent` until half its width is this, so that pictures of any
        proportion show all that `fit` has framed
    """

    direction: str | ArrayLike = "three_quarter"
    up: ArrayLike = (0.0, 1.0, 0.0)
    target: ArrayLike | None = None
    extent: float | None = None
    half_width: float = 0.0

    def __post_init__(self) -> None:
        direction = self.direction
        if isinstance(direction, str):
            direction = DIRECTIONS[check.choice("camera direction", direction, list(DIRECTIONS))]
        # Plain tuples, so that cameras compare and hash whatever they were made from.
        for name, value in (("direction", direction), ("up", self.up), ("target", self.target)):
            if value is not None:
                vector = check.floats(f"camera {name}", value, (3,))
                length = 1.0 if name == "target" else float(np.linalg.norm(vector))
                if length == 0:
                    raise InputError(f"camera {name}: expected a direction, got zero")
                object.__setattr__(self, name, tuple((vector / length).tolist()))
        if self.extent is not None and not 0 < self.extent < math.inf:
            raise InputError(f"camera extent: expected a positive number, got {self.extent}")

    @classmethod
    def fit(
        cls,
        points: ArrayLike,
        direction: str | ArrayLike = "three_quarter",
        up: ArrayLike = (0.0, 1.0, 0.0),
        margin: float = 1.05,
    ) -> Camera:
        """Return the camera that frames all `points` (..., 3), of one shape or of many to be seen alike."""
        return cls(direction, up).framing(points, margin)

    def framing(self, points: ArrayLike, margin: float = 1.05) -> Camera:
        """Return this camera with what it leaves open, target or extent, chosen to show `points` (..., 3)."""
        axes = self.axes()
        local = np.asarray(points, dtype=np.float64).reshape(-1, 3)
        local = local[(np.abs(local) < _FAR).all(axis=1)] @ axes.T
        low, high = (local.min(axis=0), local.max(axis=0)) if len(local) else (np.zeros(3), np.zeros(3))
        centre = (low + high) / 2 if self.target is None else axes @ np.asarray(self.target)
        width, height, _ = (margin * np.maximum(high - centre, centre - low)).tolist()
        aimed = replace(self, target=centre @ axes)
        return aimed if self.extent else replace(aimed, extent=height or width or 1.0, half_width=width)

    def axes(self) -> Floats:
        """Return the frame of the picture (3, 3): rows right, up and towards the viewer."""
        towards = np.array(self.direction, dtype=np.float64)
        spare = np.array([0.0, 0.0, -math.copysign(1.0, towards[1])])  # seen from the top, the front is below
        for up in (np.asarray(self.up), spare, np.array([0.0, 1.0, 0.0])):
            right = np.cross(up, towards)
            if np.linalg.norm(right) > 1e-6:
                break
        right /= np.linalg.norm(right)
        return np.stack([right, np.cross(towards, right), towards])


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
    colors : (3,) or (N, 3) array, one colour or one a point, sRGB in 0..1; None is clay
    background : (3,) array, sRGB in 0..1
    normals : (N, 3) array; None: the mean over the triangles around each point, weighted by area
    """
    width, height = size
    if width < 1 or height < 1:
        raise InputError(f"picture size: expected at least one pixel each way, got {size}")
    mesh = _drawable(points, triangles)
    faces, count = mesh.triangles, len(mesh.points)
    bends = mesh.normals() if normals is None else check.floats("normals", np.nan_to_num(normals), (count, 3))
    view = (camera or Camera()).framing(points)
    axes = view.axes()
    scale = height / max(view.extent or 0, view.half_width * height / width)
    corners = ((mesh.points - np.asarray(view.target)) @ axes.T * scale)[faces]
    sides = _lit_sides(corners, (bends @ axes.T)[faces])
    albedo = np.broadcast_to(_linear("colors", CLAY if colors is None else colors, count), (count, 3))[faces]
    # From here on in samples, two a pixel each way: right, down and towards the viewer.
    corners = np.concatenate([corners * (1, -1, 1) + (width, height, 0), sides, albedo], axis=2)
    hits = _rasterise(corners, 2 * height, 2 * width, _linear("background", background, 0))
    picture = _shade(*hits, _spots(0.18 * height))
    return np.asarray(picture ** (1 / _GAMMA) * 255 + 0.5).astype(np.uint8)


def heat(values: ArrayLike, top: float) -> Floats:
    """Return colours (N, 3) of errors (N,): light grey at zero, then orange, red, and purple from `top` on.

    Lightness falls all the way and equal steps look about equal. What is not a number gets the colour of
    `top`: a failure must not look like a success.
    """
    from matplotlib import colormaps

    if not 0 < top < math.inf:
        raise InputError(f"top of the heat scale: expected a positive number, got {top}")
    share = np.clip(np.nan_to_num(np.asarray(values, dtype=np.float64) / top, nan=1.0), 0, 1)
    # The dark end of inferno is left out, for it would pass for shadow.
    warm = np.asarray(colormaps["inferno_r"](0.10 + 0.62 * share), dtype=np.float64)[..., :3]
    blend = np.minimum(share / 0.5, 1)[..., None]
    return np.asarray((1 - blend) * NO_ERROR + blend * warm)


def montage(
    rows: Sequence[Sequence[Image | None]],
    labels: Sequence[str] = (),
    titles: Sequence[str] = (),
    scale: tuple[str, float] | None = None,
) -> Image:
    """Return one captioned page (H, W, 3) uint8 of many pictures, in cells that hold the largest of them.

    Parameters
    ----------
    rows : rows of (H, W, 3) uint8 pictures; None leaves a cell empty, and rows may differ in length
    labels, titles : at the left of each row, above each column
    scale : caption and top of the key to the colours of `heat`, below everything
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    gap = 8
    cells = [(r, c, x) for r, row in enumerate(rows) for c, x in enumerate(row) if x is not None]
    high, wide = (max((image.shape[k] for *_, image in cells), default=64) for k in (0, 1))
    font = min(max(wide / 22, 11.0), 28.0)
    line = round(1.4 * font)
    heads = [textwrap.fill(title, max(int(wide / font / 0.6), 8)) for title in titles]
    above = gap + line * max((head.count("\n") + 1 for head in heads), default=0)
    left = gap + line * any(labels)
    bottom = above + len(rows) * (high + gap)
    width = left + max((len(row) for row in rows), default=1) * (wide + gap)
    height = bottom + 3 * line * (scale is not None)
    page = np.full((height, width, 3), 255, dtype=np.uint8)
    figure = Figure(figsize=(width / 128, height / 128), dpi=128)  # a power of two: whole pixels, exactly

    def write(text: str, x: float, y: float, **style: Any) -> None:
        style |= {"ha": "center", "va": "center", "color": "0.15", "fontsize": font * 72 / 128}
        figure.text(x / width, 1 - y / height, text, **style)

    for r, c, image in cells:
        y = above + r * (high + gap) + (high - image.shape[0]) // 2
        x = left + c * (wide + gap) + (wide - image.shape[1]) // 2
        page[y : y + image.shape[0], x : x + image.shape[1]] = image
    for c, head in enumerate(heads):
        write(head, left + c * (wide + gap) + wide / 2, above - gap / 2 - line * (head.count("\n") + 1) / 2)
    for r, label in enumerate(labels):
        write(label, (gap + line) / 2, above + r * (high + gap) + high / 2, rotation=90)
    if scale is not None:
        x, span = width // 4, width // 2
        page[bottom : bottom + line, x : x + span] = heat(np.linspace(0, 1, span), 1) * 255 + 0.5
        for text, across in (("0", x), (scale[0], x + span / 2), (f"{scale[1]:.3g}", x + span)):
            write(text, across, bottom + 1.7 * line)
    figure.figimage(page, origin="upper")
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return np.array(canvas.buffer_rgba(), dtype=np.uint8)[..., :3]


def save_png(path: str | Path, image: ArrayLike) -> None:
    """Write an (H, W, 3) uint8 picture; the file appears whole or not at all."""
    from matplotlib.image import imsave

    with atomic_write(Path(path)) as temporary:
        imsave(temporary, np.asarray(image), format="png")


def _drawable(points: ArrayLike, triangles: ArrayLike) -> Mesh:
    """The mesh without the triangles of points that are not finite or absurdly far; these go to zero."""
    array = np.asarray(points, dtype=np.float64)
    usable = np.abs(array) < _FAR
    vertices = check.floats("points", np.where(usable, array, 0), ("N", 3))
    faces = check.indices("triangles", triangles, ("T", 3), below=len(vertices))
    return Mesh(vertices, faces[usable[faces].all(axis=(1, 2))])


def _linear(name: str, color: ArrayLike, count: int) -> Floats:
    """Linear light of one sRGB colour (3,) or one a point (count, 3): light adds up, sRGB does not."""
    array = np.nan_to_num(np.asarray(color, dtype=np.float64))
    shape = (3,) if array.ndim == 1 else (count, 3)
    return np.asarray(np.clip(check.floats(name, array, shape), 0, 1) ** _GAMMA)


def _unit(vectors: Floats) -> Floats:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-200))


def _lit_sides(corners: Floats, bends: Floats) -> Floats:
    """Unit normals at the corners (T, 3, 3) of triangles, all on the side of each triangle that is seen."""
    a, b, c = corners.transpose(1, 0, 2)
    front = _unit(np.cross(b - a, c - a))
    front *= np.where(front[:, 2:] < 0, -1, 1)
    bends = _unit(np.nan_to_num(bends))
    # Turned by the triangle as a whole: near an outline, single normals may point away on the side seen.
    away = np.einsum("tkc,tc->t", bends, front) < 0
    # A trace of the triangle's own normal stands in where none was given.
    return np.asarray(np.where(away[:, None, None], -bends, bends) + 1e-6 * front[:, None])


def _spots(reach: float) -> NDArray[np.int64]:
    """Where to look for occluders (48, 2), in samples: a sunflower, its seeds numbered from the middle."""
    index = np.arange(48)
    radius, angle = reach * np.sqrt((index + 0.5) / 48), index * math.pi * (3 - math.sqrt(5))
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).astype(np.int64)


@njit(cache=True)
def _light(x: float, y: float, z: float) -> float:
    """Light that falls on a unit normal in the frame of the camera."""
    # Half-Lambert, squared: it fades to nothing, without the visible edge where a plain cosine stops.
    key = (0.5 + 0.5 * (x * _KEY[0] + y * _KEY[1] + z * _KEY[2])) ** 2
    fill = (0.5 + 0.5 * (x * _FILL[0] + y * _FILL[1] + z * _FILL[2])) ** 2
    ambient = _GROUND_LIGHT + (_SKY_LIGHT - _GROUND_LIGHT) * (0.5 + 0.5 * y)
    # Darker where the surface turns away, so that outlines stand out from a white page.
    return (_KEY_LIGHT * key + _FILL_LIGHT * fill + ambient) * (1 - 0.5 * (1 - z) ** 3)


@njit(cache=True)
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


@njit(cache=True)
def _shade(depth: Floats, surface: Floats, spots: Any) -> Floats:
    """The picture (H, W, 3) in linear light, from the samples that `_rasterise` finds, four a pixel."""
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


@njit(cache=True)
def _rasterise(corners: Floats, rows: int, columns: int, background: Floats) -> tuple[Floats, Floats]:
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
