"""A small USD rig as text, with every part open to change, and a reader of such texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from posespace.formats import usd
from posespace.formats.contents import Contents
from posespace.formats.frames import Rate, Wanted

EYE = "( (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1) )"
UP = "( (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 2, 0, 1) )"
TWICE = "( (2, 0, 0, 0), (0, 2, 0, 0), (0, 0, 2, 0), (0, 0, 0, 1) )"
LEAST_ANGLE = "( (0, 1, 0, 0), (-1, 0, 0, 0), (0, 0, 1, 0), (5, 0, 0, 1) )"

SQUARE = """
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 2, 3]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 2, 0), (0, 2, 0)]"""

BOUND = """
        int[] primvars:skel:jointIndices = [0, 1, 0, 1, 0, 1, 0, 1] (elementSize = 2
            interpolation = "vertex")
        float[] primvars:skel:jointWeights = [1, 0, 1, 0, 0.25, 0.75, 0.25, 0.75] (elementSize = 2
            interpolation = "vertex")"""

WAVE = """
            uniform token[] joints = ["a/b"]
            quatf[] rotations.timeSamples = { 10: [(1, 0, 0, 0)], 20: [(0, 0, 0, 1)] }
            float3[] translations.timeSamples = { 10: [(0, 2, 0)], 30: [(1, 2, 0)] }
            half3[] scales = [(1, 1, 1)]"""


def arm(
    mesh: str = SQUARE + BOUND,
    rest: str | None = f"[{EYE}, {UP}]",
    bind: str | None = f"[{EYE}, {UP}]",
    joints: str = '["a", "a/b"]',
    wave: str = WAVE,
    more: str = "",
    head: str = "timeCodesPerSecond = 10",
) -> str:
    """Text of a rig of two joints and one square."""
    api = '(prepend apiSchemas = ["SkelBindingAPI"])'
    return f"""#usda 1.0
({head})
def SkelRoot "Arm" {api}
{{
    rel skel:skeleton = </Arm/Bones>
    def Mesh "Skin" {api}
    {{{mesh}
    }}
    def Skeleton "Bones" {api}
    {{
        uniform token[] joints = {joints}
        {f"uniform matrix4d[] restTransforms = {rest}" if rest else ""}
        {f"uniform matrix4d[] bindTransforms = {bind}" if bind else ""}
        rel skel:animationSource = </Arm/Bones/Wave>
        def SkelAnimation "Wave"
        {{{wave}
        }}
    }}
}}
{more}
"""


def reader_in(folder: Path) -> Callable[..., Contents]:
    """Return a function that writes a text to a file in `folder` and reads it."""

    def parse(text: str | bytes, name: str = "scene.usda", rate: Rate = "keys") -> Contents:
        path = folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return usd.read(path, Wanted(rate=rate))

    return parse
