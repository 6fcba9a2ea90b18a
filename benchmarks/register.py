"""Registration on scans whose truth is known: errors by landmarks, another hand, cost by vertices; and a real hand.

uv run python benchmarks/register.py [--vertices 49000] [--scans 14] [--only landmarks growth other real] [--json]
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from timing import show

import posespace as ps
from posespace.datasets import ScannedHand, Scanner, scanned_hand
from posespace.datasets.scanned.scanner import Scan
from posespace.formats.landmarks import read_landmarks
from posespace.register.registration import Registered, Registrar, Registration

COUNTS = (120, 60, 30, 15)
"""Landmarks: the first so many of each scan."""

GROWTH = (3_000, 12_000, 49_000)
"""Vertices of the template; scans have four times as many."""

DATA = Path(os.environ.get("POSESPACE_DATA", Path(__file__).parents[2] / "shared" / "data"))
REAL = Path(__file__).parent / "sets" / "real_hand.landmarks.json"
SEED = 1


def error(found: Registered, hand: ScannedHand, index: int, motion: np.ndarray) -> float:
    """Mean distance of the vertices from where they truly are, as a fraction of the diagonal."""
    placed = hand.shape(index) @ motion[:3, :3].T + motion[:3, 3]
    gaps = np.linalg.norm(found.points - found.alignment.moved(placed), axis=1)
    return float(gaps.mean()) / hand.mesh.diagonal


def row_of(registrar: Registrar, hand: ScannedHand, scans: Sequence[tuple[int, Scan]], count: int) -> dict[str, Any]:
    """Figures over scans with the first `count` landmarks."""
    names = list(hand.landmarks)[:count]
    errors, distances, seconds = [], [], []
    for index, scan in scans:
        marks = {name: tuple(scan.landmarks[name]) for name in names if name in scan.landmarks}
        begun = time.perf_counter()
        found = registrar.register(scan.mesh, marks)
        seconds.append(time.perf_counter() - begun)
        errors.append(error(found, hand, index, scan.motion))
        distances.append(found.figures["mean distance"])
    return {
        "landmarks": count,
        "scans": len(scans),
        "mean distance to the scan": f"{np.mean(distances):.3%}",
        "worst scan's": f"{np.max(distances):.3%}",
        "mean error of correspondence": f"{np.mean(errors):.2%}",
        "worst scan's error": f"{np.max(errors):.2%}",
        "that scan": hand.names[scans[int(np.argmax(errors))][0]],
        "seconds per scan": round(float(np.median(seconds)), 1),
    }


def scans_of(hand: ScannedHand, count: int) -> list[tuple[int, Scan]]:
    """Some scans of a hand and the numbers of their poses, spread over all."""
    chosen = np.unique(np.linspace(0, len(hand) - 1, min(count, len(hand))).round().astype(int)).tolist()
    return [(index, Scanner().scan(hand, index, SEED)) for index in chosen]


def by_landmarks(vertices: int, scans: int) -> list[dict[str, Any]]:
    """Errors as landmarks are taken away."""
    hand = scanned_hand(1, "spanning", vertices)
    registrar, made = Registrar(hand.mesh, hand.landmarks, Registration()), scans_of(hand, scans)
    return [row_of(registrar, hand, made, count) for count in COUNTS]


def other_hand(vertices: int, scans: int) -> list[dict[str, Any]]:
    """The first hand's template on scans of the second: another shape, so that nothing fits by itself."""
    template, hand = scanned_hand(1, "spanning", vertices), scanned_hand(2, "spanning", vertices)
    registrar, made = Registrar(template.mesh, template.landmarks, Registration()), scans_of(hand, scans)
    return [row_of(registrar, hand, made, count) for count in COUNTS]


def growth() -> list[dict[str, Any]]:
    """What one scan costs as the template grows, detail included."""
    rows: list[dict[str, Any]] = []
    for vertices in GROWTH:
        hand = scanned_hand(1, "spanning", vertices)
        scan = Scanner().scan(hand, 9, SEED)
        begun = time.perf_counter()
        registrar = Registrar(hand.mesh, hand.landmarks, Registration(levels=1))
        # The first solve orders the template's matrix, which all scans share.
        assert registrar.template.energy is not None
        ready = time.perf_counter() - begun
        marks = {name: tuple(place) for name, place in scan.landmarks.items()}
        registrar.register(scan.mesh, marks) if vertices == GROWTH[0] else None  # compiles, once
        begun, worked = time.perf_counter(), time.process_time()
        registrar.register(scan.mesh, marks)
        took, worked = time.perf_counter() - begun, time.process_time() - worked
        rows.append(
            {
                "template vertices": len(hand.mesh.points),
                "scan vertices": len(scan.mesh.points),
                "seconds for the template, once": round(ready, 1),
                "seconds per scan": round(took, 1),
                "of one core": round(worked, 1),
                "times the smallest": round(worked / rows[0]["of one core"], 1) if rows else 1.0,
                "peak MB so far": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            }
        )
    return rows


def real_hand() -> list[dict[str, Any]]:
    """A game's hand brought onto the hand of a scanned person."""
    template = ps.load_rig(DATA / "hand-godot-xr" / "hand_l.gltf").mesh
    scan = ps.load_mesh(DATA / "hand-target-odedstein" / "hand_closed.obj")
    marks = read_landmarks(REAL)
    found = Registrar(template, marks.template).register(scan, marks.scans["hand_closed.obj"])
    return [{key: round(value, 6) if isinstance(value, float) else value for key, value in found.figures.items()}]


def main() -> None:
    """Print the tables that are asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--vertices", type=int, default=49_000, help="of the template")
    parser.add_argument("--scans", type=int, default=14, help="how many of the 14")
    parser.add_argument("--only", nargs="*", default=["landmarks", "other", "growth", "real"])
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    tables = {
        "landmarks": ("Errors by landmarks", lambda: by_landmarks(given.vertices, given.scans)),
        "other": ("Another hand", lambda: other_hand(given.vertices, given.scans)),
        "growth": ("Cost by vertices", growth),
        "real": ("A real hand", real_hand),
    }
    for name in given.only:
        title, make = tables[name]
        show(title, make(), given.json)


if __name__ == "__main__":
    main()
