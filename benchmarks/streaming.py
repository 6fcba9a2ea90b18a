"""Data larger than memory: a store of gigabytes fitted within a limit, with one worker, with two, and with one killed.

The store is made once in FOLDER: copies of the built-in arm side by side, moved by its own skin, in random poses.
Run on an idle machine: uv run python benchmarks/streaming.py FOLDER [--gigabytes 8] [--memory 2] [--workers-only]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from timing import show

import posespace as ps
from posespace.formats.store.example_store import ExampleStore
from posespace.progress import track

COPIES = 32
METHODS = {"EigenSkin": ps.EigenSkin(), "Muscles": ps.Muscles(bones="weights")}


def many_arms(clip: ps.Examples, copies: int) -> ps.Rig:
    """A rig of arms side by side on one skeleton."""
    rig, size = clip.rig, np.ptp(clip.rig.mesh.points, axis=0)
    count, points = len(rig.mesh.points), np.asarray(rig.mesh.points, dtype=np.float64)
    rest = np.concatenate([points + np.array([0.0, 0.0, 1.5 * k * size[2]]) for k in range(copies)])
    triangles = np.concatenate([rig.mesh.triangles + k * count for k in range(copies)])
    influences, weights = (np.tile(each, (copies, 1)) for each in (rig.influences, rig.weights))
    return ps.Rig(ps.Mesh(rest, triangles), rig.skeleton, influences, weights, rig.inverse_bind)


def make(path: Path, poses: int, copies: int) -> None:
    """Write a store of random poses of the arm, within the range of its clip."""
    clip = ps.datasets.arm_clip()
    rig, skin = many_arms(clip, copies), ps.Muscles(signals=7).fit(clip)
    angles = rig.skeleton.angles(clip.motion.rotations)
    low, high = angles.min(axis=0), angles.max(axis=0)
    drawn = np.random.default_rng(5).uniform(low, high, (poses, *low.shape))
    motion = ps.Motion(rig.skeleton.rotations(drawn))
    store = ExampleStore.create(path, rig, motion)
    for index in track(range(poses), "making shapes"):
        pose = motion[index]
        moved, _ = clip.rig.residual(pose, skin.pose(pose)[0])
        store.write(index, rig.skin(pose, np.tile(moved, (copies, 1))))


def limited(path: Path, method: str, memory: int, workers: int, threads: int | None = None) -> dict[str, object]:
    """Fit in a process of its own that may not hold more than `memory` GB, and return what it says."""
    command = [sys.executable, __file__, "--child", str(path), method, str(memory), str(workers)]
    pinned = dict.fromkeys(("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), str(threads))
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | (pinned if threads else {})
    )
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1]}
    found: dict[str, object] = json.loads(done.stdout)
    return found


def child(path: Path, method: str, memory: int, workers: int) -> None:
    """Fit within a limit, warmed up on a few poses so that compiling does not count."""
    if workers == 1:
        resource.setrlimit(resource.RLIMIT_DATA, (memory * 10**9, memory * 10**9))
    examples = ps.Examples.open(path)
    METHODS[method].fit(examples[:40])
    start = time.perf_counter()
    resources = ps.Resources(f"{memory * 250}MB", workers)
    skin = METHODS[method].fit(examples, resources)
    seconds = time.perf_counter() - start
    some = examples[:: max(1, len(examples) // 20)]
    size = len(examples) * len(examples.rig.mesh.points)
    row = {
        "poses": len(examples),
        "vertices": len(examples.rig.mesh.points),
        "GB": round(12e-9 * size, 2),
        "seconds": round(seconds, 1),
        "ns per vertex and pose": round(1e9 * seconds / size, 2),
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000,
        "error on 20 of its poses": round(ps.evaluate(skin, some).rel_err, 4),
        "sum": float(np.abs(skin.pose(examples.motion[0])[0]).sum()),
    }
    print(json.dumps(row))


def killed(path: Path, method: str) -> dict[str, object]:
    """Fit with two workers and kill one of them in the middle of a pass."""
    command = [sys.executable, __file__, "--child", str(path), method, "2", "2"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    while not (workers := _workers()) and running.poll() is None:
        time.sleep(0.5)
    time.sleep(10)
    if workers:
        os.kill(workers[-1], signal.SIGKILL)
    out, _ = running.communicate()
    return {"killed": len(workers[-1:]), **json.loads(out)}


def _workers() -> list[int]:
    """The processes of a local cluster."""
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if "spawn_main" in line]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gigabytes", type=float, default=8.0)
    parser.add_argument("--memory", type=int, default=2)
    parser.add_argument("--workers-only", action="store_true", help="leave out the fits of one process")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    vertices = COPIES * len(ps.datasets.arm_clip().rig.mesh.points)
    poses = int(np.ceil(given.gigabytes * 1e9 / 12 / vertices))
    large, small = given.folder / "large.examples", given.folder / "small.examples"
    for path, count, copies in ((small, poses // 10, COPIES // 4), (large, poses, COPIES)):
        if not path.exists():
            make(path, count, copies)
    if not given.workers_only:
        rows = [{"fit": name, **limited(path, name, given.memory, 1)} for name in METHODS for path in (small, large)]
        show(f"within {given.memory} GB", rows, given.json)
    # As many threads in all as there are workers.
    rows = [{"workers": count, **limited(large, "EigenSkin", given.memory, count, 1)} for count in (1, 2)]
    rows.append({"workers": 2, **killed(large, "EigenSkin")})
    show("processes of one thread each", rows, given.json)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        main()
