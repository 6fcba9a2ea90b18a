"""Examples from files: a rig, a file of poses and one shape per pose, gathered into a store and checked."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from posespace.check import Floats
from posespace.errors import FileError, InputError
from posespace.examples import Examples
from posespace.formats import load
from posespace.formats.contents import unique
from posespace.formats.frames import Wanted
from posespace.formats.pose_choice import PoseChoice
from posespace.formats.store.example_store import ExampleStore
from posespace.gathering import posed_meshes
from posespace.gathering.conform import MATCHED, Placing, UnmatchedError
from posespace.gathering.conformed_shapes import PlacedShapes
from posespace.gathering.outliers import Finding, check_examples, doubts, listed
from posespace.gathering.shape_files import Pairs, Shape, matched, shapes_in
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.poses.active import at_rest
from posespace.progress import track
from posespace.rig import Rig

_MOST_WAITING = 20
"""Shapes that may wait for another to tell how their vertices are ordered, before none is expected to."""


@dataclass(frozen=True)
class Gathering:
    """How examples are gathered.

    Parameters
    ----------
    rest : add the rest shape as an example where no pose is at rest
    resume : continue a store that exists: shapes that are missing there, or whose file is newer, are read
    morphs : the rig file's morph targets become examples, each driven by a control of its name
    placing : the unit, the axes and the vertex order of the shapes
    choice : which poses, and their shapes, are taken
    """

    rest: bool = True
    resume: bool = False
    morphs: bool = False
    placing: Placing = field(default_factory=Placing)
    choice: PoseChoice = field(default_factory=PoseChoice)


@dataclass(frozen=True)
class Gathered:
    """What was gathered.

    Parameters
    ----------
    matched : how shapes were matched to poses: by name, or in order
    findings : what was found about each example
    sources : the file of each
    notes : what a user should check again, one line each
    vertices : how many shapes had their vertices in the rig's order, and how many were brought into it, and how
    """

    matched: str
    findings: list[Finding]
    sources: list[Path]
    notes: list[str]
    vertices: Mapping[str, int]


def gather(
    rig_file: str | Path,
    poses_file: str | Path | None,
    shapes: str | None,
    out: str | Path,
    settings: Gathering | None = None,
) -> Gathered:
    """Gather a rig, poses and one shape per pose into an example store, and check the shapes.

    Parameters
    ----------
    rig_file : a rig, or a skin, whose rig it is; a file that holds only a mesh becomes a rig driven by controls
    poses_file : poses (JSON) or a motion (BVH, glTF, USD); None: those beside the shapes, see `posed_meshes`
    shapes : a folder of posed meshes; a pattern such as `sculpts/*.obj`, matched to the poses by name or else in
        order; a `.npy` (P, N, 3) or a `.npz` of it or of one array per pose; None for morph targets alone
    out : the store
    settings : how
    """
    chosen = settings or Gathering()
    rig_file, out = Path(rig_file), Path(out)
    poses_file = None if poses_file is None else Path(poses_file)
    if out.exists() and not chosen.resume:
        raise FileError(out, "exists already; remove it, or continue it with --resume")
    if shapes is None and (poses_file is not None or not chosen.morphs):
        raise InputError("examples: expected --shapes, or --morphs for the morph targets of the rig's file")
    rig, morphs = _rig(rig_file)
    notes: list[str] = []
    motion, pairs, way = _sculpts(rig, poses_file, shapes, chosen, notes)
    placed = len(pairs)
    if chosen.morphs:
        motion, pairs = _with_morphs(motion, pairs, rig, morphs, rig_file)
        way = ", ".join([*([way] if way else []), "morph targets by name"])
    if chosen.rest and not at_rest(rig, motion).any():
        motion, pairs = _with_rest(motion, pairs, rig, rig_file)
    filled = _fill(out, rig, motion, [shape for _, shape in pairs], placed, chosen)
    findings = check_examples(Examples.open(out), filled.reordered)
    sources = [shape.source for _, shape in pairs]
    return Gathered(way, findings, sources, notes + doubts(findings, rig.mesh.diagonal * rig.mesh.unit), filled.used)


def _sculpts(
    rig: Rig, poses_file: Path | None, shapes: str | None, settings: Gathering, notes: list[str]
) -> tuple[Motion, Pairs, str]:
    """The poses that have a shape, those shapes in their order, and how they were matched; what to note is added."""
    if shapes is None:
        return Motion.from_poses([rig.rest])[:0], [], ""
    found = shapes_in(shapes)
    file = poses_file or posed_meshes.pose_file_of(shapes, [shape.source for shape in found])
    choice = settings.choice.of_sculpts(file, notes.append)
    motion = choice.load(file, rig.skeleton, note=notes.append)
    pairs, way = matched(found, motion, file, choice)
    settings.placing.require_used(tuple(motion.names[pose] for pose, _ in pairs))
    used = {pose for pose, _ in pairs}
    unused = [name for k, name in enumerate(motion.names) if k not in used]
    if unused:
        notes.append(f"poses without a shape are left out: {listed(unused)}")
    return motion[[pose for pose, _ in pairs]], [(k, shape) for k, (_, shape) in enumerate(pairs)], way


def _fill(out: Path, rig: Rig, motion: Motion, shapes: list[Shape], placed: int, settings: Gathering) -> PlacedShapes:
    """Write the shapes of all poses to a store; the first `placed` are placed as the settings say."""
    is_new, filling = not out.exists(), PlacedShapes(rig, motion, settings.placing)
    store = ExampleStore.create(out, rig, motion, settings.resume, settings.placing.made())
    try:
        waiting: list[tuple[int, UnmatchedError]] = []
        for index in track(_pending(store, shapes), "reading shapes"):
            if index >= placed:
                store.write(index, shapes[index].read().points)
                continue
            try:
                store.write(index, filling.points(index, shapes[index]))
            except UnmatchedError as error:
                # Another frame of the same topology may tell how its vertices are ordered.
                waiting.append((index, error))
                if len(waiting) > _MOST_WAITING and not filling.used[MATCHED]:
                    raise
        for index, _ in waiting:
            store.write(index, filling.points(index, shapes[index]))
    except InputError:
        # The user will correct the input and try again: a store left over must not be in the way.
        if is_new:
            shutil.rmtree(out, ignore_errors=True)
        raise
    return filling


def _pending(store: ExampleStore, shapes: list[Shape]) -> list[int]:
    """The shapes that are not stored yet, or whose file is newer than what is stored."""
    return [k for k, shape in enumerate(shapes) if store.written_at(k) < shape.source.stat().st_mtime]


def _rig(path: Path) -> tuple[Rig, Mapping[str, Floats]]:
    """The rig of a file, and its morph targets (N, 3) by name."""
    if path.suffix.lower() == load.SKIN_FILE:
        return load.load_skin(path).rig, {}
    contents = load.read(path, Wanted("none"))
    return load.rig_or_mesh(contents), contents.morphs


def _with_rest(motion: Motion, pairs: Pairs, rig: Rig, rig_file: Path) -> tuple[Motion, Pairs]:
    grown = motion.with_rest(rig.rest)
    shape = Shape(grown.names[-1], rig_file, lambda: rig.mesh)
    return grown, [*pairs, (len(motion), shape)]


def _with_morphs(
    motion: Motion, pairs: Pairs, rig: Rig, morphs: Mapping[str, Floats], rig_file: Path
) -> tuple[Motion, Pairs]:
    """Add the morph targets of the rig's file, each at the rest pose with the control of its name at one."""
    if not morphs:
        raise FileError(rig_file, "holds no morph targets; leave --morphs away, or export it with them")
    names = unique([*motion.names, *morphs], "morph")
    poses = [Pose(rig.rest.rotations, rig.rest.translations, {name: 1.0}) for name in morphs]
    shapes = [Shape(name, rig_file, _morph_reader(rig, moved)) for name, moved in morphs.items()]
    return Motion.from_poses([*motion, *poses], names), [*pairs, *enumerate(shapes, start=len(motion))]


def _morph_reader(rig: Rig, moved: Floats) -> Callable[[], Mesh]:
    return lambda: rig.mesh.with_points(rig.mesh.points + moved)
