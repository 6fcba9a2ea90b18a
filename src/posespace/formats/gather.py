"""Examples from files: a rig, a file of poses and one shape per pose, gathered into a store pose by pose."""

from __future__ import annotations

import glob
import re
import shutil
import tokenize
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.errors import FileError, InputError
from posespace.formats import files, load
from posespace.formats.example_store import ExampleStore
from posespace.motion import Motion
from posespace.moving import at_rest
from posespace.pose import Pose
from posespace.progress import track
from posespace.rig import Rig

_MOST_SHAPES = 100_000
_NPY_ERRORS = (
    *(OSError, EOFError, ValueError, TypeError, OverflowError),
    # The header of a .npy file is a Python expression, and may be any other text.
    *(SyntaxError, RecursionError, tokenize.TokenError),
)


@dataclass(frozen=True)
class Shape:
    """A shape still to be read: where it comes from and how to get its points (N, 3)."""

    name: str
    source: Path
    read: Callable[[], Floats]


def gather_examples(rig_file: Path, poses_file: Path, shapes: str, out: Path, rest: bool, resume: bool) -> list[str]:
    """Write an example store; returns what a user should check again, one line each.

    Parameters
    ----------
    rig_file : a rig; a file that holds only a mesh becomes a rig driven by controls
    poses_file : poses (JSON) or a motion (BVH, glTF, USD)
    shapes : a pattern such as ``sculpts/*.obj``, matched to the poses by name or else in order; or a ``.npy`` (P, N, 3)
    out : the store
    rest : add the rest shape as an example where no pose is at rest
    resume : continue a store that exists: shapes that are missing there, or whose file is newer, are read
    """
    if out.exists() and not resume:
        raise FileError(out, "exists already; remove it, or continue it with --resume")
    rig = _rig(rig_file)
    motion = load.load_motion(poses_file, rig.skeleton)
    pairs = _matched(_shapes_in(shapes), motion, poses_file)
    used = {pose for pose, _ in pairs}
    notes = [f"pose {name!r} has no shape: left out" for k, name in enumerate(motion.names) if k not in used]
    if rest and not at_rest(rig, motion[sorted(used)]).any():
        motion, pairs = _with_rest(motion, pairs, rig, rig_file)
    motion = motion[[pose for pose, _ in pairs]]
    is_new = not out.exists()
    store = ExampleStore.create(out, rig, motion, resume)
    try:
        for index in track(_pending(store, pairs), "reading shapes"):
            points = _points(pairs[index][1], rig)
            with files.naming(pairs[index][1].source):
                store.write(index, points)
            notes += _doubts(pairs[index][1], points, rig, motion[index])
    except InputError:
        # The user will correct the input and try again: a store left over must not be in the way.
        if is_new:
            shutil.rmtree(out, ignore_errors=True)
        raise
    return notes


def _pending(store: ExampleStore, pairs: list[tuple[int, Shape]]) -> list[int]:
    """The shapes that are not stored yet, or whose file is newer than what is stored."""
    return [k for k, (_, shape) in enumerate(pairs) if store.written_at(k) < shape.source.stat().st_mtime]


def _doubts(shape: Shape, points: Floats, rig: Rig, pose: Pose) -> list[str]:
    gap = float(np.sqrt(((points - rig.skin(pose)) ** 2).sum(axis=1).mean())) / max(rig.mesh.diagonal, 1e-30)
    if gap < 0.25:
        return []
    return [
        f"{shape.source} lies {gap:.0%} of the diagonal from plain skinning: are its unit, pose and vertex order right?"
    ]


def _rig(path: Path) -> Rig:
    contents = load.read(path)
    if contents.rigs:
        return next(iter(contents.rigs.values()))
    if not contents.meshes:
        raise FileError(path, "holds no rig and no mesh")
    return Rig.from_mesh(next(iter(contents.meshes.values())))


def _shapes_in(pattern: str) -> list[Shape]:
    given = Path(pattern)
    if given.is_dir():
        raise FileError(given, f"is a folder; give a pattern, such as '{given}/*.obj'")
    if given.suffix == ".npz":
        raise FileError(given, "is an archive of arrays; save the one array of shapes as .npy")
    if given.suffix == ".npy":
        return _array_shapes(given)
    paths = sorted(map(Path, glob.glob(pattern)), key=_natural)
    if not paths:
        raise InputError(f"shapes {pattern!r}: no file matches; quote the pattern so that the shell leaves it alone")
    return [Shape(path.stem, path, _mesh_reader(path)) for path in paths]


def _array_shapes(path: Path) -> list[Shape]:
    stack = _mapped_stack(path)
    if stack.ndim != 3 or stack.shape[2] != 3 or stack.dtype.kind != "f":
        raise FileError(path, f"expected floats of shape (poses, vertices, 3), got {stack.dtype} {stack.shape}")
    if not stack.size:
        raise FileError(path, "holds no shapes")
    if len(stack) > _MOST_SHAPES:
        raise FileError(path, f"holds {len(stack)} shapes; at most {_MOST_SHAPES} are read from one file")
    return [Shape(f"{path.name}[{k}]", path, lambda k=k: np.asarray(stack[k])) for k in range(len(stack))]  # type: ignore[misc]


def _mapped_stack(path: Path) -> NDArray[Any]:
    """Map the array of a .npy file, as large as it says or not at all."""
    files.size_of(path)
    try:
        stack: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    # What its header holds is Python, and what is no Python is many kinds of error.
    except (
        OSError,
        ValueError,
        EOFError,
        TypeError,
        OverflowError,
        SyntaxError,
        RecursionError,
        tokenize.TokenError,
    ) as error:
        raise FileError(path, "cannot be read as a NumPy array (.npy, without pickled objects)") from error
    return stack


def _mesh_reader(path: Path) -> Callable[[], Floats]:
    return lambda: load.load_mesh(path).points


def _natural(path: Path) -> list[tuple[bool, int, str]]:
    """Sort pose2 before pose10."""
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", path.name)]


def _matched(shapes: list[Shape], motion: Motion, poses_file: Path) -> list[tuple[int, Shape]]:
    """Pose and shape by name where any name agrees, else in order where the counts agree."""
    known = {name: k for k, name in enumerate(motion.names)}
    if not any(shape.name in known for shape in shapes):
        if len(shapes) != len(motion):
            raise InputError(
                f"shapes: {len(shapes)} shapes for {len(motion)} poses in {poses_file}, and none is named as a pose "
                f"(shapes {shapes[0].name}, ...; poses {', '.join(motion.names[:4])}, ...)"
            )
        return list(enumerate(shapes))
    for shape in shapes:
        if shape.name not in known:
            raise FileError(
                shape.source, f"no pose is called {shape.name!r} in {poses_file}; rename it or leave it out"
            )
    return sorted(((known[shape.name], shape) for shape in shapes), key=lambda pair: pair[0])


def _with_rest(
    motion: Motion, pairs: list[tuple[int, Shape]], rig: Rig, rig_file: Path
) -> tuple[Motion, list[tuple[int, Shape]]]:
    grown = motion.with_rest(rig.rest)
    shape = Shape(grown.names[-1], rig_file, lambda: rig.mesh.points)
    return grown, [*pairs, (len(motion), shape)]


def _points(shape: Shape, rig: Rig) -> Floats:
    points = shape.read()
    if len(points) != len(rig.mesh.points):
        raise FileError(shape.source, f"has {len(points)} vertices; the rig has {len(rig.mesh.points)}")
    return points
