"""WebGPU itself: opening a device, putting tables on it, and naming in one line what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from posespace.errors import InputError, require
from posespace.runtime.gpu.texels import Texels

ROW = 4096
"""Texels in a row of every texture, as in `skin.wgsl`."""

_LIMITS = ("max-texture-dimension-2d", "max-storage-buffer-binding-size", "max-buffer-size")
_INSTEAD = "or compile with backend='cpu'"


def library() -> Any:
    """Return the module `wgpu`."""
    return require("wgpu", "gpu", "playing on the GPU")


def opened() -> Any:
    """Return a new device on the fastest adapter of the machine; a software adapter will do."""
    wgpu = library()
    try:
        adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
        return adapter.request_device_sync(required_limits={name: adapter.limits[name] for name in _LIMITS})
    except (RuntimeError, OSError, wgpu.GPUError) as error:
        remedy = f"install one, e.g. Debian's mesa-vulkan-drivers and libvulkan1, {_INSTEAD}"
        raise InputError(f"gpu: no driver answers ({one_line(error)}); {remedy}") from error


def checked(device: Any) -> Any:
    """Return a caller's device; raise unless it is one."""
    if not isinstance(device, library().GPUDevice):
        raise InputError(f"device: expected a wgpu.GPUDevice or None, got a {type(device).__name__}")
    return device


@contextmanager
def watched(what: str) -> Iterator[None]:
    """Turn an error of the device into one line."""
    wgpu = library()
    try:
        yield
    except (wgpu.GPUError, RuntimeError) as error:
        lost = "lost" in str(error) or "destroyed" in str(error)
        cause = "the device is lost or closed" if lost else one_line(error)
        raise InputError(f"gpu: {what} failed: {cause}; compile the skin again, {_INSTEAD}") from error


def one_line(error: BaseException) -> str:
    """The text of an error, its lines joined."""
    return " ".join(str(error).split())[:200]


def texture(device: Any, name: str, texels: Texels) -> Any:
    """Put texels (E, 4) in a texture and return a view of it."""
    made, size = _texture(device, name, len(texels), "rgba32uint", library().TextureUsage.COPY_DST)
    full = np.zeros((size[0] * size[1], 4), np.uint32)
    full[: len(texels)] = texels
    layout = {"bytes_per_row": 16 * ROW, "rows_per_image": size[1]}
    device.queue.write_texture({"texture": made}, full, layout, size)
    return made.create_view()


def kept_points(device: Any, count: int) -> Any:
    """Return a view of a texture for `count` points, that one shader writes and another reads."""
    made, _ = _texture(device, "posed points", count, "rgba32float", library().TextureUsage.STORAGE_BINDING)
    return made.create_view()


def _texture(device: Any, name: str, count: int, kind: str, usage: int) -> tuple[Any, tuple[int, int, int]]:
    most = device.limits["max-texture-dimension-2d"]
    rows = max(1, -(-count // ROW))
    if rows > most:
        raise InputError(f"gpu: {name} need {count} texels, more than the device's {most * ROW}; {_INSTEAD[3:]}")
    size = (ROW, rows, 1)
    both = usage | library().TextureUsage.TEXTURE_BINDING
    return device.create_texture(label=name, size=size, format=kind, usage=both), size


def bound(
    device: Any, visibility: int, kinds: Sequence[Any], resources: Sequence[Any], numbers: Sequence[int] = ()
) -> tuple[Any, Any]:
    """Make a bind group layout and its group; bindings are numbered 0, 1, ... unless `numbers` name others."""
    bindings = numbers or range(len(kinds))
    layout = device.create_bind_group_layout(
        entries=[{"binding": k, "visibility": visibility, **kind} for k, kind in zip(bindings, kinds, strict=True)]
    )
    entries = [{"binding": k, "resource": resource} for k, resource in zip(bindings, resources, strict=True)]
    return layout, device.create_bind_group(layout=layout, entries=entries)


def buffer(device: Any, name: str, size: int, usage: int) -> Any:
    """Make a buffer of `size` bytes, at least 16."""
    most = device.limits["max-buffer-size"]
    if usage & library().BufferUsage.STORAGE:
        most = min(most, device.limits["max-storage-buffer-binding-size"])
    if size > most:
        raise InputError(
            f"gpu: {name} need {size} bytes, more than the {most} of a buffer of this device; {_INSTEAD[3:]}"
        )
    return device.create_buffer(label=name, size=max(size, 16), usage=usage)


def groups_of(count: int, size: int, most: int) -> tuple[int, int]:
    """How many work groups of `size` cover `count` things: groups per row, at most `most`, and rows."""
    total = -(-count // size)
    rows = max(1, -(-total // most))
    return -(-total // rows), rows
