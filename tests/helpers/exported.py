"""Files of every method, and what the skins themselves say of them at any time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from helpers.clips import bending
from helpers.gltf_files import only
from helpers.point_skins import SETTINGS, coarse, point_motion, point_skin
from helpers.textured import textured
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp

import posespace as ps
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.skin.skin import Skin

GAP = 0.4
"""Seconds from key to key: twelve frames."""


@dataclass(frozen=True)
class Exported:
    """A file, the skin it was made of, and what it plays; keys are GAP apart."""

    path: Path
    skin: Skin
    keys: Motion
    unit: str | None = None
    up: str = "y"
    compression: str = "none"

    def write(self) -> Exported:
        settings = {"unit": self.unit, "up": self.up, "compression": self.compression}
        ps.export(self.skin, self.path, self.keys, warn=lambda _: None, **settings)
        return self

    def times(self, count: int = 20) -> list[float]:
        """Frames from the first key to the last, most of them between keys."""
        frames = np.unique(np.linspace(0, 12 * (len(self.keys) - 1), count).astype(int))
        return [float(frame) / 30 for frame in frames]

    def points(self, time: float) -> NDArray[np.float64]:
        """The skin's own points, without detail, in metres with y up; joints turn evenly between keys."""
        key = min(int(time / GAP + 1e-6), len(self.keys) - 2)
        along = time / GAP - key
        ends = self.keys[key : key + 2]
        turn = [Slerp([0, 1], Rotation.from_quat(pair))(along).as_quat() for pair in np.swapaxes(ends.rotations, 0, 1)]
        shift, dials = ((1 - along) * each[0] + along * each[1] for each in (ends.translations, ends.controls))
        pose = Pose(np.array(turn), shift, dict(zip(ends.control_names, dials.tolist(), strict=True)))
        own = coarse(self.skin).pose(pose)[0] * (ps.mesh.UNITS[self.unit] if self.unit else self.skin.rig.mesh.unit)
        return np.stack([own[:, 0], own[:, 2], -own[:, 1]], axis=1) if self.up == "z" else own


def every_method(folder: Path) -> Iterator[Exported]:
    """PSD, EigenSkin in 32, 16 and 8 bits and compressed, muscles, a face without joints, one with materials."""
    train, unseen = ps.datasets.bending_arm(rings=12, sides=8)
    keys = paced(unseen.motion[:4])
    yield Exported(folder / "psd.glb", ps.PSD().fit(train), keys, "cm", "z").write()
    skin = ps.EigenSkin(components=3, normals="shared").fit(train)
    for bits in (32, 16, 8):
        yield Exported(folder / f"eigenskin {bits}.glb", skin.packed(bits), keys).write()
    for compression in ("quantized", "meshopt"):
        yield Exported(folder / f"{compression}.glb", skin, keys, "cm", "z", compression).write()
    clip = ps.datasets.arm_clip()[:100:4]
    yield Exported(folder / "muscles.glb", ps.Muscles(signals=3).fit(clip), paced(clip.motion[::8])).write()
    yield face(folder / "face.glb").write()
    yield dressed(folder).write()
    yield replace(dressed(folder), path=folder / "dressed quantized.glb", compression="quantized").write()
    yield from every_point_skin(folder)


def every_point_skin(folder: Path) -> Iterator[Exported]:
    """Skins of control points, with corrections and detail, and compressed."""
    for kind in SETTINGS:
        yield Exported(folder / f"{kind}.glb", point_skin(kind), paced(point_motion(point_skin(kind)))).write()
    skin = point_skin("corrections and detail")
    for compression in ("none", "quantized", "meshopt"):
        path = folder / f"points {compression}.glb"
        yield Exported(path, skin.packed(16), paced(point_motion(skin)), "cm", "z", compression).write()


def face(path: Path) -> Exported:
    """A mesh without joints that two controls move; one goes below zero in the clip."""
    mesh = ps.datasets.bending_arm(rings=6, sides=6)[0].rig.mesh
    rig = ps.Rig.from_mesh(mesh)
    dials = [{}, {"jaw": 1.0}, {"brow": 1.0}]
    poses = [Pose(rig.rest.rotations, controls=dial) for dial in dials]
    shapes = [mesh.points, mesh.points * [1, 1.1, 1], mesh.points + 0.1]
    examples = ps.Examples.from_shapes(rig, Motion.from_poses(poses), shapes)
    clip = Motion.from_poses(
        [Pose(rig.rest.rotations, controls={"jaw": a, "brow": b}) for a, b in ((0, 0), (1, -0.5), (0.3, 1))]
    )
    return Exported(path, ps.PSD().fit(examples), paced(clip))


def dressed(folder: Path) -> Exported:
    """The small rig with a texture, materials and two meshes."""
    rig = only(textured().read(folder))
    turns = bending(3).rotations[:, :2]
    turns[:, 0] = rig.rest.rotations[0]
    motion = Motion(turns)
    shapes = [rig.skin(pose) + 0.05 * np.sin(k + rig.mesh.points) * (k > 0) for k, pose in enumerate(motion)]
    skin = ps.PSD().fit(ps.Examples.from_shapes(rig, motion, shapes))
    return Exported(folder / "dressed.glb", skin, paced(motion))


def paced(motion: Motion) -> Motion:
    return replace(motion, times=GAP * np.arange(len(motion)))
