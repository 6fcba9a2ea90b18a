"""Files by their ending: which reader reads them, and the rig, mesh or motion a caller asks for."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from posespace.errors import FileError, InputError
from posespace.formats.contents import Contents
from posespace.formats.files import naming
from posespace.mesh import Mesh
from posespace.motion import Motion, turning
from posespace.other_skeleton import onto
from posespace.rig import Rig
from posespace.skeleton import Skeleton

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
}
POSE_FILES = (".json",)

T = TypeVar("T")


def read(path: str | Path) -> Contents:
    """Return all that a rig, mesh or motion file holds."""
    file = Path(path)
    reader = READERS.get(file.suffix.lower())
    if reader is None:
        raise FileError(file, f"cannot be read as a rig, mesh or motion; known endings are {' '.join(READERS)}")
    contents: Contents = importlib.import_module(f"posespace.formats.{reader}").read(file)
    return contents


def load_rig(path: str | Path, name: str | None = None) -> Rig:
    """Return the rig of a file: the one called `name`, or the one with most vertices."""
    contents = read(path)
    if not contents.rigs and contents.meshes:
        remedy = "make one driven by controls: ps.Rig.from_mesh(ps.load_mesh(...))"
        raise FileError(contents.path, f"holds a mesh but no rig; {remedy}")
    return _chosen(contents.path, "rig", contents.rigs, name)


def rig_or_mesh(contents: Contents) -> Rig:
    """Return the first rig of a file; a mesh alone becomes a rig driven by controls."""
    if contents.rigs:
        return next(iter(contents.rigs.values()))
    if not contents.meshes:
        raise FileError(contents.path, "holds no rig and no mesh")
    return Rig.from_mesh(next(iter(contents.meshes.values())))


def load_mesh(path: str | Path, name: str | None = None) -> Mesh:
    """Return the mesh of a file, in the file's vertex order: the one called `name`, or the first (rigs' rest first)."""
    contents = read(path)
    meshes = {key: rig.mesh for key, rig in contents.rigs.items()} | contents.meshes
    return _chosen(contents.path, "mesh", meshes, name)


def load_motion(
    path: str | Path,
    skeleton: Skeleton | None = None,
    name: str | None = None,
    whole: bool = False,
    only: Sequence[str] = (),
    partial: bool = False,
) -> Motion:
    """Return the motion of a file: the clip called `name`, or the first.

    With a `skeleton` the motion is carried onto it, joints matched by name; without, it keeps the file's own joints.
    Pose files (JSON) name joints of a skeleton, so they need one. All poses of an example store are returned.
    Of a clip, joints that the skeleton lacks are left out; with `whole`, one that turns raises an error that names it.
    A pose file must not name a joint that the skeleton lacks; with `partial`, poses that do are skipped, and counted
    in a warning. Of all these, `only` the poses whose names match are returned, see `Motion.named`.
    """
    file = Path(path)
    if skeleton is not None and not isinstance(skeleton, Skeleton):
        remedy = "; pass rig.skeleton" if isinstance(skeleton, Rig) else ""
        raise InputError(f"skeleton: expected a Skeleton, got {type(skeleton).__name__}{remedy}")
    if file.suffix.lower() in POSE_FILES:
        from posespace.formats import pose_json

        if skeleton is None:
            raise FileError(file, "names joints only; load it with the skeleton of its rig")
        poses = pose_json.read(file).chosen(only)
        return (poses.of_joints(skeleton) if partial else poses).motion(skeleton)
    motion, own = _stored_motion(file) if file.is_dir() else _file_motion(file, name)
    with naming(file):
        motion = motion.named(*only)
    if skeleton is None or own is None or own.same_as(skeleton):
        return motion
    if whole:
        _require_turning(file, motion, own, skeleton)
    return onto(motion, own, skeleton)


def _require_turning(file: Path, motion: Motion, own: Skeleton, skeleton: Skeleton) -> None:
    """Raise if a joint turns in the motion that the skeleton lacks."""
    turns = zip(own.names, turning(motion), strict=True)
    missing = [name for name, each in turns if each and name not in skeleton.names]
    if missing:
        some, have = (", ".join(map(repr, names[:4])) for names in (missing, skeleton.names))
        more = f" and {len(missing) - 4} more" if len(missing) > 4 else ""
        raise FileError(file, f"turns the joints {some}{more}, which the skin lacks; its joints are {have}, ...")


def _stored_motion(store: Path) -> tuple[Motion, Skeleton]:
    from posespace.formats.example_store import ExampleStore

    found = ExampleStore.open(store)
    return found.motion, found.rig.skeleton


def _file_motion(file: Path, name: str | None) -> tuple[Motion, Skeleton | None]:
    contents = read(file)
    own = contents.skeleton or next((rig.skeleton for rig in contents.rigs.values()), None)
    return _chosen(file, "motion", contents.motions, name), own


def _chosen(path: Path, what: str, found: dict[str, T], name: str | None) -> T:
    if not found:
        raise FileError(path, f"holds no {what}")
    if name is None:
        return next(iter(found.values()))
    if name not in found:
        raise FileError(path, f"holds no {what} {name!r}; it holds {', '.join(found)}")
    return found[name]
