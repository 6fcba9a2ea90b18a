"""The player on the GPU: WebGPU compute, or a vertex stage of one's own, over tables that stay on the device.

A frame uploads the bones' transforms and the coordinates, nothing else. Relief (`Skin.detail`) is added on the
processor, to points that are read back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from posespace.check import Floats, Floats32
from posespace.errors import InputError
from posespace.pose import Motion, Pose
from posespace.runtime import gpu_device, surface_normals
from posespace.runtime.drive import drive
from posespace.runtime.dual_quaternions import dual_palette
from posespace.runtime.gpu_texels import Texels, texels_of
from posespace.runtime.player import Player, Shape
from posespace.skin import Skin
from posespace.subdivision import levels_of

GROUP = 64
"""Vertices of a work group, as in `skin.wgsl`."""

_UNIFORM = "var<uniform> frame: array<vec4<f32>, 4096>"
_STORAGE = "var<storage, read> frame: array<vec4<f32>>"
_MOST_UNIFORM = 4096
_IN_FLIGHT = 2


class Stage(NamedTuple):
    """What a render pipeline of one's own needs to pose vertices itself.

    Parameters
    ----------
    module : the shader module; its entry points `draw` and `shade` show how its function `skinned` is called
    constants : for the vertex stage's `constants`
    layout, group : the bind group 0 and its layout
    """

    module: Any
    constants: dict[str, float]
    layout: Any
    group: Any


class Buffers(NamedTuple):
    """Where the device keeps a frame: float32, three a vertex without gaps, for a shader or as vertex buffers.

    Parameters
    ----------
    points : a buffer of 12 N bytes
    normals : the same, or None where they were not asked for
    """

    points: Any
    normals: Any


class GPUPlayer(Player):
    """Poses a skin on the GPU.

    Parameters
    ----------
    skin : what it plays
    normals : whether it gives normals too
    device : a `wgpu.GPUDevice` to share with other work; None: a new one, on the fastest adapter
    """

    def __init__(self, skin: Skin, normals: bool = True, device: Any = None) -> None:
        super().__init__(skin, normals)
        self._owned = device is None
        self.device = gpu_device.opened() if device is None else gpu_device.checked(device)
        self._closed = False
        self._joints, self._count = len(skin.rig.skeleton), len(skin.rig.mesh.points)
        self._dual = skin.rig.blending == "dual_quaternion"
        self._corrected = any(layer.normal_basis is not None for layer in skin.layers)
        wanted = self.normals and skin.detail is None
        self._surface = wanted and bool(skin.layers) and not self._corrected
        self._carried = wanted and not self._surface
        self._coordinates = np.zeros(self._drive.columns)
        self._scratch = np.zeros(self._drive.scratch)
        self._palette = np.zeros(12 * self._joints, np.float32)
        with gpu_device.watched("putting the skin on the device"):
            self._fill()

    def _fill(self) -> None:
        """Make all that stays on the device."""
        vectors = 5 if self._dual else 3
        texels = texels_of(self.skin, self._drive, vectors, self._surface)
        self._scales = texels.scales
        self._first = 4 * vectors * self._joints
        self._frame = np.zeros(-(-(self._first + texels.scales.size) // 4) * 4, np.float32)
        self._constants: dict[str, float] = {
            "VERTICES": self._count,
            "COORDINATES": vectors * self._joints,
            "ENTRIES": texels.entries,
            "CORRECTED": self._corrected,
            "BONE_TEXELS": texels.bone_texels,
            "DUAL": self._dual,
        }
        self._make_buffers()
        names = ("rest", "rest_normals", "bones", "displacements")
        tables = [gpu_device.texture(self.device, name, getattr(texels, name)) for name in names]
        self._make_group(tables)
        self._make_steps(texels.fans)

    def _make_buffers(self) -> None:
        usage = gpu_device.library().BufferUsage
        self._small = len(self._frame) <= 4 * _MOST_UNIFORM
        kind = usage.UNIFORM if self._small else usage.STORAGE
        size = 16 * _MOST_UNIFORM if self._small else self._frame.nbytes
        self._uploaded = gpu_device.buffer(self.device, "bones and coordinates", size, kind | usage.COPY_DST)
        kept = usage.STORAGE | usage.VERTEX | usage.COPY_SRC
        rows = 12 * self._count
        self._points = gpu_device.buffer(self.device, "points", rows, kept)
        given = rows if self._surface or self._carried else 0
        self._normals = gpu_device.buffer(self.device, "normals", given, kept)
        self._bytes = rows + given
        self._staging = self._made_staging()
        self._fence = gpu_device.buffer(self.device, "fence", 16, usage.MAP_READ | usage.COPY_DST)

    def _made_staging(self) -> Any:
        usage = gpu_device.library().BufferUsage
        return gpu_device.buffer(self.device, "results", self._bytes, usage.MAP_READ | usage.COPY_DST)

    def _make_group(self, tables: list[Any]) -> None:
        """Make the bind group of what poses a vertex, for compute and vertex stages."""
        stages = gpu_device.library().ShaderStage
        frame = {"type": "uniform" if self._small else "read-only-storage"}
        table = {"texture": {"sample_type": "uint"}}
        kinds = [{"buffer": frame}, *(table for _ in tables)]
        self._layout, self._group = gpu_device.bound(
            self.device, stages.COMPUTE | stages.VERTEX, kinds, [{"buffer": self._uploaded}, *tables]
        )

    def _make_steps(self, fans: Texels) -> None:
        """Make the shader and the dispatches of a frame: pipelines, each with the bind group it writes to."""
        source = files("posespace.runtime").joinpath("skin.wgsl").read_text(encoding="utf-8")
        code = source if self._small else source.replace(_UNIFORM, _STORAGE)
        self._module = self.device.create_shader_module(label="skin.wgsl", code=code)
        stored = {"buffer": {"type": "storage"}}
        points, normals = (stored, {"buffer": self._points}), (stored, {"buffer": self._normals})
        if not self._surface:
            both = {0: points, 1: normals} if self._carried else {0: points}
            self._steps = [self._step("write_both" if self._carried else "write_points", both)]
            return
        kept = gpu_device.kept_points(self.device, self._count)
        writing = {"storage_texture": {"access": "write-only", "format": "rgba32float"}}
        reading = {"texture": {"sample_type": "unfilterable-float"}}
        table = ({"texture": {"sample_type": "uint"}}, gpu_device.texture(self.device, "fans", fans))
        self._steps = [
            self._step("keep_points", {3: (writing, kept)}),
            self._step("write_surface", {0: points, 1: normals, 2: table, 4: (reading, kept)}),
        ]

    def _step(self, name: str, bound: dict[int, tuple[Any, Any]]) -> tuple[Any, Any]:
        """An entry point's pipeline and its bind group 1, of kinds of bindings and what is bound."""
        stage = gpu_device.library().ShaderStage.COMPUTE
        kinds, resources = zip(*bound.values(), strict=True)
        layout, group = gpu_device.bound(self.device, stage, kinds, resources, tuple(bound))
        pipeline = self.device.create_compute_pipeline(
            layout=self.device.create_pipeline_layout(bind_group_layouts=[self._layout, layout]),
            compute={"module": self._module, "entry_point": name, "constants": self._constants},
        )
        return pipeline, group

    def stage(self) -> Stage:
        """Return what a vertex stage of one's own needs; it sees each pose from `dispatch` on, and carried normals."""
        self._check_open()
        return Stage(self._module, dict(self._constants), self._layout, self._group)

    def buffers(self) -> Buffers:
        """Return where `dispatch` leaves points and normals on the device."""
        self._check_open()
        self._check_plain("play.buffers")
        return Buffers(self._points, self._normals if self.normals else None)

    def dispatch(self, pose: Pose | ArrayLike) -> None:
        """Begin to pose the skin, leaving the result on the device; `wait` for it, or read `buffers` in later work."""
        self._check_plain("play.dispatch")
        self._read(pose)
        self._submit(None)

    def upload(self, pose: Pose | ArrayLike) -> None:
        """Send a pose to the device but no work: for a vertex stage (`stage`) or an encoder of one's own (`encode`)."""
        self._read(pose)
        self._send()

    def encode(self, encoder: Any) -> None:
        """Add the work of posing the skin, as the last pose sent says, to a `wgpu.GPUCommandEncoder`."""
        self._check_open()
        groups = gpu_device.groups_of(self._count, GROUP, self.device.limits["max-compute-workgroups-per-dimension"])
        work = encoder.begin_compute_pass()
        work.set_bind_group(0, self._group)
        for pipeline, group in self._steps:
            work.set_pipeline(pipeline)
            work.set_bind_group(1, group)
            work.dispatch_workgroups(*groups)
        work.end()

    def wait(self) -> None:
        """Return when the device has done all that it was given."""
        self._check_open()
        with gpu_device.watched("waiting"):
            encoder = self.device.create_command_encoder()
            encoder.copy_buffer_to_buffer(self._points, 0, self._fence, 0, 16)
            self.device.queue.submit([encoder.finish()])
            self._fence.map_sync(gpu_device.library().MapMode.READ)
            self._fence.unmap()

    def close(self) -> None:
        """Free what the player has on the device; it plays no more. A device that was given stays open."""
        if self._closed:
            return
        self._closed = True
        for kept in (self._uploaded, self._points, self._normals, self._fence, self._staging):
            kept.destroy()
        if self._owned:
            self.device.destroy()

    def __enter__(self) -> GPUPlayer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise InputError("gpu: this player is closed; compile the skin again")

    def _check_plain(self, name: str) -> None:
        if self.skin.detail is not None:
            raise InputError(f"{name}: this skin's detail is added on the processor; call play(pose)")

    def _driven(self) -> tuple[Floats32, Floats]:
        drive(self._drive.tables, self._pose, self._scratch, self._palette, self._coordinates)
        return self._palette, self._coordinates

    def _write_frame(self) -> None:
        palette, coordinates = self._driven()
        frame, first, columns = self._frame, self._first, self._drive.columns
        if self._dual:
            bones, wide = frame[:first].reshape(-1, 5, 4), dual_palette(palette)
            bones[:, :2], bones[:, 2:, :3] = wide[:, :8].reshape(-1, 2, 4), wide[:, 8:].reshape(-1, 3, 3)
        else:
            frame[:first] = palette
        np.multiply(
            coordinates, self._scales, out=frame[first : first + 2 * columns].reshape(2, -1), casting="same_kind"
        )

    def _send(self) -> None:
        self._check_open()
        self._write_frame()
        with gpu_device.watched("sending a pose"):
            self.device.queue.write_buffer(self._uploaded, 0, self._frame)

    def _submit(self, staging: Any) -> None:
        """Pose the skin as `self._pose` says and copy the result to a staging buffer, if there is one."""
        self._send()
        with gpu_device.watched("a frame"):
            encoder = self.device.create_command_encoder()
            self.encode(encoder)
            if staging is not None:
                encoder.copy_buffer_to_buffer(self._points, 0, staging, 0, 12 * self._count)
                if self._bytes > 12 * self._count:
                    encoder.copy_buffer_to_buffer(self._normals, 0, staging, 12 * self._count, 12 * self._count)
            self.device.queue.submit([encoder.finish()])

    def _fetch(self, staging: Any, points: Floats32, normals: Floats32 | None) -> None:
        """Write what a staging buffer has, when it is there."""
        with gpu_device.watched("reading a frame"):
            staging.map_sync(gpu_device.library().MapMode.READ)
            mapped = staging.read_mapped(copy=False)
            gpu_device.copied(mapped, 0, points)
            if normals is not None:
                gpu_device.copied(mapped, 12 * self._count, normals)
            mapped.release()
            staging.unmap()

    def _play(self, points: Floats32, normals: Floats32 | None) -> None:
        if self.skin.detail is not None:
            self._play_detail(points, normals)
            return
        self._submit(self._staging)
        self._fetch(self._staging, points, normals)

    @cached_property
    def _fans(self) -> surface_normals.Fans:
        return surface_normals.fans_of(self.skin.mesh)

    @cached_property
    def _levels(self) -> tuple[Any, ...]:
        return levels_of(self.skin.rig.mesh, self.skin.detail.levels if self.skin.detail else 0)

    def _play_detail(self, points: Floats32, normals: Floats32 | None) -> None:
        detail = self.skin.detail
        assert detail is not None
        fine: Floats = np.empty((self._count, 3), np.float32)
        self._submit(self._staging)
        self._fetch(self._staging, fine, None)
        for level in self._levels:
            fine = level.refine(fine)
        start = self._drive.detail
        heights = self._coordinates[start : start + detail.driver.columns] @ detail.heights
        along = np.empty_like(points) if normals is None else normals
        surface_normals.surface_normals_alone(1, self._fans, fine, along)
        points[:] = fine + heights[:, None] * along
        if normals is not None:
            surface_normals.surface_normals_alone(1, self._fans, points, normals)

    def _stream(self, motion: Motion, points: Floats32 | None, normals: Floats32 | None) -> Iterator[Shape]:
        own = self._array("points", None) if points is None else None
        own_normals = self._array("normals", None) if self.normals and normals is None else None
        for index, fetch in enumerate(self._fetches(motion)):
            out = own if points is None else points[index]
            normals_out = None if not self.normals else own_normals if normals is None else normals[index]
            assert out is not None
            fetch(out, normals_out)
            yield out, normals_out

    def _fetches(self, motion: Motion) -> Iterator[Callable[[Floats32, Floats32 | None], None]]:
        """Yield what writes each pose's shape; the device has the next pose before the last one is written."""
        if self.skin.detail is not None:
            for pose in motion:
                self._drive.write_pose(pose, self._pose)
                yield self._play
            return
        staging = [self._made_staging() for _ in range(_IN_FLIGHT)]
        try:
            for index in range(len(motion) + 1):
                if index < len(motion):
                    self._drive.write_pose(motion[index], self._pose)
                    self._submit(staging[index % _IN_FLIGHT])
                if index > 0:
                    yield partial(self._fetch, staging[(index - 1) % _IN_FLIGHT])
        finally:
            for each in staging:
                each.destroy()
