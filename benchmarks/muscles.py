"""Virtual muscles by number: the paper's arm, frames left out of a captured clip, what a fit and a played pose cost.

Run: uv run python benchmarks/muscles.py [--json] [--data FOLDER] [--only TABLE]
"""

from __future__ import annotations

import argparse
import os
import time
import tracemalloc
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rivals import DATA, frames
from timing import alternate, show

import posespace as ps
from posespace.datasets.bending_arm import true_shape
from posespace.evaluation.storage import stored_bytes
from posespace.fit.gram import gram_of
from posespace.fit.ica import independent_signals, principal_signals
from posespace.fit.residuals import point_residuals
from posespace.fit.weights.nearest_bone import on_nearest_bone
from posespace.geometry import rotations

Row = dict[str, object]
Array = NDArray[np.float64]


def rms(skin: ps.Skin, examples: ps.Examples) -> float:
    """Root mean square distance of the vertices from the truth, in the mesh's unit."""
    return float(np.sqrt((ps.evaluate(skin, examples).per_vertex.astype(np.float64) ** 2).mean()))


def arm() -> list[Row]:
    """The setting of the paper: 3,234 vertices, 100 frames; millimetres."""
    clip, (train, unseen) = ps.datasets.arm_clip(), ps.datasets.arm()
    ps.Muscles(2).fit(clip)  # Compiles what it needs.
    vertices, count = len(clip.rig.mesh.points), len(clip)
    rows: list[Row] = []
    for signals in (3, 5, 7, 10):
        start = time.perf_counter()
        skin = ps.Muscles(signals).fit(clip)
        seconds = time.perf_counter() - start
        rows.append(
            {
                "signals": signals,
                "numbers of A and S, % of the input": round(100 * (signals / count + signals / (3 * vertices)), 2),
                "bytes stored, % of the input in 32 bits": round(100 * stored_bytes(skin) / (12 * vertices * count), 2),
                "RMSE, mm": round(rms(skin, clip), 4),
                "RMSE of 20 frames left out, mm": round(rms(ps.Muscles(signals).fit(train), unseen), 4),
                "fit, s": round(seconds, 2),
            }
        )
    return rows


def captured(data: Path) -> list[Row]:
    """Blocks of frames left out of a captured clip: ICA and PCA of the same size, each vertex on its nearest bone."""
    _, train, unseen, _ = frames(data)
    rig = on_nearest_bone(train.rig)
    moves = point_residuals(ps.Examples(rig, train.motion, train.shapes)).values
    gram = gram_of(moves, np.arange(moves.shape[1], dtype=np.int32))
    flat = moves.reshape(len(moves), -1).astype(np.float64)
    rows: list[Row] = []
    for signals in range(1, 21):
        ica, pca = (rebuilt(flat, make(gram, signals)) for make in (independent_signals, principal_signals))
        skins = {kind: ps.Muscles(signals, kind=kind, bones="nearest").fit(train) for kind in ("ica", "pca")}
        scores = {kind: ps.evaluate(skin, unseen) for kind, skin in skins.items()}
        rows.append(
            {
                "signals": signals,
                "rebuilt, error over size": round(float(np.linalg.norm(ica - flat) / np.linalg.norm(flat)), 4),
                "ICA − PCA over size": f"{np.linalg.norm(ica - pca) / np.linalg.norm(flat):.0e}",
                "driven, ICA": round(scores["ica"].rel_err, 4),
                "driven, PCA": round(scores["pca"].rel_err, 4),
                "bytes per vertex": round(scores["ica"].bytes_per_vertex, 1),
            }
        )
    return rows


def rebuilt(moves: Array, signals: Array) -> Array:
    """The frames (P, 3N) as the signals give them."""
    return (moves.T @ np.linalg.pinv(signals) @ signals).T


def settings(data: Path) -> list[Row]:
    """Joints, segments, centres, bones: the captured clip and the simulated arm, relative error on left-out frames."""
    _, train, unseen, _ = frames(data)
    arm_train, arm_unseen = ps.datasets.arm()
    methods = {
        "defaults: signals and bones chosen, all joints": ps.Muscles(),
        "signals chosen, nearest bones": ps.Muscles(bones="nearest"),
        "signals chosen, blended bones": ps.Muscles(bones="weights"),
        "7 signals": ps.Muscles(7),
        "7 signals, 4 joints": ps.Muscles(7, 4),
        "7 signals, 4 joints, nearest bones": ps.Muscles(7, 4, bones="nearest"),
        "7 signals per bone": ps.Muscles(7, segments=True),
        "7 signals per bone, 4 joints": ps.Muscles(7, 4, segments=True),
        "10 signals": ps.Muscles(10),
        "10 signals, smoothing 0.001": ps.Muscles(10, smoothing=1e-3),
        "10 signals, 32 centres": ps.Muscles(10, centres=32),
        "10 signals, all frames as centres": ps.Muscles(10, centres=None),
    }
    rows: list[Row] = []
    for name, method in methods.items():
        skin = method.fit(train)
        score = ps.evaluate(skin, unseen)
        row: Row = {"settings": name, "dem-bones": round(score.rel_err, 4)}
        row["bytes per vertex"] = round(score.bytes_per_vertex, 1)
        row["signals"] = sum(layer.driver.components for layer in skin.layers)
        row["bones"] = skin.about.get("bones", "none")
        arm_skin = method.fit(arm_train)
        row["arm"] = round(ps.evaluate(arm_skin, arm_unseen).rel_err, 4)
        row["arm's signals"] = sum(layer.driver.components for layer in arm_skin.layers)
        row["arm's bones"] = arm_skin.about.get("bones", "none")
        rows.append(row)
    return rows


@dataclass(frozen=True, eq=False)
class Made:
    """Shapes of the bending arm, made when they are asked for, as a store would read them."""

    rig: ps.Rig
    angles: Array

    def __len__(self) -> int:
        return len(self.angles)

    def __getitem__(self, index: int, /) -> NDArray[np.float32]:
        return np.asarray(true_shape(self.rig.mesh.points, *self.angles[index]), dtype=np.float32)


def clip(vertices: int, count: int) -> ps.Examples:
    """A clip of the bending arm with about this many vertices, in which elbow and wrist swing independently."""
    rig = ps.datasets.bending_arm(rings=vertices // 40, sides=40)[0].rig
    phase = 2 * np.pi * np.arange(count) / 90
    swings = [np.radians(60) * (1 - np.cos(phase)), np.radians(90) * np.sin(phase * 2 / (1 + np.sqrt(5)))]
    angles = np.stack(swings, axis=1)
    turn = np.tile(rotations.IDENTITY, (count, 3, 1))
    turn[:, 1] = rotations.from_axis_angle((0.0, 0.0, 1.0), angles[:, 0])
    turn[:, 2] = rotations.from_axis_angle((1.0, 0.0, 0.0), angles[:, 1])
    return ps.Examples(rig, ps.Motion(turn), Made(rig, angles))


def cost() -> list[Row]:
    """Fit time and memory; reading is what it takes to make the frames alone."""
    rows: list[Row] = []
    for vertices, count in ((3_000, 1_000), (30_000, 250), (30_000, 1_000)):
        examples = clip(vertices, count)
        start = time.perf_counter()
        for index in range(count):
            examples.shapes[index]
        reading = time.perf_counter() - start
        start = time.perf_counter()
        ps.Muscles().fit(examples)
        seconds = time.perf_counter() - start
        tracemalloc.start()
        ps.Muscles().fit(examples)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        size = 12 * len(examples.rig.mesh.points) * count
        rows.append(
            {
                "vertices x frames": f"{len(examples.rig.mesh.points):,} x {count:,}",
                "reading, s": round(reading, 2),
                "fit with reading, s": round(seconds, 2),
                "peak memory, MB": round(peak / 1e6),
                "times the frames in 32 bits": round(peak / size, 2),
            }
        )
    return rows


def playing() -> list[Row]:
    """What the layer costs at run time, against the length of the clip; all take turns."""
    skins = {
        (count, centres): ps.Muscles(7, centres=centres, bones="nearest").fit(clip(1000, count))
        for count in (100, 300, 1000)
        for centres in (100, 0)
    }
    pose = clip(1000, 7).motion[5]
    calls = {
        f"{count} {centres}": (lambda s=skin: s.layers[0].driver.coordinates(pose, s.rig.skeleton))
        for (count, centres), skin in skins.items()
    }
    times = alternate(calls, rounds=200)
    return [
        {
            "frames": count,
            "µs, at most 100 centres": round(1e6 * times[f"{count} 100"].median, 1),
            "µs, all frames": round(1e6 * times[f"{count} 0"].median, 1),
            "bytes, at most 100 centres": stored_bytes(skins[count, 100]),
            "bytes, all frames": stored_bytes(skins[count, 0]),
        }
        for count in (100, 300, 1000)
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, one line a table")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("POSESPACE_DATA", DATA)))
    parser.add_argument("--only", help="one of: arm, captured, settings, cost, playing")
    given = parser.parse_args()
    tables = {"arm": arm, "cost": cost, "playing": playing}
    if (given.data / "meshseq-dembones").is_dir():
        tables |= {"captured": lambda: captured(given.data), "settings": lambda: settings(given.data)}
    for title, make in tables.items():
        if given.only not in (None, title):
            continue
        show(title, make(), given.json)


if __name__ == "__main__":
    main()
