"""Learned bones and detail of a few bytes that ask for gigabytes or minutes: refused in one line, before any of it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from helpers.limited import limited
from helpers.point_skins import point_skin
from helpers.samples import error_of

import posespace as ps

SHAPES = {
    "points": "M",
    "rest": "M3",
    "anchors": "M",
    "samples": "SM3",
    "near": "BC",
    "holds": "BC",
    "widths": "BL",
    "heat": "B",
    "offsets": "BLV",
    "coefficients": "BLSV",
    "centres": "B3",
}
"""The axes of each array of learned bones."""


@pytest.mark.parametrize(
    "giant",
    [
        {"S": 300_000},
        {"S": 20_000_000},
        {"C": 100_000},
        {"C": 2_000_000_000},
        {"V": 300_000},
        {"V": 10_000_000},
        {"L": 2_000, "S": 2_000},
        {"L": 200, "S": 200, "V": 900},
        {"K": 100_000, "V": 100_007},
        {"K": 10_000_000, "V": 10_000_007},
    ],
    ids=str,
)
def test_sizes_that_a_file_does_not_explain_are_refused(giant: dict[str, int], tmp_path: Path) -> None:
    ps.export(point_skin("corrections and detail"), tmp_path / "arm.gltf", warn=lambda _: None)
    content = json.loads((tmp_path / "arm.gltf").read_text())
    block = content["extensions"]["POSESPACE_drivers"]
    bones, size = len(content["skins"][0]["joints"]) - 1, {"3": 3, "N": block["vertices"], "L": 1, "S": 14, "C": 6}
    size |= {"B": bones, "M": len(block["joints"]) - 1, "V": 15, "K": 8} | giant
    for key, axes in SHAPES.items():
        count = math.prod(size[axis] for axis in axes)
        if content["accessors"][block["bones"][key]]["count"] != count:
            block["bones"][key] = zeros(content, block["bones"][key], count)
    if "K" in giant:
        part = block["bones"]["corrections"]
        part["values"] = zeros(content, part["values"], size["K"] * size["N"] * 3)
    (tmp_path / "arm.gltf").write_text(json.dumps(content))
    with limited():
        line = error_of(lambda: ps.Skin.load(tmp_path / "arm.gltf"))
    assert "than a file of this size can need" in line


@pytest.mark.parametrize("levels", [4, 6])
def test_detail_that_a_file_does_not_explain_is_refused(levels: int, tmp_path: Path) -> None:
    skin = point_skin("corrections and detail")
    ps.export(skin, tmp_path / "arm.gltf", warn=lambda _: None)
    content = json.loads((tmp_path / "arm.gltf").read_text())
    part = content["extensions"]["POSESPACE_drivers"]["detail"]
    # Euler's formula: each level has four times the triangles, and the surface is closed.
    vertices = len(skin.rig.mesh.triangles) * 4**levels // 2 + 2
    part |= {"levels": levels, "heights": zeros(content, part["heights"], len(skin.detail.heights) * vertices)}
    (tmp_path / "arm.gltf").write_text(json.dumps(content))
    with limited():
        if levels == 6:
            assert "than a file of this size can need" in error_of(lambda: ps.Skin.load(tmp_path / "arm.gltf"))
        else:
            assert ps.Skin.load(tmp_path / "arm.gltf").detail.levels == levels


def zeros(content: dict[str, Any], like: int, count: int) -> int:
    """The number of a new accessor of zeros, which takes no bytes of the file."""
    kind = content["accessors"][like]["componentType"]
    content["accessors"].append({"componentType": kind, "type": "SCALAR", "count": count})
    return len(content["accessors"]) - 1
