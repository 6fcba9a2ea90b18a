"""Registration: a template comes to lie on a scan, with the same places in the same places."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.bean import bean, landmarks, placed, scanned, sphere, template

import posespace as ps
from posespace.errors import InputError
from posespace.geometry.simplify import simplified, smoothed
from posespace.geometry.surface import Surface
from posespace.register.align import align

BEND = 1.4


def error(found: ps.Registered, mesh: ps.Mesh, on_sphere: np.ndarray) -> float:
    """Mean distance from the truth, as a fraction of the diagonal."""
    truth = found.alignment.moved(placed(bean(on_sphere, BEND)))
    return float(np.linalg.norm(found.points - truth, axis=1).mean()) / mesh.diagonal


@pytest.fixture(scope="module")
def registered() -> ps.Registered:
    ours, theirs = landmarks(BEND)
    scan = scanned(BEND, hole=0.25, noise=0.002)
    return ps.Registrar(template(), ours, ps.Registration(coarse=800, levels=1)).register(scan, theirs)


def test_the_template_lies_on_a_scan_with_a_hole_and_noise(registered: ps.Registered) -> None:
    assert registered.figures["mean_distance"] < 0.001
    assert error(registered, template(), sphere(4)[0]) < 0.01
    assert 0.9 < registered.figures["covered"] < 0.995
    assert registered.alignment.scale == 1
    assert registered.notes == []


def test_landmarks_are_met_where_the_scan_is(registered: ps.Registered) -> None:
    ours, theirs = landmarks(BEND)
    scan = scanned(BEND, hole=0.25, noise=0.002)
    on_scan = Surface(scan.points, scan.triangles).closest(np.array(list(theirs.values()))).points
    gaps = registered.points[list(ours.values())] - registered.alignment.moved(on_scan)
    assert np.abs(gaps).max() < 1e-4


def test_detail_goes_on_over_the_hole(registered: ps.Registered) -> None:
    assert registered.heights is not None
    assert registered.heights.shape == (4098,)
    assert np.abs(registered.heights).max() < 0.05


def test_detail_is_the_relief_of_the_scan() -> None:
    points, triangles = sphere(5)
    relief = 0.01 * np.sin(30 * points[:, 0]) * np.cos(25 * points[:, 1])
    smooth = bean(points)
    scan = ps.Mesh(smooth + relief[:, None] * ps.Mesh(smooth, triangles).normals(), triangles)
    ours, _ = landmarks(0.0)
    theirs = {name: tuple(bean(points)[k].tolist()) for name, k in ours.items()}
    mesh = template()
    found = ps.Registrar(mesh, ours, ps.Registration(levels=1, smoothing=20)).register(scan, theirs)
    assert found.heights is not None
    fine = np.concatenate([found.points, np.zeros((4098 - 1026, 3))])
    assert len(fine) == len(found.heights)
    # Vertices of the template are the first of the fine surface, and the sphere's levels nest.
    base = (found.points - bean(points[:1026])) * mesh.normals()
    total = base.sum(axis=1) + found.heights[:1026]
    assert np.corrcoef(total, relief[:1026])[0, 1] > 0.9


def test_other_units_and_flipped_triangles_are_said_and_mended() -> None:
    ours, theirs = landmarks(BEND)
    scan = scanned(BEND)
    flipped = ps.Mesh(1000 * scan.points, scan.triangles[:, ::-1])
    scaled = {name: tuple(1000 * x for x in place) for name, place in theirs.items()}
    found = ps.Registrar(template(), ours).register(flipped, scaled)
    assert found.alignment.scale == pytest.approx(0.001)
    assert error_scaled(found) < 0.01
    assert len(found.notes) == 2
    assert "another unit" in found.notes[0]
    assert "face inwards" in found.notes[1]


def error_scaled(found: ps.Registered) -> float:
    truth = found.alignment.moved(1000 * placed(bean(sphere(4)[0], BEND)))
    return float(np.linalg.norm(found.points - truth, axis=1).mean()) / template().diagonal


def test_seams_stay_closed_and_thin_or_double_triangles_do_not_matter() -> None:
    ours, theirs = landmarks(BEND, 8)
    mesh = template(3)
    split = ps.Mesh(mesh.points[mesh.triangles.ravel()], np.arange(3 * len(mesh.triangles)).reshape(-1, 3))
    marks = {name: tuple(mesh.points[k].tolist()) for name, k in ours.items()}
    scan = scanned(BEND, 4)
    worse = np.concatenate([scan.triangles, scan.triangles[:50], [(0, 0, 1), (2, 3, 2)]])
    found = ps.Registrar(split, marks).register(ps.Mesh(scan.points, worse), theirs)
    whole = ps.Registrar(mesh, ours).register(scan, theirs)
    assert np.abs(found.points - whole.points[mesh.triangles.ravel()]).max() < 0.02
    assert len(np.unique(np.round(found.points, 9), axis=0)) == len(mesh.points)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda marks: dict(list(marks.items())[:2]), "at least 3 on the scan, got 2"),
        (lambda marks: {"mark 0": marks["mark 0"], "mark 1": marks["mark 1"], "mark 10": marks["mark 0"]}, "one line"),
        (lambda marks: marks | {"mark 2": (0.0, 0.0, 0.0)}, "landmark 'mark 2': it lies"),
        (lambda marks: marks | {"mark 2": 10**6}, "has vertices 0 to"),
        (lambda marks: marks | {"mark 2": (float("nan"), 0.0, 0.0)}, "three finite numbers"),
    ],
)
def test_bad_landmarks_are_named(change: object, words: str) -> None:
    ours, theirs = landmarks(0.0)
    registrar = ps.Registrar(template(2), ours)
    with pytest.raises(InputError, match=words):
        registrar.register(scanned(0.0, 3), change(theirs))  # type: ignore[operator]


def test_bad_templates_scans_and_settings_are_named() -> None:
    ours, theirs = landmarks(0.0)
    empty = ps.Mesh(np.zeros((3, 3)), np.zeros((0, 3), np.int32))
    flat = ps.Mesh(np.zeros((3, 3)), np.array([(0, 1, 2)]))
    for mesh in (empty, flat):
        with pytest.raises(InputError, match="template: expected a mesh with triangles"):
            ps.Registrar(mesh, ours)
        with pytest.raises(InputError, match="no triangles with an area"):
            ps.Registrar(template(2), ours).register(mesh, theirs)
    with pytest.raises(InputError, match="at least 3 on the template"):
        ps.Registrar(template(2), {"mark 0": 0, "mark 1": 1})
    for name, value in (("coarse", 3), ("smoothing", -1), ("levels", 9), ("reach", 0.0)):
        with pytest.raises(InputError, match=f"{name}: expected"):
            ps.Registration(**{name: value})  # type: ignore[arg-type]


def test_a_scan_of_something_else_is_refused() -> None:
    ours, theirs = landmarks(0.0)
    scan = scanned(0.0, 3)
    few = ps.Mesh(scan.points, scan.triangles[: len(scan.triangles) // 12])
    near = {name: tuple(few.points[few.triangles[0, 0]] + 0.05 * np.array(place)) for name, place in theirs.items()}
    with pytest.raises(InputError, match=r"landmark|of the template has closest points"):
        ps.Registrar(template(2), ours).register(few, near)


@pytest.mark.parametrize(("ratio", "scale"), [(0.7, 1.0), (0.0012, 0.001), (0.0254, 0.0254), (0.22, 0.22)])
def test_a_scale_is_a_unit_where_it_is_near_one(ratio: float, scale: float) -> None:
    places = np.random.default_rng(2).normal(size=(6, 3))
    assert align(places / ratio, places).scale == pytest.approx(scale)


def test_fewer_triangles_keep_the_shape_and_smoothing_keeps_the_volume() -> None:
    mesh = template()
    points, triangles = simplified(mesh.points, mesh.triangles, 500)
    assert len(triangles) <= 500
    gaps = np.linalg.norm(Surface(mesh.points, mesh.triangles).closest(points).points - points, axis=1)
    assert gaps.max() < 0.01 * mesh.diagonal
    noisy = mesh.points + 0.01 * np.random.default_rng(1).normal(size=mesh.points.shape)
    calm = Surface(smoothed(noisy, mesh.triangles, 5), mesh.triangles)
    assert calm.volume == pytest.approx(Surface(mesh.points, mesh.triangles).volume, rel=0.02)
    assert np.linalg.norm(calm.points - mesh.points) < 0.8 * np.linalg.norm(noisy - mesh.points)


WRONG = {
    "reversed": lambda names: dict(zip(names, names[::-1], strict=True)),
    "swapped": lambda names: {name: name for name in names} | {names[0]: names[1], names[1]: names[0]},
}


@pytest.mark.parametrize("kind", ["reversed", "swapped", "mirrored"])
def test_wrong_landmarks_are_refused_and_named_unless_forced(kind: str) -> None:
    on_template, on_scan = landmarks(0.7)
    names = list(on_scan)
    scan, marks = scanned(0.7, 4), on_scan
    if kind in WRONG:
        marks = {name: on_scan[other] for name, other in WRONG[kind](names).items()}
    else:
        flipped = scan.points * [-1, 1, 1]
        scan = ps.Mesh(flipped, scan.triangles[:, ::-1])
        marks = {name: (-x, y, z) for name, (x, y, z) in on_scan.items()}
    said = {
        "reversed": "reverse order",
        "swapped": f"landmarks '{names[0]}' and '{names[1]}' seem to be swapped",
        "mirrored": "mirrored",
    }[kind]
    with pytest.raises(ps.InputError, match=said):
        ps.Registrar(template(3), on_template).register(scan, marks)
    forced = ps.Registrar(template(3), on_template, ps.Registration(force=True))
    try:
        assert said in " ".join(forced.register(scan, marks).notes)
    except ps.InputError as error:
        assert "closest points on the scan" in str(error)
