"""The compiled players give the numbers of the reference, on every skin, and stay usable after bad input."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers.strategies import random_pose, random_rig, random_skin, seeds
from helpers.tolerances import POINTS, tolerances
from hypothesis import given, settings

import posespace as ps
from posespace.geometry.subdivision import fine_vertex_count
from posespace.interpolate.rbf import RBF
from posespace.rivals import rivals
from posespace.runtime.cpu import frame
from posespace.runtime.cpu.blocks import blocks_of
from posespace.runtime.cpu.player import CPUPlayer
from posespace.runtime.drive.tables import driver_tables
from posespace.runtime.player import Player
from posespace.skin.basis import PackedBasis

TRAIN, UNSEEN = ps.datasets.bending_arm()
HAND = ps.Skin(ps.datasets.hand()[0].rig)


METHODS = {
    "psd": ps.PSD(),
    "eigenskin": ps.EigenSkin(),
    "eigenskin 16": ps.EigenSkin(bits=16),
    "eigenskin 8": ps.EigenSkin(bits=8),
    "shared normals": ps.EigenSkin(normals="shared"),
    "separate normals": ps.EigenSkin(normals="separate", bits=16),
    **rivals(),
}


@cache
def fitted(name: str) -> ps.Skin:
    """The skin of a method, or of a rival, on the arm; one that is no skin skips its test."""
    if name == "dual quaternions, corrected":
        return replace(fitted("separate normals"), rig=replace(TRAIN.rig, blending="dual_quaternion"))
    found = METHODS[name].fit(TRAIN)
    if not isinstance(found, ps.Skin):
        pytest.skip(f"{name} is no skin")
    return found


def assert_same(skin: ps.Skin, player: Player, pose: ps.Pose) -> None:
    """Every vertex is where the reference has it, as far as single precision allows."""
    points, normals = player(pose)
    want, want_normals = skin.pose(pose)
    assert points.dtype == np.float32
    assert normals is not None
    allowed = tolerances(skin, pose)
    assert (np.linalg.norm(points - want, axis=1) <= allowed.points).all()
    assert (np.linalg.norm(normals - want_normals, axis=1) <= allowed.normals).all()


@pytest.mark.parametrize("name", [*METHODS, "dual quaternions, corrected"])
@pytest.mark.parametrize("threads", [1, 2])
def test_every_methods_skin_plays_as_the_reference(name: str, threads: int) -> None:
    skin = fitted(name)
    player = CPUPlayer(skin, threads=threads)
    for index in (0, len(UNSEEN) // 2, len(UNSEEN) - 1):
        assert_same(skin, player, UNSEEN.motion[index])


def test_a_mesh_of_many_blocks_plays_on_two_cores_as_on_one() -> None:
    single, random = ps.datasets.hand()
    skin = ps.EigenSkin(bits=16).fit(single[::4])
    one, two = (skin.compile(threads=count) for count in (1, 2))
    for index in range(3):
        assert_same(skin, two, random.motion[index])
        for a, b in zip(one(random.motion[index]), two(random.motion[index]), strict=True):
            assert a is not None
            np.testing.assert_array_equal(a, b)


@settings(max_examples=40)
@given(seeds)
def test_random_skins_play_as_the_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    skin = random_skin(rng)
    if rng.random() < 0.5:
        skin = replace(skin, detail=None)
    if rng.random() < 0.5:
        skin = skin.packed(int(rng.choice([8, 16, 32])))
    if rng.random() < 0.3:
        skin = replace(skin, rig=replace(skin.rig, blending="dual_quaternion"))
    player = skin.compile()
    for _ in range(2):
        assert_same(skin, player, random_pose(rng, skin.rig))


@pytest.mark.parametrize("threads", [1, 2])
def test_detail_of_a_well_shaped_surface_is_exact_at_every_vertex(threads: int) -> None:
    """No triangle of the arm is a sliver: so nothing excuses any vertex."""
    skin, mesh = fitted("eigenskin 16"), TRAIN.rig.mesh
    fine = fine_vertex_count(mesh.triangles, len(mesh.points), 1)
    heights = 0.002 * mesh.diagonal * np.random.default_rng(0).normal(size=(skin.layers[0].driver.components, fine))
    skin = replace(skin, detail=ps.Detail(1, skin.layers[0].driver, heights))
    player = skin.compile(threads=threads)
    for index in (0, len(UNSEEN) // 2, len(UNSEEN) - 1):
        points, normals = player(UNSEEN.motion[index])
        want, want_normals = skin.pose(UNSEEN.motion[index])
        assert np.abs(points - want).max() < POINTS * mesh.diagonal
        assert np.abs(normals - want_normals).max() < 5e-3


@settings(max_examples=30)
@given(seeds)
def test_driving_gives_the_references_coordinates(seed: int) -> None:
    rng = np.random.default_rng(seed)
    skin = random_skin(rng)
    pose = random_pose(rng, skin.rig)
    transforms, coordinates, *_ = skin.compile().drive(pose)
    want_transforms, want, *_ = skin.drive(pose)
    np.testing.assert_allclose(transforms, want_transforms, atol=1e-5 * np.abs(want_transforms).max())
    for found, expected in zip(coordinates, want, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-7 * (1 + np.abs(expected).max()))


@pytest.mark.parametrize("vertices", [1, 7, 8, 9, 16])
def test_meshes_of_few_vertices_and_odd_counts(vertices: int) -> None:
    rng = np.random.default_rng(vertices)
    rig = random_rig(rng, vertices=vertices)
    player = ps.Skin(rig).compile()
    assert_same(ps.Skin(rig), player, random_pose(rng, rig))


def test_unbound_vertices_and_empty_layers() -> None:
    rng = np.random.default_rng(0)
    rig = random_rig(rng)
    unbound = replace(rig, weights=np.zeros_like(rig.weights))
    space = ps.PoseSpace("controls", ("smile",))
    driver = ps.Driver(space, RBF("gaussian", 1.0).fit(np.array([[0.0], [1.0]]), np.eye(2), space.metric))
    none = ps.Layer("nothing", driver, np.zeros(0, np.int32), np.zeros((2, 0, 3)))
    for skin in (ps.Skin(unbound, (none,)), ps.Skin(unbound, (none.packed(16),)), ps.Skin(unbound)):
        assert_same(skin, skin.compile(), random_pose(rng, rig))


def test_a_mesh_whose_order_is_poor_is_put_in_another() -> None:
    single, random = ps.datasets.hand()
    skin = ps.EigenSkin(bits=16).fit(single[::4])
    shuffle = np.random.default_rng(0).permutation(len(skin.rig.mesh.points))
    place = np.argsort(shuffle)
    rig = replace(
        skin.rig,
        mesh=ps.Mesh(skin.rig.mesh.points[shuffle], place[skin.rig.mesh.triangles]),
        influences=skin.rig.influences[shuffle],
        weights=skin.rig.weights[shuffle],
    )
    mixed = ps.Skin(rig)
    player = mixed.compile()
    assert isinstance(player, CPUPlayer)
    assert not player.blocks.in_order
    assert_same(mixed, player, random.motion[0])
    plain = ps.Skin(skin.rig).compile()
    assert isinstance(plain, CPUPlayer)
    assert plain.blocks.in_order


def test_whole_number_sums_never_run_over() -> None:
    """Displacements as large as they can be stored, all of one sign, all at once."""
    rng = np.random.default_rng(1)
    rig = random_rig(rng, vertices=40)
    space = ps.PoseSpace("controls", ("smile",))
    columns = 24
    values = np.full((columns, 40, 3), 32767, np.int16).reshape(-1, 3)
    rows = np.tile(np.arange(40, dtype=np.uint16), columns)
    basis = PackedBasis(40, np.arange(columns + 1) * 40, rows, values, np.full(columns, 1e-6, np.float32))
    fitted = RBF("gaussian", 1.0).fit(np.array([[0.0], [1.0]]), np.ones((2, columns)), space.metric)
    skin = ps.Skin(rig, (ps.Layer("all", ps.Driver(space, fitted), np.arange(40, dtype=np.int32), basis),))
    assert_same(skin, skin.compile(), ps.Pose(rig.rest.rotations, controls={"smile": 1.0}))


@pytest.mark.parametrize("normals", [True, False])
@pytest.mark.parametrize("name", ["eigenskin 16", "separate normals", "dual quaternions, corrected"])
def test_many_poses_are_the_single_ones(name: str, normals: bool) -> None:
    skin, motion = fitted(name), UNSEEN.motion
    player = skin.compile(normals=normals)
    count = 0
    for (points, own), pose in zip(player.many(motion), motion, strict=True):
        want, want_normals = player(pose)
        np.testing.assert_array_equal(points, want)
        assert (own is None) == (not normals)
        if own is not None and want_normals is not None:
            np.testing.assert_array_equal(own, want_normals)
        count += 1
    assert count == len(motion)


def test_many_poses_fill_the_callers_arrays() -> None:
    skin, motion = fitted("eigenskin 16"), UNSEEN.motion
    player = skin.compile()
    points, normals = (np.zeros((len(motion), player.vertices, 3), np.float32) for _ in range(2))
    player.many(motion, points, normals)
    want, want_normals = player(motion[len(motion) - 1])
    np.testing.assert_array_equal(points[-1], want)
    np.testing.assert_array_equal(normals[-1], want_normals)


def test_a_frame_makes_no_arrays_and_a_batch_does_not_grow() -> None:
    motion = ps.datasets.hand()[1].motion
    player = HAND.compile()
    points, normals = (np.empty((player.vertices, 3), np.float32) for _ in range(2))
    player(motion[0], points, normals)
    pose = motion[1]
    assert _peak(lambda: player(pose, points, normals)) < 20_000
    short, long = (ps.Motion(np.resize(motion.rotations, (count, *motion.rotations.shape[1:]))) for count in (20, 200))
    peaks = [_peak(lambda m=m: [None for _ in player.many(m)]) for m in (short, long)]
    assert peaks[1] < 1.1 * peaks[0] + 50_000


def _peak(call: object) -> int:
    tracemalloc.start()
    call()  # type: ignore[operator]
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def test_rotations_alone_are_a_pose() -> None:
    pose = UNSEEN.motion[2]
    skin = fitted("eigenskin")
    points, normals = skin.compile()(pose.rotations)
    want, want_normals = skin.pose(ps.Pose(pose.rotations))
    np.testing.assert_allclose(points, want, atol=1e-5 * skin.rig.mesh.diagonal)
    np.testing.assert_allclose(normals, want_normals, atol=1e-3)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (np.tile([0.0, 0.0, 0.0, 1.0], (99, 1)), "expected 3 joints as in the rig, got 99"),
        (np.full((3, 4), np.nan), "finite"),
        (np.zeros((3, 4)), "nonzero length"),
        (np.zeros((3, 3)), "expected shape"),
        (TRAIN.motion, "play.many"),
        ("rest", "pose rotations"),
    ],
)
def test_bad_poses_raise_and_the_player_stays_usable(bad: object, words: str) -> None:
    skin = fitted("eigenskin 16")
    player = skin.compile()
    with pytest.raises(ps.InputError, match=words):
        player(bad)  # type: ignore[arg-type]
    assert_same(skin, player, UNSEEN.motion[0])


def test_quaternions_of_other_length_are_normalised_with_one_warning() -> None:
    skin = fitted("eigenskin")
    player, turn = skin.compile(), UNSEEN.motion[3].rotations
    with pytest.warns(UserWarning, match="not of unit length"):
        player(3.0 * turn)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        points, _ = player(3.0 * turn)
    np.testing.assert_allclose(points, player(turn)[0], atol=1e-6)


def test_an_unknown_control_is_warned_of_once() -> None:
    rng = np.random.default_rng(5)
    skin = random_skin(rng)
    player, pose = skin.compile(), random_pose(rng, skin.rig)
    wrong = replace(pose, controls={**pose.controls, "smle": 1.0})
    with pytest.warns(UserWarning, match="'smle' moves nothing in this skin; the closest is 'smile'"):
        player(wrong)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        player(wrong)


def test_bad_arrays_and_settings() -> None:
    player = HAND.compile(normals=False)
    pose, count = HAND.rig.rest, player.vertices
    assert player(pose)[1] is None
    for bad in (np.zeros((count, 3)), np.zeros((3, count), np.float32).T, np.zeros((2, 3), np.float32), [0.0]):
        with pytest.raises(ps.InputError, match="points: expected"):
            player(pose, bad)  # type: ignore[arg-type]
    with pytest.raises(ps.InputError, match="backend: expected"):
        HAND.compile("cuda")
    with pytest.raises(ps.InputError, match="threads: expected 1 to"):
        HAND.compile(threads=0)
    with pytest.raises(ps.InputError, match="threads: expected a whole number"):
        HAND.compile(threads=1.5)
    with pytest.raises(ps.InputError, match="option of the gpu player: expected"):
        HAND.compile("gpu", threads=1)
    one = np.zeros((count, 3), np.float32)
    with pytest.raises(ps.InputError, match="expected two arrays"):
        HAND.compile()(pose, one, one)
    with pytest.raises(ps.InputError, match="expected a Motion"):
        player.many(pose)  # type: ignore[arg-type]


def test_without_a_parallel_layer_one_core_plays(tmp_path: Path) -> None:
    text = """
import warnings, numpy as np, posespace as ps
skin = ps.Skin(ps.datasets.hand()[0].rig)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    player = skin.compile(threads=2)
assert player.threads == 1 and "one core is used" in str(seen[0].message), (player.threads, seen)
off = np.abs(player(skin.rig.rest)[0] - skin.pose(skin.rig.rest)[0]).max()
assert off < 1e-3, off
"""
    made = subprocess.run(
        [sys.executable, "-c", text],
        env={"PATH": "", "NUMBA_THREADING_LAYER": "tbb", "NUMBA_NUM_THREADS": "2", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not made.returncode, made.stderr


def test_the_compiled_code_is_kept_on_disk() -> None:
    HAND.compile(normals=False, threads=1)(HAND.rig.rest)
    assert _cache_files()


def _cache_files() -> list[Path]:
    folder = Path(frame.write_frames._cache.cache_path)  # type: ignore[attr-defined]
    return list(folder.glob("frame._write_frames-*.nbi"))


def test_playing_loads_nothing_of_the_fits() -> None:
    text = (
        "import sys, posespace as ps, numpy as np\n"
        "from posespace.runtime.cpu.player import CPUPlayer\n"
        "offline = ('posespace.fit', 'posespace.simulation', 'sklearn')\n"
        "bad = [name for name in sys.modules if name.startswith(offline)]\n"
        "assert not bad, bad"
    )
    made = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert not made.returncode, made.stderr


def test_bytes_are_those_of_the_tables() -> None:
    skin = fitted("eigenskin 16")
    player = skin.compile()
    assert isinstance(player, CPUPlayer)
    entries = len(player.blocks.points.columns)
    assert player.blocks.points.values.nbytes == entries * 2 * 3 * 8 * 2
    plain = blocks_of(ps.Skin(skin.rig), driver_tables(ps.Skin(skin.rig)))
    assert plain.nbytes < player.blocks.nbytes
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        player(UNSEEN.motion[0])
