"""Clips and their frames: chosen by name, sampled at which times, and how much a file may ask for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.gltf_files import Builder, animate, skinned
from helpers.usd_files import arm
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import posespace as ps
from posespace.budget import FRAME_NUMBERS
from posespace.formats.frames import Clip, frames_of
from posespace.geometry import rotations

Array = NDArray[np.float64]
SPARSE = [0.0, 0.4, 1.1, 2.0]


def spec(kind: str, times: Array, values: Array, at: float, is_rotation: bool = False) -> Array:
    """One value of a sampler as section 3.11 and appendix C of the glTF specification have it, written out plainly."""
    count = len(times)
    if at <= times[0] or at >= times[-1]:
        end = 0 if at <= times[0] else count - 1
        return values[3 * end + 1] if kind == "CUBICSPLINE" else values[end]
    k = max(key for key in range(count) if times[key] <= at)
    span = times[k + 1] - times[k]
    t = (at - times[k]) / span
    if kind == "STEP":
        return values[k]
    if kind == "CUBICSPLINE":
        value, leaving, arriving, following = values[3 * k + 1], values[3 * k + 2], values[3 * k + 3], values[3 * k + 4]
        curve = (2 * t**3 - 3 * t**2 + 1) * value + span * (t**3 - 2 * t**2 + t) * leaving
        curve = curve + (-2 * t**3 + 3 * t**2) * following + span * (t**3 - t**2) * arriving
        return curve / np.linalg.norm(curve) if is_rotation else curve
    if is_rotation:
        dot = values[k] @ values[k + 1]
        angle = np.arccos(min(1.0, abs(dot)))
        other = np.sign(dot) * values[k + 1]
        return (np.sin((1 - t) * angle) * values[k] + np.sin(t * angle) * other) / np.sin(angle)
    return (1 - t) * values[k] + t * values[k + 1]


def made_with(kind: str) -> tuple[Builder, Array, Array]:
    """A skinned triangle with sparse keys of one kind, and the keys' turns and places."""
    rng = np.random.default_rng(3)
    each = 3 if kind == "CUBICSPLINE" else 1
    turns = rng.normal(size=(each * len(SPARSE), 4))
    if kind == "CUBICSPLINE":
        turns[1::3] /= np.linalg.norm(turns[1::3], axis=1, keepdims=True)
    else:
        turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    places = rng.normal(size=(each * len(SPARSE), 3))
    made = skinned()
    animate(made, (1, "rotation", kind, SPARSE, made.add(turns)), (2, "translation", kind, SPARSE, made.add(places)))
    return made, turns, places


@pytest.mark.parametrize("kind", ["STEP", "LINEAR", "CUBICSPLINE"])
@pytest.mark.parametrize("rate", [None, 12.0, 37.0])
def test_sparse_keys_are_sampled_as_the_specification_says(tmp_path: Path, kind: str, rate: float | None) -> None:
    made, turns, places = made_with(kind)
    motion = ps.load_motion(made.write(tmp_path), rate=rate)
    keys = np.float32(SPARSE).astype(np.float64)
    assert len(motion) == {None: 61, 12.0: 25, 37.0: 75}[rate]
    for at, turn, shift in zip(motion.times, motion.rotations[:, 0], motion.translations[:, 1], strict=True):
        expected = spec(kind, keys, turns, at, is_rotation=True)
        assert abs(turn @ expected) == pytest.approx(1, abs=1e-9)
        assert shift + np.array([1, 0, 0]) == pytest.approx(spec(kind, keys, places, at), abs=1e-6)


def test_curves_of_morph_weights_are_sampled(tmp_path: Path) -> None:
    made = skinned()
    made.json["meshes"][0]["primitives"][0]["targets"] = [{"POSITION": made.add([[0, 0, 1]] * 3)}]
    values = [0, 0, 3, 0, 1, 0]  # leaves at 3 per second, arrives level
    animate(made, (0, "weights", "CUBICSPLINE", [0, 1], made.add(values)))
    motion = ps.load_motion(made.write(tmp_path), rate=4)
    expected = [spec("CUBICSPLINE", np.array([0.0, 1.0]), np.array(values, float), at) for at in motion.times]
    assert motion.times.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert motion.controls[:, 0] == pytest.approx(expected)


def test_a_curve_through_zero_keeps_a_rotation(tmp_path: Path) -> None:
    made = skinned()
    still = [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, -1], [0, 0, 0, 0]]
    animate(made, (1, "rotation", "CUBICSPLINE", [0, 1], made.add(still)))
    assert np.abs(ps.load_motion(made.write(tmp_path)).rotations[:, 0, 3]) == pytest.approx(1)


def test_the_khronos_morph_sample_is_linear_between_its_keys(data: Path) -> None:
    path = data / "gltf-khronos/SimpleMorph.gltf"
    motion, keys = ps.load_motion(path), ps.load_motion(path, rate="keys")
    assert ps.clips(path)["animation 0"] == Clip("animation 0", 4.0, 5, 121, 30.0)
    for column in range(2):
        assert motion.controls[:, column] == pytest.approx(
            np.interp(motion.times, keys.times, keys.controls[:, column])
        )


@pytest.mark.parametrize(
    "name", ["gltf-khronos/CesiumMan.glb", "humanoid-rocketbox/Female_Adult_01_cheer_03.glb", "usdskel/HIK_Export.usda"]
)
def test_dense_keys_of_real_clips_are_the_frames(data: Path, name: str) -> None:
    motion, keys = ps.load_motion(data / name), ps.load_motion(data / name, rate="keys")
    assert np.array_equal(motion.times, keys.times)
    assert np.array_equal(motion.rotations, keys.rotations)


@given(
    gaps=st.lists(st.integers(1, 40), min_size=1, max_size=8),
    per=st.sampled_from([24, 25, 30, 60]),
    start=st.floats(0, 100),
)
def test_keys_on_the_frames_of_a_usual_rate_stay_frames(gaps: list[int], per: int, start: float) -> None:
    keys = np.float32(start + np.concatenate([[0], np.cumsum(gaps)]) / per).astype(np.float64)
    frames = frames_of(keys, None, 1, "clip")
    times = frames.times
    assert len(times) == frames.count
    assert set(keys) <= set(times)
    assert np.diff(times).max() <= 1 / 23.9


@given(
    keys=st.lists(st.floats(0, 50, width=32), min_size=2, max_size=8, unique=True).map(sorted),
    rate=st.none() | st.floats(0.5, 200),
)
def test_frames_run_from_the_first_key_to_the_last_without_a_gap(keys: list[float], rate: float | None) -> None:
    frames = frames_of(np.array(keys), rate, 1, "clip")
    times = frames.times
    assert len(times) == frames.count
    assert (times[0], times[-1]) == (keys[0], keys[-1])
    assert (np.diff(times) > 0).all()
    assert np.diff(times).max() <= 1.05 / (rate or 23.9)


def test_time_samples_of_usd_are_linear_between(parse) -> None:
    motion, keys = (parse(arm(), rate=rate).motions["Wave"] for rate in (None, "keys"))
    assert (len(motion), len(keys)) == (61, 3)
    half = motion[15]
    assert motion.times[15] == pytest.approx(1.5)
    turn = rotations.angles_between(half.rotations[1], keys.rotations[0, 1])
    assert turn == pytest.approx(np.pi / 2)
    assert half.translations[1] == pytest.approx([0.25, 0, 0])


@pytest.fixture
def parse(tmp_path: Path):
    from helpers.usd_files import reader_in

    return reader_in(tmp_path)


BVH = """HIERARCHY
ROOT hip
{
OFFSET 0 0 0
CHANNELS 3 Zrotation Xrotation Yrotation
}
MOTION
Frames: 3
Frame Time: 0.5
0 0 0
90 0 0
90 0 0
"""


def test_frames_of_bvh_are_its_own_unless_a_rate_is_given(tmp_path: Path) -> None:
    path = tmp_path / "nod.bvh"
    path.write_text(BVH)
    assert ps.load_motion(path).times.tolist() == [0, 0.5, 1]
    assert ps.clips(path)["nod"].rate == 2
    motion = ps.load_motion(path, rate=4)
    assert motion.times.tolist() == [0, 0.25, 0.5, 0.75, 1]
    angles = rotations.angles_between(motion.rotations[:, 0], rotations.IDENTITY)
    assert np.rad2deg(angles) == pytest.approx([0, 45, 90, 90, 90])


@pytest.mark.parametrize("end", [1e9, 1e30])
def test_keys_too_far_apart_are_read_alone_and_a_rate_for_them_is_refused(tmp_path: Path, end: float) -> None:
    made = skinned()
    animate(made, (2, "translation", "LINEAR", [0, end], made.add([[1, 0, 0], [4, 2, 0]])))
    path = made.write(tmp_path)
    said: list[str] = []
    assert len(ps.load_motion(path, note=said.append)) == 2
    assert said == [f"{path}: 'animation 0' has 2 keys, too far apart to make frames between them: they alone are read"]
    with pytest.raises(ps.FileError, match=r"rate 30: .* too many; give a lower rate, or 'keys' for its 2 keys"):
        ps.load_motion(path, rate=30)


def test_times_that_overflow_are_refused_in_one_line(tmp_path: Path, parse) -> None:
    path = tmp_path / "nod.bvh"
    for seconds in ("1e307", "1e308"):
        path.write_text(BVH.replace("0.5", seconds))
        with pytest.raises(ps.FileError, match=r"rate 30: .* too many|expected finite numbers"):
            ps.load_motion(path, rate=30)
    samples = "{ -1e308: [(1, 0, 0, 0)], 1e308: [(1, 0, 0, 0)] }"
    wave = f'uniform token[] joints = ["a"]\n quatf[] rotations.timeSamples = {samples}\n'
    assert len(parse(arm(wave=wave), rate=None).motions["Wave"]) == 2


def test_many_long_clips_take_no_more_than_one_may(tmp_path: Path) -> None:
    made = skinned()
    animate(made, (2, "translation", "LINEAR", [0, 5_000], made.add([[1, 0, 0], [4, 2, 0]])))
    made.json["animations"] *= 200
    motions = made.read(tmp_path, rate=None).motions.values()
    assert sum(motion.rotations.size + motion.translations.size for motion in motions) < FRAME_NUMBERS.any_file
    assert {len(motion) for motion in motions} == {150_001, 2}


@pytest.mark.parametrize("rate", [0, -1, 1e9, float("nan"), "fast", True])
def test_a_rate_is_frames_per_second_or_keys(tmp_path: Path, rate: object) -> None:
    path = tmp_path / "nod.bvh"
    path.write_text(BVH)
    with pytest.raises(ps.InputError, match="rate: expected"):
        ps.load_motion(path, rate=rate)  # type: ignore[arg-type]


def test_clips_are_listed_and_chosen_by_name(data: Path) -> None:
    path = data / "humanoid-kaykit-knight/Knight.glb"
    found = ps.clips(path)
    assert len(found) == 76
    assert found["Cheer"] == Clip("Cheer", 1.666667, keys=51, poses=51, rate=30.0)
    assert len(ps.load_motion(path, clip="Cheer")) == 51
    said: list[str] = []
    assert len(ps.load_motion(path, note=said.append)) == found["1H_Melee_Attack_Chop"].poses
    assert said == [f"{path}: holds 76 clips; the first, '1H_Melee_Attack_Chop', is taken: choose another with `clip`"]
    with pytest.raises(ps.FileError, match="holds no clip 'Cheers' among its 76; the closest is 'Cheer'"):
        ps.load_motion(path, clip="Cheers")


def test_poses_have_no_clips(tmp_path: Path) -> None:
    path = tmp_path / "poses.json"
    path.write_text("{}")
    skeleton = ps.Skeleton.from_world(["a"], [-1], np.eye(4)[None])
    for ask in (lambda: ps.clips(path), lambda: ps.load_motion(path, skeleton, "walk")):
        with pytest.raises(ps.FileError, match="holds poses and no clips"):
            ask()
