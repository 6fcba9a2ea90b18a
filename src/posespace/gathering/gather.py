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
from posespace.gathering.conformed_shapes import ConformedShapes
from posespace.gathering.conventions import Conventions
from posespace.gathering.outliers import Finding, check_examples, listed, outlier_notes
from posespace.gathering.shape_files import Pairs, Shape, find_shapes, match_poses
from posespace.gathering.vertex_order import MATCHED, UnmatchedError
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.poses.active import at_rest
from posespace.progress import track
from posespace.rig import Rig

_MOST_WAITING = 20
"""Shapes that may wait for another to show how their vertices are ordered, before none is expected to."""


@dataclass(frozen=True)
class Gathering(Conventions):
    """Settings of `gather`.

    Parameters
    ----------
    unit, up, match : the conventions of the shapes, see `Conventions`
    choice : which poses, and their shapes, are taken
    rest : add the rest shape as an example where no pose is at rest
    morphs : add the morph targets of the rig's file as examples, each driven by a control of its name
    resume : continue a store that exists: shapes that are missing there, or whose file is newer, are read
    """

    choice: PoseChoice = field(default_factory=PoseChoice)
    rest: bool = True
    morphs: bool = False
    resume: bool = False


@dataclass(frozen=True)
class Gathered:
    """What `gather` returns.

    Parameters
    ----------
    path : the example store
    matched : how shapes were matched to poses: by name, or in order
    findings : the result of checking each example
    sources : the file of each example
    notes : what a user should check again, one line each
    vertices : number of shapes by how their vertices were found: in the rig's order, or brought into it
    """

    path: Path
    matched: str
    findings: list[Finding]
    sources: list[Path]
    notes: list[str]
    vertices: Mapping[str, int]

    @property
    def examples(self) -> Examples:
        """The examples of the store."""
        return Examples.open(self.path)


def gather(
    rig: str | Path,
    shapes: str | Path | None,
    path: str | Path,
    poses: str | Path | None = None,
    settings: Gathering | None = None,
) -> Gathered:
    """Gather a rig, poses and one shape per pose into an example store, and check it; `posespace examples` does this.

    Parameters
    ----------
    rig : file of a rig, or of a skin with it; a file that holds only a mesh becomes a rig driven by controls
    shapes : a folder that `posespace pose` wrote; a pattern such as `sculpts/*.obj`, matched to the poses by name or
        else in order; a ``.npy`` (P, N, 3) or a ``.npz`` of it or of one array per pose; None for morph targets alone
    path : the store to write
    poses : poses (JSON) or a motion (BVH, glTF, USD); None: the file that `posespace pose` wrote next to the shapes
    settings : the conventions of the shapes, the choice of poses and what to add; None: the defaults
    """
    options = settings or Gathering()
    rig_file, out = Path(rig), Path(path)
    if out.exists() and not options.resume:
        raise FileError(out, "exists already; remove it, or continue it with `resume`")
    if shapes is None and (poses is not None or not options.morphs):
        raise InputError("examples: expected `shapes`, or `morphs` for the morph targets of the rig's file")
    loaded, morphs = _load_rig(rig_file)
    notes: list[str] = []
    motion, pairs, matched = _find_sculpts(loaded, poses, shapes, options, notes)
    sculpt_count = len(pairs)
    if options.morphs:
        motion, pairs = _with_morphs(motion, pairs, loaded, morphs, rig_file)
        matched = ", ".join([*([matched] if matched else []), "morph targets by name"])
    if options.rest and not at_rest(loaded, motion).any():
        motion, pairs = _with_rest(motion, pairs, loaded, rig_file)
    conformed = _fill(out, loaded, motion, [shape for _, shape in pairs], sculpt_count, options)
    findings = check_examples(Examples.open(out), conformed.reordered)
    sources = [shape.source for _, shape in pairs]
    notes += outlier_notes(findings, loaded.mesh.diagonal * loaded.mesh.unit)
    return Gathered(out, matched, findings, sources, notes, conformed.match_counts)


def _load_rig(path: Path) -> tuple[Rig, Mapping[str, Floats]]:
    """The rig of a file, and its morph targets (N, 3) by name."""
    if load.is_skin_file(path):
        return load.load_skin(path).rig, {}
    contents = load.read(path, Wanted("none"))
    return load.rig_or_mesh(contents), contents.morphs


def _find_sculpts(
    rig: Rig, poses: str | Path | None, shapes: str | Path | None, settings: Gathering, notes: list[str]
) -> tuple[Motion, Pairs, str]:
    """The poses that have a shape, their shapes, and how they were matched; `notes` gets what a user should check."""
    if shapes is None:
        return Motion.from_poses([rig.rest])[:0], [], ""
    sculpts = find_shapes(str(shapes))
    file = posed_meshes.pose_file_of(str(shapes), [shape.source for shape in sculpts]) if poses is None else Path(poses)
    choice = settings.choice.of_sculpts(file, notes.append)
    motion = choice.load(file, rig.skeleton, note=notes.append)
    pairs, matched = match_poses(sculpts, motion, file, choice)
    settings.require_used(tuple(motion.names[pose] for pose, _ in pairs))
    used = {pose for pose, _ in pairs}
    unused = [name for k, name in enumerate(motion.names) if k not in used]
    if unused:
        notes.append(f"poses without a shape are left out: {listed(unused)}")
    return motion[[pose for pose, _ in pairs]], [(k, shape) for k, (_, shape) in enumerate(pairs)], matched


def _with_morphs(
    motion: Motion, pairs: Pairs, rig: Rig, morphs: Mapping[str, Floats], rig_file: Path
) -> tuple[Motion, Pairs]:
    """Add the morph targets of the rig's file, each at the rest pose with the control of its name at one."""
    if not morphs:
        raise FileError(rig_file, "holds no morph targets; omit `morphs`, or export it with them")
    names = unique([*motion.names, *morphs], "morph")
    poses = [Pose(rig.rest.rotations, rig.rest.translations, {name: 1.0}) for name in morphs]
    shapes = [Shape(name, rig_file, _morph_reader(rig, offsets)) for name, offsets in morphs.items()]
    return Motion.from_poses([*motion, *poses], names), [*pairs, *enumerate(shapes, start=len(motion))]


def _morph_reader(rig: Rig, offsets: Floats) -> Callable[[], Mesh]:
    return lambda: rig.mesh.with_points(rig.mesh.points + offsets)


def _with_rest(motion: Motion, pairs: Pairs, rig: Rig, rig_file: Path) -> tuple[Motion, Pairs]:
    """Add the rest shape of the rig."""
    grown = motion.with_rest(rig.rest)
    shape = Shape(grown.names[-1], rig_file, lambda: rig.mesh)
    return grown, [*pairs, (len(motion), shape)]


def _fill(
    out: Path, rig: Rig, motion: Motion, shapes: list[Shape], sculpt_count: int, settings: Gathering
) -> ConformedShapes:
    """Write the shapes of all poses to a store; the first `sculpt_count` are conformed to the rig."""
    is_new, conformed = not out.exists(), ConformedShapes(rig, motion, settings)
    store = ExampleStore.create(out, rig, motion, settings.resume, settings.recorded())
    try:
        waiting: list[int] = []
        for index in track(_pending(store, shapes), "reading shapes"):
            if index >= sculpt_count:
                store.write(index, shapes[index].read().points)
                continue
            try:
                store.write(index, conformed.points(index, shapes[index]))
            except UnmatchedError:
                # Another frame of the same topology may show how its vertices are ordered.
                waiting.append(index)
                if len(waiting) > _MOST_WAITING and not conformed.match_counts[MATCHED]:
                    raise
        for index in waiting:
            store.write(index, conformed.points(index, shapes[index]))
    except InputError:
        # The user will correct the input and try again: a store left over must not be in the way.
        if is_new:
            shutil.rmtree(out, ignore_errors=True)
        raise
    return conformed


def _pending(store: ExampleStore, shapes: list[Shape]) -> list[int]:
    """The shapes that are not stored yet, or whose file is newer than what is stored."""
    return [k for k, shape in enumerate(shapes) if store.written_at(k) < shape.source.stat().st_mtime]
