"""Built-in examples: stored small without loss that matters, and the simulated hand as its page describes it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from posespace import datasets
from posespace.datasets import stored
from posespace.datasets.simulated import HAND
from posespace.errors import FileError


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
    assert train.rig.at_rest(train.motion)[0]
    np.testing.assert_allclose(train.shapes[0], train.rig.mesh.points, atol=1e-3)
    volume = signed_volume(train.rig.mesh.points, train.rig.mesh.triangles)
    for examples in (train, validation):
        for pose, shape in list(examples)[::7]:
            assert np.abs(signed_volume(shape, train.rig.mesh.triangles) / volume - 1) < 0.03
            assert np.abs(shape - train.rig.skin(pose)).max() < 40


def signed_volume(points: np.ndarray, triangles: np.ndarray) -> float:
    a, b, c = (points[triangles[:, k]].astype(float) for k in range(3))
    return float((a * np.cross(b, c)).sum() / 6)
