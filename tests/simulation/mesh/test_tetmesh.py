"""Tetrahedra round bones: what they fill, what they hold, and which surfaces are mended or refused."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from helpers.tube import tube, volume

from posespace.errors import InputError
from posespace.geometry.surface import Surface
from posespace.geometry.tetrahedra import boundary
from posespace.mesh import Mesh
from posespace.rig import Rig
from posespace.simulation.bodies import capsules
from posespace.simulation.bodies.body import Bone, Cut
from posespace.simulation.bodies.rig_bones import bones_of_rig
from posespace.simulation.mesh.cutaway import cut_open
from posespace.simulation.mesh.repair import cut_ends
from posespace.simulation.mesh.tetmesh import TetMesh, tetrahedralise
from posespace.simulation.solver.elements import to_quadratic, volumes

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("netgen") is None, reason="netgen is missing: pip install 'posespace[simulate]'"
)

WANTED = 1200


def two_bones() -> tuple[Bone, Bone]:
    return (
        Bone(0, np.array([-2.0, 0, 0]), np.array([-0.4, 0, 0]), 0.3, 0.25),
        Bone(1, np.array([0.4, 0, 0]), np.array([2.0, 0, 0]), 0.25, 0.2),
    )


@pytest.fixture(scope="module")
def filled() -> TetMesh:
    return tetrahedralise(tube(), two_bones(), WANTED)


def test_the_space_between_skin_and_bones_is_filled(filled: TetMesh) -> None:
    faces, _ = boundary(filled.tets)
    cavities = faces[(filled.bone_of[faces] >= 0).all(axis=1)]
    wanted = volume(tube()) + volume(Mesh(filled.points, cavities))  # the cavities face inwards
    made = volumes(filled.points, filled.tets)
    assert made.min() > 0
    assert made.sum() == pytest.approx(wanted, rel=0.01)
    assert len(filled.tets) == pytest.approx(WANTED, rel=0.1)
    assert filled.notes == ()


def test_nodes_of_a_bone_lie_on_it_and_others_outside(filled: TetMesh) -> None:
    for number, bone in enumerate(filled.bones):
        away = capsules.distance(bone, filled.points)
        own = filled.bone_of == number
        assert own.sum() > 20
        np.testing.assert_allclose(away[own], 0, atol=1e-12)
        assert away[~own].min() > -0.1  # the cavity has flat sides, so a node may lie a little inside the round bone


@pytest.mark.parametrize("order", [1, 2])
def test_the_embedding_gives_back_the_rest_shape_and_follows_any_affine_change(filled: TetMesh, order: int) -> None:
    nodes = filled.points if order == 1 else to_quadratic(filled.points, filled.tets.astype(np.int64))[0]
    matrix, mesh = filled.embedding(order), tube()
    np.testing.assert_allclose(matrix @ nodes, mesh.points, atol=1e-9)
    change = np.array([[1.2, 0.3, 0], [0, 0.9, -0.4], [0.1, 0, 1.1]])
    np.testing.assert_allclose(matrix @ (nodes @ change.T + 5), mesh.points @ change.T + 5, atol=1e-9)
    which, weights = filled.skin(order)
    np.testing.assert_allclose(np.einsum("vk,vki->vi", weights, nodes[which]), mesh.points, atol=1e-9)
    assert np.abs(weights).max() < 3
    assert filled.extrapolation < 0.5


def test_ten_nodes_reproduce_a_quadratic_inside(filled: TetMesh) -> None:
    nodes = to_quadratic(filled.points, filled.tets.astype(np.int64))[0]
    inside = filled.barycentric.min(axis=1) >= 0
    bent = filled.embedding(2) @ (nodes[:, 0] ** 2 + nodes[:, 1] * nodes[:, 2])
    points = tube().points
    assert inside.any()
    np.testing.assert_allclose(bent[inside], (points[:, 0] ** 2 + points[:, 1] * points[:, 2])[inside], atol=1e-9)


def test_two_runs_are_equal(filled: TetMesh) -> None:
    again = tetrahedralise(tube(), two_bones(), WANTED)
    for name in ("points", "tets", "bone_of", "element", "barycentric"):
        np.testing.assert_array_equal(getattr(again, name), getattr(filled, name))


def test_seams_and_an_inside_out_surface_make_no_difference(filled: TetMesh) -> None:
    mesh = tube()
    split = Mesh(mesh.points[mesh.triangles].reshape(-1, 3), np.arange(3 * len(mesh.triangles)).reshape(-1, 3)[:, ::-1])
    made = tetrahedralise(split, two_bones(), WANTED)
    assert len(made.element) == len(split.points)
    np.testing.assert_allclose(made.embedding() @ made.points, split.points, atol=1e-9)
    assert volumes(made.points, made.tets).sum() == pytest.approx(volumes(filled.points, filled.tets).sum(), rel=0.01)


def test_units_do_not_matter(filled: TetMesh) -> None:
    mesh = tube()
    small = tuple(
        Bone(b.joint, b.start / 1000, b.end / 1000, b.start_radius / 1000, b.end_radius / 1000) for b in two_bones()
    )
    made = tetrahedralise(mesh.with_points(mesh.points / 1000), small, WANTED)
    assert len(made.tets) == pytest.approx(len(filled.tets), rel=0.1)


def test_one_cut_end_is_capped() -> None:
    mesh = tube()
    cut = Mesh(mesh.points, mesh.triangles[(mesh.points[mesh.triangles][:, :, 0] < 2.9).all(axis=1)])
    made = tetrahedralise(cut, two_bones(), WANTED)
    assert made.notes == ("1 hole capped, the largest of 24 edges at (2.887, 0, 0)",)
    assert volumes(made.points, made.tets).min() > 0


@pytest.mark.slow
def test_the_skin_of_a_cut_end_moves_with_the_nearest_bone(filled: TetMesh) -> None:
    mesh = tube()
    cut = Mesh(mesh.points, mesh.triangles[(mesh.points[mesh.triangles][:, :, 0] < 2.9).all(axis=1)])
    assert cut_ends(mesh) == ()
    (end,) = cut_ends(cut)
    np.testing.assert_allclose(end.outward, [1, 0, 0], atol=1e-6)
    made = tetrahedralise(cut, two_bones(), WANTED, cuts=(end,))
    skin = np.unique(boundary(made.tets)[0])
    outside = skin[capsules.distance(made.bones[1], made.points[skin]) > 1e-9]
    held = made.bone_of[outside] == 1
    assert held.sum() >= 3
    np.testing.assert_array_equal(held, end.holds(made.points[outside]))
    assert made.points[outside[held], 0].min() > 2.7
    whole = tetrahedralise(mesh, two_bones(), WANTED, cuts=(Cut(np.array([-2.8, 0, 0]), np.array([-1.0, 0, 0])),))
    assert (whole.bone_of == 0).sum() > (filled.bone_of == 0).sum()


@pytest.mark.slow
def test_a_surface_that_crosses_itself_is_wrapped() -> None:
    mesh = tube()
    lump = mesh.points * 0.6 + (0, 0.9, 0)
    bones = (two_bones()[0],)
    both = Mesh(np.vstack([mesh.points, lump]), np.vstack([mesh.triangles, mesh.triangles + len(mesh.points)]))
    inside = Bone(1, np.array([-0.5, 1.0, 0]), np.array([0.5, 1.0, 0]), 0.15, 0.15)
    made = tetrahedralise(both, (*bones, inside), 3000)
    assert "wrapped" in made.notes[0]
    assert volume(mesh) < volumes(made.points, made.tets).sum() + 1
    assert volumes(made.points, made.tets).min() > 0


def _refused(mesh: Mesh, bones: tuple[Bone, ...], elements: int = WANTED) -> str:
    with pytest.raises(InputError) as caught:
        tetrahedralise(mesh, bones, elements, names=("upper", "lower"))
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_bad_input_gets_one_line() -> None:
    mesh, (upper, lower) = tube(), two_bones()
    places = mesh.points[mesh.triangles][:, :, 0]
    ends = Mesh(mesh.points, mesh.triangles[(np.abs(places) < 2.9).all(axis=1)])
    assert _refused(ends, (upper, lower)).startswith("surface has 2 holes, the largest of 24 edges at (")
    flat = mesh.with_points(mesh.points * (1, 1, 0))
    assert "encloses a volume" in _refused(flat, (upper, lower))
    away = Bone(1, np.array([4.0, 0, 0]), np.array([5.0, 0, 0]), 0.2, 0.2)
    assert _refused(mesh, (upper, away)).startswith("bone of 'lower': it lies outside the surface at (4, 0, 0)")
    through = Bone(1, np.array([1.0, 0, 0]), np.array([5.0, 0, 0]), 0.2, 0.2)
    assert "reaches outside" in _refused(mesh, (upper, through))
    across = Bone(1, np.array([-1.2, -0.5, 0]), np.array([-1.2, 0.5, 0]), 0.1, 0.1)
    assert "it meets the bone of" in _refused(mesh, (upper, across))
    assert _refused(mesh, ()).startswith("bones: expected at least one")
    assert _refused(mesh, (upper,), 10).startswith("elements: expected 200")
    assert _refused(Mesh(mesh.points, np.zeros((0, 3), np.int32)), (upper,)).startswith("surface: expected triangles")


@pytest.mark.slow
def test_many_bones_get_the_elements_they_need_at_the_first_try(monkeypatch: pytest.MonkeyPatch) -> None:
    from posespace.simulation.mesh import tetmesh

    places = [np.array([x, 0.5 * np.cos(turn), 0.5 * np.sin(turn)]) for x in (-1, 0, 1) for turn in range(6)]
    half = np.array([0.05, 0, 0])
    bones = [Bone(0, place - half, place + half, 0.04, 0.04) for place in places]
    fills: list[float] = []
    made = tetmesh._filled
    monkeypatch.setattr(tetmesh, "_filled", lambda *given: fills.append(given[2]) or made(*given))
    found = tetrahedralise(tube(), bones, 500)
    assert len(fills) == 1
    assert found.notes == (f"500 elements are too few for these bones: {len(found.tets)} are used",)
    assert len(found.tets) > 625


@pytest.mark.slow
def test_a_bone_without_room_shrinks_with_a_note() -> None:
    thick = Bone(0, np.array([-0.3, 0, 0]), np.array([0.3, 0, 0]), 0.98, 0.98)
    made = tetrahedralise(tube(), (thick,), 2500, names=("upper",))
    assert made.notes[0].startswith("bone of 'upper': it meets the skin, so it was shrunk to ")
    assert made.bones[0].start_radius < 0.98


def test_bones_are_made_for_a_rig_of_joints() -> None:
    mesh = tube()
    rest = np.tile(np.eye(4), (4, 1, 1))
    rest[:, 0, 3] = (-2.6, 0.0, 2.4, 9.0)
    weights = np.zeros((len(mesh.points), 4))
    weights[np.arange(len(mesh.points)), (mesh.points[:, 0] > 0).astype(int)] = 1
    rig = Rig.from_arrays(mesh.points, mesh.triangles, weights, (-1, 0, 1, 2), rest)
    bones = bones_of_rig(rig)
    assert [bone.joint for bone in bones] == [0, 1]
    assert bones[0].start[0] > -2.6
    assert bones[0].end[0] + bones[0].end_radius < 0 < bones[1].start[0] - bones[1].start_radius


def test_bones_of_a_real_hand_lie_inside_it(data: Path) -> None:
    import posespace as ps

    rig = ps.load_rig(data / "hand-godot-xr" / "hand_l.gltf")
    bones = bones_of_rig(rig)
    skin = Surface(rig.mesh.points, rig.mesh.triangles)
    moved = {rig.skeleton.names[bone.joint] for bone in bones}
    assert {"Index_Distal_L", "Thumb_Proximal_L", "Little_Intermediate_L", "Wrist_L"} <= moved
    assert not any("Tip" in name for name in moved)
    for bone in bones:
        assert skin.signed_distance(capsules.surface(bone, bone.start_radius)[0]).max() < 0


def test_a_cut_shows_skin_flesh_and_bones(filled: TetMesh) -> None:
    points, triangles, colors = cut_open(filled, filled.bones, (0, 0, 0), (0, 0, 1))
    assert points.shape == colors.shape == (3 * len(triangles), 3)
    assert len(np.unique(colors, axis=0)) == 3
