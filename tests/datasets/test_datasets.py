"""Built-in examples: stored small without loss that matters, the simulated hand and arm as their page says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from posespace import datasets
from posespace.datasets import stored
from posespace.datasets.ranges import ranges_of
from posespace.datasets.simulated import ARM, HAND
from posespace.errors import FileError, InputError
from posespace.examples import Examples
from posespace.poses.active import at_rest
from posespace.simulation.solver.contact import Contact, SkinContact


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


@pytest.fixture(scope="module")
def hands() -> dict[str, Examples]:
    """All sets of the hand."""
    single, random = datasets.hand()
    return {
        "single": single,
        "random": random,
        "between": datasets.hand_between(),
        "together": datasets.hand_together(),
        "grasps": datasets.hand_grasps(),
    }


def test_the_simulated_hand_is_small_whole_and_keeps_its_volume(hands: dict[str, Examples]) -> None:
    single = hands["single"]
    assert sum(path.stat().st_size for path in HAND.parent.glob("*.npz")) < 12e6
    assert len(single.rig.mesh.triangles) == 13_976
    counts = {name: len(examples) for name, examples in hands.items()}
    assert counts == {"single": 117, "random": 25, "between": 66, "together": 72, "grasps": 37}
    assert len({name for examples in hands.values() for name in examples.motion.names}) == sum(counts.values())
    assert at_rest(single.rig, single.motion)[0]
    np.testing.assert_allclose(single.shapes[0], single.rig.mesh.points, atol=2e-3)
    volume = signed_volume(single.rig.mesh.points, single.rig.mesh.triangles)
    for examples in hands.values():
        for pose, shape in list(examples)[::5]:
            assert np.abs(signed_volume(shape, single.rig.mesh.triangles) / volume - 1) < 0.025
            assert np.abs(shape - single.rig.skin(pose)).max() < 40


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_no_skin_of_the_hand_passes_through_itself(step: int, hands: dict[str, Examples]) -> None:
    pytest.importorskip("ipctk")
    contact = SkinContact.of(hands["single"].rig.mesh, Contact())
    crossing = {
        name: [each.motion.names[k] for k in range(0, len(each), step) if contact.intersects(each.shapes[k])]
        for name, each in hands.items()
    }
    assert not any(crossing.values()), crossing


def test_the_cut_end_of_the_hand_is_held(hands: dict[str, Examples]) -> None:
    low = hands["single"].rig.mesh.points[:, 1] < -38
    assert low.sum() > 50
    for pose, shape in list(hands["random"])[::6]:
        np.testing.assert_allclose(shape[low], hands["random"].rig.skin(pose)[low], atol=0.05)


def test_unseen_angles_reach_into_the_last_interval_of_every_range(hands: dict[str, Examples]) -> None:
    fitted, both = ranges_of(hands["single"]), ranges_of(hands["single"], hands["between"])
    assert len(fitted) == len(both) == 44
    for one, all_of in zip(fitted, both, strict=True):
        assert one.name == all_of.name
        last = (np.abs(all_of.degrees) > np.abs(one.degrees[-2])) & (np.abs(all_of.degrees) < np.abs(one.degrees[-1]))
        assert last.any()
        assert all_of.corrections.shape == (len(all_of.degrees), 6990, 3)


def test_jumps_are_steps_of_the_ranges() -> None:
    for name, steps in datasets.hand_jumps().items():
        assert name[-1] in "+-"
        for start, end in steps:
            assert abs(start) < abs(end)


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
