"""The motions of a file: clips, poses, or markers that move control points, carried onto a skeleton."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from posespace.errors import FileError, InputError, quoted
from posespace.formats import registry
from posespace.formats.contents import Contents, unique
from posespace.formats.files import naming
from posespace.formats.frames import Clip, Rate, Wanted, checked_rate
from posespace.formats.load import NO_MOTIONS, chosen, load_markers, read
from posespace.formats.registry import MARKERS, POSES
from posespace.markers.control_points import MappedMotion, MarkerMapping
from posespace.motion import Motion, rotating_joints
from posespace.poses.retarget_motion import retarget_motion
from posespace.rig import Rig
from posespace.skeleton import Skeleton


def clips(path: str | Path) -> dict[str, Clip]:
    """Return the clips of a file by name, with their lengths and frame rates; no motion is made."""
    file = Path(path)
    _require_clips(file)
    return read(file, NO_MOTIONS).clips


def load_motion(
    path: str | Path,
    skeleton: Skeleton | None = None,
    clip: str | None = None,
    whole: bool = False,
    only: Sequence[str] = (),
    partial: bool = False,
    rate: Rate = None,
    note: Callable[[str], None] | None = None,
    markers: MarkerMapping | str | Path | None = None,
) -> Motion:
    """Return the motion of a file: the clip called `clip`, or the first.

    The parameters but `clip` are those of `load_clips`.
    """
    names = () if clip is None else (clip,)
    (motion,) = load_clips(path, skeleton, names, whole, only, partial, rate, note, markers).values()
    return motion


def load_clips(
    path: str | Path,
    skeleton: Skeleton | None = None,
    names: Sequence[str] = (),
    whole: bool = False,
    only: Sequence[str] = (),
    partial: bool = False,
    rate: Rate = None,
    note: Callable[[str], None] | None = None,
    markers: MarkerMapping | str | Path | None = None,
) -> dict[str, Motion]:
    """Return the motions of a file by the names of their clips: those called `names`, or the first.

    A file that holds poses or markers instead of clips is one motion, named after the file.

    With a `skeleton` the motion is carried onto it, joints matched by name; without, it keeps the file's own joints.
    Pose files (JSON) name joints of a skeleton, so they need one; so do markers (C3D, TSV, TRC), which move control
    points. All poses of an example store are returned.

    Parameters
    ----------
    path : the file
    skeleton : the skeleton to carry the motion onto
    names : the clips, in the order in which they are returned; `clips` lists them
    whole : raise an error if a joint rotates that the skeleton lacks; otherwise that joint is left out
    only : patterns of the names of poses to return, see `Motion.named`; none: all
    partial : skip poses that name a joint which the skeleton lacks, with a warning that counts them; otherwise such
        a pose file is refused
    rate : frames per second, "keys" for the file's own keys alone, or "markers" for its pose markers alone: those of
        all clips where none is named, with the clips of one key. None: the keys where they are dense, else the
        first of 30, 24, 25, 60, 50 and 120 frames per second at which every key is a frame, or 30 where none is
    note : called with one line where the first of several clips is taken or frames are made between the keys, and
        with how markers were aligned to the control points
    markers : which marker moves which control point, and how, or the file with these settings; None: by their names
    """
    file = Path(path)
    _require_skeleton(skeleton)
    rate = checked_rate(rate)
    if names or rate is not None:
        _require_clips(file)
    _require_markers(file, names, markers)
    if registry.reads(file, POSES):
        return {file.stem: _poses(file, skeleton, only, partial)}
    if registry.reads(file, MARKERS):
        mapped = load_take(file, skeleton, markers, rate if isinstance(rate, float) else None, note)
        motions, source = {file.stem: mapped.motion}, skeleton
    else:
        motions, source = _from_store(file) if file.is_dir() else _from_clips(file, names, rate, note)
    with naming(file):
        motions = {name: motion.named(*only) for name, motion in motions.items()}
    if skeleton is None or source is None or source.same_as(skeleton):
        return motions
    if whole:
        for motion in motions.values():
            _require_joints(file, motion, source, skeleton)
    with naming(file):
        return {name: retarget_motion(motion, source, skeleton) for name, motion in motions.items()}


def _require_skeleton(skeleton: object) -> None:
    """Raise unless this is a skeleton or None."""
    if skeleton is not None and not isinstance(skeleton, Skeleton):
        remedy = "; pass rig.skeleton" if isinstance(skeleton, Rig) else ""
        raise InputError(f"skeleton: expected a Skeleton, got {type(skeleton).__name__}{remedy}")


def _require_clips(file: Path) -> None:
    """Raise if a file is of a kind that holds poses one by one, without clips or frame rates."""
    if file.is_dir() or registry.reads(file, POSES):
        raise FileError(file, "holds poses and no clips, so it has neither clip names nor frame rates")


def _require_markers(file: Path, names: Sequence[str], markers: MarkerMapping | str | Path | None) -> None:
    """Raise if a clip is asked for by name where there is one take of markers, or markers where there are none."""
    is_take = registry.reads(file, MARKERS)
    if is_take and names:
        raise FileError(file, f"holds one take of markers and no clip {quoted(names[0])}")
    if markers is not None and not is_take:
        *endings, last = registry.read_endings(MARKERS)
        raise FileError(file, f"has no markers (marker files end in {', '.join(endings)} or {last}); omit `markers`")


def _poses(file: Path, skeleton: Skeleton | None, only: Sequence[str], partial: bool) -> Motion:
    """Return the poses of a pose file that match the patterns `only`."""
    if skeleton is None:
        raise FileError(file, "names joints only; load it with the skeleton of its rig")
    poses = registry.reader(file, POSES).read(file).chosen(only)
    motion: Motion = (poses.of_joints(skeleton) if partial else poses).motion(skeleton)
    return motion


def load_take(
    file: Path,
    skeleton: Skeleton | None,
    markers: MarkerMapping | str | Path | None = None,
    rate: float | None = None,
    note: Callable[[str], None] | None = None,
) -> MappedMotion:
    """Return the motion of control points that the markers of a file drive, and the markers; see `load_clips`."""
    take = load_markers(file)
    if skeleton is None:
        raise FileError(file, "holds markers only; load it with the skeleton of a skin that control points move")
    drive = markers if isinstance(markers, MarkerMapping) else MarkerMapping()
    if isinstance(markers, str | Path):
        from posespace.formats import marker_map

        drive = marker_map.read(markers)
    with naming(file):
        driven = drive.motion(take, skeleton, rate)
    if note is not None:
        for line in driven.notes():
            note(f"{file}: {line}")
    return driven


def _require_joints(file: Path, motion: Motion, source: Skeleton, skeleton: Skeleton) -> None:
    """Raise if a joint rotates in the motion that the skeleton lacks."""
    rotating = zip(source.names, rotating_joints(motion), strict=True)
    missing = [name for name, rotates in rotating if rotates and name not in skeleton.names]
    if missing:
        unknown, known = (", ".join(map(repr, names[:4])) for names in (missing, skeleton.names))
        more = f" and {len(missing) - 4} more" if len(missing) > 4 else ""
        raise FileError(file, f"rotates the joints {unknown}{more}, which the skin lacks; its joints are {known}, ...")


def _from_store(path: Path) -> tuple[dict[str, Motion], Skeleton]:
    """Return the poses of an example store, and its skeleton."""
    from posespace.formats.store.example_store import ExampleStore

    store = ExampleStore.open(path)
    return {path.stem: store.motion}, store.rig.skeleton


def _from_clips(
    file: Path, names: Sequence[str], rate: Rate, note: Callable[[str], None] | None
) -> tuple[dict[str, Motion], Skeleton | None]:
    """Return the motions of a file's clips by name, and its skeleton."""
    contents = read(file, Wanted("all" if rate == "markers" else "first", tuple(names), rate))
    skeleton = contents.skeleton or next((rig.skeleton for rig in contents.rigs.values()), None)
    wanted = [chosen(file, "clip", contents.clips, name) for name in names or (None,)]
    if rate == "markers" and not names:
        return {wanted[0].name: _at_markers(contents)}, skeleton
    if note is not None:
        for clip in wanted:
            for line in _clip_notes(clip, 1 if names else len(contents.clips), rate):
                note(f"{file}: {line}")
    return {clip.name: contents.motions[clip.name] for clip in wanted}, skeleton


def _at_markers(contents: Contents) -> Motion:
    """Return the poses that the clips of a file name: by their pose markers, or by their names if they have one key."""
    motions = list(contents.motions.values())
    if not motions:
        why = "its clips have no pose markers, and more than one key"
        raise FileError(contents.path, f"names no poses: {why}; take the keys with `rate='keys'`, or give a rate")
    if len(motions) == 1:
        return motions[0]
    names = unique([name for motion in motions for name in motion.names], "pose")
    return Motion.from_poses([pose for motion in motions for pose in motion], names)


def _clip_notes(clip: Clip, count: int, rate: Rate) -> list[str]:
    """Return one line on each thing that a user should know of how the clip was chosen, of `count`, and read."""
    lines = []
    if count > 1:
        lines.append(f"holds {count} clips; the first, {clip.name!r}, is taken: choose another with `clip`")
    if rate is None and clip.poses != clip.keys:
        lines.append(
            f"{clip.name!r} has {clip.keys} keys, read as {clip.poses} frames at {clip.rate:g} per second: "
            "choose with `rate`, or take the keys alone with `rate='keys'`"
        )
    if clip.is_too_long:
        lines.append(
            f"{clip.name!r} has {clip.keys} keys, too far apart to make frames between them: they alone are read"
        )
    return lines
