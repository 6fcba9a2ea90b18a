"""The demo on the built-in hand: plain skinning's faults, two fits, their scores, pictures, a file to play."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from posespace import datasets
from posespace.check import Floats
from posespace.errors import FileError
from posespace.evaluation.compare import Entry, compare
from posespace.examples import Examples
from posespace.fit.eigenskin.eigenskin import EigenSkin
from posespace.fit.psd.psd import PSD
from posespace.formats import viewer
from posespace.formats.export import export
from posespace.formats.files import atomic_write
from posespace.geometry import rotations
from posespace.geometry.smoothstep import smoothstep
from posespace.motion import Motion
from posespace.progress import status
from posespace.report.accuracy import write_report
from posespace.report.colours import heat
from posespace.report.montage import montage
from posespace.report.png import save_png
from posespace.report.render import render
from posespace.report.views import looking_at
from posespace.rig import Rig

ABOUT, PAGE = "about.txt", "hand.html"
WRITTEN = {
    ABOUT: "this list",
    "hand.png": "three unseen poses: the truth, plain skinning, both skins",
    "report.html": "the full report: open it in a browser",
    PAGE: "the EigenSkin hand as a page for any browser: orbit it, move its joints, see its errors",
    "hand.glb": "the EigenSkin hand in motion: drop it on any glTF viewer",
    "hand-psd.skin": "pose space deformation",
    "hand-eigenskin.skin": "EigenSkin",
    "hand.examples": "the poses fitted on",
    "unseen.examples": "the poses evaluated on",
}
CLIP_SECONDS, CLIP_RATE, CLIP_POSES = 5.0, 24, 6


def run(folder: Path) -> dict[str, Any]:
    """Write the demo's files to `folder` and return its figures."""
    _claim(folder)
    with status("reading the built-in hand"):
        single, unseen = datasets.hand()
        train = single.joined(datasets.hand_together())
        for name, examples in (("hand", train), ("unseen", unseen)):
            shutil.rmtree(folder / f"{name}.examples", ignore_errors=True)
            examples.save(folder / f"{name}.examples")
    with status("fitting"):
        # With normals of its own, so that a program that plays the file shades it properly.
        skins = {"PSD": PSD().fit(train), "EigenSkin": EigenSkin(normals="shared").fit(train)}
        for name, skin in skins.items():
            skin.save(folder / f"hand-{name.lower()}.skin")
    with status("evaluating on unseen poses"):
        entries = compare(skins, unseen)
        between, grasps = datasets.hand_between(), datasets.hand_grasps()
        scored = {
            "several_joints": entries,
            "single_joints": compare(skins, between),
            "grasps": compare(skins, grasps),
        }
    with status("drawing"):
        save_png(folder / "hand.png", picture(entries, unseen))
        write_report(entries, unseen, folder / "report.html")
    moving, lack = clip(train.rig, unseen.motion), viewer.missing()
    export(skins["EigenSkin"], folder / "hand.glb", moving)
    if not lack:
        export(skins["EigenSkin"], folder / PAGE, moving, examples=unseen)
    return {
        "file": str(folder),
        "vertices": len(train.rig.mesh.points),
        "joints": len(train.rig.skeleton),
        "poses": {
            "fitted": len(train),
            "several_joints": len(unseen),
            "single_joints": len(between),
            "grasps": len(grasps),
        },
        **{name: {entry.name: _figures(entry) for entry in rows} for name, rows in scored.items()},
        "written": _written(),
        **({"not_written": {PAGE: lack}} if lack else {}),
        "next": _next(folder),
    }


def picture(entries: list[Entry], unseen: Examples) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Render the truth and each entry, with error heat, at plain skinning's worst pose and two others."""
    scored = [(entry.name, entry.skin, entry.score) for entry in entries if entry.skin and entry.score]
    worst = scored[0][2].per_vertex
    order = np.argsort(worst.max(axis=1))[::-1]
    top, triangles = float(np.percentile(worst[order[0]], 99)), unseen.rig.mesh.triangles
    rows, labels = [], []
    for index in order[[0, len(order) // 3, 2 * len(order) // 3]].tolist():
        pose, truth = unseen.motion[index], np.asarray(unseen.shapes[index])
        shapes: list[tuple[Floats, Floats]] = [(truth, np.zeros(len(truth)))]
        shapes += [(skin.pose(pose)[0], score.per_vertex[index]) for _, skin, score in scored]
        camera = looking_at(np.stack([points for points, _ in shapes]), triangles, worst[index])
        rows.append([render(points, triangles, camera, (230, 220), colors=heat(off, top)) for points, off in shapes])
        errors = ", ".join(f"{score.per_pose[score.names[index]]:.2f}" for _, _, score in scored)
        labels.append(f"RMS {errors} mm")
    titles = ["truth", *(name for name, _, _ in scored)]
    return montage(rows, labels, titles, scale=("distance from the truth, millimetres", top))


def clip(rig: Rig, motion: Motion) -> Motion:
    """Return a clip from rest through the first poses of a motion and back, slowing down at each."""
    keys = np.stack([rig.rest.rotations, *motion.rotations[:CLIP_POSES], rig.rest.rotations])
    times = np.arange(int(CLIP_SECONDS * CLIP_RATE) + 1) / CLIP_RATE
    along = times / CLIP_SECONDS * (len(keys) - 1)
    key = np.minimum(along.astype(int), len(keys) - 2)
    part = along - key
    eased = np.broadcast_to(smoothstep(part)[:, None], (len(times), keys.shape[1]))
    return Motion(rotations.slerp(keys[key], keys[key + 1], eased), times=times)


def _claim(folder: Path) -> None:
    """Make the folder; raise where the demo would overwrite what it did not write."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(folder, f"cannot be created ({error.strerror})") from error
    taken = [name for name in WRITTEN if (folder / name).exists()]
    if taken and ABOUT not in taken:
        raise FileError(folder, f"holds a {taken[0]} that the demo did not write; choose another folder with `out`")
    lines = [f"{name:20} {what}" for name, what in _written().items()]
    with atomic_write(folder / ABOUT) as temporary:
        temporary.write_text("\n".join(["Written by posespace demo", *lines, ""]))


def _written() -> dict[str, str]:
    """The files that the demo writes: without the page where none was built."""
    return {name: what for name, what in WRITTEN.items() if name != PAGE or not viewer.missing()}


def _figures(entry: Entry) -> dict[str, float]:
    assert entry.score is not None
    score = entry.score
    return {
        "rel_err": round(score.rel_err, 4),
        "rms": round(score.rms, 6),
        "max_error_mm": round(score.max_error, 2),
        "bytes_per_vertex": round(score.bytes_per_vertex, 1),
    }


def _next(folder: Path) -> dict[str, str]:
    skin, train, unseen, mine, glb = (
        shlex.quote(str(folder / name))
        for name in ("hand-eigenskin.skin", "hand.examples", "unseen.examples", "my.skin", "my.glb")
    )
    return {
        "fit": f"posespace fit psd {train} -o {mine}",
        "evaluate": f"posespace evaluate {mine} {skin} {unseen} --rivals {train}",
        "export": f"posespace export {mine} -o {glb}",
    }
