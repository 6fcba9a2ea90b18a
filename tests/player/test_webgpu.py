"""The player for WebGPURenderer in a real browser: by WebGPU where it has it, and by WebGL 2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.played import FITS, assert_same, exported, poses_of, twenty

import posespace as ps

SCRIPT = Path(__file__).parents[2] / "player" / "tests" / "capture_webgpu.ts"
ADAPTER = "async () => navigator.gpu ? (await navigator.gpu.requestAdapter()) !== null : false"


@pytest.fixture(scope="module")
def page(bundled: Callable[..., str], opened: Callable[..., Any]) -> Any:
    return opened(bundled(SCRIPT))


@pytest.mark.parametrize(
    ("name", "backend"), [*((name, "webgpu") for name in FITS), ("PSD", "webgl"), ("EigenSkin 16", "webgl")]
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
    assert_same(skin, motion, made["found"])
    assert page.said == []
