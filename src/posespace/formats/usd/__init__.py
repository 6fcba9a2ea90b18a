"""USD (.usda .usdc .usd .usdz): read rigs, meshes, blend shapes and animation as UsdSkel lays them out.

Curves, instancers, materials, cameras and lights are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from posespace.errors import FileError, require
from posespace.formats import files
from posespace.formats.contents import Contents, unique
from posespace.formats.frames import EVERYTHING, Frames, Rate, Wanted, frames_of, resampled
from posespace.formats.joining import join_meshes, keep_morphs
from posespace.formats.usd.meshes import MeshPrim, influences, read_meshes, read_morphs
from posespace.formats.usd.process import Extracted, extract
from posespace.formats.usd.skeleton import read_inverse_bind, read_motion, read_skeleton
from posespace.motion import Motion
from posespace.rig import Rig
from posespace.skeleton import Skeleton


def read(path: Path, wanted: Wanted = EVERYTHING) -> Contents:
    """Read a USD file: one rig per skeleton, with all meshes it moves in its space; other meshes in world space.

    Meshes have the file's unit, or metres where it says none; its axes are left as they are.
    The files it refers to must be in its own folder.
    """
    require("pxr", "usd", "reading USD")
    extracted = extract(path)
    # A number that overflows on the way becomes infinite, and Mesh, Skeleton or Motion then raise by name.
    with files.naming(path), np.errstate(over="ignore", invalid="ignore"):
        try:
            return _contents(path, extracted, wanted)
        except np.linalg.LinAlgError:
            raise FileError(path, "holds a transform with numbers that are too large") from None


def _contents(path: Path, extracted: Extracted, wanted: Wanted) -> Contents:
    parts = read_meshes(extracted)
    skinned: dict[str, list[MeshPrim]] = {}
    for part in parts:
        if part.is_skinned:
            skinned.setdefault(part.record["skeleton"], []).append(part)
    order = sorted(skinned, key=lambda skeleton: -sum(part.size for part in skinned[skeleton]))
    rigs = [_rig(extracted, skeleton, skinned[skeleton]) for skeleton in order]
    # Morphs are those of the first rig or else of the first mesh, so a mesh that has some goes first.
    loose = sorted((part for part in parts if not part.is_skinned), key=lambda part: not part.shapes)
    owners = skinned[order[0]] if order else loose[:1]
    morphs = read_morphs(extracted, owners)
    skeleton, keyed = _motions(extracted, order, rigs, owners)
    frames = {name: _frames(extracted, name, motion, wanted.rate) for name, motion in keyed.items()}
    motions = {
        name: resampled(motion, frames[name].times) if frames[name].rate else motion for name, motion in keyed.items()
    }
    _note_left_out(extracted, parts, owners, motions)
    meshes = [part.mesh for part in loose]
    keep_morphs(rigs, meshes, morphs)
    return Contents(
        path,
        "USD",
        dict(zip(unique((part.record["name"] for part in loose), "mesh"), meshes, strict=True)),
        dict(zip(unique((skinned[key][0].record["root"] for key in order), "rig"), rigs, strict=True)),
        None if rigs else skeleton,
        motions,
        morphs,
        tuple(extracted.notes),
        {name: clip_frames.clip(name) for name, clip_frames in frames.items()},
    )


def _rig(extracted: Extracted, path: str, parts: Sequence[MeshPrim]) -> Rig:
    """Return the rig of the skeleton at `path` and the meshes it moves."""
    record = extracted.description["skeletons"][path]
    if record["world"] != np.eye(4).tolist():
        extracted.notes.append(
            f"the transform of {path} in the scene is left out: its rig is in the skeleton's own space"
        )
    if len({part.record["blending"] for part in parts}) > 1:
        extracted.notes.append(f"the meshes of {path} blend in two ways: that of the largest is used for all")
    blending = max(parts, key=lambda part: part.size).record["blending"]
    skeleton = read_skeleton(extracted, path)
    bound, weights = influences(extracted, parts, record["joints"])
    mesh = join_meshes([part.mesh for part in parts])
    return Rig(mesh, skeleton, bound, weights, read_inverse_bind(extracted, path), blending)  # type: ignore[arg-type]


def _motions(
    extracted: Extracted, order: Sequence[str], rigs: Sequence[Rig], owners: Sequence[MeshPrim]
) -> tuple[Skeleton | None, dict[str, Motion]]:
    """Return the joints that are animated, and how: the first rig's, or none but the morphs, or a bare skeleton's."""
    skeletons = extracted.description["skeletons"]
    path: str | None
    joints: Skeleton | None = None
    if rigs:
        path, joints = order[0], rigs[0].skeleton
    elif owners and owners[0].shapes:
        path = owners[0].record["skeleton"]
    else:
        path = next((path for path, record in skeletons.items() if record["joints"]), None)
        joints = None if path is None else read_skeleton(extracted, path)
    animation = extracted.description["animations"].get(skeletons[path]["animation"]) if path in skeletons else None
    if animation is None:
        return joints, {}
    if joints is None:
        root = Skeleton.from_world(["root"], [-1], np.eye(4)[None])
        return None, {animation["name"]: read_motion(extracted, animation, root, ())}
    return joints, {animation["name"]: read_motion(extracted, animation, joints, skeletons[path]["joints"])}


def _frames(extracted: Extracted, name: str, motion: Motion, rate: Rate) -> Frames:
    """Return the frames of a motion that has one pose per time sample."""
    size = 7 * motion.rotations.shape[1] + len(motion.control_names)
    frames = frames_of(motion.times, rate, size, f"animation {name!r}")
    if note := frames.note():
        extracted.notes.append(note)
    return frames


def _note_left_out(
    extracted: Extracted, parts: Sequence[MeshPrim], owners: Sequence[MeshPrim], motions: dict[str, Motion]
) -> None:
    """Say what the file has beyond what is read."""
    if extracted.description["up"] == "Z":
        extracted.notes.append("its z axis points up, and is left so: export with `up='z'`")
    missing = extracted.description["missing"]
    extracted.note(len(missing), f"files it refers to are missing: {', '.join(missing[:3])}")
    extracted.note(extracted.description["others"], "shapes that are not meshes (curves, spheres, ...) are left out")
    shaped = sum(bool(part.shapes) for part in parts) - sum(bool(part.shapes) for part in owners)
    extracted.note(shaped, "more meshes have blend shapes: they are left out")
    further = len(extracted.description["animations"]) - len(motions)
    extracted.note(further, "animations that do not move the first rig are left out")
