"""The player on the GPU: WebGPU compute, or your own vertex stage, over tables that stay on the device.

A frame uploads the transforms and amounts of the bones and the coordinates, nothing else. Detail (`Skin.detail`) is
added on the processor, to points that are read back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from posespace.check import Floats32
from posespace.errors import InputError
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.runtime.bones.stage import played_bones
from posespace.runtime.detail.detail import PosedDetail
from posespace.runtime.gpu import webgpu
from posespace.runtime.gpu.on_device import OnDevice
from posespace.runtime.player import DrivenPose, Player, Shape
from posespace.skin.skin import Skin

_IN_FLIGHT = 2


class Stage(NamedTuple):
    """What your own render pipeline needs to pose vertices itself.

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
    """Where the device keeps a frame: float32, three per vertex without gaps, for a shader or as vertex buffers.

    Parameters
    ----------
    points : a buffer of 12 N bytes
    normals : the same, or None if the player gives none
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
        self._bones = played_bones(skin, 1)
        self._owned = device is None
        self.device = webgpu.opened() if device is None else webgpu.checked(device)
        self._forked = False
        detail = skin.detail
        self._detail = None if detail is None else PosedDetail(skin, detail, self._drivers.detail, 1)
        with webgpu.watched("putting the skin on the device"):
            self._skinned: OnDevice | None = OnDevice(skin, self._drivers, self.device, self._normals_kind())
            self._staging = self._skinned.staging()
        self._make_room()

    def clone(self) -> Self:
        """Return a player for another thread: it shares the tables and the device, and has its own buffers.

        The device closes with the player that opened it.
        """
        with webgpu.watched("cloning a player"):
            skinned = self._open.clone()
            other = super().clone()
            other._owned, other._skinned, other._staging = False, skinned, skinned.staging()
        other._detail = self._detail and self._detail.clone()
        return other

    def after_fork(self, one_core: bool) -> None:
        """Play no more: a device belongs to the process that opened it."""
        super().after_fork(one_core)
        self._forked = True

    def _normals_kind(self) -> str:
        if not self.normals or self.skin.detail is not None:
            return "none"
        return "carried" if self._carried else "surface"

    @property
    def _open(self) -> OnDevice:
        if self._forked:
            raise InputError("gpu: a forked process has no device; start it by 'spawn', or compile with backend='cpu'")
        if self._skinned is None:
            raise InputError("gpu: this player is closed; compile the skin again")
        return self._skinned

    def dispatch(self, pose: Pose | ArrayLike) -> None:
        """Begin to pose the skin, leaving the result on the device; `wait` for it, or read `buffers` in later work."""
        self._check_plain("play.dispatch")
        with self._lock:
            self._send(pose)
            self._open.submit()

    def wait(self) -> None:
        """Return when the device has finished all its work."""
        self._open.wait()

    def buffers(self) -> Buffers:
        """Return where `dispatch` leaves points and normals on the device."""
        self._check_plain("play.buffers")
        return Buffers(self._open.points, self._open.normals)

    def upload(self, pose: Pose | ArrayLike) -> None:
        """Send a pose to the device but no work: for your own vertex stage (`stage`) or encoder (`encode`)."""
        with self._lock:
            self._send(pose)

    def _send(self, pose: Pose | ArrayLike) -> None:
        self._read(pose)
        self._open.send(*self._drive_pose())

    def encode(self, encoder: Any) -> None:
        """Add the work of posing the skin, in the last pose uploaded, to a `wgpu.GPUCommandEncoder`."""
        self._open.encode(encoder)

    def stage(self) -> Stage:
        """Return what your own vertex stage needs; it plays the last pose uploaded, with carried normals."""
        skinned = self._open
        return Stage(skinned.module, dict(skinned.constants), skinned.layout, skinned.group)

    def close(self) -> None:
        """Free what the player has on the device; it cannot play again. A device of yours stays open."""
        if self._forked:
            return
        self._skinned = self._staging = None
        if self._owned:
            self.device.destroy()

    def __enter__(self) -> GPUPlayer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_plain(self, name: str) -> None:
        if self.skin.detail is not None:
            raise InputError(f"{name}: this skin's detail is added on the processor; call play(pose)")

    def _submit(self, staging: Any) -> DrivenPose:
        """Pose the skin in `self._pose`, to be read through a staging buffer."""
        driven = self._drive_pose()
        self._open.send(*driven)
        self._open.submit(staging)
        return driven

    def _play(self, points: Floats32, normals: Floats32 | None) -> None:
        _, coordinates, amounts = self._submit(self._staging)
        if self._detail is None:
            self._open.fetch(self._staging, points, normals)
            return
        coarse = np.empty((len(self.skin.rig.mesh.points), 3), np.float32)
        self._open.fetch(self._staging, coarse, None)
        self._detail.add(coarse, coordinates, points, normals, amounts)

    def _play_pose(self, pose: Pose, points: Floats32, normals: Floats32 | None) -> None:
        with self._lock:
            self._drivers.write_pose(pose, self._views)
            self._play(points, normals)

    def _stream(self, motion: Motion, points: Floats32 | None, normals: Floats32 | None) -> Iterator[Shape]:
        room = self._array("points", None) if points is None else None
        normal_room = self._array("normals", None) if self.normals and normals is None else None
        for index, fetch in enumerate(self._fetches(motion)):
            out = room if points is None else points[index]
            normals_out = None if not self.normals else normal_room if normals is None else normals[index]
            assert out is not None
            fetch(out, normals_out)
            yield out, normals_out

    def _fetches(self, motion: Motion) -> Iterator[Callable[[Floats32, Floats32 | None], None]]:
        """Yield what writes each pose's shape; the device has the next pose before the last one is written."""
        if self.skin.detail is not None:
            for pose in motion:
                yield partial(self._play_pose, pose)
            return
        staging = [self._open.staging() for _ in range(_IN_FLIGHT)]
        for index in range(len(motion) + 1):
            if index < len(motion):
                with self._lock:
                    self._drivers.write_pose(motion[index], self._views)
                    self._submit(staging[index % _IN_FLIGHT])
            if index > 0:
                yield partial(self._open.fetch, staging[(index - 1) % _IN_FLIGHT])
