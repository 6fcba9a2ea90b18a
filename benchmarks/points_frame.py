"""What a frame of control points takes: 49,000 and 196,000 vertices, 1,300 bones, against vectorised NumPy and SciPy.

Run: uv run python benchmarks/points_frame.py [--vertices 49000] [--bones 1300] [--skin hand.skin] [--processor]
[--json]
With --skin the fit is read from that file, or written to it where there is none. With --processor one core does the
work and the processor's time is taken, not the clock's: for a machine that others use too.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from timing import show

import posespace as ps
from posespace.bench.copying import copy
from posespace.bench.timing import alternate
from posespace.check import Floats
from posespace.geometry import rotations
from posespace.geometry.subdivision import levels_of
from posespace.poses.control_points import motion_from_shapes
from posespace.runtime.cpu.player import CPUPlayer
from posespace.skin.bones.learned import learned_bones


class InNumPy:
    """The same model in NumPy and SciPy, vectorised: sparse products where they are sparse, single precision."""

    def __init__(self, skin: ps.Skin) -> None:
        bones, detail = learned_bones(skin.bones, "skin"), skin.detail
        assert detail is not None
        self.skin, self.bones, self.detail = skin, bones, detail
        influences, weights, count = skin.binding
        rows = np.repeat(np.arange(len(weights)), weights.shape[1])
        self.weights = csr_array((weights.ravel(), (rows, influences.ravel())), shape=(len(weights), count))
        places = bones.positions(skin.rig.mesh)
        row = np.repeat(np.arange(count), np.diff(places.starts))
        self.levers = [
            csr_array((axis.astype(np.float32), (row, places.columns)), shape=(count, count))
            for axis in places.levers.T
        ]
        self.inverse, self.drawn = places.inverse.astype(np.float32), places.pulls.astype(np.float32)
        self.rest = skin.rig.mesh.points.astype(np.float32)
        (self.level,) = levels_of(skin.rig.mesh.triangles, len(self.rest), 1)
        self.triangles = self.level.triangles
        around = np.repeat(np.arange(len(self.triangles)), 3)
        ones = np.ones(len(around), np.float32)
        shape = (len(skin.mesh.points), len(self.triangles))
        self.fans = csr_array((ones, (self.triangles.ravel(), around)), shape=shape)
        self.corrections = np.asarray(bones.corrections, dtype=np.float32)
        self.heights = detail.heights.astype(np.float32)

    def __call__(self, pose: ps.Pose) -> tuple[Floats, Floats]:
        """Return the fine points and normals."""
        bones = self.bones
        seen, turn, shift = self.skin.aligned(pose)
        shifts = seen.translations[1:].astype(np.float32)
        quaternions, amounts = bones.predict(shifts)
        turns = rotations.matrices(quaternions).astype(np.float32)
        changed = turns - np.eye(3, dtype=np.float32)
        asked = sum(lever @ changed[:, :, axis] for axis, lever in enumerate(self.levers)) + self.drawn @ shifts
        centres = (bones.centres + self.inverse @ asked) @ turn.T + shift
        linear = turn @ turns
        moved = np.concatenate([linear, (centres - np.einsum("bij,bj->bi", linear, bones.centres))[..., None]], axis=2)
        blend = (self.weights @ moved.reshape(-1, 12).astype(np.float32)).reshape(-1, 3, 4)
        each = self.weights @ amounts.astype(np.float32)
        rest = self.rest + np.einsum("nk,knx->nx", each[:, : bones.correction_count], self.corrections)
        coarse = np.einsum("nij,nj->ni", blend[..., :3], rest) + blend[..., 3]
        fine = self.level.refine(coarse)
        shares = self.level.refine(each[:, bones.correction_count :])
        points = fine + np.einsum("fc,cf->f", shares, self.heights)[:, None] * self.normals(fine)
        return points, self.normals(points)

    def normals(self, points: Floats) -> Floats:
        """Unit normals of the fine surface."""
        a, b, c = (points[self.triangles[:, k]] for k in range(3))
        sums = self.fans @ np.cross(b - a, c - a)
        return np.asarray(sums / np.linalg.norm(sums, axis=1, keepdims=True))


def fitted(vertices: int, bones: int, file: Path | None) -> tuple[ps.Skin, ps.Motion]:
    """The skin of hand one, and the poses of its examples."""
    hand = ps.datasets.scanned_hand(1, "spanning", vertices)
    examples = ps.Examples(hand.examples.rig, hand.examples.motion, hand.examples.shapes, hand.heights, 1)
    if file is not None and file.exists():
        skin = ps.Skin.load(file)
    else:
        skin = ps.ControlPoints(bones=bones).fit(examples)
        if file is not None:
            skin.save(file)
    return skin, motion_from_shapes(examples, skin.rig, skin.bones.points)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vertices", type=int, default=49_000)
    parser.add_argument("--bones", type=int, default=1300)
    parser.add_argument("--skin", type=Path)
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    skin, motion = fitted(given.vertices, given.bones, given.skin)
    pose = motion[5]
    threads, clock = (1, time.process_time) if given.processor else (None, time.perf_counter)
    rivals = {f"{bits} bits": skin.packed(bits).compile(threads=threads) for bits in (32, 16, 8)}
    numpy = InNumPy(skin)
    out = np.empty((len(skin.mesh.points), 3), np.float32), np.empty((len(skin.mesh.points), 3), np.float32)
    want = skin.pose(pose)[0]
    off = {name: float(np.linalg.norm(play(pose, *out)[0] - want, axis=1).max()) for name, play in rivals.items()}
    off["NumPy and SciPy"] = float(np.linalg.norm(numpy(pose)[0] - want, axis=1).max())
    bare = ps.Skin(skin.rig, bones=skin.bones).compile(threads=1)
    clip = motion[np.arange(14)]
    work = {
        "NumPy and SciPy": lambda: numpy(pose),
        **{name: lambda play=play: play(pose, *out) for name, play in rivals.items()},
        "bones and corrections alone, 32 bits, one core": lambda: bare(pose),
        "a take of 14, per frame": lambda: [None for _ in rivals["16 bits"].many(clip)],
    }
    source, target = np.zeros(25_000_000), np.zeros(25_000_000)
    timings = alternate({**work, "copying": lambda: copy(source, target)}, clock=clock)
    copied = 2 * source.nbytes / timings.pop("copying").median
    rows = []
    for name, timing in timings.items():
        seconds = timing.median / (14 if "take" in name else 1)
        row = {"frame": name, "ms": round(1e3 * seconds, 2)}
        row["faster than NumPy"] = round(timings["NumPy and SciPy"].median / seconds, 1)
        play = rivals.get(name)
        if isinstance(play, CPUPlayer):
            row["MB a frame"] = round(play.nbytes / 1e6, 1)
            row["of the memory bandwidth"] = f"{play.nbytes / seconds / copied:.0%}"
        if name in off:
            row["largest error, µm"] = round(1000 * off[name], 2)
        rows.append(row)
    title = f"{len(skin.rig.mesh.points)} and {len(skin.mesh.points)} vertices, {len(numpy.bones)} bones, "
    title += (
        f"{rivals['16 bits'].threads} cores{' (processor time)' * given.processor}, copying {copied / 1e9:.1f} GB/s"
    )
    show(title, rows, given.json)


if __name__ == "__main__":
    main()
