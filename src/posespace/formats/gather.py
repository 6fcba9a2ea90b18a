"""Examples from files: a rig, a file of poses and one shape per pose, gathered into a store pose by pose."""

from __future__ import annotations

import glob
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from posespace.check import Floats
from posespace.errors import FileError, InputError
from posespace.examples import Examples
from posespace.formats import files, load
from posespace.formats.contents import Contents, unique
from posespace.formats.doubts import Finding, check_examples, doubts, listed
from posespace.formats.example_store import ExampleStore
from posespace.formats.placing import Placing, by_positions, in_order, is_reordered
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.moving import at_rest
from posespace.pose import Pose
from posespace.progress import track
from posespace.rig import Rig


@dataclass(frozen=True)
class Shape:
    """A shape still to be read: where it comes from and how to get its mesh, without faces where it has none."""

    name: str
    source: Path
    read: Callable[[], Mesh]


@dataclass(frozen=True)
class Gathering:
    """How examples are gathered.

    Parameters
    ----------
    rest : add the rest shape as an example where no pose is at rest
    resume : continue a store that exists: shapes that are missing there, or whose file is newer, are read
    morphs : the rig file's morph targets become examples, each driven by a control of its name
    placing : the unit, the axes and the vertex order of the shapes
    """

    rest: bool = True
    resume: bool = False
    morphs: bool = False
    placing: Placing = field(default_factory=Placing)


@dataclass(frozen=True)
class Gathered:
    """What was gathered.

    Parameters
    ----------
    matched : how shapes were matched to poses: by name, or in order
    findings : what was found about each example
    sources : the file of each
    notes : what a user should check again, one line each
    """

    matched: str
    findings: list[Finding]
    sources: list[Path]
    notes: list[str]


def gather_examples(
    rig_file: Path, poses_file: Path | None, shapes: str | None, out: Path, settings: Gathering | None = None
) -> Gathered:
    """Write an example store and check it.

    Parameters
    ----------
    rig_file : a rig; a file that holds only a mesh becomes a rig driven by controls
    poses_file : poses (JSON) or a motion (BVH, glTF, USD); None for morph targets alone
    shapes : a pattern such as ``sculpts/*.obj``, matched to the poses by name or else in order; or a ``.npy``
        (P, N, 3); None for morph targets alone
    out : the store
    """
    chosen = settings or Gathering()
    if out.exists() and not chosen.resume:
        raise FileError(out, "exists already; remove it, or continue it with --resume")
    contents = load.read(rig_file)
    rig = _rig(contents)
    pairs: list[tuple[int, Shape]] = []
    if poses_file is not None and shapes is not None:
        motion = load.load_motion(poses_file, rig.skeleton)
        pairs, matched = _matched(_shapes_in(shapes), motion, poses_file)
        chosen.placing.require_used(tuple(motion.names[pose] for pose, _ in pairs))
    elif poses_file is not None or shapes is not None or not chosen.morphs:
        raise InputError("examples: expected --poses and --shapes, or --morphs for the morph targets of the rig's file")
    else:
        motion, matched = Motion.from_poses([rig.rest])[:0], ""
    used = {pose for pose, _ in pairs}
    unused = [name for k, name in enumerate(motion.names) if k not in used]
    notes = [f"poses without a shape are left out: {listed(unused)}"] if unused else []
    placed = len(pairs)
    motion, pairs = motion[[pose for pose, _ in pairs]], [(k, shape) for k, (_, shape) in enumerate(pairs)]
    if chosen.morphs:
        motion, pairs = _with_morphs(motion, pairs, rig, contents)
        matched = ", ".join([*([matched] if matched else []), "morph targets by name"])
    if chosen.rest and not at_rest(rig, motion).any():
        motion, pairs = _with_rest(motion, pairs, rig, rig_file)
    reordered = _fill(out, rig, motion, [shape for _, shape in pairs], placed, chosen)
    findings = check_examples(Examples.open(out), reordered)
    return Gathered(matched, findings, [shape.source for _, shape in pairs], notes + doubts(findings))


def _fill(out: Path, rig: Rig, motion: Motion, shapes: list[Shape], placed: int, settings: Gathering) -> list[str]:
    """Write the shapes of all poses to a store; the first `placed` are placed as the settings say.

    Returns the poses whose file joins other vertices than the rig does, taken in its order.
    """
    is_new, reordered = not out.exists(), []
    store = ExampleStore.create(out, rig, motion, settings.resume, settings.placing.made())
    try:
        for index in track(_pending(store, shapes), "reading shapes"):
            mesh, name, source = shapes[index].read(), motion.names[index], shapes[index].source
            if index >= placed:
                store.write(index, mesh.points)
                continue
            mesh = mesh.with_points(settings.placing.placed(name, mesh.points))
            if settings.placing.match == "positions":
                store.write(index, by_positions(source, mesh, rig, rig.skin(motion[index])))
                continue
            store.write(index, in_order(source, mesh, rig))
            if is_reordered(mesh, rig.mesh):
                reordered.append(name)
    except InputError:
        # The user will correct the input and try again: a store left over must not be in the way.
        if is_new:
            shutil.rmtree(out, ignore_errors=True)
        raise
    return reordered


def _pending(store: ExampleStore, shapes: list[Shape]) -> list[int]:
    """The shapes that are not stored yet, or whose file is newer than what is stored."""
    return [k for k, shape in enumerate(shapes) if store.written_at(k) < shape.source.stat().st_mtime]


def _rig(contents: Contents) -> Rig:
    if contents.rigs:
        return next(iter(contents.rigs.values()))
    if not contents.meshes:
        raise FileError(contents.path, "holds no rig and no mesh")
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
    files.size_of(path)
    try:
        stack = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise FileError(path, "cannot be read as a NumPy array (.npy, without pickled objects)") from error
    if stack.ndim != 3 or stack.shape[2] != 3 or stack.dtype.kind != "f":
        raise FileError(path, f"expected floats of shape (poses, vertices, 3), got {stack.dtype} {stack.shape}")
    return [Shape(f"{path.name}[{k}]", path, _row_reader(path, stack, k)) for k in range(len(stack))]


def _row_reader(path: Path, stack: Floats, index: int) -> Callable[[], Mesh]:
    def read() -> Mesh:
        with files.naming(path):
            return _points_only(np.asarray(stack[index]))

    return read


def _points_only(points: Floats) -> Mesh:
    return Mesh(points, np.zeros((0, 3), np.int32))


def _mesh_reader(path: Path) -> Callable[[], Mesh]:
    return lambda: load.load_mesh(path)


def _natural(path: Path) -> list[tuple[bool, int, str]]:
    """Sort pose2 before pose10."""
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", path.name)]


def _matched(shapes: list[Shape], motion: Motion, poses_file: Path) -> tuple[list[tuple[int, Shape]], str]:
    """Pose and shape by name where any name agrees, else in order where the counts agree; and which of the two."""
    known = {name: k for k, name in enumerate(motion.names)}
    if not any(shape.name in known for shape in shapes):
        if len(shapes) != len(motion):
            raise InputError(
                f"shapes: {len(shapes)} shapes for {len(motion)} poses in {poses_file}, and none is named as a pose "
                f"(shapes {shapes[0].name}, ...; poses {', '.join(motion.names[:4])}, ...)"
            )
        return list(enumerate(shapes)), "in order"
    for shape in shapes:
        if shape.name not in known:
            raise FileError(
                shape.source, f"no pose is called {shape.name!r} in {poses_file}; rename it or leave it out"
            )
    return sorted(((known[shape.name], shape) for shape in shapes), key=lambda pair: pair[0]), "by name"


def _with_rest(
    motion: Motion, pairs: list[tuple[int, Shape]], rig: Rig, rig_file: Path
) -> tuple[Motion, list[tuple[int, Shape]]]:
    grown = motion.with_rest(rig.rest)
    shape = Shape(grown.names[-1], rig_file, lambda: rig.mesh)
    return grown, [*pairs, (len(motion), shape)]


def _with_morphs(
    motion: Motion, pairs: list[tuple[int, Shape]], rig: Rig, contents: Contents
) -> tuple[Motion, list[tuple[int, Shape]]]:
    """Add the morph targets of the rig's file, each at the rest pose with the control of its name at one."""
    if not contents.morphs:
        raise FileError(contents.path, "holds no morph targets; leave --morphs away, or export it with them")
    names = unique([*motion.names, *contents.morphs], "morph")
    poses = [Pose(rig.rest.rotations, rig.rest.translations, {name: 1.0}) for name in contents.morphs]
    shapes = [Shape(name, contents.path, _morph_reader(rig, moved)) for name, moved in contents.morphs.items()]
    return Motion.from_poses([*motion, *poses], names), [*pairs, *enumerate(shapes, start=len(motion))]


def _morph_reader(rig: Rig, moved: Floats) -> Callable[[], Mesh]:
    return lambda: rig.mesh.with_points(rig.mesh.points + moved)
