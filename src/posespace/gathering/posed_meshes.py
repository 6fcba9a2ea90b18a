"""A folder of posed meshes to sculpt on: one file per pose, and a pose file that maps each mesh to its pose."""

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
from posespace.formats import files, load, obj, pose_json, registry
from posespace.formats.checked_json import Fields, printable
from posespace.formats.pose_choice import PoseChoice
from posespace.formats.registry import MESH, SHAPES
from posespace.formats.save import save_mesh
from posespace.formats.skin_motions import warn_of_rotations
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.progress import track
from posespace.rig import Rig
from posespace.skin.skin import Skin

POSES = "poses.json"
"""Name of the pose file in such a folder; besides the poses it has the file name of each pose's mesh."""

_ALL = PoseChoice()
_MOST_NAME_BYTES = 120
"""Room is left for an ending, a number and a temporary name: file systems allow 143 to 255 bytes."""
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def write_posed_meshes(
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
    source : a rig, posed by plain skinning with the morph targets that the poses set; a mesh alone; or a `.skin`
    poses : poses or a motion, see `load_motion`
    out : the folder; it must not exist, or be empty
    ending : "obj", whose seams are merged; "ply", "glb" or "gltf", which have every vertex of the rig
    choice : which of the poses
    note : as in `load_motion`
    """
    endings = [known.removeprefix(".") for known in registry.written_endings(MESH)]
    if ending not in endings:
        raise InputError(f"format: expected one of {', '.join(endings)}, got {ending!r}")
    with files.atomic_folder(out) as folder:
        rig, points_at, skin = _subject(source)
        motion = choice.of_sculpts(poses, note).load(poses, rig.skeleton, note=note)
        if skin is not None:
            _warn_of_what_is_ignored(skin, source, motion, poses)
        names = {pose: f"{stem}.{ending}" for pose, stem in zip(motion.names, file_stems(motion.names), strict=True)}
        save = merged_writer(rig, note) if ending == "obj" else save_mesh
        for index, name in enumerate(track(list(names.values()), "posing")):
            # A pose may be too far for this rig although each of its numbers is ordinary.
            with files.naming(poses):
                points = points_at(motion[index])
            save(rig.mesh, folder / name, points.astype(rig.mesh.points.dtype))
        pose_json.write(folder / POSES, motion, rig.skeleton, {"rig": printable(source.name), "meshes": names})


def merged_writer(rig: Rig, note: Callable[[str], None] | None) -> Callable[[Mesh, Path, Floats], None]:
    """Return a function that writes a shape with its seams merged, so that no brush tears them; open ones are noted."""
    # Only here, since it loads SciPy, which `posespace info` of a folder does without.
    from posespace.gathering.seams import OPEN, seams_of, tears

    seams = seams_of(rig)

    def save(mesh: Mesh, path: Path, points: Floats) -> None:
        gap = float(tears(seams, points).max(initial=0.0)) / max(mesh.diagonal, 1e-300)
        if gap > OPEN and note is not None:
            note(f"{path.name}: its seams are open by up to {gap:.2%} of the diagonal; the file has them closed")
        obj.write(path, mesh, points, seams)

    return save


def file_stems(poses: Sequence[str]) -> list[str]:
    """Return a file name per pose that any file system takes: no parts of a path, none twice, none too long."""
    stems: list[str] = []
    taken: set[str] = set()
    repeats: dict[str, int] = {}
    for pose in poses:
        base = candidate = _safe_stem(pose)
        # Some file systems do not tell upper from lower case.
        while candidate.casefold() in taken:
            repeats[base] = repeats.get(base, 1) + 1
            candidate = f"{base}-{repeats[base]}"
        taken.add(candidate.casefold())
        stems.append(candidate)
    return stems


def _safe_stem(name: str) -> str:
    """A name without the characters and words that some file system refuses."""
    kept = re.sub(r"[^\w .,+=()-]+", "_", unicodedata.normalize("NFC", name))
    short = kept.lstrip(" .-").encode()[:_MOST_NAME_BYTES].decode(errors="ignore").rstrip(" .")
    return f"_{short}" if _RESERVED.fullmatch(short) else short or "pose"


def pose_file_of(shapes: str, paths: Sequence[Path]) -> Path:
    """Return the pose file beside the meshes `paths` that a user asked for by `shapes`; raise where there is none."""
    folders = {path.parent for path in paths}
    pose_files = [folder / POSES for folder in folders if (folder / POSES).is_file()]
    if len(pose_files) != 1 or len(folders) != 1:
        raise InputError(f"shapes {shapes!r}: no {POSES} from `posespace pose` is next to them; give `poses`")
    return pose_files[0]


def meshes_in(folder: Path) -> list[Path]:
    """Return the meshes of a folder that has a pose file, in the order of its poses; then any others."""
    if not (folder / POSES).is_file():
        remedy = f"give a pattern, such as '{folder}/*.obj'"
        raise FileError(folder, f"is a folder without the {POSES} that `posespace pose` writes; {remedy}")
    order = {stem: k for k, stem in enumerate(_poses_by_stem(folder / POSES))}
    meshes = [path for path in sorted(folder.iterdir()) if registry.reads(path, MESH, SHAPES)]
    meshes.sort(key=lambda path: order.get(path.stem, len(order)))
    if not meshes:
        raise FileError(folder, f"holds no mesh; known endings are {' '.join(registry.read_endings(MESH))}")
    return meshes


def poses_of(paths: Sequence[Path]) -> dict[Path, str]:
    """Return the pose of each mesh that is in a folder of posed meshes; other files are left out."""
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


def _subject(path: Path) -> tuple[Rig, Callable[[Pose], Floats], Skin | None]:
    """Return the rig of a file, a function from a pose to its points (N, 3), and the skin where the file has one."""
    if load.is_skin(path):
        skin = load.load_skin(path)
        coarse = replace(skin, detail=None)
        return skin.rig, lambda pose: coarse.pose(pose)[0], skin
    contents = load.read(path)
    rig = load.rig_or_mesh(contents)
    return rig, lambda pose: rig.skin(pose, _morph_offsets(rig, contents.morphs, pose)), None


def _warn_of_what_is_ignored(skin: Skin, source: Path, motion: Motion, poses: Path) -> None:
    """Warn of what posed meshes of a skin leave out of the skin and of the poses, once both are known to be sound."""
    if skin.detail is not None:
        warnings.warn(f"{source}: its detail is left out; the meshes have the rig's own vertices", stacklevel=3)
    warn_of_rotations(poses, skin, motion)


def _morph_offsets(rig: Rig, morphs: Mapping[str, Floats], pose: Pose) -> Floats:
    """Return the displacements (N, 3) of the morph targets that the controls of a pose set."""
    total = np.zeros(rig.mesh.points.shape)
    for name, value in pose.controls.items():
        if name in morphs:
            total += value * morphs[name]
    return total
