"""A folder of posed meshes to sculpt on, one file per pose, and the pose file beside them that tells which is which."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from posespace.check import Floats
from posespace.errors import FileError, InputError
from posespace.formats import files, load, obj, pose_json
from posespace.formats.checked_json import Fields, printable
from posespace.formats.numpy_shapes import ENDINGS as ARRAYS
from posespace.formats.pose_choice import PoseChoice
from posespace.formats.save import save_mesh
from posespace.mesh import Mesh
from posespace.pose import Pose
from posespace.progress import track
from posespace.rig import Rig

POSES = "poses.json"
"""What the pose file is called in such a folder; beside the poses it has the file of each pose's mesh."""
FORMATS = ("obj", "ply", "glb")
MESHES = tuple(ending for ending in load.READERS if ending not in (".bvh", *load.MARKER_FILES))
"""Endings of files that may hold a mesh."""

_ALL = PoseChoice()
_MOST_NAME_BYTES = 120
"""Room is left for an ending, a number and a temporary name: file systems allow 143 to 255 bytes."""
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def write_posed(
    source: Path,
    poses: Path,
    out: Path,
    ending: str = "obj",
    choice: PoseChoice = _ALL,
    note: Callable[[str], None] | None = None,
) -> None:
    """Write the posed meshes of a rig or a skin to a new folder, all or nothing.

    Parameters
    ----------
    source : a rig, which is skinned plainly, with the morph targets that the poses dial; a mesh alone; or a `.skin`
    poses : poses or a motion, see `load_motion`
    out : the folder; it must not exist, or be empty
    ending : "obj", whose seams are merged; "ply" or "glb", which have every vertex of the rig
    choice : which of the poses
    note : as in `load_motion`
    """
    if ending not in FORMATS:
        raise InputError(f"format: expected one of {', '.join(FORMATS)}, got {ending!r}")
    with files.atomic_folder(out) as folder:
        rig, shape = _subject(source)
        motion = choice.of_sculpts(poses, note).load(poses, rig.skeleton, note=note)
        names = {pose: f"{stem}.{ending}" for pose, stem in zip(motion.names, file_stems(motion.names), strict=True)}
        save = _merged(rig, note) if ending == "obj" else save_mesh
        for index, name in enumerate(track(list(names.values()), "posing")):
            # A pose may be too far for this rig although each of its numbers is ordinary.
            with files.naming(poses):
                points = shape(motion[index])
            save(folder / name, rig.mesh, points.astype(rig.mesh.points.dtype))
        pose_json.write(folder / POSES, motion, rig.skeleton, {"rig": printable(source.name), "meshes": names})


def _merged(rig: Rig, note: Callable[[str], None] | None) -> Callable[[Path, Mesh, Floats], None]:
    """Return what writes a shape with its seams merged, so that no brush tears them, and notes where they were open."""
    # Only here, since it loads SciPy, which `posespace info` of a folder does without.
    from posespace.gathering.seams import OPEN, seams_of, tears

    seams = seams_of(rig)

    def save(path: Path, mesh: Mesh, points: Floats) -> None:
        apart = float(tears(seams, points).max(initial=0.0)) / max(mesh.diagonal, 1e-300)
        if apart > OPEN and note is not None:
            note(f"{path.name}: its seams are open by up to {apart:.2%} of the diagonal; the file has them closed")
        obj.write(path, mesh, points, seams)

    return save


def file_stems(poses: Sequence[str]) -> list[str]:
    """Return a name per pose that any file system takes: no parts of a path, none twice, none too long."""
    found: list[str] = []
    taken: set[str] = set()
    repeats: dict[str, int] = {}
    for pose in poses:
        base = candidate = _harmless(pose)
        # Some file systems do not tell upper from lower case.
        while candidate.casefold() in taken:
            repeats[base] = repeats.get(base, 1) + 1
            candidate = f"{base}-{repeats[base]}"
        taken.add(candidate.casefold())
        found.append(candidate)
    return found


def _harmless(name: str) -> str:
    kept = re.sub(r"[^\w .,+=()-]+", "_", unicodedata.normalize("NFC", name))
    short = kept.lstrip(" .-").encode()[:_MOST_NAME_BYTES].decode(errors="ignore").rstrip(" .")
    return f"_{short}" if _RESERVED.fullmatch(short) else short or "pose"


def pose_file_of(shapes: str, paths: Sequence[Path]) -> Path:
    """Return the pose file beside the meshes `paths` that a user asked for by `shapes`; raise where there is none."""
    beside = {path.parent for path in paths}
    found = [folder / POSES for folder in beside if (folder / POSES).is_file()]
    if len(found) != 1 or len(beside) != 1:
        raise InputError(
            f"shapes {shapes!r}: no {POSES} of `posespace pose` is beside them; give the poses: --poses FILE"
        )
    return found[0]


def meshes_in(folder: Path) -> list[Path]:
    """Return the meshes of a folder that has a pose file, in the order of its poses; then any others."""
    if not (folder / POSES).is_file():
        remedy = f"give a pattern, such as '{folder}/*.obj'"
        raise FileError(folder, f"is a folder without the {POSES} that `posespace pose` writes; {remedy}")
    order = {stem: k for k, stem in enumerate(_poses_by_stem(folder / POSES))}
    found = [path for path in sorted(folder.iterdir()) if path.suffix.lower() in (*MESHES, *ARRAYS)]
    found.sort(key=lambda path: order.get(path.stem, len(order)))
    if not found:
        raise FileError(folder, f"holds no mesh; known endings are {' '.join(MESHES)}")
    return found


def poses_of(paths: Sequence[Path]) -> dict[Path, str]:
    """Return the poses of those meshes that lie in a folder of posed meshes; others are left out."""
    known: Mapping[Path, dict[str, str]] = {
        folder: _poses_by_stem(folder / POSES)
        for folder in {path.parent for path in paths}
        if (folder / POSES).is_file()
    }
    return {path: known[path.parent][path.stem] for path in paths if path.stem in known.get(path.parent, {})}


def _poses_by_stem(path: Path) -> dict[str, str]:
    """Return each pose by the name of its mesh without ending: a sculpt may be saved in another format."""
    with files.naming(path):
        content = Fields(files.parse_json(path, files.read_text(path)), "the file")
        meshes = content.part("meshes", {})
        return {Path(meshes.text(pose)).stem: pose for pose in meshes}


def _subject(path: Path) -> tuple[Rig, Callable[[Pose], Floats]]:
    """Return the rig of a file, and what gives the points (N, 3) of a pose."""
    if load.is_skin(path):
        skin = load.load_skin(path)
        if skin.detail is not None:
            warnings.warn(f"{path}: its detail is left out; the meshes have the rig's own vertices", stacklevel=3)
        coarse = replace(skin, detail=None)
        return skin.rig, lambda pose: coarse.pose(pose)[0]
    contents = load.read(path)
    rig = load.rig_or_mesh(contents)
    return rig, lambda pose: rig.skin(pose, _dialled(rig, contents.morphs, pose))


def _dialled(rig: Rig, morphs: Mapping[str, Floats], pose: Pose) -> Floats:
    """Return the displacements (N, 3) of the morph targets that a pose dials."""
    total = np.zeros(rig.mesh.points.shape)
    for name, value in pose.controls.items():
        if name in morphs:
            total += value * morphs[name]
    return total
