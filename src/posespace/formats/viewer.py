"""A skin as a page: one HTML file to orbit, pose and compare it in a browser, without a server or a network.

The page itself is built from `player/` when the library is installed; here the skin and its poses are put into it.
"""

from __future__ import annotations

import base64
import gzip
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from posespace.check import Floats
from posespace.errors import FileError, InputError
from posespace.examples import Examples
from posespace.formats.files import atomic_write
from posespace.formats.gltf import write as gltf_write
from posespace.formats.scene import Scene
from posespace.poses.control_points import motion_at
from posespace.progress import track
from posespace.skin.skin import Skin

PAGE = Path(__file__).with_name("viewer.html")
"""The page without a skin, made when the library was installed."""

_PLACEHOLDER = "/*DATA*/"
_MOST_POSES = 200
_BITS = 8
"""Bits per number of a page's layers: what rounding adds is far below a skin's own error, and pages are sent around."""
_FINE_BITS = 16
"""Bits per number of detail, and of what learned bones add: with 8, rounding reaches 1e-4 of the box."""
_HOTTEST = 99.5
"""Percentile of plain skinning's errors that is shown as the hottest."""

Json = dict[str, Any]


def missing() -> str:
    """Return what is missing for a page to be written, in one line; empty where nothing is."""
    if PAGE.is_file():
        return ""
    remedy = "install Node 20 or newer with npm, then install posespace again"
    return f"the page was not built when posespace was installed; {remedy}"


def write(path: Path, scene: Scene) -> list[str]:
    """Write the page of a scene; returns one line on each thing that it cannot show."""
    if lack := missing():
        raise FileError(path, f"cannot be written: {lack}")
    if scene.compression != "none":
        raise InputError("compression: a page is always compressed; leave it out, or give a file that ends in .glb")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{path.stem}.glb"
        layers = scene.skin.packed(_BITS).layers
        skin = replace(scene.skin.packed(_FINE_BITS), layers=layers)
        packed = replace(scene, skin=skin, compression="quantized", examples=None, is_for_all=False)
        notes = gltf_write.write(file, packed)
        glb = file.read_bytes()
    data: Json = {
        "title": path.stem,
        "glb": _text(gzip.compress(glb, 6)),
        "poses": [],
        "heat": None,
    }
    if scene.examples is not None:
        data |= _errors(scene.skin, scene.examples, scene.metres)
    # Inside a script, nothing that a name holds may end it.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    with atomic_write(path) as temporary:
        temporary.write_text(PAGE.read_text(encoding="utf-8").replace(_PLACEHOLDER, text), encoding="utf-8")
    return notes


def _errors(skin: Skin, examples: Examples, metres: float) -> Json:
    """The poses of examples, and the errors of the skin, without its detail, and of plain skinning there."""
    skin = replace(skin, detail=None)
    if len(examples.rig.mesh.points) != len(skin.rig.mesh.points):
        got, expected = len(examples.rig.mesh.points), len(skin.rig.mesh.points)
        raise InputError(f"examples: expected {expected} vertices as in the skin, got {got}")
    motion, coarse = motion_at(examples, skin.rig, skin.points), replace(skin, detail=None)
    rows = np.unique(np.linspace(0, len(examples) - 1, min(len(examples), _MOST_POSES)).astype(int))
    poses, errors = [], np.zeros((2, len(rows), len(skin.rig.mesh.points)), dtype=np.float32)
    for row, index in enumerate(track(rows.tolist(), "poses of the page")):
        pose, shape = motion[index], np.asarray(examples.shapes[index])
        joints = [*pose.rotations.ravel().tolist(), *(metres * pose.translations).ravel().tolist()]
        poses.append({"name": motion.names[index], "joints": joints, "controls": dict(pose.controls)})
        for kind, points in enumerate((coarse.pose(pose)[0], skin.rig.skin(pose))):
            errors[kind, row] = np.linalg.norm(points - shape, axis=1)
    largest = float(np.percentile(errors[1], _HOTTEST)) or 1.0
    sizes = np.sqrt(np.square(errors, dtype=np.float64).sum(axis=2))
    ratios = np.divide(sizes[0], sizes[1], out=np.ones(len(rows)), where=sizes[1] > 0)
    rms = 1000 * metres * sizes[0] / np.sqrt(errors.shape[2])
    known = {"ratios": ratios.round(3).tolist(), "rms": [float(f"{error:.4g}") for error in rms]}
    heat = {"largest": 1000 * metres * largest, "unit": "mm"} | known
    return {
        "poses": poses,
        "heat": heat | {"skin": _shades(errors[0], largest), "plain": _shades(errors[1], largest)},
    }


def _shades(errors: Floats, largest: float) -> str:
    """Errors (P, N) as bytes, 255 being the largest."""
    return _text(np.clip(255 * errors / largest, 0, 255).astype(np.uint8).tobytes())


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()
