"""Registration on scans whose truth is known: errors by landmarks, from another start, of another hand; detail; cost.

uv run python benchmarks/register.py [--vertices 49000] [--scans 14] [--only landmarks start other detail growth real]
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
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
from posespace.register.detail import FineTemplate
from posespace.register.registration import Registered, Registrar, Registration
from posespace.register.scan import Target

COUNTS = (120, 60, 30, 15)
"""Landmarks: the first so many of each scan."""

GROWTH = (3_000, 12_000, 49_000)
"""Vertices of the template; scans have four times as many."""

NEAR = 1.0
"""Millimetres: where truth and scan are both that near to the base found, their heights are compared."""

HALF_FIST, FIST = 11, 12
"""Numbers of these scans."""

DETAILED = (9, 11)
"""Scans whose heights are looked at: a spread hand and a half fist."""

DATA = Path(os.environ.get("POSESPACE_DATA", Path(__file__).parents[2] / "shared" / "data"))
REAL = Path(__file__).parent / "sets" / "real_hand.landmarks.json"
SEED = 1


def error(found: Registered, hand: ScannedHand, index: int, motion: np.ndarray) -> float:
    """Mean distance of the vertices from where they truly are, as a fraction of the diagonal."""
    placed = hand.shape(index) @ motion[:3, :3].T + motion[:3, 3]
    gaps = np.linalg.norm(found.points - found.alignment.moved(placed), axis=1)
    return float(gaps.mean()) / hand.mesh.diagonal


def marks_of(hand: ScannedHand, scan: Scan, count: int) -> dict[str, Any]:
    """Those of the first `count` landmarks of a hand that its scan shows."""
    return {name: tuple(scan.landmarks[name]) for name in list(hand.landmarks)[:count] if name in scan.landmarks}


def row_of(registrar: Registrar, hand: ScannedHand, scans: Sequence[tuple[int, Scan]], count: int) -> dict[str, Any]:
    """Figures over scans with the first `count` landmarks."""
    errors, distances, seconds = [], [], []
    for index, scan in scans:
        marks = marks_of(hand, scan, count)
        begun = time.perf_counter()
        found = registrar.register(scan.mesh, marks)
        seconds.append(time.perf_counter() - begun)
        errors.append(error(found, hand, index, scan.motion))
        distances.append(found.figures["mean_distance"])
        print(f"{count} landmarks, {hand.names[index]}: {errors[-1]:.2%} in {seconds[-1]:.0f} s", file=sys.stderr)
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


def from_another_start(vertices: int) -> list[dict[str, Any]]:
    """A fist, from the template and from a half fist that was registered with the same landmarks."""
    hand = scanned_hand(1, "spanning", vertices)
    registrar = Registrar(hand.mesh, hand.landmarks)
    half, fist = (Scanner().scan(hand, number, SEED) for number in (HALF_FIST, FIST))
    rows = []
    for count in COUNTS:
        begun = registrar.register(half.mesh, marks_of(hand, half, count))
        nearer = registrar.starting_from(begun.points)
        found = [each.register(fist.mesh, marks_of(hand, fist, count)) for each in (registrar, nearer)]
        errors = [f"{error(each, hand, FIST, fist.motion):.2%}" for each in found]
        rows.append({"landmarks": count} | dict(zip(("from the template", "from a half fist"), errors, strict=True)))
    return rows


def other_hand(vertices: int, scans: int) -> list[dict[str, Any]]:
    """The first hand's template on scans of the second: another shape, so that nothing fits by itself."""
    template, hand = scanned_hand(1, "spanning", vertices), scanned_hand(2, "spanning", vertices)
    registrar, made = Registrar(template.mesh, template.landmarks, Registration()), scans_of(hand, scans)
    return [row_of(registrar, hand, made, count) for count in COUNTS]


def detail(vertices: int) -> list[dict[str, Any]]:
    """How heights agree with the true ones: all in all, and with the truth measured over the base that was found."""
    hand = scanned_hand(1, "spanning", vertices)
    registrar, fine = Registrar(hand.mesh, hand.landmarks, Registration(levels=1)), FineTemplate(hand.mesh, 1)
    rows = []
    for index in DETAILED:
        scan = Scanner().scan(hand, index, SEED)
        found = registrar.register(scan.mesh, {name: tuple(place) for name, place in scan.landmarks.items()})
        assert found.heights is not None
        placed = hand.fine_shape(index) @ scan.motion[:3, :3].T + scan.motion[:3, 3]
        truth = Target.of(found.alignment.moved(placed), hand.level.triangles)
        shown = Target.of(found.alignment.moved(scan.mesh.points), scan.mesh.triangles)
        over_found, near = fine.heights(found.points, truth, NEAR)
        seen = near & fine.heights(found.points, shown, NEAR)[1]
        rows.append(
            {
                "scan": hand.names[index],
                "compared": f"{seen.mean():.0%}",
                "heights and true heights": correlation(found.heights, hand.heights[index], seen),
                "heights and truth over the base found": correlation(found.heights, over_found, seen),
                "truth over the base found and true heights": correlation(over_found, hand.heights[index], seen),
                "noise, mm": Scanner().noise,
                "rms of heights less truth over the base found, mm": rms((found.heights - over_found)[seen]),
                "rms of true heights, mm": rms(hand.heights[index][seen]),
            }
        )
    return rows


def correlation(one: np.ndarray, other: np.ndarray, where: np.ndarray) -> float:
    return round(float(np.corrcoef(one[where], other[where])[0, 1]), 2)


def rms(values: np.ndarray) -> float:
    return round(float(np.sqrt((values**2).mean())), 3)


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
    parser.add_argument("--only", nargs="*", default=["landmarks", "start", "other", "detail", "growth", "real"])
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    tables = {
        "landmarks": ("Errors by landmarks", lambda: by_landmarks(given.vertices, given.scans)),
        "start": ("A fist from another start", lambda: from_another_start(given.vertices)),
        "other": ("Another hand", lambda: other_hand(given.vertices, given.scans)),
        "detail": ("Detail, as correlations", lambda: detail(given.vertices)),
        "growth": ("Cost by vertices", growth),
        "real": ("A real hand", real_hand),
    }
    for name in given.only:
        title, make = tables[name]
        show(title, make(), given.json)


if __name__ == "__main__":
    main()
