"""Examples from files: a rig, a file of poses and one shape per pose, gathered into a store pose by pose."""

from __future__ import annotations

import glob
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posespace.check import Floats
from posespace.errors import FileError, InputError
from posespace.formats import files, load, posed_meshes
from posespace.formats.example_store import ExampleStore
from posespace.formats.frames import Wanted
from posespace.formats.pose_choice import PoseChoice
from posespace.motion import Motion, matching
from posespace.moving import at_rest
from posespace.pose import Pose
from posespace.progress import track
from posespace.rig import Rig
from posespace.skin import Skin

_ALL = PoseChoice()


@dataclass(frozen=True)
class Shape:
    """A shape still to be read: where it comes from and how to get its points (N, 3)."""

    name: str
    source: Path
    read: Callable[[], Floats]


def gather_examples(
    rig_file: Path,
    poses_file: Path | None,
    shapes: str,
    out: Path,
    rest: bool,
    resume: bool,
    choice: PoseChoice = _ALL,
) -> list[str]:
    """Write an example store; returns what a user should check again, one line each.

    Parameters
    ----------
    rig_file : a rig, or a skin, whose rig it is; a file that holds only a mesh becomes a rig driven by controls
    poses_file : poses (JSON) or a motion (BVH, glTF, USD); None: those beside the shapes, see `posed_meshes`
    shapes : a folder of posed meshes; a pattern such as ``sculpts/*.obj``, matched to the poses by name or else in
        order; or a ``.npy`` (P, N, 3)
    out : the store
    rest : add the rest shape as an example where no pose is at rest
    resume : continue a store that exists: shapes that are missing there, or whose file is newer, are read
    choice : which poses, and their shapes, are taken
    """
    if out.exists() and not resume:
        raise FileError(out, "exists already; remove it, or continue it with --resume")
    rig = _rig(rig_file)
    found = _once(_shapes_in(shapes))
    poses_file = poses_file or posed_meshes.pose_file_of(shapes, [shape.source for shape in found])
    notes: list[str] = []
    motion = choice.load(poses_file, rig.skeleton, note=notes.append)
    found = _chosen(found, choice, motion)
    if choice.rate is None and len(found) != len(motion):
        _require_keys(poses_file, choice.clip, len(found))
    pairs = _matched(found, motion, poses_file)
    used = {pose for pose, _ in pairs}
    notes += [f"pose {name!r} has no shape: left out" for k, name in enumerate(motion.names) if k not in used]
    if rest and not at_rest(rig, motion[sorted(used)]).any():
        motion, pairs = _with_rest(motion, pairs, rig, rig_file)
    motion = motion[[pose for pose, _ in pairs]]
    is_new = not out.exists()
    store = ExampleStore.create(out, rig, motion, resume)
    try:
        for index in track(_pending(store, pairs), "reading shapes"):
            points = _points(pairs[index][1], rig)
            store.write(index, points)
            notes += _doubts(pairs[index][1], points, rig, motion[index])
    except InputError:
        # The user will correct the input and try again: a store left over must not be in the way.
        if is_new:
            shutil.rmtree(out, ignore_errors=True)
        raise
    return notes


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
    if path.suffix.lower() == ".skin":
        return Skin.load(path).rig
    return load.rig_or_mesh(load.read(path, Wanted("none")))


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


def _shapes_in(pattern: str) -> list[Shape]:
    given = Path(pattern)
    if given.suffix == ".npz":
        raise FileError(given, "is an archive of arrays; save the one array of shapes as .npy")
    if given.suffix == ".npy":
        return _array_shapes(given)
    found = posed_meshes.meshes_in(given) if given.is_dir() else map(Path, glob.glob(pattern))
    paths = sorted((path for path in found if path.name != posed_meshes.POSES), key=_natural)
    if not paths:
        raise InputError(f"shapes {pattern!r}: no file matches; quote the pattern so that the shell leaves it alone")
    names = posed_meshes.poses_of(paths)
    return [Shape(names.get(path, path.stem), path, _mesh_reader(path)) for path in paths]


def _array_shapes(path: Path) -> list[Shape]:
    files.size_of(path)
    try:
        stack = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise FileError(path, "cannot be read as a NumPy array (.npy, without pickled objects)") from error
    if stack.ndim != 3 or stack.shape[2] != 3 or stack.dtype.kind != "f":
        raise FileError(path, f"expected floats of shape (poses, vertices, 3), got {stack.dtype} {stack.shape}")
    return [Shape(f"{path.name}[{k}]", path, lambda k=k: np.asarray(stack[k])) for k in range(len(stack))]  # type: ignore[misc]


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
