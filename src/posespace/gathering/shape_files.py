"""Shapes still to be read: the files that a pattern, a folder or an array names, and the pose that each belongs to."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posespace.check import Floats
from posespace.errors import FileError, InputError
from posespace.formats import files, load
from posespace.formats.numpy_shapes import ENDINGS, array_shapes
from posespace.formats.pose_choice import PoseChoice
from posespace.formats.unread import is_foreign, unread
from posespace.gathering import posed_meshes
from posespace.mesh import Mesh
from posespace.motion import Motion, matching


@dataclass(frozen=True)
class Shape:
    """A shape still to be read: where it comes from and how to get its mesh."""

    name: str
    source: Path
    read: Callable[[], Mesh]


Pairs = list[tuple[int, Shape]]
"""Numbers of poses and their shapes."""


def shapes_in(pattern: str) -> list[Shape]:
    """Return the shapes of a folder of posed meshes, or of mesh and NumPy files that match a pattern."""
    given = Path(pattern)
    if given.suffix.lower() in ENDINGS and given.exists():
        return _once(_array_shapes(given, {}))
    found = posed_meshes.meshes_in(given) if given.is_dir() else map(Path, glob.glob(pattern))
    paths = sorted((path for path in found if path.name != posed_meshes.POSES), key=_natural)
    if not paths:
        raise InputError(f"shapes {pattern!r}: no file matches; quote the pattern so that the shell leaves it alone")
    _require_meshes(pattern, paths)
    names = posed_meshes.poses_of(paths)
    shapes = []
    for path in paths:
        if path.suffix.lower() in ENDINGS:
            shapes += _array_shapes(path, names)
        else:
            shapes.append(Shape(names.get(path, path.stem), path, _mesh_reader(path)))
    return _once(shapes)


def _require_meshes(pattern: str, paths: list[Path]) -> None:
    """Raise if a pattern matches what is no mesh, by its ending, such as the materials beside an OBJ."""
    others = [path for path in paths if path.suffix.lower() not in (*posed_meshes.MESHES, *ENDINGS)]
    if others and is_foreign(others[0]):
        raise unread(others[0], posed_meshes.MESHES)
    if others:
        known = [path.suffix for path in paths if path not in others]
        ending = max(known, key=known.count) if known else " or *".join(posed_meshes.MESHES[:4])
        remedy = f"match meshes alone, such as *{ending}"
        raise FileError(others[0], f"is no mesh by its ending, and {pattern!r} matches it; {remedy}")


def matched(shapes: list[Shape], motion: Motion, poses_file: Path, choice: PoseChoice) -> tuple[Pairs, str]:
    """Return pose and shape by name where any name agrees, else in order where the counts agree; and which of the two.

    Parameters
    ----------
    shapes : all that were found
    motion : the chosen poses
    poses_file : where they come from
    choice : how they were chosen
    """
    chosen = _chosen(shapes, choice, motion)
    if choice.rate is None and len(chosen) != len(motion):
        _require_keys(poses_file, choice.clip, len(chosen))
    known = {name: k for k, name in enumerate(motion.names)}
    if not any(shape.name in known for shape in chosen):
        if len(chosen) != len(motion):
            raise InputError(
                f"shapes: {len(chosen)} shapes for {len(motion)} poses in {poses_file}, and none is named as a pose "
                f"(shapes {chosen[0].name}, ...; poses {', '.join(motion.names[:4])}, ...)"
            )
        return list(enumerate(chosen)), "in order"
    for shape in chosen:
        if shape.name not in known:
            raise FileError(
                shape.source, f"no pose is called {shape.name!r} in {poses_file}; rename it or leave it out"
            )
    return sorted(((known[shape.name], shape) for shape in chosen), key=lambda pair: pair[0]), "by name"


def _chosen(shapes: list[Shape], choice: PoseChoice, motion: Motion) -> list[Shape]:
    """The shapes of chosen poses, where shapes are named as poses; in order, each shape needs its pose."""
    names, known = [shape.name for shape in shapes], set(motion.names)
    if choice.only:
        try:
            shapes = [shapes[k] for k in matching(names, choice.only)]
        except InputError as error:
            raise InputError(f"shapes of {error}; to be chosen, a shape must have the name of its pose") from None
    with_pose = [shape for shape in shapes if shape.name in known]
    return with_pose if choice.partial and with_pose else shapes


def _require_keys(poses_file: Path, clip: str | None, shapes: int) -> None:
    """Raise if there are fewer shapes than frames, because the frames include more than the clip's keys.

    Shapes that are named 0, 1, ... would otherwise go to the first frames, though they were made for the keys.
    """
    if poses_file.is_dir() or poses_file.suffix.lower() in load.POSE_FILES:
        return
    found = load.clips(poses_file)
    chosen = found[clip] if clip else next(iter(found.values()))
    if chosen.poses != chosen.keys:
        counts = f"{chosen.keys} keys, read as {chosen.poses} frames, for {shapes} shapes"
        remedy = "take the keys alone with --rate keys, or choose the frames with --rate NUMBER"
        raise FileError(poses_file, f"{chosen.name!r} has {counts}: {remedy}")


def _once(shapes: list[Shape]) -> list[Shape]:
    """The shapes; raises where two have one name."""
    seen: dict[str, Path] = {}
    for shape in shapes:
        if shape.name in seen:
            raise FileError(
                shape.source, f"is a second shape for pose {shape.name!r}, beside {seen[shape.name]}; remove one"
            )
        seen[shape.name] = shape.source
    return shapes


def _array_shapes(path: Path, names: Mapping[Path, str]) -> list[Shape]:
    """The shapes of a NumPy file; one alone has the pose of the file's name, where `names` has one."""
    found = array_shapes(path)
    if len(found) == 1 and path in names:
        found = [(names[path], found[0][1])]
    return [Shape(name, path, _points_reader(path, read)) for name, read in found]


def _points_reader(path: Path, points: Callable[[], Floats]) -> Callable[[], Mesh]:
    def read() -> Mesh:
        with files.naming(path):
            return Mesh(points(), np.zeros((0, 3), np.int32))

    return read


def _mesh_reader(path: Path) -> Callable[[], Mesh]:
    return lambda: load.load_mesh(path)


def _natural(path: Path) -> list[tuple[bool, int, str]]:
    """Sort pose2 before pose10."""
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", path.name)]
