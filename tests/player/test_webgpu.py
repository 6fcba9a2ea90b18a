"""The player for WebGPURenderer in a real browser: by WebGPU where it has it, and by WebGL 2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.played import FITS, assert_same, exported, poses_of, twenty

import posespace as ps

SCRIPT = Path(__file__).parents[2] / "player" / "tests" / "capture_webgpu.ts"
ADAPTER = "async () => navigator.gpu ? (await navigator.gpu.requestAdapter()) !== null : false"


@pytest.fixture(scope="module")
def page(bundled: Callable[..., str], opened: Callable[..., Any]) -> Any:
    return opened(bundled(SCRIPT))


@pytest.mark.parametrize(
    ("name", "backend"),
    [
        ("EigenSkin 8", "webgpu"),
        ("EigenSkin 16", "webgl"),
        *(pytest.param(name, "webgpu", marks=pytest.mark.slow) for name in FITS if name != "EigenSkin 8"),
        pytest.param("PSD", "webgl", marks=pytest.mark.slow),
    ],
)
def test_node_materials_give_what_the_skin_gives(
    name: str, backend: str, page: Any, arm: tuple[ps.Examples, ps.Examples], tmp_path: Path
) -> None:
    if backend == "webgpu" and not page.evaluate(ADAPTER):
        pytest.skip("this browser has no WebGPU, nor one in software")
    train, unseen = arm
    skin, motion = FITS[name]().fit(train), twenty(unseen.motion)
    given = [exported(skin, tmp_path), poses_of(motion, skin.rig.mesh.unit), backend == "webgl"]
    made = page.evaluate("([file, poses, webgl]) => captureNodes(file, poses, webgl)", given)
    assert made["backend"] == backend
    assert_same(skin, motion, made["captures"])
    assert page.said == []


@pytest.mark.parametrize("backend", ["webgpu", "webgl"])
def test_shadows_are_those_of_the_corrected_shape(
    backend: str, page: Any, arm: tuple[ps.Examples, ps.Examples], tmp_path: Path
) -> None:
    if backend == "webgpu" and not page.evaluate(ADAPTER):
        pytest.skip("this browser has no WebGPU, nor one in software")
    skin = ps.EigenSkin(normals="shared").fit(arm[0])
    far = int(np.argmax([np.abs(skin.displacements(pose)).max() for pose in arm[1].motion]))
    given = [exported(skin, tmp_path), poses_of(arm[1].motion[[far]], skin.rig.mesh.unit)[0], 1.5, backend == "webgl"]
    own, wanted, plain = (np.array(each) for each in page.evaluate("(all) => shadowNodes(...all)", given))
    assert (wanted < 0.5 * wanted.max()).mean() > 0.01
    assert np.count_nonzero(np.abs(own - wanted) > 32) < 0.1 * np.count_nonzero(np.abs(plain - wanted) > 32)
