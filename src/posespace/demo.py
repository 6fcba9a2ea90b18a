"""The whole story on the built-in arm: examples, plain skinning's faults, a fit, its score, and a picture."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np

from posespace import datasets
from posespace.errors import FileError
from posespace.examples import Examples
from posespace.fit.psd import PSD
from posespace.formats import obj, posejson
from posespace.progress import status
from posespace.report.render import Camera, heat, montage, render, save_png
from posespace.score import Score, evaluate
from posespace.skin import Skin


def run(folder: Path) -> dict[str, Any]:
    """Write the demo's files to `folder` and return its figures."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(folder, f"cannot be made ({error.strerror})") from error
    with status("making the examples"):
        train, validation = datasets.bending_arm()
        store = folder / "arm.examples"
        shutil.rmtree(store, ignore_errors=True)
        train.save(store)
        obj.write(folder / "arm.obj", train.rig.mesh)
        posejson.write(folder / "arm-poses.json", validation.motion, train.rig.skeleton)
    with status("fitting"):
        PSD().fit(Examples.open(store)).save(folder / "arm.skin")
    with status("judging by poses the fit did not see"):
        skin = Skin.load(folder / "arm.skin")
        plain, fitted = evaluate(Skin(train.rig), validation), evaluate(skin, validation)
    with status("drawing"):
        picture(folder / "arm.png", skin, validation, plain, fitted)
    return {
        "file": str(folder),
        "vertices": len(train.rig.mesh.points),
        "joints": len(train.rig.skeleton),
        "poses to fit on": len(train),
        "unseen poses to judge by": len(validation),
        "plain skinning": _figures(plain),
        "fitted skin": _figures(fitted),
        "written": sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith(".")),
    }


def picture(path: Path, skin: Skin, validation: Examples, plain: Score, fitted: Score) -> None:
    """Render truth, plain skinning and the fitted skin, with error heat, at the worst pose and two others."""
    order = np.argsort(plain.per_vertex.max(axis=1))[::-1]
    mesh = skin.rig.mesh
    top = float(np.percentile(plain.per_vertex[order[0]], 99))
    rows, labels = [], []
    for index in order[[0, len(order) // 3, 2 * len(order) // 3]]:
        pose, truth = validation.motion[int(index)], validation.shapes[int(index)]
        camera = Camera.fit(truth, direction="front")
        shapes = [
            (truth, heat(np.zeros(len(truth)), top)),
            (skin.rig.skin(pose), heat(plain.per_vertex[index], top)),
            (skin.pose(pose)[0], heat(fitted.per_vertex[index], top)),
        ]
        rows.append([render(points, mesh.triangles, camera, (420, 360), colors=colors) for points, colors in shapes])
        before, after = (1000 * score.per_pose[score.names[index]] for score in (plain, fitted))
        labels.append(f"{validation.motion.names[index].split(' #')[0]}: RMS {before:.0f} → {after:.2f} mm")
    titles = ["truth", "plain skinning", "fitted skin"]
    save_png(path, montage(rows, labels, titles, scale=("distance from the truth, metres", top)))


def _figures(score: Score) -> dict[str, float]:
    return {
        "relative error": round(score.rel_err, 4),
        "RMS, largest box side 1": round(score.rms, 6),
        "largest error, metres": round(score.max_error, 5),
    }
