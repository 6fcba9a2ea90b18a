"""The player on the GPU: what stays on the device, its vertex stage, and what raises."""

from __future__ import annotations

import sys
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers.gpu_skins import ARM, POSE, UNSEEN, check, eigen
from helpers.strategies import random_skin
from numpy.typing import NDArray

from posespace.errors import InputError, MissingExtraError
from posespace.rig import BLENDINGS
from posespace.runtime.gpu import webgpu
from posespace.runtime.gpu.player import GPUPlayer
from posespace.skin.skin import Skin


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
    layout, group = webgpu.bound(
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


def test_poses_that_do_not_fit_raise(device: Any) -> None:
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
        webgpu.texture(small, "bones", np.zeros((5000, 4), np.uint32))
    with pytest.raises(
        InputError, match="points need 120 bytes, more than the 100 of a buffer of this device; compile"
    ):
        webgpu.buffer(small, "points", 120, webgpu.library().BufferUsage.STORAGE)


def test_a_machine_without_a_driver_or_the_library_gets_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    wgpu = pytest.importorskip("wgpu")

    def none(**_: Any) -> None:
        raise RuntimeError("no suitable\nadapter")

    with pytest.raises(InputError, match=r"device: expected a wgpu.GPUDevice or None, got a str"):
        eigen().compile("gpu", device="cuda")
    monkeypatch.setattr(type(wgpu.gpu), "request_adapter_sync", lambda self, **_: none())
    with pytest.raises(
        InputError, match=r"gpu: no driver answers \(no suitable adapter\); install one, e.g. Debian's mesa"
    ):
        eigen().compile("gpu")
    monkeypatch.setitem(sys.modules, "wgpu", None)
    with pytest.raises(MissingExtraError, match=r"the GPU needs the extra 'gpu': pip install 'posespace\[gpu\]'"):
        eigen().compile("gpu")
