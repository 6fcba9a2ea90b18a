"""What a skin has on the GPU: its tables, the numbers of one frame, the shader and its dispatches, and the results."""

from __future__ import annotations

from copy import copy
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from posespace.check import Floats, Floats32
from posespace.runtime.bones.dual_quaternions import dual_palette
from posespace.runtime.drive.tables import DriverTables
from posespace.runtime.gpu import webgpu
from posespace.runtime.gpu.texels import texels_of
from posespace.skin.skin import Skin

GROUP = 64
"""Vertices of a work group, as in `skin.wgsl`."""

_UNIFORM = "var<uniform> frame: array<vec4<f32>, 4096>"
_STORAGE = "var<storage, read> frame: array<vec4<f32>>"
_MOST_UNIFORM = 4096
_TABLE = {"texture": {"sample_type": "uint"}}


class _FrameParts(NamedTuple):
    """Where the parts of a frame's numbers begin, after those of the bones; all at multiples of four.

    Parameters
    ----------
    coordinates, amounts, size : where the coordinates begin, the bones' amounts of corrections, and where these end
    corrections : K, how many amounts a bone has
    """

    coordinates: int
    amounts: int
    size: int
    corrections: int

    @classmethod
    def of(cls, skin: Skin, bone_numbers: int, coordinates: int) -> _FrameParts:
        """Lay out a frame with so many numbers for each bone, and so many coordinates."""
        bones, corrections = skin.binding.bone_count, skin.bones.correction_count
        first = bones * bone_numbers
        amounts = first + _fours(coordinates)
        return cls(first, amounts, amounts + bones * _fours(corrections), corrections)


def _fours(count: int) -> int:
    """The next multiple of four: the device reads vectors of four."""
    return -(-count // 4) * 4


class OnDevice:
    """A skin on a device.

    Parameters
    ----------
    skin, drivers : what is posed, and where the coordinates of its layers are
    device : a `wgpu.GPUDevice`
    normals : "none"; "carried" by the bones; or those of the posed "surface"
    """

    def __init__(self, skin: Skin, drivers: DriverTables, device: Any, normals: str) -> None:
        self.device = device
        self.count = len(skin.rig.mesh.points)
        self._normals_kind = normals
        self._dual = skin.rig.blending == "dual_quaternion"
        vectors = 5 if self._dual else 3
        texels = texels_of(skin, drivers, vectors, normals == "surface")
        self._scales = texels.scales
        self._parts = _FrameParts.of(skin, 4 * vectors, texels.scales.size)
        self._frame = np.zeros(self._parts.size, np.float32)
        self.constants: dict[str, float] = {
            "VERTICES": self.count,
            "COORDINATES": self._parts.coordinates // 4,
            "AMOUNTS": self._parts.amounts // 4,
            "CORRECTIONS": self._parts.corrections,
            "ENTRIES": texels.entries,
            "CORRECTED": any(layer.normal_basis is not None for layer in skin.layers),
            "BONE_TEXELS": texels.bone_texels,
            "DUAL": self._dual,
        }
        names = ("rest", "rest_normals", "bones", "displacements", "corrections")
        self._tables = [webgpu.texture(device, name, getattr(texels, name)) for name in names]
        self._fans = webgpu.texture(device, "fans", texels.fans) if normals == "surface" else None
        self._make_room()

    def _make_room(self) -> None:
        """Make what one pose at a time is played in; the tables are there already."""
        self._frame = np.zeros_like(self._frame)
        self._make_buffers()
        self._make_group(self._tables)
        self._make_steps()

    def clone(self) -> OnDevice:
        """Return the same tables with their own buffers, for another thread."""
        other = copy(self)
        other._make_room()
        return other

    def _make_buffers(self) -> None:
        usage = webgpu.library().BufferUsage
        self._small = len(self._frame) <= 4 * _MOST_UNIFORM
        kind = usage.UNIFORM if self._small else usage.STORAGE
        size = 16 * _MOST_UNIFORM if self._small else self._frame.nbytes
        self._uploaded = webgpu.buffer(self.device, "bones and coordinates", size, kind | usage.COPY_DST)
        rows, kept = 12 * self.count, usage.STORAGE | usage.VERTEX | usage.COPY_SRC
        self.points = webgpu.buffer(self.device, "points", rows, kept)
        wanted = self._normals_kind != "none"
        self.normals = webgpu.buffer(self.device, "normals", rows, kept) if wanted else None
        self._fence = webgpu.buffer(self.device, "fence", 16, usage.MAP_READ | usage.COPY_DST)

    def _make_group(self, tables: list[Any]) -> None:
        """Make the bind group for posing a vertex, in compute and vertex stages."""
        stages = webgpu.library().ShaderStage
        frame = {"type": "uniform" if self._small else "read-only-storage"}
        kinds = [{"buffer": frame}, *(_TABLE for _ in tables)]
        self.layout, self.group = webgpu.bound(
            self.device, stages.COMPUTE | stages.VERTEX, kinds, [{"buffer": self._uploaded}, *tables]
        )

    def _make_steps(self) -> None:
        """Make the shader and the dispatches of a frame: pipelines, each with the bind group it writes to."""
        source = files("posespace.runtime.gpu").joinpath("skin.wgsl").read_text(encoding="utf-8")
        code = source if self._small else source.replace(_UNIFORM, _STORAGE)
        self.module = self.device.create_shader_module(label="skin.wgsl", code=code)
        stored = {"buffer": {"type": "storage"}}
        points, normals = (stored, {"buffer": self.points}), (stored, {"buffer": self.normals})
        if self._normals_kind == "none":
            self._steps = [self._step("write_points", {0: points})]
        elif self._normals_kind == "carried":
            self._steps = [self._step("write_both", {0: points, 1: normals})]
        else:
            kept = webgpu.kept_points(self.device, self.count)
            writing = {"storage_texture": {"access": "write-only", "format": "rgba32float"}}
            reading = {"texture": {"sample_type": "unfilterable-float"}}
            table = (_TABLE, self._fans)
            self._steps = [
                self._step("keep_points", {3: (writing, kept)}),
                self._step("write_surface", {0: points, 1: normals, 2: table, 4: (reading, kept)}),
            ]

    def _step(self, name: str, bound: dict[int, tuple[Any, Any]]) -> tuple[Any, Any]:
        """An entry point's pipeline and its bind group 1, of kinds of bindings and what is bound."""
        stage = webgpu.library().ShaderStage.COMPUTE
        kinds, resources = zip(*bound.values(), strict=True)
        layout, group = webgpu.bound(self.device, stage, kinds, resources, tuple(bound))
        pipeline = self.device.create_compute_pipeline(
            layout=self.device.create_pipeline_layout(bind_group_layouts=[self.layout, layout]),
            compute={"module": self.module, "entry_point": name, "constants": self.constants},
        )
        return pipeline, group

    def send(self, palette: Floats32, coordinates: Floats, amounts: Floats32) -> None:
        """Send the transforms (12 B,), coordinates (C,) and amounts (B, K + D) of a pose to the device."""
        frame, parts = self._frame, self._parts
        bones, values = frame[: parts.coordinates], frame[parts.coordinates : parts.amounts]
        if self._dual:
            quaternions, wide = bones.reshape(-1, 5, 4), dual_palette(palette)
            quaternions[:, :2] = wide[:, :8].reshape(-1, 2, 4)
            quaternions[:, 2:, :3] = wide[:, 8:].reshape(-1, 3, 3)
        else:
            bones[:] = palette
        values[: self._scales.size] = (coordinates * self._scales).ravel()
        if parts.corrections:
            rows = frame[parts.amounts :].reshape(len(amounts), -1)
            rows[:, : parts.corrections] = amounts[:, : parts.corrections]
        with webgpu.watched("sending a pose"):
            self.device.queue.write_buffer(self._uploaded, 0, frame)

    def encode(self, encoder: Any) -> None:
        """Add the dispatches of a frame to a command encoder."""
        groups = webgpu.groups_of(self.count, GROUP, self.device.limits["max-compute-workgroups-per-dimension"])
        compute = encoder.begin_compute_pass()
        compute.set_bind_group(0, self.group)
        for pipeline, group in self._steps:
            compute.set_pipeline(pipeline)
            compute.set_bind_group(1, group)
            compute.dispatch_workgroups(*groups)
        compute.end()

    def submit(self, staging: Any = None) -> None:
        """Pose the skin and copy the result to a staging buffer, if there is one."""
        with webgpu.watched("a frame"):
            encoder = self.device.create_command_encoder()
            self.encode(encoder)
            rows = 12 * self.count
            for first, results in ((0, self.points), (rows, self.normals)) if staging is not None else ():
                if results is not None:
                    encoder.copy_buffer_to_buffer(results, 0, staging, first, rows)
            self.device.queue.submit([encoder.finish()])

    def staging(self) -> Any:
        """Return a new buffer that results are read through."""
        usage = webgpu.library().BufferUsage
        size = (12 if self.normals is None else 24) * self.count
        return webgpu.buffer(self.device, "results", size, usage.MAP_READ | usage.COPY_DST)

    def fetch(self, staging: Any, points: Floats32, normals: Floats32 | None) -> None:
        """Wait for a staging buffer and write what it holds."""
        with webgpu.watched("reading a frame"):
            staging.map_sync(webgpu.library().MapMode.READ)
            mapped = staging.read_mapped(copy=False)
            for first, out in ((0, points), (12 * self.count, normals)):
                if out is not None:
                    out[...] = np.frombuffer(mapped, np.float32, out.size, first).reshape(out.shape)
            mapped.release()
            staging.unmap()

    def wait(self) -> None:
        """Return when the device has finished all its work."""
        with webgpu.watched("waiting"):
            encoder = self.device.create_command_encoder()
            encoder.copy_buffer_to_buffer(self.points, 0, self._fence, 0, 16)
            self.device.queue.submit([encoder.finish()])
            self._fence.map_sync(webgpu.library().MapMode.READ)
            self._fence.unmap()
