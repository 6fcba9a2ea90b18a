"""The contents of a file, as plain figures: the same for people and for JSON. `figures` has the labels of the keys."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from posespace.budget import Budget
from posespace.errors import FileError
from posespace.evaluation.score import evaluate
from posespace.evaluation.storage import stored_bytes, stored_numbers
from posespace.examples import Examples
from posespace.formats import limits_json, load, registry
from posespace.formats.files import naming
from posespace.formats.frames import Clip, Rate, Wanted
from posespace.formats.registry import CONTENTS, POSES, SKIN
from posespace.gathering import posed_meshes
from posespace.look import Look
from posespace.markers.markers import Markers
from posespace.mesh import Mesh
from posespace.motion import Motion, rotated_joints, rotating_joints
from posespace.poses.links import linked_rig, rerouted_names
from posespace.report.figures import identifier, with_identifiers
from posespace.rig import Rig
from posespace.sculpt import radii_by_label
from posespace.skeleton import Skeleton
from posespace.skin.bones.skeleton import SkeletonBones
from posespace.skin.bones.stage import BoneStage
from posespace.skin.provenance import notes_of
from posespace.skin.skin import Skin

Figures = dict[str, Any]

MISFIT = (
    "no pose brings the joints to where they were when the mesh was bound, e.g. because a joint was scaled later, so "
    "plain skinning changes the rest shape; apply the joints' scale where the rig was made, bind the mesh again and "
    "export it"
)
"""What a misfit means, the largest difference of a bone's transform at rest from the identity, and what to do."""


def describe(path: str | Path, rate: Rate = None) -> Figures:
    """Return what a rig, mesh, motion, pose, skin or example file holds, its clips read at a `rate`."""
    file = Path(path)
    if not file.exists():
        raise FileError(file, "does not exist")
    with naming(file):
        return {"file": str(file), **_described(file, rate)}


def _described(file: Path, rate: Rate) -> Figures:
    if file.is_dir():
        is_posed = (file / posed_meshes.POSES).is_file()
        return _posed(file) if is_posed else _examples(file)
    if load.is_skin_file(file):
        return _skin(load.load_skin(file), file.stat().st_size)
    if registry.reads(file, POSES):
        return _limits(file) if limits_json.is_limits(file) else _poses(file)
    if not registry.reads(file, *CONTENTS):
        raise registry.unread(file, *CONTENTS, POSES, SKIN, also=(".examples",))
    return _contents(file, rate)


def describe_fit(skin: Skin, poses: int) -> Figures:
    """Return what a fit on this many poses made."""
    return {
        "poses_fitted_on": poses,
        "layers": len(skin.layers),
        **_cost(skin),
        "about": with_identifiers({key: value for key, value in skin.about.items() if key != "poses"}),
    }


def describe_bones(examples: Examples, affine: bool = False) -> Figures:
    """Return how many virtual bones examples have, and the errors of skinning by them; affine ones have four joints."""
    joints, score = len(examples.rig.skeleton), evaluate(Skin(examples.rig), examples)
    return {
        "bones": joints // 4 if affine else joints,
        "e_rms": score.e_rms,
        "rms": score.rms,
        "max_error": score.max_error,
    }


def _contents(file: Path, rate: Rate) -> Figures:
    contents = load.read(file, Wanted(rate=rate))
    figures: Figures = {"format": contents.format}
    skin = load.load_skin(file) if load.is_skin(file) else None
    if contents.rigs:
        budget = contents.budget or Budget(file.stat().st_size)
        bones = SkeletonBones() if skin is None else skin.bones
        figures["rigs"] = {name: _rig(_as_posed(rig, bones), budget=budget) for name, rig in contents.rigs.items()}
    if contents.meshes:
        figures["meshes"] = {name: _mesh(mesh) for name, mesh in contents.meshes.items()}
    if contents.skeleton is not None:
        figures["skeleton"] = _skeleton(contents.skeleton)
    if contents.motions:
        skeleton = contents.skeleton or next((rig.skeleton for rig in contents.rigs.values()), None)
        figures["motions"] = {
            name: _motion(motion, contents.clips[name], skeleton) for name, motion in contents.motions.items()
        }
    if contents.markers is not None:
        figures["markers"] = _markers(contents.markers)
    if skin is not None:
        skin_figures = _skin(skin, file.stat().st_size)
        figures["skin"] = {key: value for key, value in skin_figures.items() if key not in ("format", "rig")}
    if contents.morphs:
        figures["morph_targets"] = list(contents.morphs)
    if contents.notes:
        figures["notes"] = list(contents.notes)
    return figures


def _mesh(mesh: Mesh) -> Figures:
    figures: Figures = {
        "vertices": len(mesh.points),
        "unique_positions": len(mesh.weld.first),
        "triangles": len(mesh.triangles),
    }
    if mesh.face_sizes is not None:
        figures["faces"] = mesh.face_count
        sizes, counts = np.unique(mesh.face_sizes, return_counts=True)
        figures["faces_by_corners"] = {str(size): int(count) for size, count in zip(sizes, counts, strict=True)}
    figures["watertight"] = mesh.is_watertight
    figures["box"] = {"low": mesh.box[0].tolist(), "high": mesh.box[1].tolist()}
    if mesh.unit != 1:
        figures["metres_per_unit"] = mesh.unit
    if mesh.look is not None:
        figures["look"] = _look(mesh.look)
    return figures


def _look(look: Look) -> Figures:
    figures: Figures = {
        "meshes": list(look.meshes),
        "materials": [material.get("name", "") for material in look.materials],
        "images": [f"{len(image)} bytes" for image in look.images],
        "per_vertex": list(look.attributes),
        "blend_shapes": list(look.morphs),
        "omitted_meshes": list(look.omitted),
    }
    return {name: value for name, value in figures.items() if value}


def _skeleton(skeleton: Skeleton) -> Figures:
    figures: Figures = {"joints": len(skeleton), "roots": int((skeleton.parents < 0).sum())}
    if links := rerouted_names(skeleton):
        figures["linked_for_pose_spaces"] = links
    pairs = int((skeleton.counterparts != np.arange(len(skeleton))).sum()) // 2
    if pairs:
        figures["left_right_pairs"] = pairs
    if skeleton.limits is not None:
        figures["limits"] = limits_json.plain(skeleton.ranges)
    figures["joint_names"] = list(skeleton.names)
    return figures


def _rig(rig: Rig, motion: Motion | None = None, budget: Budget | None = None) -> Figures:
    """The figures of a rig; its links in pose spaces are those of the poses of a motion, if there is one."""
    linked = linked_rig(rig, Motion.from_poses([rig.rest]) if motion is None else motion, budget)
    used = (rig.weights > 0).sum(axis=1)
    transforms = rig.transforms(rig.rest)
    misfit = float(np.abs(transforms - np.eye(4)[:3]).max())
    return {
        **_mesh(rig.mesh),
        **_skeleton(linked.skeleton),
        "most_influences": int(used.max(initial=0)),
        "blending": rig.blending,
        "rest_pose_misfit": misfit if misfit > 1e-4 else 0.0,
        **({"about_the_misfit": MISFIT} if misfit > 1e-4 else {}),
    }


def _motion(motion: Motion, clip: Clip, skeleton: Skeleton | None) -> Figures:
    rotating = (
        rotating_joints(motion) if skeleton is None else rotated_joints(motion, skeleton.rest_rotations).any(axis=0)
    )
    return {
        "poses": len(motion),
        "keys": clip.keys,
        "seconds": clip.seconds,
        "frames_per_second": clip.rate,
        **({"pose_markers": [marker.name for marker in clip.markers]} if clip.markers else {}),
        "joints": motion.rotations.shape[1],
        "rotating_joints": int(rotating.sum()),
        "controls": list(motion.control_names),
    }


def _markers(markers: Markers) -> Figures:
    gaps = markers.gaps
    longest = int((gaps[:, 2] - gaps[:, 1]).max(initial=0)) / markers.rate
    missing = 1 - float(markers.seen.mean()) if markers.seen.size else 0.0
    rarest = np.argsort(markers.seen.sum(axis=0), kind="stable")[:3].tolist()
    return {
        "frames": len(markers),
        "seconds": round(max(len(markers) - 1, 0) / markers.rate, 6),
        "frames_per_second": markers.rate,
        "metres_per_unit": markers.unit,
        "markers": len(markers.names),
        "missing": round(missing, 6),
        "gaps": len(gaps),
        **({"longest_gap_seconds": round(longest, 6)} if len(gaps) else {}),
        **({"missing_most": [markers.names[k] for k in rarest]} if len(gaps) else {}),
        "marker_names": list(markers.names),
    }


def _poses(file: Path) -> Figures:
    from posespace.formats import pose_json

    poses = pose_json.read(file)
    controls = dict.fromkeys(name for pose in poses.poses.values() for name in pose.controls)
    return {
        "format": "poses",
        "poses": len(poses.names),
        "joints": len(poses.joints),
        "controls": list(controls),
        "pose_names": list(poses.names),
    }


def _limits(file: Path) -> Figures:
    return {"format": "limits", "limits": limits_json.plain(limits_json.read(file))}


def _posed(folder: Path) -> Figures:
    meshes = posed_meshes.meshes_in(folder)
    return {
        **_poses(folder / posed_meshes.POSES),
        "format": "posed meshes",
        "meshes": [path.name for path in meshes],
        "vertices": len(load.load_mesh(meshes[0]).points),
    }


def _examples(folder: Path) -> Figures:
    from posespace.formats.store.example_store import ExampleStore

    store = ExampleStore.open(folder)
    done = store.finished()
    return {
        "format": "examples",
        "poses": len(store),
        "finished": int(done.sum()),
        "unfinished": [name for name, ready in zip(store.motion.names, done, strict=True) if not ready],
        "failed": store.failures(),
        **({"muted": sorted(store.muted)} if store.muted else {}),
        **({"radius_by_sculpt": dict(store.radii)} if store.radii else {}),
        **({"radius_by_control": radii_by_label(store.control_radii)} if store.control_radii else {}),
        **({"made_with": {identifier(key): value for key, value in store.made.items()}} if store.made else {}),
        **({"detail_levels": store.levels} if store.levels is not None else {}),
        "rig": _rig(store.rig, store.motion),
        "controls": list(store.motion.control_names),
    }


def _skin(skin: Skin, size: int) -> Figures:
    layers = [
        {
            "name": layer.name,
            "space": f"{layer.driver.space.kind}({', '.join(layer.driver.space.names)})",
            "samples": len(layer.driver.interpolant.centres),
            "components": layer.driver.components,
            "vertices": len(layer.support),
        }
        for layer in skin.layers
    ]
    count, about, notes = max(1, len(skin.rig.mesh.points)), dict(skin.about), notes_of(skin.about)
    poses = about.pop("poses", None)
    about.pop("notes", None)
    return {
        "format": "skin",
        "bytes": size,
        "bytes_per_vertex": round(size / count, 1),
        **_cost(skin),
        "rig": _rig(_as_posed(skin.rig, skin.bones)),
        **({"learned_bones": bones} if (bones := skin.bones.figures()) else {}),
        "layers": layers,
        "detail_levels": skin.detail.levels if skin.detail else 0,
        **({"poses_fitted_on": len(poses)} if isinstance(poses, list) else {}),
        **({"notes": notes} if notes else {}),
        "about": with_identifiers(about),
    }


def _as_posed(rig: Rig, bones: BoneStage) -> Rig:
    """The rig with its joints linked as they are for these bones."""
    return replace(rig, skeleton=replace(rig.skeleton, links=bones.links(rig)))


def _cost(skin: Skin) -> Figures:
    count = max(1, len(skin.rig.mesh.points))
    return {
        "bytes_per_vertex_excluding_rig": round(stored_bytes(skin) / count, 1),
        "numbers_excluding_rig": stored_numbers(skin),
    }
