"""A face by PSD and by linear blend shapes, on the way from a closed to an open mouth.

The face has no scans of half-open mouths. The truth here is made: a jaw that turns. Its axis is the rigid motion of the
lower jaw in the sculpt `jawOpen`; each vertex turns about it by the angle that brings it nearest its sculpted place;
what is left grows evenly, so that the arc ends in the sculpt itself.

Run: uv run python benchmarks/face.py [--json] [--picture docs/img/face.png]
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import posespace as ps
from posespace.geometry import rotations
from posespace.report.camera import Camera
from posespace.report.colours import heat
from posespace.report.montage import montage
from posespace.report.png import save_png
from posespace.report.render import render

Array = NDArray[np.float64]
DATA = Path(os.environ.get("POSESPACE_DATA", Path(__file__).parents[2] / "shared" / "data"))
EXPRESSIONS = 43
BETWEEN = np.linspace(0, 1, 41)


def face() -> tuple[ps.Rig, dict[str, Array]]:
    """The neutral face as a rig of controls alone, and the displacements of its expressions."""
    stored = np.load(DATA / "face-ict-facekit" / "ict_face_head.npz")
    rig = ps.Rig.from_mesh(ps.Mesh(stored["neutral"], stored["tris"]))
    deltas = stored["deltas"][:EXPRESSIONS].astype(np.float64)
    return rig, dict(zip(map(str, stored["names"][:EXPRESSIONS]), deltas, strict=True))


def jaw_arc(points: Array, delta: Array) -> tuple[Callable[[float], Array], float]:
    """The made truth: displacements by how far the jaw is open, 0 to 1; and the angle of the jaw in radians."""
    size = np.linalg.norm(delta, axis=1)
    jaw = size > 0.7 * size.max()
    before, after = points[jaw], points[jaw] + delta[jaw]
    turn, _ = rotations.polar((after - after.mean(axis=0)).T @ (before - before.mean(axis=0)))
    angle = 2 * float(np.arccos(min(1.0, turn[3])))
    axis = turn[:3] / np.linalg.norm(turn[:3])
    rotation = rotations.matrices(turn)
    shift = after.mean(axis=0) - rotation @ before.mean(axis=0)
    centre = np.linalg.lstsq(np.eye(3) - rotation, shift - axis * (axis @ shift), rcond=None)[0]
    flat = [offset - np.outer(offset @ axis, axis) for offset in (points - centre, points + delta - centre)]
    angles = np.arctan2(np.cross(*flat) @ axis, (flat[0] * flat[1]).sum(axis=1)) * (size > 0)

    def turned(share: float) -> Array:
        spin = rotations.matrices(rotations.from_axis_angle(np.broadcast_to(axis, points.shape), share * angles))
        return np.einsum("nij,nj->ni", spin, points - centre) + centre - points

    left = delta - turned(1.0)
    return lambda share: turned(share) + share * left, angle


def fitted(rig: ps.Rig, sculpts: dict[float, Array], **settings: object) -> Callable[[float], Array]:
    """PSD of sculpts by how far the mouth is open."""
    poses = [ps.Pose(rig.rest.rotations, controls={"open": share}) for share in sculpts]
    motion = ps.Motion.from_poses(poses, [f"open {share}" for share in sculpts])
    shapes = [rig.mesh.points + delta for delta in sculpts.values()]
    skin = ps.PSD(**settings).fit(ps.Examples.from_shapes(rig, motion, shapes))  # type: ignore[arg-type]
    return lambda share: skin.displacements(ps.Pose(rig.rest.rotations, controls={"open": share}))


def blended(sculpts: dict[float, Array]) -> Callable[[float], Array]:
    """Linear blend shapes with in-betweens: straight from each sculpt to the next, as production rigs do it."""
    shares = np.array([0.0, *sculpts])
    shapes = np.stack([np.zeros_like(next(iter(sculpts.values()))), *sculpts.values()])

    def between(share: float) -> Array:
        after = int(np.clip(np.searchsorted(shares, share), 1, len(shares) - 1))
        part = (share - shares[after - 1]) / (shares[after] - shares[after - 1])
        return np.asarray((1 - part) * shapes[after - 1] + part * shapes[after])

    return between


def figures(
    method: Callable[[float], Array],
    truth: Callable[[float], Array],
    moved: NDArray[np.bool_],
    sculpts: dict[float, Array],
) -> dict[str, float]:
    """Errors in millimetres over the way from closed to open, and the sharpest turn of a path at a sculpt on it."""
    gaps = np.array([np.linalg.norm(method(share) - truth(share), axis=1)[moved] for share in BETWEEN]) * 10
    step, sharpest = 1e-3, 0.0
    for share in list(sculpts)[:-1]:
        left, right = (method(share + k * step) - method(share + (k - 1) * step) for k in (0, 1))
        speeds = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
        fast = moved & (speeds > 0.25 * speeds.max())
        cosine = np.clip((left * right).sum(axis=1)[fast] / speeds[fast], -1, 1)
        sharpest = max(sharpest, float(np.degrees(np.arccos(cosine)).max()))
    return {
        "rms mm": round(float(np.sqrt((gaps**2).mean())), 3),
        "largest mm": round(float(gaps.max()), 3),
        "kink degrees": round(sharpest, 1),
    }


def picture(path: Path, rig: ps.Rig, truth: Callable[[float], Array]) -> None:
    """PSD from sculpts at half and full: neutral, quarter, half, full; then the errors of both at a quarter."""
    sculpts = {share: truth(share) for share in (0.5, 1.0)}
    psd, linear = fitted(rig, sculpts), blended(sculpts)
    points, triangles = rig.mesh.points, rig.mesh.triangles
    camera = Camera.fit(points + truth(1.0), (0.55, 0.05, 0.83))
    clay = {"neutral": 0.0, "PSD, a quarter open": 0.25, "sculpt, half": 0.5, "sculpt, full": 1.0}
    cells = [render(points + psd(share), triangles, camera, (280, 370)) for share in clay.values()]
    top = 0.05
    for shape in (psd(0.25), linear(0.25)):
        error = np.linalg.norm(shape - truth(0.25), axis=1)
        cells.append(render(points + shape, triangles, camera, (280, 370), colors=heat(error, top)))
    titles = [*clay, "PSD, error at a quarter", "linear, error at a quarter"]
    above = montage([cells[:3]], titles=titles[:3])
    below = montage([cells[3:]], titles=titles[3:], scale=("distance from the made truth, centimetres", top))
    save_png(path, np.concatenate([above, below]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--picture", type=Path, help="write a picture of the face to this file")
    options = parser.parse_args()
    rig, deltas = face()
    delta = deltas["jawOpen"]
    truth, angle = jaw_arc(rig.mesh.points.astype(np.float64), delta)
    moved = np.linalg.norm(delta, axis=1) > 0.1 * np.linalg.norm(delta, axis=1).max()
    rows = {}
    for shares in ((1.0,), (0.5, 1.0), (0.33, 0.67, 1.0)):
        sculpts = {share: truth(share) for share in shares}
        count = f"{len(shares)} sculpt{'s' * (len(shares) > 1)}"
        rows[f"linear, {count}"] = figures(blended(sculpts), truth, moved, sculpts)
        rows[f"PSD, {count}"] = figures(fitted(rig, sculpts), truth, moved, sculpts)
        if len(shares) == 1:
            rows["PSD, 1 sculpt, radius 3"] = figures(fitted(rig, sculpts, radius=3.0), truth, moved, sculpts)
    if options.json:
        print(json.dumps({"jaw degrees": round(float(np.degrees(angle)), 1), "rows": rows}))
    else:
        print(f"made truth: the jaw turns by {np.degrees(angle):.1f} degrees; {moved.sum()} vertices move")
        print("| method | RMS, mm | largest, mm | sharpest turn at a sculpt, degrees |\n|---|---|---|---|")
        for name, row in rows.items():
            print(f"| {name} | {row['rms mm']} | {row['largest mm']} | {row['kink degrees']} |")
    if options.picture:
        picture(options.picture, rig, truth)


if __name__ == "__main__":
    main()
