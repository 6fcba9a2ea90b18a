"""Shapes in correspondence from files, without a rig: single meshes, a store, or a clip played frame by frame."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from posespace.check import Floats
from posespace.errors import FileError, InputError
from posespace.examples import Examples
from posespace.formats import load, registry
from posespace.formats.contents import unique
from posespace.formats.frames import Rate, Wanted, checked_rate
from posespace.formats.registry import CLIPS, MESH, SHAPES
from posespace.gathering.shape_files import find_shapes
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.progress import track
from posespace.rig import Rig


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
    path = Path(shapes)
    if (path / "zarr.json").is_file():
        examples = Examples.open(path)
        mesh, points, names = examples.rig.mesh, _stacked(examples), examples.motion.names
    elif path.is_file() and registry.reads(path, CLIPS) and registry.reads(path, MESH):
        mesh, points, names = _played(path, clip, rate)
    else:
        mesh, points, names = _from_files(str(shapes), rest)
    if rest is not None:
        mesh = _require_count(Path(rest), load.load_mesh(rest), points.shape[1])
    rig = Rig.from_mesh(replace(mesh, look=None) if mesh.look is not None else mesh)
    still = np.tile(rig.rest.rotations, (len(points), 1, 1))
    return Examples.from_shapes(rig, Motion(still, names=names), points)


def _stacked(examples: Examples) -> Floats:
    """The shapes (P, N, 3) of a store."""
    if not len(examples):
        raise InputError("shapes: the store holds no finished pose; resume the run that makes it")
    return np.stack([np.asarray(examples.shapes[k]) for k in range(len(examples))])


def _from_files(pattern: str, rest: str | Path | None) -> tuple[Mesh, Floats, tuple[str, ...]]:
    """The mesh of the first file that a pattern matches, the points (P, N, 3) of all, and their names."""
    shapes = find_shapes(pattern)
    if registry.reads(shapes[0].source, SHAPES) and rest is None:
        raise FileError(shapes[0].source, "holds points alone; give the mesh of the rest shape with `rest`")
    if len(shapes) == 1 and rest is None:
        remedy = "give a quoted pattern such as 'scans/*.obj', or the rest shape with `rest`"
        raise FileError(shapes[0].source, f"is a single shape, and bones need several: {remedy}")
    meshes: list[Mesh] = []
    for shape in track(shapes, "reading shapes"):
        mesh = shape.read()
        meshes.append(_require_count(shape.source, mesh, len((meshes or [mesh])[0].points)))
    names = tuple(unique([shape.name for shape in shapes], "shape"))
    return meshes[0], np.stack([mesh.points for mesh in meshes]), names


def _require_count(path: Path, mesh: Mesh, count: int) -> Mesh:
    """The mesh of a file; raises unless it has `count` vertices."""
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
    targets = [contents.morphs[name] for name in motion.control_names if name in contents.morphs]
    weights = motion.controls[:, [name in contents.morphs for name in motion.control_names]]
    offsets = np.tensordot(weights, np.stack(targets), 1) if targets else np.zeros((len(motion), 1, 3))
    points = np.stack([rig.skin(pose, offset) for pose, offset in zip(motion, offsets, strict=True)])
    return rig.mesh, points, motion.names
