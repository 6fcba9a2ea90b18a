"""The tables of `posespace bench`: rivals are timed alternately in one run, and the ratios of their medians count."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

from posespace.bench import peers, subjects
from posespace.bench.timing import Timing, alternate
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.runtime.cpu.player import CPUPlayer
from posespace.runtime.player import Player
from posespace.skin.skin import Skin

Row = dict[str, Any]

_CORES: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]

COPIES = 36
"""Hands side by side: 27,954 vertices each, a million altogether."""


def skinning(copies: int = 1) -> list[Row]:
    """Plain skinning of the hand, or of many, against the peers."""
    hand, motion = subjects.fitted_hand()
    skin = subjects.plain(subjects.side_by_side(subjects.plain(hand), copies))
    pose = motion[3]
    player = CPUPlayer(skin, normals=False)
    other = CPUPlayer(skin, normals=False, threads=1 if player.threads > 1 else _CORES)
    rivals: dict[str, Callable[[], Any]] = {
        "posespace": _frame(player, pose),
        f"posespace on {other.threads} of {_CORES} cores": _frame(other, pose),
    }
    rivals["NumPy einsum"] = peers.einsum(skin.rig, pose)
    for name, peer in (("UsdSkel.SkinPointsLBS", peers.usd), ("igl.lbs_matrix", peers.igl)):
        if (call := peer(skin.rig, pose)) is not None:
            rivals[name] = call
    _agree(rivals, 1e-5 * skin.rig.mesh.diagonal)
    times = alternate(rivals, rounds=9 if copies > 1 else 15, calls=1 if copies > 1 else 20)
    return [_row(f"{len(skin.rig.mesh.points):,} vertices, {name}", times, name, "posespace") for name in rivals]


def corrections(copies: int = 1, cores: int = 1) -> list[Row]:
    """The hand's EigenSkin, and ten full entries at every vertex, against plain skinning by the same player."""
    hand, motion = subjects.fitted_hand()
    many = subjects.side_by_side(hand, copies)
    skins = {
        "plain skinning": subjects.plain(many),
        "EigenSkin, 16 bits": many,
        "ten full entries, 16 bits": subjects.full(many.rig, 10),
    }
    players = {name: CPUPlayer(skin, normals=False, threads=cores) for name, skin in skins.items()}
    rivals = {name: _frame(player, motion[3]) for name, player in players.items()}
    times = alternate(rivals, rounds=9 if copies > 1 else 25, calls=2 if copies > 1 else 20)
    base = players["plain skinning"].blocks.nbytes
    rows = []
    for name, player in players.items():
        row = _row(f"{player.vertices:,} vertices, {name}", times, name, "plain skinning")
        rows.append(row | {"bytes_per_frame_ratio": round(player.blocks.nbytes / base, 2)})
    return rows


def normals(cores: int = 1) -> list[Row]:
    """The hand's EigenSkin with corrected normals, against plain skinning with normals."""
    corrected, motion = subjects.fitted_hand(normals="shared")
    uncorrected, _ = subjects.fitted_hand()
    skins = {
        "plain skinning with normals": subjects.plain(corrected),
        "EigenSkin with corrected normals": corrected,
        "EigenSkin with normals of its surface": uncorrected,
    }
    rivals = {name: _frame(CPUPlayer(skin, threads=cores), motion[3]) for name, skin in skins.items()}
    times = alternate(rivals, rounds=25, calls=20)
    return [_row(name, times, name, "plain skinning with normals") for name in rivals]


def memory() -> list[Row]:
    """Bytes per second at a million vertices, against a copy of memory."""
    hand, motion = subjects.fitted_hand()
    copy, copied = peers.memory_copy()
    moved, rivals = {"memory copy": copied}, {"memory copy": copy}
    for name, skin in (("plain skinning", subjects.plain(hand)), ("EigenSkin, 16 bits", hand)):
        player = CPUPlayer(subjects.side_by_side(skin, COPIES), normals=False)
        moved[name], rivals[name] = player.blocks.nbytes, _frame(player, motion[3])
    times = alternate(rivals, rounds=9)
    speeds = {name: moved[name] / times[name].median / 1e9 for name in rivals}
    return [
        {
            "what": name,
            "megabytes": round(moved[name] / 1e6, 1),
            "gigabytes_per_second": round(speed, 2),
            "of_memory_copy": round(speed / speeds["memory copy"], 2),
        }
        for name, speed in speeds.items()
    ]


def driving() -> list[Row]:
    """Twenty joints of five components and seven samples driven, against a frame of the hand and against SciPy."""
    hand, motion = subjects.fitted_hand()
    skin = subjects.chain(joints=20, columns=5, samples=7)
    pose = subjects.bent(skin)
    player, frame = CPUPlayer(skin, normals=False), _frame(CPUPlayer(hand, normals=False), motion[3])
    full = _frame(CPUPlayer(subjects.fitted_hand(normals="shared")[0]), motion[3])
    player(pose)
    rivals = {
        "a frame of the hand, points": frame,
        "a frame of the hand, points and normals": full,
        "drive, 20 joints": lambda: player.drive_again(100),
        "SciPy RBFInterpolator, 20 of them": peers.scipy_drive(skin, pose),
    }
    times = alternate(rivals, rounds=25, calls=20)
    times["drive, 20 joints"] = times["drive, 20 joints"].of_one(100)
    return [_row(name, times, name, "a frame of the hand, points") for name in rivals]


def batches(poses: int = 1000) -> list[Row]:
    """A batch of poses against single calls, in time per pose and in memory."""
    hand, motion = subjects.fitted_hand()
    player = CPUPlayer(hand, normals=False)
    out = np.empty((player.vertices, 3), np.float32)
    repeated = Motion(np.resize(motion.rotations, (poses, *motion.rotations.shape[1:])))
    singles = [repeated[k] for k in range(poses)]

    def singly() -> None:
        for pose in singles:
            player(pose, out)

    def together() -> None:
        for _ in player.many(repeated):
            pass

    batch_times = alternate({"single calls": singly, "a batch": together}, rounds=5)
    times = {name: timing.of_one(poses) for name, timing in batch_times.items()}
    peaks = {name: _peak(call) for name, call in (("single calls", singly), ("a batch", together))}
    short = Motion(repeated.rotations[: poses // 10])
    peaks["a batch of a tenth"] = _peak(lambda: [None for _ in player.many(short)])
    rows = [_row(name, times, name, "single calls") for name in times]
    for row, name in zip(rows, times, strict=True):
        row["peak_mb"] = round(peaks[name] / 1e6, 2)
    return [*rows, {"what": "a batch of a tenth", "peak_mb": round(peaks["a batch of a tenth"] / 1e6, 2)}]


def start(starts: int = 6) -> list[Row]:
    """A new process from its start to the first frame, with the compiled code on disk, Python's and numba's."""
    hand, _ = subjects.fitted_hand()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hand.skin"
        hand.save(path)
        text = "import sys, posespace as ps; s = ps.Skin.load(sys.argv[1]); s.compile(normals=False)(s.rig.rest)"
        seconds = []
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        for _ in range(starts):
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", text, str(path)], check=True, env=environment)
            seconds.append(time.perf_counter() - began)
    return [{"what": "process start to first frame, s", "first": round(seconds[0], 2), "then": _spread(seconds[1:])}]


def growth() -> list[Row]:
    """What a frame costs as vertices, entries, joints and samples grow."""
    hand, motion = subjects.fitted_hand()
    cases: dict[str, tuple[Skin, Pose]] = {}
    for copies in (1, 4, 16):
        cases[f"EigenSkin, hands: {copies}"] = subjects.side_by_side(hand, copies), motion[3]
    for columns in (0, 2, 5, 10, 20):
        skin = subjects.full(hand.rig, columns) if columns else subjects.plain(hand)
        cases[f"hand, full entries: {columns}"] = skin, motion[3]
    for joints, samples in ((10, 7), (20, 7), (40, 7), (20, 28), (20, 112)):
        skin = subjects.chain(joints, 5, samples)
        cases[f"{joints} joints of {samples} samples, 256 vertices"] = skin, subjects.bent(skin)
    players = {name: (CPUPlayer(skin, normals=False), pose) for name, (skin, pose) in cases.items()}
    times = alternate({name: _frame(*played) for name, played in players.items()}, rounds=15, calls=10)
    return [
        {
            "what": name,
            "microseconds": round(1e6 * timing.median, 1),
            "nanoseconds_per_vertex": round(1e9 * timing.median / players[name][0].vertices, 2),
        }
        for name, timing in times.items()
    ]


def _frame(player: Player, pose: Pose) -> Callable[[], Any]:
    """One frame into existing arrays."""
    points = np.empty((player.vertices, 3), np.float32)
    normals = np.empty_like(points) if player.normals else None
    return lambda: player(pose, points, normals)[0]


def _agree(rivals: dict[str, Callable[[], Any]], tolerance: float) -> None:
    """Raise unless all rivals give the same points: a time for a different result would mean nothing."""
    first, *others = rivals
    truth = np.asarray(rivals[first]())
    for name in others:
        off = float(np.abs(np.asarray(rivals[name]()) - truth).max())
        if off > tolerance:
            raise RuntimeError(f"{name} differs by {off}")


def _row(title: str, times: dict[str, Timing], name: str, against: str) -> Row:
    timing, base = times[name], times[against]
    return {
        "what": title,
        "microseconds": round(1e6 * timing.median, 1),
        "from": round(1e6 * timing.low, 1),
        "to": round(1e6 * timing.high, 1),
        "ratio": round(timing.median / base.median, 3),
        "against": against,
    }


def _peak(call: Callable[[], Any]) -> int:
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def _spread(seconds: list[float]) -> str:
    return f"{np.median(seconds):.2f} ({min(seconds):.2f} to {max(seconds):.2f})"


TABLES: dict[str, Callable[[], list[Row]]] = {
    "skinning": skinning,
    "skinning-million": lambda: skinning(COPIES),
    "corrections": corrections,
    "corrections-cores": lambda: corrections(cores=_CORES),
    "corrections-million": lambda: corrections(COPIES, _CORES),
    "normals": normals,
    "normals-cores": lambda: normals(_CORES),
    "memory": memory,
    "drive": driving,
    "batch": batches,
    "start": start,
    "growth": growth,
}
