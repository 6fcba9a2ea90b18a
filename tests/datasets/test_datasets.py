"""Built-in examples: stored small without loss that matters, the simulated hand and arm as their page says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from posespace import datasets
from posespace.datasets import stored
from posespace.datasets.simulated import ARM, HAND
from posespace.errors import FileError, InputError
from posespace.moving import at_rest


def test_storing_rounds_by_half_a_step_of_each_pose(tmp_path: Path) -> None:
    train, _ = datasets.bending_arm(rings=16, sides=10)
    worst = stored.write(tmp_path / "arm.npz", train, {"command": "made up"})
    again, about = stored.read(tmp_path / "arm.npz")
    assert about == {"command": "made up"}
    assert again.motion.names == train.motion.names
    for index in range(len(train)):
        gap = np.abs(again.shapes[index] - train.shapes[index]).max()
        assert gap <= worst + 1e-12
    assert worst < 1e-5
    (tmp_path / "arm.npz").write_bytes((tmp_path / "arm.npz").read_bytes()[:500])
    with pytest.raises(FileError, match="cannot be read as stored examples"):
        stored.read(tmp_path / "arm.npz")


def test_the_simulated_hand_is_small_whole_and_keeps_its_volume() -> None:
    train, validation = datasets.hand()
    assert HAND.stat().st_size < 12e6
    assert len(train.rig.mesh.triangles) == 13_976
    assert len(train) >= 115
    assert len(validation) == 25
    assert at_rest(train.rig, train.motion)[0]
    np.testing.assert_allclose(train.shapes[0], train.rig.mesh.points, atol=1e-3)
    volume = signed_volume(train.rig.mesh.points, train.rig.mesh.triangles)
    for examples in (train, validation):
        for pose, shape in list(examples)[::7]:
            assert np.abs(signed_volume(shape, train.rig.mesh.triangles) / volume - 1) < 0.03
            assert np.abs(shape - train.rig.skin(pose)).max() < 40


def test_the_fine_hand_keeps_the_coarse_vertices() -> None:
    coarse, fine = datasets.hand()[1], datasets.hand(level=2)[1]
    count = len(coarse.rig.mesh.points)
    assert len(fine.rig.mesh.triangles) == 55_904
    assert fine.motion.names == coarse.motion.names
    np.testing.assert_allclose(fine.shapes[3][:count], coarse.shapes[3], atol=1e-9)
    volumes = [signed_volume(part.shapes[3], part.rig.mesh.triangles) for part in (coarse, fine)]
    assert abs(volumes[1] / volumes[0] - 1) < 0.01
    with pytest.raises(InputError, match="hand level: expected 1 or 2, got 3"):
        datasets.hand(level=3)


def test_the_clip_of_the_arm_is_whole_smooth_and_keeps_its_volume() -> None:
    clip = datasets.arm_clip()
    train, validation = datasets.arm()
    assert ARM.stat().st_size < 3e6
    assert clip.rig.mesh.points.shape == (3234, 3)
    assert (len(clip), len(train), len(validation)) == (100, 80, 20)
    assert validation.motion.names == tuple(f"frame {k}" for k in (*range(40, 50), *range(90, 100)))
    np.testing.assert_allclose(clip.motion.times, np.arange(100) / 24)
    np.testing.assert_allclose(clip.shapes[0], clip.rig.mesh.points, atol=1e-3)
    volume = signed_volume(clip.rig.mesh.points, clip.rig.mesh.triangles)
    gaps = np.stack([shape - clip.rig.skin(pose) for pose, shape in clip])
    for shape in clip.shapes[0], clip.shapes[12], clip.shapes[62]:
        assert abs(signed_volume(shape, clip.rig.mesh.triangles) / volume - 1) < 0.02
    # No frame jumps to another equilibrium: those folded at the elbow are tens of millimetres away.
    assert np.linalg.norm(np.diff(gaps, axis=0), axis=2).max() < 8


def signed_volume(points: np.ndarray, triangles: np.ndarray) -> float:
    a, b, c = (points[triangles[:, k]].astype(float) for k in range(3))
    return float((a * np.cross(b, c)).sum() / 6)
