"""Pages to look at: what each method makes of two sculpts, at the second one and at twisted poses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from posespace.check import Floats
from posespace.report.camera import Camera
from posespace.report.montage import montage
from posespace.report.png import save_png
from posespace.report.render import Image, render
from posespace.rivals import Method
from sculpting.scripted import BEND, FULL, OTHERS, Script, noisy
from sculpting.subjects import Subject

SIZE = (260, 240)
STEPS = {
    "sculpt": (FULL * BEND,),
    "5° off axis": (5.0 * OTHERS[0],),
    "sculpt, 20° off": (FULL * BEND, 20.0 * OTHERS[0]),
    "sculpt, 60° off": (FULL * BEND, 60.0 * OTHERS[1]),
}


def draw(folder: Path, subject: Subject, methods: Mapping[str, Method]) -> list[Path]:
    """Save two pages of a rig, with a smooth and with a rough sculpt, and return where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = []
    for kind in ("smooth", "rough"):
        script = Script(subject, 2, 1, rough=kind == "rough")
        rows = _rows(script, methods)
        pages.append(folder / f"{subject.name.replace(' ', '_')}_{kind}.png")
        save_png(pages[-1], montage(rows, list(STEPS), ["sculpt carried along", "plain skinning", *methods]))
    return pages


def _rows(script: Script, methods: Mapping[str, Method]) -> list[list[Image]]:
    rig = script.subject.rig
    examples = script.examples(script.own)
    sculpted = examples.residual(len(examples) - 1)[0]
    # With noise, as of a file whose numbers are rounded.
    skins = [method.fit(noisy(examples)) for method in methods.values()]
    rows = []
    for steps in STEPS.values():
        pose = script.posed(*steps)
        # Only bent poses are sculpted: a twist alone leaves plain skinning.
        truth = rig.skin(pose, sculpted * np.array_equal(steps[0], FULL * BEND))
        shapes = [truth, rig.skin(pose), *(skin.pose(pose)[0] for skin in skins)]
        camera = _framed(script, truth)
        rows.append([render(shape, rig.mesh.triangles, camera, SIZE) for shape in shapes])
    return rows


def _framed(script: Script, shape: Floats) -> Camera:
    """A view of what the sculpted joint moves, and as much again around it."""
    rig, joint = script.subject.rig, script.numbers[0]
    moved = rig.dense_weights()[:, joint] > 0.1
    return Camera.fit(shape[moved], "three_quarter", margin=2.0)
