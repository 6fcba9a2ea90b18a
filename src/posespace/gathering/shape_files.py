"""Shape files: those that a pattern, a folder or an array names, still to be read, and the pose of each."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posespace.check import Floats
from posespace.errors import FileError, InputError
from posespace.formats import files, load, motions, registry
from posespace.formats.pose_choice import PoseChoice
from posespace.formats.registry import MESH, POSES, SHAPES
from posespace.gathering import posed_meshes
from posespace.mesh import Mesh
from posespace.motion import Motion, matching


@dataclass(frozen=True)
class Shape:
    """A shape still to be read: its name, its file and a function that reads its mesh."""

    name: str
    source: Path
    read: Callable[[], Mesh]


Pairs = list[tuple[int, Shape]]
"""Indices of poses and their shapes."""


def find_shapes(pattern: str) -> list[Shape]:
    """Return the shapes of a folder of posed meshes, or of mesh and NumPy files that match a pattern."""
    path = Path(pattern)
    if registry.reads(path, SHAPES) and path.exists():
        return _with_distinct_names(_array_shapes(path, {}))
    matches = posed_meshes.meshes_in(path) if path.is_dir() else map(Path, glob.glob(pattern))
    paths = sorted((file for file in matches if file.name != posed_meshes.POSES), key=_natural)
    if not paths:
        raise InputError(f"shapes {pattern!r}: no file matches; check the folder and the ending")
    _require_meshes(pattern, paths)
    poses = posed_meshes.poses_of(paths)
    shapes = []
    for file in paths:
        if registry.reads(file, SHAPES):
            shapes += _array_shapes(file, poses)
        else:
            shapes.append(Shape(poses.get(file, file.stem), file, _mesh_reader(file)))
    return _with_distinct_names(shapes)


def _require_meshes(pattern: str, paths: list[Path]) -> None:
    """Raise if a pattern matches a file that is no mesh by its ending, such as the materials of an OBJ."""
    others = [path for path in paths if not registry.reads(path, MESH, SHAPES)]
    if not others:
        return
    if registry.is_foreign(others[0]):
        raise registry.unread(others[0], MESH)
    endings = [path.suffix for path in paths if path not in others]
    ending = max(endings, key=endings.count) if endings else " or *".join(registry.read_endings(MESH)[:4])
    remedy = f"match meshes alone, such as *{ending}"
    raise FileError(others[0], f"is no mesh by its ending, and {pattern!r} matches it; {remedy}")


def match_poses(shapes: list[Shape], motion: Motion, poses_file: Path, choice: PoseChoice) -> tuple[Pairs, str]:
    """Return pairs of pose and shape, by name where any name agrees, else in order; and which of the two.

    Parameters
    ----------
    shapes : all shapes
    motion : the chosen poses
    poses_file : the file of the poses
    choice : how they were chosen
    """
    chosen = _choose(shapes, choice, motion)
    if choice.rate is None and len(chosen) != len(motion):
        _require_keys(poses_file, choice.clip, len(chosen))
    indices = {name: k for k, name in enumerate(motion.names)}
    if not any(shape.name in indices for shape in chosen):
        if len(chosen) != len(motion):
            raise InputError(
                f"shapes: {len(chosen)} shapes for {len(motion)} poses in {poses_file}, and none is named as a pose "
                f"(shapes {chosen[0].name}, ...; poses {', '.join(motion.names[:4])}, ...)"
            )
        return list(enumerate(chosen)), "in order"
    for shape in chosen:
        if shape.name not in indices:
            raise FileError(
                shape.source, f"no pose is called {shape.name!r} in {poses_file}; rename it or leave it out"
            )
    return sorted(((indices[shape.name], shape) for shape in chosen), key=lambda pair: pair[0]), "by name"


def _choose(shapes: list[Shape], choice: PoseChoice, motion: Motion) -> list[Shape]:
    """The shapes of chosen poses, where shapes are named as poses; in order, each shape needs its pose."""
    if choice.only:
        try:
            shapes = [shapes[k] for k in matching([shape.name for shape in shapes], choice.only)]
        except InputError as error:
            raise InputError(f"shapes of {error}; to be chosen, a shape must have the name of its pose") from None
    with_pose = [shape for shape in shapes if shape.name in set(motion.names)]
    return with_pose if choice.partial and with_pose else shapes


def _require_keys(poses_file: Path, clip: str | None, shapes: int) -> None:
    """Raise if there are fewer shapes than frames, because the frames include more than the clip's keys.

    Shapes that are named 0, 1, ... would otherwise go to the first frames, though they were made for the keys.
    """
    if poses_file.is_dir() or registry.reads(poses_file, POSES):
        return
    clips = motions.clips(poses_file)
    chosen = clips[clip] if clip else next(iter(clips.values()))
    if chosen.poses != chosen.keys:
        counts = f"{chosen.keys} keys, read as {chosen.poses} frames, for {shapes} shapes"
        remedy = "take the keys alone with `rate='keys'`, or choose the frames with `rate`"
        raise FileError(poses_file, f"{chosen.name!r} has {counts}: {remedy}")


def _with_distinct_names(shapes: list[Shape]) -> list[Shape]:
    """The shapes; raises where two have one name."""
    sources: dict[str, Path] = {}
    for shape in shapes:
        if shape.name in sources:
            raise FileError(
                shape.source, f"is a second shape for pose {shape.name!r}, beside {sources[shape.name]}; remove one"
            )
        sources[shape.name] = shape.source
    return shapes


def _array_shapes(path: Path, poses: Mapping[Path, str]) -> list[Shape]:
    """The shapes of a NumPy file; a single one is named by its pose in `poses`, where that has the file."""
    arrays: list[tuple[str, Callable[[], Floats]]] = registry.reader(path, SHAPES).read(path)
    if len(arrays) == 1 and path in poses:
        arrays = [(poses[path], arrays[0][1])]
    return [Shape(name, path, _points_reader(path, read)) for name, read in arrays]


def _points_reader(path: Path, read_points: Callable[[], Floats]) -> Callable[[], Mesh]:
    def read() -> Mesh:
        with files.naming(path):
            return Mesh(read_points(), np.zeros((0, 3), np.int32))

    return read


def _mesh_reader(path: Path) -> Callable[[], Mesh]:
    return lambda: load.load_mesh(path)


def _natural(path: Path) -> list[tuple[bool, int, str]]:
    """Sort key that puts pose2 before pose10."""
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", path.name)]
