"""Deformation transfer between files: shapes of one mesh in, an example store of another mesh out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from posespace.check import Floats, Ints
from posespace.errors import FileError, InputError
from posespace.examples import Examples
from posespace.formats import load
from posespace.formats.files import naming
from posespace.formats.landmarks import read_landmarks
from posespace.formats.store.example_store import ExampleStore
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.poses.retarget_motion import retarget_motion
from posespace.progress import status, track
from posespace.register.correspondence import triangle_correspondence
from posespace.register.transfer import Transfer
from posespace.rig import Rig

FOLLOWING = "triangles_following_source"
"""Key of the fraction of the target's triangles that follow one of the source."""


def transfer_files(
    source: Path,
    posed: Sequence[Path],
    target: Path,
    landmarks: Path | None,
    out: Path,
    note: Callable[[str], None] = lambda _: None,
    force: bool = False,
) -> dict[str, Any]:
    """Transfer the shapes of a source to a target, write the store whole or not at all, and return figures of it.

    Parameters
    ----------
    source : an example store; or a mesh at rest, of which `posed` are other shapes
    posed : meshes with the vertices of the source
    target : a mesh or rig
    landmarks : a file of landmarks whose template is the source and whose scan is the target. None: both have the same
        triangles
    out : the store to write
    note : called with each note for the user
    force : use landmarks that seem to be wrong too, instead of refusing them
    """
    if out.exists():
        raise FileError(out, "exists already; remove it, or choose another output")
    examples = _examples(source, posed)
    rig = load.rig_or_mesh(load.read(target, load.NO_MOTIONS))
    follows, rotation = _correspondence(source, examples.rig.mesh, target, rig.mesh, landmarks, force)
    with status("factoring"):
        moved = Transfer(examples.rig.mesh, rig.mesh, follows, rotation)
    with ExampleStore.whole(out, rig, _motion(examples, rig, note)) as store:
        for index in track(range(len(examples)), "transferring"):
            store.write(index, moved(examples.shapes[index]))
    return {
        "file": str(out),
        "shapes": len(examples),
        "vertices": len(rig.mesh.points),
        FOLLOWING: float((follows >= 0).mean()),
        "rotated": rotation is not None,
    }


def _examples(source: Path, posed: Sequence[Path]) -> Examples:
    if source.is_dir():
        if posed:
            raise InputError(f"{source}: a store has its shapes inside; give it alone, or a mesh and its posed files")
        examples = Examples.open(source)
        if not len(examples):
            raise FileError(source, "holds no finished pose; resume the run that writes it")
        return examples
    if not posed:
        remedy = "also give its other shapes (POSED...), or give an example store as SOURCE"
        raise FileError(source, f"is a single mesh; {remedy}")
    rig = Rig.from_mesh(load.load_mesh(source))
    shapes: list[Floats] = []
    for path in posed:
        mesh = load.load_mesh(path)
        if mesh.points.shape != rig.mesh.points.shape:
            count, expected = len(mesh.points), len(rig.mesh.points)
            raise FileError(path, f"has {count} vertices, {source} has {expected}: it is a shape of another mesh")
        shapes.append(mesh.points)
    names = [path.stem for path in posed]
    with naming(source):
        return Examples.from_shapes(rig, Motion.from_poses([rig.rest] * len(posed), names), shapes)


def _correspondence(
    source: Path, mesh: Mesh, target: Path, other: Mesh, landmarks: Path | None, force: bool
) -> tuple[Ints, Floats | None]:
    if landmarks is None:
        if len(mesh.triangles) != len(other.triangles) or not np.array_equal(mesh.triangles, other.triangles):
            raise InputError(f"{target}: its triangles are not those of {source}; give `landmarks` of both")
        return np.arange(len(mesh.triangles), dtype=np.int32), None
    marks = read_landmarks(landmarks)
    with status("registering the source onto the target"), naming(target):
        return triangle_correspondence(mesh, other, marks.template, marks.of(target), force)


def _motion(examples: Examples, rig: Rig, note: Callable[[str], None]) -> Motion:
    """The poses of the source on the target's joints where they have the same names, else all at rest."""
    source_skeleton, skeleton = examples.rig.skeleton, rig.skeleton
    if len(skeleton) > 1 and set(source_skeleton.names) & set(skeleton.names):
        return retarget_motion(examples.motion, source_skeleton, skeleton)
    note("the two have no joints in common: all examples are at the target's rest pose")
    return Motion.from_poses([rig.rest] * len(examples), list(examples.motion.names))
