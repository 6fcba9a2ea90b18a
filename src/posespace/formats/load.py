"""Files by their ending: which reader reads them, and the rig, mesh, motion or skin a caller asks for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from posespace.errors import FileError, InputError, quoted, suggestion
from posespace.formats.contents import Contents, unique
from posespace.formats.files import naming
from posespace.formats.frames import EVERYTHING, Clip, Rate, Wanted, checked_rate
from posespace.formats.joining import name_omitted
from posespace.formats.unread import is_foreign, unread
from posespace.markers.control_points import MarkerMapping
from posespace.markers.markers import Markers
from posespace.mesh import Mesh
from posespace.motion import Motion, rotating_joints
from posespace.poses.retarget_motion import retarget_motion
from posespace.rig import Rig
from posespace.skeleton import Skeleton
from posespace.skin.skin import Skin

READERS = {
    ".glb": "gltf",
    ".gltf": "gltf",
    ".obj": "obj",
    ".ply": "ply",
    ".bvh": "bvh",
    ".usd": "usd",
    ".usda": "usd",
    ".usdc": "usd",
    ".usdz": "usd",
    ".c3d": "c3d",
    ".tsv": "tsv",
    ".trc": "trc",
}
POSE_FILES = (".json",)
MARKER_FILES = (".c3d", ".tsv", ".trc")
SKIN_FILE = ".skin"
GLTF = tuple(ending for ending, reader in READERS.items() if reader == "gltf")
_WITH_CLIPS = ("gltf", "usd", "bvh")
NO_MOTIONS = Wanted("none")

T = TypeVar("T")


def read(path: str | Path, wanted: Wanted = EVERYTHING) -> Contents:
    """Return all that a rig, mesh or motion file holds; of its clips, those that are wanted become motions."""
    file = Path(path)
    reader = READERS.get(file.suffix.lower())
    if reader is None:
        raise unread(file, READERS)
    module = importlib.import_module(f"posespace.formats.{reader}")
    contents: Contents = module.read(file, wanted) if reader in _WITH_CLIPS else module.read(file)
    return name_omitted(contents)


def load_rig(path: str | Path, name: str | None = None) -> Rig:
    """Return the rig of a file: the one called `name`, or the one with most vertices."""
    contents = read(path, NO_MOTIONS)
    if not contents.rigs and contents.meshes:
        remedy = "make one driven by controls: ps.Rig.from_mesh(ps.load_mesh(...))"
        raise FileError(contents.path, f"holds a mesh but no rig; {remedy}")
    return _chosen(contents.path, "rig", contents.rigs, name)


def load_skin(path: str | Path) -> Skin:
    """Return the skin of a skin file, or of a glTF file that a skin was exported to."""
    file = Path(path)
    if file.suffix.lower() in GLTF:
        from posespace.formats.gltf import skin

        return skin.read(file)
    if is_foreign(file):
        raise unread(file, (SKIN_FILE, *GLTF))
    from posespace.formats import skin_file

    return skin_file.read(file)


def is_skin(path: str | Path) -> bool:
    """Whether a file holds a skin: by its ending, or, if it is glTF, by what is in it."""
    file = Path(path)
    if file.suffix.lower() in GLTF:
        from posespace.formats.gltf import skin

        return skin.is_skin(file)
    return file.suffix.lower() == SKIN_FILE


def rig_or_mesh(contents: Contents) -> Rig:
    """Return the first rig of a file; a mesh alone becomes a rig driven by controls."""
    if contents.rigs:
        return next(iter(contents.rigs.values()))
    if not contents.meshes:
        raise FileError(contents.path, "holds no rig and no mesh")
    return Rig.from_mesh(next(iter(contents.meshes.values())))


def load_mesh(path: str | Path, name: str | None = None) -> Mesh:
    """Return the mesh of a file, in the file's vertex order: the one called `name`, or the first (rigs' rest first)."""
    contents = read(path, NO_MOTIONS)
    meshes = {key: rig.mesh for key, rig in contents.rigs.items()} | contents.meshes
    return _chosen(contents.path, "mesh", meshes, name)


def load_markers(path: str | Path) -> Markers:
    """Return the take of a file of markers: C3D, TSV or TRC."""
    contents = read(path, NO_MOTIONS)
    if contents.markers is None:
        raise FileError(contents.path, f"holds no markers; known endings are {' '.join(MARKER_FILES)}")
    return contents.markers


def clips(path: str | Path) -> dict[str, Clip]:
    """Return the clips of a file by name, with their lengths and frame rates; no motion is made."""
    file = Path(path)
    _require_clips(file)
    return read(file, NO_MOTIONS).clips


def load_motion(
    path: str | Path,
    skeleton: Skeleton | None = None,
    name: str | None = None,
    whole: bool = False,
    only: Sequence[str] = (),
    partial: bool = False,
    rate: Rate = None,
    note: Callable[[str], None] | None = None,
    markers: MarkerMapping | str | Path | None = None,
) -> Motion:
    """Return the motion of a file: the clip called `name`, or the first.

    The parameters but `name` are those of `load_clips`.
    """
    names = () if name is None else (name,)
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

    What holds poses or markers and no clips is one motion, called as the file is.

    With a `skeleton` the motion is carried onto it, joints matched by name; without, it keeps the file's own joints.
    Pose files (JSON) name joints of a skeleton, so they need one; so do markers (C3D, TSV, TRC), which move control
    points. All poses of an example store are returned.

    Parameters
    ----------
    path : the file
    skeleton : the skeleton to carry the motion onto
    names : the clips, in the order in which they are returned; `clips` lists them
    whole : raise an error that names a joint if it turns and the skeleton lacks it; otherwise it is left out
    only : patterns of the names of poses to return, see `Motion.named`; none: all
    partial : a pose file must not name a joint that the skeleton lacks; with `partial`, poses that do are skipped, and
        counted in a warning
    rate : frames per second, "keys" for the file's own keys alone, or "markers" for its pose markers alone: those of
        all clips where none is named, with the clips of one key. None: the keys where they are dense, else the
        first of 30, 24, 25, 60, 50 and 120 frames per second at which every key is a frame, or 30 where none is
    note : called with one line where the first of several clips is taken or frames are made between the keys, and
        with how markers were brought to the control points
    markers : which marker moves which control point, and how, or the file that says it; None: those of their names
    """
    file = Path(path)
    if skeleton is not None and not isinstance(skeleton, Skeleton):
        remedy = "; pass rig.skeleton" if isinstance(skeleton, Rig) else ""
        raise InputError(f"skeleton: expected a Skeleton, got {type(skeleton).__name__}{remedy}")
    rate = checked_rate(rate)
    if names or rate is not None:
        _require_clips(file)
    _require_markers(file, names, markers)
    if file.suffix.lower() in POSE_FILES:
        return {file.stem: _posed(file, skeleton, only, partial)}
    if file.suffix.lower() in MARKER_FILES:
        motions, own = {file.stem: _driven(file, skeleton, rate, note, markers)}, skeleton
    else:
        motions, own = _stored_motion(file) if file.is_dir() else _file_motions(file, names, rate, note)
    with naming(file):
        motions = {name: motion.named(*only) for name, motion in motions.items()}
    if skeleton is None or own is None or own.same_as(skeleton):
        return motions
    if whole:
        for motion in motions.values():
            _require_turning(file, motion, own, skeleton)
    return {name: retarget_motion(motion, own, skeleton) for name, motion in motions.items()}


def _posed(file: Path, skeleton: Skeleton | None, only: Sequence[str], partial: bool) -> Motion:
    """Return the poses of a pose file that the patterns `only` choose."""
    from posespace.formats import pose_json

    if skeleton is None:
        raise FileError(file, "names joints only; load it with the skeleton of its rig")
    poses = pose_json.read(file).chosen(only)
    return (poses.of_joints(skeleton) if partial else poses).motion(skeleton)


def _require_clips(file: Path) -> None:
    """Raise if a file is of a kind that holds poses one by one, without clips or frame rates."""
    if file.is_dir() or file.suffix.lower() in POSE_FILES:
        raise FileError(file, "holds poses and no clips, so it has neither clip names nor frame rates")


def _require_markers(file: Path, names: Sequence[str], markers: MarkerMapping | str | Path | None) -> None:
    """Raise if a clip is asked for by name where there is one take of markers, or markers where there are none."""
    captured = file.suffix.lower() in MARKER_FILES
    if captured and names:
        raise FileError(file, f"holds one take of markers and no clip {quoted(names[0])}")
    if markers is not None and not captured:
        raise FileError(file, f"holds no markers, which {' '.join(MARKER_FILES)} hold; omit `markers`")


def _driven(
    file: Path,
    skeleton: Skeleton | None,
    rate: Rate,
    note: Callable[[str], None] | None,
    given: MarkerMapping | str | Path | None,
) -> Motion:
    """Return the motion of control points that the markers of a file make."""
    take = load_markers(file)
    if skeleton is None:
        raise FileError(file, "holds markers only; load it with the skeleton of a skin that control points move")
    drive = given if isinstance(given, MarkerMapping) else MarkerMapping()
    if isinstance(given, str | Path):
        from posespace.formats import marker_map

        drive = marker_map.read(given)
    with naming(file):
        driven = drive.motion(take, skeleton, rate if isinstance(rate, float) else None)
    if note is not None:
        for line in driven.notes():
            note(f"{file}: {line}")
    return driven.motion


def _require_turning(file: Path, motion: Motion, own: Skeleton, skeleton: Skeleton) -> None:
    """Raise if a joint turns in the motion that the skeleton lacks."""
    turns = zip(own.names, rotating_joints(motion), strict=True)
    missing = [name for name, each in turns if each and name not in skeleton.names]
    if missing:
        some, have = (", ".join(map(repr, names[:4])) for names in (missing, skeleton.names))
        more = f" and {len(missing) - 4} more" if len(missing) > 4 else ""
        raise FileError(file, f"turns the joints {some}{more}, which the skin lacks; its joints are {have}, ...")


def _stored_motion(store: Path) -> tuple[dict[str, Motion], Skeleton]:
    from posespace.formats.store.example_store import ExampleStore

    found = ExampleStore.open(store)
    return {store.stem: found.motion}, found.rig.skeleton


def _file_motions(
    file: Path, names: Sequence[str], rate: Rate, note: Callable[[str], None] | None
) -> tuple[dict[str, Motion], Skeleton | None]:
    contents = read(file, Wanted("all" if rate == "markers" else "first", tuple(names), rate))
    own = contents.skeleton or next((rig.skeleton for rig in contents.rigs.values()), None)
    chosen = [_chosen(file, "clip", contents.clips, name) for name in names or (None,)]
    if rate == "markers" and not names:
        return {chosen[0].name: _at_markers(contents)}, own
    if note is not None:
        for clip in chosen:
            for line in _said(clip, 1 if names else len(contents.clips), rate):
                note(f"{file}: {line}")
    return {clip.name: contents.motions[clip.name] for clip in chosen}, own


def _at_markers(contents: Contents) -> Motion:
    """Return the poses that the clips of a file name: by their pose markers, or by their names if they have one key."""
    found = list(contents.motions.values())
    if not found:
        why = "its clips have no pose markers, and more than one key"
        raise FileError(contents.path, f"names no poses: {why}; take the keys with --rate keys, or give a rate")
    if len(found) == 1:
        return found[0]
    names = unique([name for motion in found for name in motion.names], "pose")
    return Motion.from_poses([pose for motion in found for pose in motion], names)


def _said(clip: Clip, count: int, rate: Rate) -> list[str]:
    """Return what a user should know of how the clip was chosen, of `count`, and read, one line each."""
    lines = []
    if count > 1:
        lines.append(f"holds {count} clips; the first, {clip.name!r}, is taken: choose another with --clip")
    if rate is None and clip.poses != clip.keys:
        lines.append(
            f"{clip.name!r} has {clip.keys} keys, read as {clip.poses} frames at {clip.rate:g} per second: "
            "choose with --rate, or take the keys alone with --rate keys"
        )
    if clip.is_too_long:
        lines.append(
            f"{clip.name!r} has {clip.keys} keys, too far apart to make frames between them: they alone are read"
        )
    return lines


def _chosen(path: Path, what: str, found: dict[str, T], name: str | None) -> T:
    if not found:
        raise FileError(path, f"holds no {what}")
    if name is None:
        return next(iter(found.values()))
    if name not in found:
        raise FileError(path, f"holds no {what} {quoted(name)} among its {len(found)}{suggestion(name, list(found))}")
    return found[name]
