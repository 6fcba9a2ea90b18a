"""Damaged and hostile USD files: each is read or refused with one line, in 2 s of computing and 500 MB."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.fuzz import counts, fuzz

SCENE = """#usda 1.0
(
    timeCodesPerSecond = 24
    upAxis = "Y"
)

def SkelRoot "Root" (
    prepend apiSchemas = ["SkelBindingAPI"]
)
{
    rel skel:skeleton = </Root/Skeleton>

    def Skeleton "Skeleton" (
        prepend apiSchemas = ["SkelBindingAPI"]
    )
    {
        uniform token[] joints = ["arm", "arm/hand"]
        uniform matrix4d[] bindTransforms = [( (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1) ), ( (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (1, 0, 0, 1) )]
        uniform matrix4d[] restTransforms = [( (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1) ), ( (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (1, 0, 0, 1) )]
        rel skel:animationSource = </Root/Skeleton/Wave>

        def SkelAnimation "Wave"
        {
            uniform token[] joints = ["arm", "arm/hand"]
            uniform token[] blendShapes = ["bulge"]
            quatf[] rotations.timeSamples = {
                1: [(1, 0, 0, 0), (1, 0, 0, 0)],
                2: [(1, 0, 0, 0), (0.7071068, 0, 0, 0.7071068)],
            }
            half3[] scales = [(1, 1, 1), (1, 1, 1)]
            float3[] translations = [(0, 0, 0), (1, 0, 0)]
            float[] blendShapeWeights.timeSamples = {
                1: [0],
                2: [1],
            }
        }
    }

    def Mesh "Skin" (
        prepend apiSchemas = ["SkelBindingAPI"]
    )
    {
        int[] faceVertexCounts = [4, 3]
        int[] faceVertexIndices = [0, 1, 2, 3, 1, 4, 2]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0)]
        matrix4d primvars:skel:geomBindTransform = ( (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1) )
        int[] primvars:skel:jointIndices = [0, 1, 0, 1, 0, 1, 0, 1, 1, 0] (
            elementSize = 2
            interpolation = "vertex"
        )
        float[] primvars:skel:jointWeights = [1, 0, 0.5, 0.5, 0.5, 0.5, 1, 0, 1, 0] (
            elementSize = 2
            interpolation = "vertex"
        )
        uniform token[] skel:blendShapes = ["bulge"]
        rel skel:blendShapeTargets = [</Root/Skin/bulge>]

        def BlendShape "bulge"
        {
            uniform vector3f[] offsets = [(0, 0, 1), (0, 0, 0.5)]
            uniform int[] pointIndices = [1, 2]
        }
    }
}
"""  # noqa: E501


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    pytest.importorskip("pxr")
    path = tmp_path / "scene.usda"
    path.write_text(SCENE)
    return path


@counts(500)
def test_damaged_usd_files_are_read_or_refused_in_one_line(sample: Path, tmp_path: Path, count: int) -> None:
    lines = fuzz(sample, tmp_path, count)["lines"]
    assert len(lines) > count / 4
    assert len(set(lines)) > min(count / 12, 10)


@counts(500)
def test_hostile_usd_files_are_read_or_refused_in_one_line(sample: Path, tmp_path: Path, count: int) -> None:
    lines = fuzz(sample, tmp_path, count, "hostile")["lines"]
    assert len(set(lines)) > min(count / 12, 5)
