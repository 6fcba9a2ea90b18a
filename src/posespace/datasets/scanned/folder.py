"""Scans written to a folder: a template, the scans, their landmarks, and the truth to measure against."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from posespace.check import Floats
from posespace.datasets.scanned.hand import ScannedHand
from posespace.datasets.scanned.scanner import Scan, Scanner
from posespace.formats import files
from posespace.formats.save import save_mesh
from posespace.geometry.edges import edges_of
from posespace.mesh import Mesh


def write_scans(
    folder: Path,
    hand: ScannedHand,
    scanner: Scanner,
    seed: int,
    advance: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Write the scans of all poses to a folder, which must be new or empty, and return figures about them.

    `template.ply` is the base surface at rest; `scan_00.ply` and so on are the scans; `landmarks.json` has
    {"template": {name: vertex}, "scans": {"scan_00.ply": {name: [x, y, z]}}}; `truth.npz` the base shapes `shapes`
    (P, N, 3), the `heights` (P, M) of the subdivided surface, the rigid `motions` (P, 4, 4) that took the hand to where
    it was scanned, and the `names` (P,) of the poses; `scans.json` says how they were made and what is in each.
    """
    landmarks: dict[str, Any] = {"template": hand.landmarks, "scans": {}}
    motions, rows = [], []
    with files.atomic_folder(folder) as making:
        save_mesh(hand.mesh, making / "template.ply", hand.mesh.points.astype(np.float32))
        for index in range(len(hand)):
            scan = scanner.scan(hand, index, seed)
            name = f"scan_{index:02d}.ply"
            save_mesh(scan.mesh, making / name, scan.mesh.points.astype(np.float32))
            landmarks["scans"][name] = {mark: point.tolist() for mark, point in scan.landmarks.items()}
            motions.append(scan.motion)
            rows.append(_figures(name, scan))
            if advance is not None:
                advance(index + 1, len(hand))
        (making / "landmarks.json").write_text(json.dumps(landmarks, indent=1))
        _write_truth(making / "truth.npz", hand, np.stack(motions))
        made = {"version": version("posespace"), "seed": seed, **asdict(scanner), "scans": rows}
        (making / "scans.json").write_text(json.dumps(made, indent=1))
    return {"file": str(folder), **made}


def _figures(name: str, scan: Scan) -> dict[str, Any]:
    return {
        "file": name,
        "pose": scan.name,
        "vertices": len(scan.mesh.points),
        "triangles": len(scan.mesh.triangles),
        "boundary_edges": boundary_edges(scan.mesh),
        "landmarks": len(scan.landmarks),
    }


def boundary_edges(mesh: Mesh) -> int:
    """Return how many edges have a triangle on one side only."""
    return int((edges_of(mesh.triangles).counts == 1).sum())


def _write_truth(path: Path, hand: ScannedHand, motions: Floats) -> None:
    shapes = np.stack([hand.shape(k) for k in range(len(hand))]).astype(np.float32)
    heights = hand.heights.astype(np.float32)
    with path.open("wb") as handle:
        np.savez(handle, shapes=shapes, heights=heights, motions=motions, names=np.array(hand.names))
