"""A captured take drives a hand: how far vertices move between frames, also through gaps, and β 3.0 against 0.3.

The take is real (`hand-markers-dfki` in the folder of real assets), the hand the built-in simulated one with thirteen
control points where the markers of the glove sit. Run: uv run python benchmarks/markers.py [--every 4] [--picture]
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

import posespace as ps
from posespace.edit import drawn
from posespace.fit.points.points import ControlPoints
from posespace.geometry.edges import edges_of
from posespace.report.camera import Camera
from posespace.report.montage import montage
from posespace.report.png import save_png
from posespace.report.render import render

DATA = Path(os.environ.get("POSESPACE_DATA", Path(__file__).parents[2] / "shared" / "data"))
IMG = Path(__file__).parents[1] / "docs" / "img"
BACK = ("hand_top", "hand_left", "hand_right")
FINGERS = ("index", "middle", "ring", "little")


def glove_points(rig: ps.Rig) -> dict[str, int]:
    """The vertex under each marker of the glove: on the back of the hand, the fingers' first bones and their tips."""
    skeleton = rig.skeleton
    world = skeleton.rest_world

    def at(joint: str, along: float = 0.0) -> np.ndarray:
        frame = world[skeleton.index(joint)]
        return frame[:3, 3] + along * frame[:3, 1]

    wanted = dict(zip(BACK, np.array([[0.0, 48, 16], [-20, 2, 11], [5, 4, 17]]), strict=True))
    for finger, length in zip(FINGERS, (12, 13, 13, 11), strict=True):
        wanted[f"{finger}_middle"] = (at(f"{finger}_mcp") + at(f"{finger}_pip")) / 2 + (0, 0, 8)
        wanted[f"{finger}_tip"] = at(f"{finger}_dip", length) + (0, 0, 6)
    wanted["thumb_middle"] = (at("thumb_mcp") + at("thumb_ip")) / 2 + (-4, 0, 8)
    wanted["thumb_tip"] = at("thumb_ip", 14) + (-4, 0, 6)
    upward = rig.mesh.normals()[:, 2] > 0.3
    return {
        name: int(np.where(upward, np.linalg.norm(rig.mesh.points - place, axis=1), np.inf).argmin())
        for name, place in wanted.items()
    }


def fitted(bones: int) -> tuple[ps.Skin, ps.MarkerDrive]:
    """A skin of the hand by fourteen examples, and how the glove drives it."""
    single, together = ps.datasets.hand()[0], ps.datasets.hand_together()
    chosen = range(0, 39, 3)
    motion = ps.Motion.from_poses([single.motion[0], *(together.motion[k] for k in chosen)])
    shapes = np.stack([single.shapes[0], *(together.shapes[k] for k in chosen)])
    picked = glove_points(single.rig)
    skin = ControlPoints(picked=tuple(picked.values()), bones=bones).fit(
        ps.Examples.from_shapes(single.rig, motion, shapes)
    )
    pairs = {marker: f"point{k}" for k, marker in enumerate(picked, 1)}
    return skin, ps.MarkerDrive(points=pairs, place_by=BACK)


def gapped(take: ps.Markers, what: str) -> ps.Markers:
    """The take as captured, or with more missing."""
    seen, second = take.seen.copy(), round(take.rate)
    if what == "every marker for a second, in turn":
        for k in range(len(take.names)):
            seen[2 * k * second + second : 2 * k * second + 2 * second, k] = False
    elif what == "all markers for three seconds":
        seen[1500:1800] = False
    elif what == "a third of all samples":
        rng = np.random.default_rng(7)
        for k in range(len(take.names)):
            for start in rng.integers(0, len(take), 30):
                seen[start : start + rng.integers(5, 100), k] = False
    return replace(take, seen=seen)


GAPS = ("as captured", "every marker for a second, in turn", "all markers for three seconds", "a third of all samples")


def steps_of(play: ps.Skin, motion: ps.Motion, ends: np.ndarray, lengths: np.ndarray) -> tuple[float, float, float]:
    """The largest step of a vertex between frames, the largest stretch of an edge, and how far points are missed."""
    compiled, before = play.compile(), None
    step, stretch, missed = 0.0, 0.0, 0.0
    rest = play.rig.mesh.points[play.bones.points]
    for pose in motion:
        points = np.array(compiled(pose)[0], dtype=np.float64)
        if before is not None:
            step = max(step, float(np.linalg.norm(points - before, axis=1).max()))
        now = np.linalg.norm(points[ends[:, 0]] - points[ends[:, 1]], axis=1)
        stretch = max(stretch, float(np.quantile(now / lengths, 0.999)))
        missed += float(np.linalg.norm(points[play.bones.points] - rest - pose.translations[1:], axis=1).mean())
        before = points
    return step, stretch, missed / len(motion)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=float, default=None, help="frames per second; by default the take's own, 100")
    parser.add_argument("--bones", type=int, default=100)
    parser.add_argument("--skin", type=Path, help="where the fitted skin is kept for the next run")
    parser.add_argument("--picture", action="store_true", help="draw docs/img/markers.png")
    given = parser.parse_args()
    skin, drive = fitted(given.bones) if given.skin is None or not given.skin.exists() else (None, None)
    if skin is not None and given.skin is not None:
        skin.save(given.skin)
    if skin is None:
        skin = ps.Skin.load(given.skin)
        rig = ps.datasets.hand()[0].rig
        drive = ps.MarkerDrive(points={m: f"point{k}" for k, m in enumerate(glove_points(rig), 1)}, place_by=BACK)
    take = ps.load_markers(DATA / "hand-markers-dfki" / "recording_train.tsv").chosen(list(drive.points))
    mesh = skin.rig.mesh
    ends = edges_of(mesh.triangles).ends
    lengths = np.linalg.norm(mesh.points[ends[:, 0]] - mesh.points[ends[:, 1]], axis=1)
    print(f"{len(mesh.points)} vertices, {len(take)} frames at {take.rate:g} per second, lengths in mm")
    print("| missing | beta | largest step of a point | of a vertex | ratio | edges stretched | points missed by |")
    print("|---|---|---|---|---|---|---|")
    for what in GAPS:
        driven = drive.motion(gapped(take, what), skin.rig.skeleton, given.rate)
        if what == GAPS[0]:
            print("\n".join(driven.notes()))
        fastest = float(np.linalg.norm(np.diff(driven.motion.translations[:, 1:], axis=0), axis=2).max())
        for beta in (3.0, 0.3):
            step, stretch, missed = steps_of(drawn(skin, beta), driven.motion, ends, lengths)
            row = f"{fastest:.1f} | {step:.1f} | {step / fastest:.2f} | {stretch:.2f} | {missed:.1f}"
            print(f"| {what} | {beta:g} | {row} |", flush=True)
    if given.picture:
        picture(skin, drive.motion(take, skin.rig.skeleton).motion)


def picture(skin: ps.Skin, motion: ps.Motion) -> None:
    """The frame in which the two differ most, and two others, by beta 3.0 and 0.3."""
    strong, weak = drawn(skin, 3.0), drawn(skin, 0.3)
    frames = range(0, len(motion), 20)
    apart = [np.linalg.norm(strong.pose(motion[k])[0] - weak.pose(motion[k])[0], axis=1).max() for k in frames]
    worst = frames[int(np.argmax(apart))]
    shown = sorted({frames[len(frames) // 5], worst, frames[4 * len(frames) // 5]})
    rows = []
    for play in (strong, weak):
        cells = []
        for frame in shown:
            points, normals = play.pose(motion[frame])
            camera = Camera.fit(points, (0.25, -0.5, 1.0), up=(0.0, 1.0, 0.0))
            cells.append(render(points, skin.rig.mesh.triangles, camera, (340, 420), normals=normals))
        rows.append(cells)
    titles = [f"{motion.times[frame]:.1f} s" for frame in shown]
    save_png(IMG / "markers.png", montage(rows, labels=["beta 3.0", "beta 0.3"], titles=titles))


if __name__ == "__main__":
    main()
