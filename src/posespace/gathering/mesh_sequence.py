"""Shapes in correspondence from files, without a rig: single meshes, a store, or a clip played frame by frame."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from posespace.check import Floats
from posespace.errors import FileError, InputError
from posespace.examples import Examples
from posespace.formats import load
from posespace.formats.contents import unique
from posespace.formats.frames import Rate, Wanted, checked_rate
from posespace.formats.numpy_shapes import ENDINGS
from posespace.gathering.shape_files import shapes_in
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.progress import track
from posespace.rig import Rig

_CLIPS = (".glb", ".gltf", ".usd", ".usda", ".usdc", ".usdz")


def load_shapes(
    shapes: str | Path, rest: str | Path | None = None, clip: str | None = None, rate: Rate = None
) -> Examples:
    """Return shapes in correspondence as examples of a rig with nothing but a root, all in its rest pose.

    Parameters
    ----------
    shapes : a folder of mesh files, or a pattern that matches them, in the order of their names, 2 before 10; a
        ``.npy`` (P, N, 3) or ``.npz``, with `rest`; an example store; a glTF or USD file, whose clip is played
    rest : a file with the rest shape; None: the first shape, or the rest shape of the store or the clip's rig
    clip, rate : which clip of a file, and its frames, as in `load_motion`
    """
    given = Path(shapes)
    if (given / "zarr.json").is_file():
        found = Examples.open(given)
        mesh, points, names = found.rig.mesh, _mapped(found), found.motion.names
    elif given.is_file() and given.suffix.lower() in _CLIPS:
        mesh, points, names = _played(given, clip, rate)
    else:
        mesh, points, names = _files(str(shapes), rest)
    if rest is not None:
        mesh = _alike(Path(rest), load.load_mesh(rest), points.shape[1])
    rig = Rig.from_mesh(replace(mesh, look=None) if mesh.look is not None else mesh)
    still = np.tile(rig.rest.rotations, (len(points), 1, 1))
    return Examples.from_shapes(rig, Motion(still, names=names), points)


def _mapped(found: Examples) -> Floats:
    if not len(found):
        raise InputError("shapes: the store holds no finished pose; finish it with --resume")
    return np.stack([np.asarray(found.shapes[k]) for k in range(len(found))])


def _files(pattern: str, rest: str | Path | None) -> tuple[Mesh, Floats, tuple[str, ...]]:
    found = shapes_in(pattern)
    if found[0].source.suffix.lower() in ENDINGS and rest is None:
        raise FileError(found[0].source, "holds points alone; give the mesh of the rest shape with `rest`")
    if len(found) == 1 and rest is None:
        raise FileError(found[0].source, "is one shape; give several by a quoted pattern, or its rest with `rest`")
    meshes: list[Mesh] = []
    for shape in track(found, "reading shapes"):
        mesh = shape.read()
        meshes.append(_alike(shape.source, mesh, len((meshes or [mesh])[0].points)))
    names = tuple(unique([shape.name for shape in found], "shape"))
    return meshes[0], np.stack([mesh.points for mesh in meshes]), names


def _alike(path: Path, mesh: Mesh, count: int) -> Mesh:
    if len(mesh.points) != count:
        remedy = "bring the shapes into correspondence first"
        raise FileError(path, f"expected {count} vertices as in the other shapes, got {len(mesh.points)}; {remedy}")
    return mesh


def _played(path: Path, clip: str | None, rate: Rate) -> tuple[Mesh, Floats, tuple[str, ...]]:
    """The mesh of a file and its points (P, N, 3) in every frame of its clip, morph targets included."""
    contents = load.read(path, Wanted("first", () if clip is None else (clip,), checked_rate(rate)))
    rig = load.rig_or_mesh(contents)
    if not contents.motions:
        raise FileError(path, "holds no clip, so its shapes do not change; give several files, or one with a clip")
    motion = next(iter(contents.motions.values()))
    moved = [contents.morphs[name] for name in motion.control_names if name in contents.morphs]
    dials = motion.controls[:, [name in contents.morphs for name in motion.control_names]]
    added = np.tensordot(dials, np.stack(moved), 1) if moved else np.zeros((len(motion), 1, 3))
    return rig.mesh, np.stack([rig.skin(pose, more) for pose, more in zip(motion, added, strict=True)]), motion.names
