"""PSD on a scanned face with 43 expressions: controls alone, in layers, in one pose space, in an abstract plane."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import posespace as ps


@pytest.fixture(scope="module")
def rig_and_deltas(data: Path) -> tuple[ps.Rig, dict[str, NDArray[np.float64]]]:
    stored = np.load(data / "face-ict-facekit" / "ict_face_head.npz")
    rig = ps.Rig.from_mesh(ps.Mesh(stored["neutral"], stored["tris"]))
    return rig, dict(zip(map(str, stored["names"][:43]), stored["deltas"][:43].astype(np.float64), strict=True))


FEW = ("PupilDilate_L", "browInnerUp_L", "eyeBlink_L", "jawOpen", "mouthSmile_L")
Face = tuple[ps.Rig, dict[str, NDArray[np.float64]]]


def dial(rig: ps.Rig, **controls: float) -> ps.Pose:
    return ps.Pose(rig.rest.rotations, controls=controls)


def placed(rig: ps.Rig, sculpts: dict[str, tuple[ps.Pose, NDArray[np.float64]]]) -> ps.Examples:
    motion = ps.Motion.from_poses([pose for pose, _ in sculpts.values()], list(sculpts))
    return ps.Examples.from_shapes(rig, motion, [rig.mesh.points + delta for _, delta in sculpts.values()])


def off(skin: ps.Skin, examples: ps.Examples) -> float:
    """The largest distance from the examples, as a fraction of the box; a control that moves nothing may be unknown."""
    base = skin.rig.mesh.points
    gaps = [np.linalg.norm(base + skin.displacements(pose) - shape, axis=1).max() for pose, shape in examples]
    return float(max(gaps)) / skin.rig.mesh.diagonal


@pytest.mark.parametrize("names", [FEW, pytest.param((), marks=pytest.mark.slow)], ids=["few", "all"])
def test_expressions_are_reproduced_as_layers_and_in_one_space(names: tuple[str, ...], rig_and_deltas: Face) -> None:
    rig, deltas = rig_and_deltas
    deltas = {name: deltas[name] for name in names or deltas}
    examples = placed(rig, {name: (dial(rig, **{name: 1.0}), delta) for name, delta in deltas.items()})
    layers = ps.PSD().fit(examples)
    moving = [name for name, delta in deltas.items() if np.abs(delta).max() > 1e-4]
    assert [layer.name for layer in layers.layers] == moving
    assert off(layers, examples) < 1e-6
    # Expressions in layers of their own add, as blend shapes do.
    both = layers.displacements(dial(rig, jawOpen=1.0, browInnerUp_L=1.0))
    np.testing.assert_allclose(both, deltas["jawOpen"] + deltas["browInnerUp_L"], atol=1e-4)
    for per_vertex in (False, True):
        whole = ps.PSD(space=ps.PoseSpace("controls", tuple(deltas)), per_vertex=per_vertex, radius=1.0).fit(examples)
        assert len(whole.layers) == 1
        assert off(whole, examples) < 1e-6


def path(skin: ps.Skin, control: str, shares: NDArray[np.float64], vertex: int) -> NDArray[np.float64]:
    return np.array([skin.displacements(dial(skin.rig, **{control: share}))[vertex] for share in shares])


def test_the_mouth_opens_smoothly_and_without_overshoot(rig_and_deltas: Face) -> None:
    rig, deltas = rig_and_deltas
    delta = deltas["jawOpen"]
    chin = int(np.linalg.norm(delta, axis=1).argmax())
    skin = ps.PSD().fit(placed(rig, {"open": (dial(rig, jawOpen=1.0), delta)}))
    shares = np.linspace(0, 1, 101)
    way = path(skin, "jawOpen", shares, chin) @ delta[chin] / (delta[chin] @ delta[chin])
    assert (np.diff(way) > 0).all()
    assert (way[0], way[-1]) == (pytest.approx(0, abs=1e-6), pytest.approx(1, abs=1e-6))
    assert 0.45 < way[50] < 0.6
    assert np.abs(np.diff(way, 2)).max() < 2 * 0.01**2


def test_a_path_through_three_sculpts_has_no_corner(rig_and_deltas: Face) -> None:
    rig, deltas = rig_and_deltas
    delta, forward = deltas["jawOpen"], deltas["jawForward"]
    chin = int(np.linalg.norm(delta, axis=1).argmax())
    sculpts = {
        "half": (dial(rig, jaw=0.5), 0.5 * delta + 0.3 * forward),
        "open": (dial(rig, jaw=1.0), delta),
    }
    skin = ps.PSD().fit(placed(rig, sculpts))
    for step in (1e-2, 1e-3):
        before, at, after = path(skin, "jaw", np.array([0.5 - step, 0.5, 0.5 + step]), chin)
        turn = np.linalg.norm((after - at) - (at - before)) / np.linalg.norm(after - before)
        # Of a corner the turn would stay as it is for ever smaller steps.
        assert turn < 2 * step


def test_expressions_placed_in_a_plane_of_open_and_smile(rig_and_deltas: Face) -> None:
    rig, deltas = rig_and_deltas
    smile = deltas["mouthSmile_L"] + deltas["mouthSmile_R"]
    sculpts = {
        "neutral": (dial(rig), np.zeros_like(smile)),
        "open": (dial(rig, open=1.0), deltas["jawOpen"]),
        "smile": (dial(rig, smile=1.0), smile),
        "laugh": (dial(rig, open=0.7, smile=1.0), 0.7 * deltas["jawOpen"] + smile + deltas["cheekSquint_L"]),
        "funnel": (dial(rig, open=0.4, smile=-1.0), deltas["mouthFunnel"]),
        "press": (dial(rig, open=-0.3, smile=-0.5), deltas["mouthPress_L"] + deltas["mouthPress_R"]),
    }
    examples = placed(rig, sculpts)
    skin = ps.PSD(space=ps.PoseSpace("controls", ("open", "smile"))).fit(examples)
    assert len(skin.layers) == 1
    assert off(skin, examples) < 1e-6
    assert off(ps.PSD().fit(examples), examples) < 1e-6
    largest = max(np.abs(delta).max() for _, delta in sculpts.values())
    for open_, smiling in np.random.default_rng(0).uniform((-0.3, -1), (1, 1), (20, 2)):
        between = skin.displacements(dial(rig, open=float(open_), smile=float(smiling)))
        assert np.abs(between).max() < 1.5 * largest
