"""The player on the GPU: the numbers of the reference, what stays on the device, and what it refuses."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import absent
from helpers.sculpts import random_sculpts
from helpers.strategies import random_pose, random_rig, random_skin, seeds
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import posespace as ps
from posespace import skinning
from posespace.errors import InputError, MissingExtraError
from posespace.interpolate.shepard import Shepard
from posespace.layer import Driver, Layer
from posespace.mesh import Mesh
from posespace.rig import BLENDINGS, Rig
from posespace.runtime.gpu import device as gpu_device
from posespace.runtime.gpu.player import GPUPlayer
from posespace.runtime.gpu.walks import CENTRE, START, walks_of
from posespace.runtime.surface_normals import fans_of
from posespace.skin import Skin
from posespace.spaces import PoseSpace

ARM, UNSEEN = ps.datasets.bending_arm(rings=24, sides=12)
POSE = UNSEEN.motion[1]


@pytest.fixture(scope="module")
def device() -> Iterator[Any]:
    """One device for all players of this file."""
    try:
        made = gpu_device.opened()
    except InputError as error:
        absent("vulkan", str(error))
    yield made
    made.destroy()


@cache
def eigen(normals: str = "none", bits: int = 16, blending: str = "linear") -> Skin:
    skin = ps.EigenSkin(bits=bits, normals=normals).fit(ARM)
    return replace(skin, rig=replace(skin.rig, blending=blending))


def driver(rig: Rig, columns: int = 2) -> Driver:
    """Coordinates of the control `smile`."""
    space = PoseSpace("controls", ("smile",))
    rng = np.random.default_rng(5)
    motion = ps.Motion.from_poses([random_pose(rng, rig) for _ in range(4)])
    where = space.coordinates(motion, rig.skeleton)
    return Driver(space, Shepard().fit(where, rng.normal(size=(4, columns)), space.metric))


def dialled(mesh: Mesh, columns: int = 2) -> Skin:
    """A skin that only a control moves."""
    rig = Rig.from_mesh(mesh)
    count = len(mesh.points)
    basis = np.random.default_rng(1).normal(size=(columns, count, 3)).astype(np.float32)
    return Skin(rig, (Layer("smile", driver(rig, columns), np.arange(count), basis),))


def steady(skin: Skin, pose: ps.Pose, points: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Which vertices have a normal that rounding cannot turn: no blend that loses rank, no areas that cancel."""
    rig, mesh = skin.rig, skin.mesh
    if skin.detail is None and (not skin.layers or any(layer.normal_basis is not None for layer in skin.layers)):
        linear = rig.blend(pose)[:, :, :3]
        normals = rig.normals + skin.normal_displacements(pose)
        turned = np.einsum("nij,nj->ni", skinning.cofactors(linear), normals)
        return np.linalg.norm(turned, axis=1) > 1e-3 * (linear**2).sum(axis=(1, 2)) * np.linalg.norm(normals, axis=1)
    a, b, c = (points[mesh.triangles[:, k]] for k in range(3))
    area, groups = np.cross(b - a, c - a), mesh.weld.groups
    total, most = np.zeros((len(points), 3)), np.zeros(len(points))
    for corner in groups[mesh.triangles].T:
        np.add.at(total, corner, area)
        np.add.at(most, corner, np.linalg.norm(b - a, axis=1) * np.linalg.norm(c - a, axis=1))
    return np.asarray((np.linalg.norm(total, axis=1) > 1e-2 * most)[groups])


def check(skin: Skin, pose: ps.Pose, play: Any) -> None:
    """Hold a player to the reference."""
    points, normals = skin.pose(pose)
    made, turned = play(pose)
    size = max(skin.rig.mesh.diagonal, float(np.abs(points).max(initial=0.0)), 1e-30)
    np.testing.assert_allclose(made, points, rtol=0, atol=1e-5 * size)
    if turned is not None:
        kept = steady(skin, pose, points)
        np.testing.assert_allclose(turned[kept], normals[kept], rtol=0, atol=1e-4)


@pytest.mark.parametrize("blending", sorted(BLENDINGS))
def test_plain_skinning_is_the_references(device: Any, blending: str) -> None:
    skin = Skin(replace(ARM.rig, blending=blending))
    with GPUPlayer(skin, device=device) as play:
        for pose in UNSEEN.motion[:4]:
            check(skin, pose, play)


@pytest.mark.parametrize("bits", [32, 16, 8])
@pytest.mark.parametrize("normals", ["none", "shared", "separate"])
def test_eigenskin_is_the_references(device: Any, normals: str, bits: int) -> None:
    skin = eigen(normals, bits)
    with GPUPlayer(skin, device=device) as play:
        for pose in UNSEEN.motion[:4]:
            check(skin, pose, play)


@pytest.mark.parametrize("normals", ["none", "shared"])
def test_eigenskin_over_dual_quaternions_is_the_references(device: Any, normals: str) -> None:
    skin = eigen(normals, 16, "dual_quaternion")
    check(skin, POSE, GPUPlayer(skin, device=device))


def test_dense_layers_are_the_references(device: Any) -> None:
    rng = np.random.default_rng(3)
    examples = random_sculpts(rng, random_rig(rng), 8)
    skin = ps.PSD().fit(examples)
    with GPUPlayer(skin, device=device) as play:
        for pose in examples.motion:
            check(skin, pose, play)


@settings(max_examples=25)
@given(
    seeds,
    st.sampled_from([None, 32, 16, 8]),
    st.sampled_from(sorted(BLENDINGS)),
    st.sampled_from(["plain", "surface", "corrected", "detail"]),
    st.booleans(),
)
def test_any_skin_in_any_pose_is_the_references(
    device: Any, seed: int, bits: int | None, blending: str, kind: str, normals: bool
) -> None:
    rng = np.random.default_rng(seed)
    skin = random_skin(rng)
    if kind != "detail":
        skin = replace(skin, detail=None, layers=() if kind == "plain" else skin.layers)
    if kind == "surface":
        skin = replace(skin, layers=tuple(replace(x, normal_basis=None, normal_driver=None) for x in skin.layers))
    skin = replace(skin, rig=replace(skin.rig, blending=blending))
    skin = skin if bits is None else skin.packed(bits)
    with GPUPlayer(skin, normals=normals, device=device) as play:
        for _ in range(2):
            check(skin, random_pose(rng, skin.rig), play)


def test_a_skin_of_controls_alone(device: Any) -> None:
    skin = dialled(ARM.rig.mesh)
    with GPUPlayer(skin, device=device) as play:
        for value in (0.0, 0.3, 1.0):
            check(skin, ps.Pose([[0, 0, 0, 1]], controls={"smile": value}), play)


@pytest.mark.parametrize("columns", [127, 129])
def test_many_columns_of_eight_bits(device: Any, columns: int) -> None:
    skin = dialled(Mesh(ARM.rig.mesh.points[:50], np.zeros((0, 3), int)), columns).packed(8)
    check(skin, ps.Pose([[0, 0, 0, 1]], controls={"smile": 0.4}), GPUPlayer(skin, device=device))


@pytest.mark.parametrize("vertices", [0, 1, 63, 64, 65])
def test_few_vertices(device: Any, vertices: int) -> None:
    mesh = Mesh(np.random.default_rng(0).normal(size=(vertices, 3)), np.zeros((0, 3), int))
    skin = dialled(mesh)
    for each in (skin, Skin(skin.rig)):
        check(each, ps.Pose([[0, 0, 0, 1]], controls={"smile": 0.4}), GPUPlayer(each, device=device))


def test_a_layer_that_moves_nothing(device: Any) -> None:
    empty = Layer("nothing", driver(ARM.rig), np.zeros(0, int), np.zeros((2, 0, 3)))
    skin = Skin(ARM.rig, (empty,))
    check(skin, POSE, GPUPlayer(skin, device=device))


def test_more_bones_than_a_uniform_buffer_holds_and_hundreds_at_a_vertex(device: Any) -> None:
    rng = np.random.default_rng(2)
    rig = random_rig(rng, vertices=30, joints=1400)
    skin = Skin(rig)
    check(skin, random_pose(rng, rig, 0.2), GPUPlayer(skin, device=device))


def test_a_seam_has_one_normal(device: Any) -> None:
    mesh = eigen().rig.mesh
    corners = mesh.triangles.ravel()
    apart = Mesh(mesh.points[corners], np.arange(len(corners)).reshape(-1, 3))
    skin = dialled(apart)
    skin = replace(skin, layers=(replace(skin.layers[0], basis=np.zeros(skin.layers[0].basis.shape)),))
    check(skin, ps.Pose([[0, 0, 0, 1]]), GPUPlayer(skin, device=device))


@given(seeds, st.integers(1, 30), st.integers(0, 150))
def test_walks_pass_every_triangle_around_a_position_once(seed: int, vertices: int, triangles: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 3, size=(vertices, 3)).astype(float)
    mesh = Mesh(points, rng.integers(0, vertices, size=(triangles, 3)))
    walks, starts, _ = walks_of(mesh)
    fans = fans_of(mesh)
    assert ((starts > 0) == (np.diff(fans.starts) > 0)).all()
    rows = np.append(starts[starts > 0], len(walks))
    for group, first, last in zip(np.flatnonzero(starts), rows[:-1], rows[1:], strict=True):
        wanted = fans.triangles[fans.around[fans.starts[group] : fans.starts[group + 1]]]
        assert sorted(passed(walks[first:last].ravel())) == sorted(rolled(*corners) for corners in wanted.tolist())


def passed(steps: NDArray[np.uint32]) -> list[tuple[int, int, int]]:
    """The triangles that a walk passes."""
    found, centre, before = [], 0, 0
    for step in steps.tolist():
        here = step & (START - 1)
        if step & CENTRE:
            centre = here
        elif not step & START:
            found.append(rolled(centre, before, here))
        before = here
    return found


def rolled(a: int, b: int, c: int) -> tuple[int, int, int]:
    """A triangle with its lowest corner first."""
    return min((a, b, c), (b, c, a), (c, a, b))


def test_a_pole_of_many_triangles(device: Any) -> None:
    angle = np.linspace(0, 2 * np.pi, 201)[:-1]
    rim = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    ring = np.arange(200)
    mesh = Mesh(np.concatenate([rim, [[0, 0, 1.0]]]), np.stack([ring, (ring + 1) % 200, 0 * ring + 200], axis=1))
    skin = dialled(mesh)
    skin = replace(skin, layers=(replace(skin.layers[0], basis=0.05 * np.asarray(skin.layers[0].basis)),))
    check(skin, ps.Pose([[0, 0, 0, 1]], controls={"smile": 0.4}), GPUPlayer(skin, device=device))


def test_several_rows_of_work_groups(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert gpu_device.groups_of(10_000_000, 64, 65535) == (52084, 3)
    rows = gpu_device.groups_of
    monkeypatch.setattr(gpu_device, "groups_of", lambda count, size, most: rows(count, size, 2))
    for skin in (Skin(ARM.rig), eigen()):
        check(skin, POSE, GPUPlayer(skin, device=device))


def test_many_poses_are_the_single_ones(device: Any, tmp_path: Path) -> None:
    motion, skin = UNSEEN.motion[:5], eigen()
    play = GPUPlayer(skin, device=device)
    single = [play(pose) for pose in motion]
    shape = (len(motion), play.vertices, 3)
    points = np.memmap(tmp_path / "points", np.float32, "w+", shape=shape)
    normals = np.zeros(shape, np.float32)
    for index, (here, turned) in enumerate(play.many(motion, points, normals)):
        assert np.shares_memory(here, points)
        np.testing.assert_array_equal(here, single[index][0])
        np.testing.assert_array_equal(turned, single[index][1])
    stream = play.many(motion)
    first = next(stream)[0].copy()
    play(motion[4])  # A call between takes nothing from the stream.
    np.testing.assert_array_equal([first, *(made.copy() for made, _ in stream)], points)
    assert list(play.many(motion[:0])) == []


def test_many_poses_of_a_skin_with_detail(device: Any) -> None:
    rng = np.random.default_rng(0)
    skin = random_skin(rng)
    motion = ps.Motion.from_poses([random_pose(rng, skin.rig) for _ in range(3)])
    play = GPUPlayer(skin, normals=False, device=device)
    for pose, (points, normals) in zip(motion, play.many(motion), strict=True):
        assert normals is None
        np.testing.assert_array_equal(points, play(pose)[0])


def test_a_frame_can_stay_on_the_device(device: Any) -> None:
    skin = eigen("shared")
    play = GPUPlayer(skin, device=device)
    play.dispatch(POSE)
    play.wait()
    for kept, wanted in zip(play.buffers(), skin.pose(POSE), strict=True):
        found = np.frombuffer(device.queue.read_buffer(kept), np.float32).reshape(-1, 3)
        np.testing.assert_allclose(found, wanted, atol=1e-4)
    assert GPUPlayer(skin, normals=False, device=device).buffers().normals is None


def drawn(play: GPUPlayer, size: int, camera: NDArray[np.float32]) -> NDArray[np.uint8]:
    """What the vertex stage of the shader draws (size, size, 4)."""
    import wgpu

    device, stage, mesh = play.device, play.stage(), play.skin.rig.mesh
    view = device.create_buffer_with_data(data=np.ascontiguousarray(camera.T), usage=wgpu.BufferUsage.UNIFORM)
    corners = device.create_buffer_with_data(data=mesh.triangles.ravel(), usage=wgpu.BufferUsage.INDEX)
    layout, group = gpu_device.bound(
        device, wgpu.ShaderStage.VERTEX, [{"buffer": {"type": "uniform"}}], [{"buffer": view}], [5]
    )
    usage = wgpu.TextureUsage.RENDER_ATTACHMENT | wgpu.TextureUsage.COPY_SRC
    target = device.create_texture(size=(size, size, 1), format="rgba8unorm", usage=usage)
    pipeline = device.create_render_pipeline(
        layout=device.create_pipeline_layout(bind_group_layouts=[stage.layout, layout]),
        vertex={"module": stage.module, "entry_point": "draw", "constants": stage.constants},
        fragment={"module": stage.module, "entry_point": "shade", "targets": [{"format": "rgba8unorm"}]},
        primitive={"topology": "triangle-list"},
    )
    encoder = device.create_command_encoder()
    clear = {"view": target.create_view(), "load_op": "clear", "store_op": "store", "clear_value": (0, 0, 0, 0)}
    work = encoder.begin_render_pass(color_attachments=[clear])
    work.set_pipeline(pipeline)
    work.set_bind_group(0, stage.group)
    work.set_bind_group(1, group)
    work.set_index_buffer(corners, "uint32")
    work.draw_indexed(mesh.triangles.size)
    work.end()
    device.queue.submit([encoder.finish()])
    place = {"texture": target, "origin": (0, 0, 0)}
    data = device.queue.read_texture(place, {"bytes_per_row": 4 * size, "rows_per_image": size}, (size, size, 1))
    return np.frombuffer(data, np.uint8).reshape(size, size, 4)


def covered(points: NDArray[np.floating], triangles: NDArray[np.integer], size: int) -> NDArray[np.bool_]:
    """Which pixels (size, size) have their middle in a triangle of points in clip space."""
    middle = (np.arange(size) + 0.5) / size * 2 - 1
    x, y = np.meshgrid(middle, -middle)
    found = np.zeros((size, size), bool)
    for a, b, c in points[triangles][:, :, :2]:
        sides = [(q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0]) >= 0 for p, q in ((a, b), (b, c), (c, a))]
        found |= (sides[0] == sides[1]) & (sides[1] == sides[2])
    return found


@pytest.mark.parametrize("blending", sorted(BLENDINGS))
def test_a_vertex_stage_draws_the_posed_surface(device: Any, blending: str) -> None:
    skin, size = eigen("shared", 16, blending), 128
    points = skin.pose(POSE)[0]
    centre, reach = points.mean(axis=0), np.abs(points - points.mean(axis=0)).max()
    camera = np.diag([0.9 / reach, 0.9 / reach, 0.4 / reach, 1.0]).astype(np.float32)
    camera[:3, 3] = -camera.diagonal()[:3] * centre + (0, 0, 0.5)
    play = GPUPlayer(skin, device=device)
    play.upload(POSE)
    image = drawn(play, size, camera)
    wanted = covered(points @ camera[:3, :3].T + camera[:3, 3], skin.rig.mesh.triangles, size)
    # Only pixels that an edge of the silhouette passes through may differ.
    assert ((image[..., 3] > 0) != wanted).mean() < 2e-3
    assert 0.02 < wanted.mean() < 0.9
    play.upload(skin.rig.rest)
    assert ((drawn(play, size, camera)[..., 3] > 0) != wanted).mean() > 0.02
    normals = image[wanted & (image[..., 3] > 0), :3] / 127.5 - 1
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1, atol=0.02)


def test_poses_that_do_not_fit_are_refused(device: Any) -> None:
    play = GPUPlayer(Skin(ARM.rig), device=device)
    joints = len(ARM.rig.skeleton)
    with pytest.raises(InputError, match=f"expected {joints} joints as in the rig, got 1"):
        play.dispatch(np.array([[0, 0, 0, 1.0]]))
    with pytest.raises(InputError, match="expected finite numbers, got nan"):
        play(np.full((joints, 4), np.nan))
    with pytest.raises(InputError, match="expected a float32 array of shape"):
        play(POSE, points=np.zeros((3, 3), np.float32))
    with pytest.raises(InputError, match="expected a Motion"):
        play.many(POSE)  # type: ignore[arg-type]
    with pytest.warns(UserWarning, match="not of unit length"):
        doubled = play(2 * POSE.rotations)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # It is said once.
        np.testing.assert_array_equal(doubled, play(2 * POSE.rotations)[0])
    np.testing.assert_allclose(doubled, play(np.asarray(POSE.rotations))[0], atol=1e-6)


def test_detail_cannot_stay_on_the_device(device: Any) -> None:
    play = GPUPlayer(random_skin(np.random.default_rng(0)), device=device)
    with pytest.raises(
        InputError, match=r"play.buffers: this skin's detail is added on the processor; call play\(pose"
    ):
        play.buffers()
    with pytest.raises(InputError, match=r"play.dispatch: this skin's detail"):
        play.dispatch(play.skin.rig.rest)


def test_a_closed_player_says_so_and_leaves_a_given_device_open(device: Any) -> None:
    play = GPUPlayer(eigen(), device=device)
    play.close()
    play.close()
    for call in (lambda: play(POSE), lambda: play.dispatch(POSE), play.wait, play.buffers, play.stage):
        with pytest.raises(InputError, match="this player is closed; compile the skin again"):
            call()
    check(eigen(), POSE, GPUPlayer(eigen(), device=device))


def test_a_lost_device_is_named_and_others_go_on(device: Any) -> None:
    play = eigen().compile("gpu")
    stream = play.many(UNSEEN.motion[:3])
    next(stream)
    play.device.destroy()  # type: ignore[attr-defined]
    for call in (lambda: play(POSE), lambda: next(stream), play.wait):  # type: ignore[attr-defined]
        with pytest.raises(InputError, match=r"the device is lost or closed; compile the skin again, or compile with"):
            call()
    with pytest.raises(InputError, match="the device is lost or closed"):
        GPUPlayer(eigen(), device=play.device)  # type: ignore[attr-defined]
    play.close()  # type: ignore[attr-defined]
    check(eigen(), POSE, GPUPlayer(eigen(), device=device))
    check(eigen(), POSE, eigen().compile("cpu"))
    fresh = eigen().compile("gpu")
    check(eigen(), POSE, fresh)
    fresh.close()  # type: ignore[attr-defined]


def test_what_is_larger_than_the_device_allows_is_named() -> None:
    pytest.importorskip("wgpu")
    limits = {"max-texture-dimension-2d": 1, "max-buffer-size": 1000, "max-storage-buffer-binding-size": 100}
    small = SimpleNamespace(limits=limits)
    with pytest.raises(
        InputError, match="bones need 5000 texels, more than the device's 4096; compile with backend='cpu'"
    ):
        gpu_device.texture(small, "bones", np.zeros((5000, 4), np.uint32))
    with pytest.raises(
        InputError, match="points need 120 bytes, more than the 100 of a buffer of this device; compile"
    ):
        gpu_device.buffer(small, "points", 120, gpu_device.library().BufferUsage.STORAGE)


def test_a_machine_without_a_driver_or_the_library_is_told_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    wgpu = pytest.importorskip("wgpu")

    def none(**_: Any) -> None:
        raise RuntimeError("no suitable\nadapter")

    with pytest.raises(InputError, match=r"device: expected a wgpu.GPUDevice or None, got a str"):
        eigen().compile("gpu", device="cuda")
    monkeypatch.setattr(type(wgpu.gpu), "request_adapter_sync", lambda self, **_: none())
    with pytest.raises(
        InputError, match=r"gpu: no driver answers \(no suitable adapter\); install one, as Debian's mesa"
    ):
        eigen().compile("gpu")
    monkeypatch.setitem(sys.modules, "wgpu", None)
    with pytest.raises(MissingExtraError, match=r"the GPU needs the extra 'gpu': pip install 'posespace\[gpu\]'"):
        eigen().compile("gpu")
