"""The renderer: geometry of the picture, visibility, light, colours and bad input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from posespace.errors import InputError
from posespace.report.camera import DIRECTIONS, Camera
from posespace.report.colours import heat
from posespace.report.montage import montage
from posespace.report.png import save_png
from posespace.report.render import render

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
RED, GREEN = (0.9, 0.1, 0.1), (0.1, 0.9, 0.1)
SQUARE = np.array([[0, 1, 2], [0, 2, 3]])


def sphere(levels: int = 5) -> tuple[Floats, Ints]:
    """A subdivided octahedron: as symmetric as the axes are."""
    points = np.concatenate([np.eye(3), -np.eye(3)])
    faces = np.array([[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]])
    for _ in range(levels):
        edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
        unique, which = np.unique(edges, axis=0, return_inverse=True)
        ab, bc, ca = which.reshape(3, -1) + len(points)
        middle = points[unique].sum(axis=1)
        points = np.concatenate([points, middle / np.linalg.norm(middle, axis=1, keepdims=True)])
        a, b, c = faces.T
        quarters = ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
        faces = np.concatenate([np.stack(quarter, axis=1) for quarter in quarters])
    return points, faces


def square(depth: float, half: float = 1.0) -> Floats:
    """A square (4, 3) that faces the front view."""
    return np.array([[-half, -half, depth], [half, -half, depth], [half, half, depth], [-half, half, depth]])


def covered(image: NDArray[np.uint8]) -> NDArray[np.bool_]:
    return np.asarray((image != 255).any(axis=2))


def test_a_sphere_covers_a_disc_of_the_right_area() -> None:
    points, faces = sphere()
    camera = Camera("front", target=(0, 0, 0), extent=1.5)
    image = render(points, faces, camera, (400, 300), colors=(0, 0, 0))
    ink = (255 - image[..., 0].astype(float)).sum() / 255
    # Edge pixels are grey by gamma, which takes a little from the sum.
    assert ink == pytest.approx(np.pi * 100**2, rel=0.01)
    rows, columns = np.nonzero(covered(image))
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (50, 249, 100, 299)


@pytest.mark.parametrize("order", [1, -1])
def test_the_nearer_surface_wins_in_any_order(order: int) -> None:
    points = np.concatenate([square(0.0), square(1.0, half=0.5)])
    faces = np.concatenate([SQUARE, SQUARE + 4])[::order]
    colors = np.repeat([GREEN, RED], 4, axis=0)
    front = render(points, faces, Camera("front", extent=1.2), (120, 120), colors=colors)[60, 60]
    back = render(points, faces, Camera("back", extent=1.2), (120, 120), colors=colors)[60, 60]
    assert front[0] > 2 * front[1]
    assert back[1] > 2 * back[0]


def test_surfaces_that_cross_are_cut_where_they_meet() -> None:
    tilted = square(0.0)
    tilted[:, 2] = tilted[:, 0]
    points = np.concatenate([square(0.0), tilted])
    colors = np.repeat([GREEN, RED], 4, axis=0)
    faces = np.concatenate([SQUARE, SQUARE + 4])
    image = render(points, faces, Camera("front", extent=1.0), (100, 100), colors=colors)
    red = image[50, :, 0] > image[50, :, 1]
    assert not red[:49].any()
    assert red[51:].all()


def test_neighbouring_triangles_leave_no_gap() -> None:
    rng = np.random.default_rng(0)
    count = 30
    grid = np.argwhere(np.ones((count, count))).astype(float)
    inner = ((grid > 0) & (grid < count - 1)).all(axis=1)
    grid[inner] += rng.uniform(-0.3, 0.3, (int(inner.sum()), 2))
    corner = np.arange(count * count).reshape(count, count)[:-1, :-1].reshape(-1, 1)
    faces = np.concatenate([corner + np.array(step) for step in ([0, count, count + 1], [0, count + 1, 1])])
    points = np.column_stack([grid, np.zeros(len(grid))])
    image = render(points, faces, Camera("front", extent=5.0), (200, 200), colors=(0, 0, 0))
    assert (image == 0).all()


def test_a_sphere_looks_the_same_from_all_sides() -> None:
    points, faces = sphere(4)
    front = render(points, faces, Camera("front"), (160, 120)).astype(int)
    for name in DIRECTIONS.keys() - {"three_quarter"}:
        assert np.abs(render(points, faces, Camera(name), (160, 120)) - front).max() <= 2


def test_light_comes_from_the_upper_left_and_fades_evenly() -> None:
    points, faces = sphere()
    image = render(points, faces, Camera("front", extent=1.1), (220, 220)).astype(int)[..., 0]
    left, right, top, bottom = image[110, 30], image[110, 190], image[30, 110], image[190, 110]
    assert left > right
    assert top > bottom
    # Even the darkest part is far from black: colours must stay readable there.
    assert image.min() > 50
    assert np.abs(np.diff(image[110, 15:205])).max() <= 8


def test_a_surface_is_lit_alike_from_both_sides() -> None:
    points, faces = sphere(3)
    assert np.array_equal(render(points, faces), render(points, faces[:, [0, 2, 1]]))
    outward = render(points, faces, normals=points)
    assert np.array_equal(outward, render(points, faces, normals=-points))
    assert np.array_equal(outward, render(points, faces, normals=4 * points))


def test_normals_that_are_missing_fall_back_to_the_triangle() -> None:
    points = square(0.0)
    normals = np.zeros((4, 3))
    normals[1] = np.nan
    assert np.array_equal(render(points, SQUARE, normals=normals), render(points, SQUARE))


def test_a_hollow_is_darker_than_open_ground() -> None:
    points, faces = np.concatenate([square(0.0), square(0.1, half=0.5)]), np.concatenate([SQUARE, SQUARE + 4])
    image = render(points, faces, Camera("front", extent=1.0), (200, 200))[100, :, 0].astype(int)
    assert image[48] < image[5] - 5
    assert image[100] == image[5]


def test_colors_survive_shading() -> None:
    points, faces = sphere()
    image = render(points, faces, colors=(0.8, 0.2, 0.2), background=(0, 0, 0)).astype(int)
    inside = image.any(axis=2)
    assert (image[..., 0] > image[..., 1])[inside].all()
    assert (image[..., 0] > image[..., 2])[inside].all()
    assert image.max() == pytest.approx(0.8 * 255, abs=6)


def test_vertex_colors_are_interpolated() -> None:
    colors = np.array([[1.0, 0, 0], [0, 0, 1.0], [0, 0, 1.0], [1.0, 0, 0]])
    line = render(square(0.0), SQUARE, Camera("front", extent=1.0), (100, 100), colors=colors)[50].astype(int)
    assert (np.diff(line[:, 0]) <= 0).all()
    assert (np.diff(line[:, 2]) >= 0).all()
    assert abs(line[50, 0] - line[50, 2]) < 6


@pytest.mark.parametrize("points", [np.zeros((0, 3)), np.eye(3), np.full((5, 3), np.nan)])
def test_a_mesh_without_triangles_is_background(points: Floats) -> None:
    image = render(points, np.zeros((0, 3), dtype=int), size=(30, 20), background=(0.2, 0.4, 0.6))
    assert image.shape == (20, 30, 3)
    assert (image == (51, 102, 153)).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300, 1e70])
def test_triangles_of_unusable_points_are_left_out(bad: float) -> None:
    points = np.concatenate([square(0.0), [[bad, 0, 0], [0, bad, 1], [0, 0, bad]]])
    extra = np.array([[0, 1, 4], [4, 5, 6], [2, 6, 3]])
    expected = render(square(0.0), SQUARE)
    assert np.array_equal(render(points, np.concatenate([extra, SQUARE])), expected)


def test_degenerate_triangles_are_left_out() -> None:
    extra = np.array([[0, 0, 0], [0, 1, 1], [0, 2, 4], [3, 3, 1]])
    points = np.concatenate([square(0.0), [[0.0, 0, 0]]])
    assert np.array_equal(render(points, np.concatenate([extra, SQUARE])), render(square(0.0), SQUARE))


@pytest.mark.parametrize("shift", [(5, 0, 0), (0, -5, 0), (1e6, 1e6, 0), (-1e9, 0, 1e9)])
def test_triangles_outside_the_view_are_not_drawn(shift: tuple[float, ...]) -> None:
    camera = Camera("front", target=(0, 0, 0), extent=1.0)
    assert not covered(render(square(0.0) + shift, SQUARE, camera, (64, 64))).any()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_triangles_that_reach_far_beyond_the_view_are_clipped_to_it() -> None:
    camera = Camera("front", target=(0, 0, 0), extent=1.0)
    assert covered(render(square(-7.0, half=1e9), SQUARE, camera, (64, 64))).all()
    assert render(square(0.0), SQUARE, Camera("front", extent=1e-320), (64, 64)).shape == (64, 64, 3)


def test_random_soup_stays_within_the_picture() -> None:
    rng = np.random.default_rng(1)
    points = rng.standard_normal((300, 3)) * 10.0 ** rng.uniform(-3, 3, (300, 1))
    faces = rng.integers(0, 300, (1000, 3))
    for size in ((1, 1), (3, 50), (50, 3)):
        assert render(points, faces, Camera(extent=1.0), size).shape == (size[1], size[0], 3)


def test_the_same_input_gives_the_same_bytes() -> None:
    points, faces = sphere(4)
    first = render(points, faces)
    assert first.dtype == np.uint8
    assert np.array_equal(first, render(points.copy(), faces.astype(np.int32)))


def test_fit_frames_every_shape_in_pictures_of_any_proportion() -> None:
    points, faces = sphere(3)
    shapes = np.stack([points * (3, 1, 1), points + np.array([0, 2, 0])])
    camera = Camera.fit(shapes, direction="front")
    for size in ((200, 100), (100, 200)):
        for shape in shapes:
            inside = covered(render(shape, faces, camera, size))
            assert inside.any()
            assert not inside[[0, -1]].any()
            assert not inside[:, [0, -1]].any()


def test_camera_puts_up_up_and_the_named_sides_in_place() -> None:
    assert np.allclose(Camera("front").axes(), np.eye(3))
    assert np.allclose(Camera("right").axes()[0], (0, 0, -1))
    assert np.allclose(Camera("top").axes(), [(1, 0, 0), (0, 0, -1), (0, 1, 0)])
    assert np.allclose(Camera("bottom").axes(), [(1, 0, 0), (0, 0, 1), (0, -1, 0)])
    for camera in (Camera((0, 0, 5), up=(0, 0, 1)), Camera((1, 2, 3), up=(1, 0, 0)), Camera()):
        axes = camera.axes()
        assert np.allclose(axes @ axes.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(axes) == pytest.approx(1)
    assert Camera(np.array([0, 0, 2.0])) == Camera("front")


def test_bad_input_gets_one_line() -> None:
    points, faces = sphere(0)
    calls = (
        lambda: render(points[:, :2], faces),
        lambda: render(points, faces + 1),
        lambda: render(points, faces.astype(float)),
        lambda: render(points, faces, size=(0, 10)),
        lambda: render(points, faces, colors=np.zeros((3, 3))),
        lambda: render(points, faces, normals=np.zeros((3, 3))),
        lambda: Camera("sideways"),
        lambda: Camera((0, 0, 0)),
        lambda: Camera(target=(0, np.nan, 0)),
        lambda: Camera(extent=-1.0),
        lambda: heat(np.zeros(3), 0.0),
    )
    for call in calls:
        with pytest.raises(InputError) as caught:
            call()
        assert "\n" not in str(caught.value)


def test_heat_darkens_all_the_way_and_clips() -> None:
    colors = heat(np.linspace(0, 2.0, 64), top=2.0)
    luminance = colors**2.2 @ (0.2126, 0.7152, 0.0722)
    assert (np.diff(luminance) < 0).all()
    assert np.ptp(colors[0]) == 0
    assert np.array_equal(heat([-1.0, 5.0, np.nan], 2.0), colors[[0, -1, -1]])


def test_montage_shows_each_picture_untouched() -> None:
    rng = np.random.default_rng(2)
    big, small = (rng.integers(0, 256, (h, w, 3)).astype(np.uint8) for h, w in ((40, 61), (20, 30)))
    plain = montage([[big, small], [None, big]])
    assert plain.shape == (104, 146, 3)
    assert np.array_equal(plain[8:48, 8:69], big)
    assert np.array_equal(plain[18:38, 92:122], small)
    assert (plain[56:96, 8:69] == 255).all()
    captioned = montage([[big]], labels=["row"], titles=["a title of several words"], scale=("error", 2.0))
    assert captioned.shape[0] > 56
    assert captioned.dtype == np.uint8
    assert montage([]).ndim == 3


def test_png_is_written_whole_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    image = render(*sphere(2), size=(40, 30))
    path = tmp_path / "ball.png"
    save_png(path, image)
    assert np.array_equal(np.asarray(Image.open(path)), image)
    with pytest.raises((ValueError, TypeError)):
        save_png(path, np.zeros((2, 2, 7)))
    assert [entry.name for entry in tmp_path.iterdir()] == ["ball.png"]
