"""A player that others get at: threads that share it, clones, forked processes, and files that change under it."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers.strategies import random_pose, random_skin

import posespace as ps
from posespace.runtime.cpu.player import CPUPlayer
from posespace.runtime.player import Player

TRAIN, UNSEEN = ps.datasets.bending_arm()


@cache
def skins() -> dict[str, ps.Skin]:
    corrected = ps.EigenSkin(normals="separate", bits=16).fit(TRAIN)
    dual = replace(corrected, rig=replace(TRAIN.rig, blending="dual_quaternion"))
    return {"surface": ps.EigenSkin().fit(TRAIN), "corrected": corrected, "dual": dual}


def wrong_frames(player: Player, skin: ps.Skin, first: int, frames: int = 60) -> int:
    """How many frames of a player differ from the reference, a few poses over and over."""
    size = 1e-4 * skin.rig.mesh.diagonal
    wanted = [(UNSEEN.motion[k], *skin.pose(UNSEEN.motion[k])) for k in range(first, first + 3)]
    wrong = 0
    for k in range(frames):
        pose, want, want_normals = wanted[k % 3]
        points, normals = player(pose)
        assert normals is not None
        off = np.linalg.norm(normals - want_normals, axis=1)
        wrong += bool(np.abs(points - want).max() > size or np.percentile(off, 95) > 1e-3)
    return wrong


@pytest.mark.parametrize("name", ["surface", "corrected", "dual"])
@pytest.mark.parametrize("own", [False, True])
def test_threads_that_share_a_player_or_have_a_clone_get_the_references_frames(name: str, own: bool) -> None:
    skin = skins()[name]
    player = skin.compile(threads=1)
    used = [player.clone() if own else player for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        found = pool.map(lambda k: wrong_frames(used[k], skin, 3 * k), range(3))
        assert list(found) == [0, 0, 0]


def test_clones_play_on_several_cores_in_several_threads() -> None:
    skin = skins()["surface"]
    player = skin.compile(threads=2)
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda k: wrong_frames(player.clone(), skin, 3 * k, 20), range(2))
        assert list(found) == [0, 0]


def test_a_clone_shares_the_tables_and_not_what_it_works_in() -> None:
    skin = random_skin(np.random.default_rng(2))
    player = skin.compile()
    assert isinstance(player, CPUPlayer)
    clone = player.clone()
    assert clone.blocks is player.blocks
    rng = np.random.default_rng(1)
    pose, other = random_pose(rng, skin.rig), random_pose(rng, skin.rig)
    motion = ps.Motion.from_poses([pose, other])
    want = [points.copy() for points, _ in player.many(motion)]
    stream, mixed = player.many(motion), clone.many(motion)
    for expected in want:
        np.testing.assert_array_equal(next(stream)[0], expected)
        clone(other)
        np.testing.assert_array_equal(next(mixed)[0], expected)
        player(pose)


def run(text: str) -> str:
    """What a program of its own prints; it must end well."""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert not done.returncode, (done.returncode, done.stderr)
    return done.stdout.strip()


FORKED = """
import os, warnings
import numpy as np, posespace as ps
from posespace.runtime.cpu.player import CPUPlayer
train, unseen = ps.datasets.bending_arm()
skin = ps.EigenSkin().fit(train)
play = skin.compile(threads=2)
pose, motion = unseen.motion[0], unseen.motion[:3]
want, many = play(pose), [points.copy() for points, _ in play.many(motion)]
child = os.fork()
if child == 0:
    same = all(np.array_equal(a, b) for a, b in zip(play(pose), want))
    same &= all(np.array_equal(a, b) for (a, _), b in zip(play.many(motion), many))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        new = skin.compile(threads=2)
    same &= np.array_equal(new(pose)[0], want[0]) and play.threads == new.threads == 1
    os._exit(0 if same and "forked" in str(said[0].message) else 3)
status = os.waitpid(child, 0)[1]
print(status, play.threads, np.array_equal(play(pose)[0], want[0]))
"""


def test_a_forked_process_plays_on_one_core_and_its_parent_on_several() -> None:
    assert run(FORKED) == "0 2 True"


HELD = """
import os, numpy as np, posespace as ps
rig = ps.datasets.bending_arm()[0].rig
play = ps.Skin(rig).compile(threads=1)
want = play(rig.rest)[0]
with play._lock:
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(play(rig.rest)[0], want) else 3)
    print(os.waitpid(child, 0)[1])
"""


def test_a_fork_while_another_thread_plays_leaves_no_lock_behind() -> None:
    assert run(HELD) == "0"


CHANGED = """
import os, sys, numpy as np, posespace as ps
path = sys.argv[1]
skin = ps.Skin.load(path)
pose = skin.rig.rest
wanted, play = skin.pose(pose), skin.compile()
size = os.path.getsize(path)
with open(path, "r+b") as file:
    file.seek(int(sys.argv[2]))
    file.write(b"\\x7f" * (size - int(sys.argv[2])))
assert all(np.array_equal(a, b) for a, b in zip(skin.pose(pose), wanted))
play(pose)
os.truncate(path, 100)
assert all(np.array_equal(a, b) for a, b in zip(skin.pose(pose), wanted))
play(pose)
skin.compile()(pose)
"""


@pytest.mark.parametrize("name", ["surface", "dual"])
def test_a_skin_file_that_changes_after_loading_changes_nothing(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.skin"
    skins()[name].save(path)
    data = 8 + struct.unpack("<Q", path.read_bytes()[:8])[0]
    command = [sys.executable, "-c", CHANGED, str(path), str(data)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode, (done.returncode, done.stderr)


def test_a_store_whose_rig_changes_after_opening_leaves_players_whole(tmp_path: Path) -> None:
    TRAIN[:3].save(tmp_path / "a.examples")
    rig = ps.Examples.open(tmp_path / "a.examples").rig
    want = rig.skin(rig.rest)
    for chunk in (tmp_path / "a.examples" / "rig").glob("*/c/**/*"):
        if chunk.is_file():
            os.truncate(chunk, 0)
    np.testing.assert_array_equal(rig.skin(rig.rest), want)
    ps.Skin(rig).compile()(rig.rest)


def test_indices_that_a_caller_changes_are_refused_when_compiling() -> None:
    influences = np.array(TRAIN.rig.influences)
    rig = replace(TRAIN.rig, influences=influences)
    influences[5, 0] = 1_000_000
    with pytest.raises(ps.InputError, match="bones' influences: expected indices from 0 to 2, got 1000000"):
        ps.Skin(rig).compile()


def test_the_sizes_of_a_pose_that_the_reference_refuses_are_refused_by_players() -> None:
    skin = skins()["surface"]
    rig = skin.rig
    frames = np.array(rig.skeleton.local_frames)
    frames[:, :3, :3] *= 100.0
    wide = replace(rig, skeleton=replace(rig.skeleton, local_frames=frames), inverse_bind=None)
    far = ps.Pose(rig.rest.rotations, np.full((3, 3), 9e9))
    stretched = ps.Skin(wide)
    player = stretched.compile()
    with pytest.raises(ps.InputError, match="bone transforms: expected numbers from"):
        stretched.pose(far)
    with pytest.raises(ps.InputError, match="bone transforms and coordinates from"):
        player(far)
    with pytest.raises(ps.InputError, match="bone transforms and coordinates from"):
        list(player.many(ps.Motion.from_poses([wide.rest, far])))
    assert np.isfinite(player(wide.rest)[0]).all()
