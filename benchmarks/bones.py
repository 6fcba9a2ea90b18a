"""Virtual bones against py-dem-bones: the same shapes, counts and influences, rigid bones, called as its users do.

E_RMS is 1000·‖A - Â‖/√(3NP), half the diagonal of the rest shape's box being 1. "unseen": bones and weights are found
on some of the shapes, then the weights are held and the bones of all are posed anew on the others, the same way for
both; "half" is the error on those they were found on. Our loops are compiled before the clock starts. The wolf,
dem-bones and the face were at hand while the method was written: how many rounds and passes there are was chosen with
the wolf in view. Spot came in when all was set.

Run: uv run --with py-dem-bones python benchmarks/bones.py [--json] [--sets wolf face] [--counts 10 20] [--smooth 0]
and: uv run python benchmarks/bones.py --large, what 1,300 bones of hands of 28,000 and 112,000 vertices take
"""

from __future__ import annotations

import argparse
import importlib
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sets.mesh_sequences import dem_bones
from timing import show

import posespace as ps
from posespace.fit.bones.normalised import normalised
from posespace.fit.bones.refine import ROUNDS
from posespace.fit.bones.transforms import bone_transforms, rest_transforms
from posespace.geometry.subdivision import subdivide
from posespace.rig import pack_weights

Array = NDArray[np.float64]
DATA = Path(os.environ.get("POSESPACE_DATA", Path(__file__).parents[2] / "shared" / "data"))
BLOCK = 10
"""Frames of a clip that are left out together."""


def shapes_of(name: str) -> tuple[ps.Mesh, Array]:
    """The rest shape of a set and its shapes (P, N, 3)."""
    if name == "wolf":
        files = sorted((DATA / "meshposes-wolf" / "poses").glob("*.obj"))
        rest = ps.load_mesh(DATA / "meshposes-wolf" / "wolf_rest.obj")
        return rest, np.stack([ps.load_mesh(file).points for file in files]).astype(np.float64)
    if name == "dem-bones":
        given = dem_bones(DATA)
        return given.rig.mesh, np.asarray(given.shapes, dtype=np.float64)
    if name == "spot":
        stored = np.load(DATA / "meshseq-spot" / "spot.npz")
        return ps.Mesh(stored["verts"][0], stored["triangles"]), stored["verts"].astype(np.float64)
    stored = np.load(DATA / "face-ict-facekit" / "ict_face_head.npz")
    expressions = stored["deltas"][:43].astype(np.float64)
    return ps.Mesh(stored["neutral"], stored["tris"]), stored["neutral"] + expressions


def clocks() -> Array:
    """Seconds by the clock, and of all cores together, which others on the machine do not change."""
    return np.array([time.perf_counter(), time.process_time()])


def ours(rest: ps.Mesh, shapes: Array, count: int, rounds: int = ROUNDS) -> tuple[Array, Array, Array]:
    """Weights (N, B), the shapes they give, and the seconds it took: by the clock, and of all cores together."""
    started = clocks()
    made = ps.bones(shapes, count, rest.triangles, rest=rest.points, rounds=rounds)
    taken = clocks() - started
    return made.rig.dense_weights(), np.stack([made.rig.skin(pose) for pose in made.motion]), taken


def theirs(rest: ps.Mesh, shapes: Array, count: int, smooth: float | None) -> tuple[Array, Array, Array]:
    """The same by py-dem-bones, with its own defaults, or with its two penalties scaled."""
    library: Any = importlib.import_module("py_dem_bones")
    points = rest.points.astype(np.float64)
    solver = None
    if smooth is not None:
        solver = library.DemBones()
        solver.weightsSmooth, solver.transAffine = smooth * solver.weightsSmooth, smooth * solver.transAffine
    started = clocks()
    found = library.solve_skinning(points, shapes, count, faces=rest.triangles, max_influences=4, solver=solver)
    taken = clocks() - started
    moved = np.einsum("fbij,nj->fbni", found.transforms[:, :, :3, :3], points) + found.transforms[:, :, None, :3, 3]
    return found.weights.T, np.einsum("bn,fbni->fni", found.weights, moved), taken


def e_rms(rest: ps.Mesh, shapes: Array, given: Array) -> float:
    return float(1000 * np.sqrt(np.square(shapes - given).mean()) / (rest.diagonal / 2))


def posed_anew(rest: ps.Mesh, weights: Array, shapes: Array) -> float:
    """E_RMS of rigid bones with these weights, posed on shapes they were not found on."""
    laid = normalised(rest.points, rest.triangles, shapes)
    first = np.unique(laid.groups, return_index=True)[1]
    joints, packed = pack_weights(weights[first])
    start = rest_transforms(len(shapes), weights.shape[1])
    moved = bone_transforms(laid.points, laid.shapes, joints, packed, start, sweeps=300)
    each = np.einsum("gk,gkpij->gpij", packed, moved[joints])
    gap = np.einsum("gpij,gj->gpi", each[..., :3], laid.points) + each[..., 3] - laid.shapes
    return float(1000 * np.sqrt(np.square(gap).mean()))


def row(name: str, rest: ps.Mesh, shapes: Array, count: int, options: argparse.Namespace) -> dict[str, Any]:
    """Both on all shapes, and on those left out."""
    fits: dict[str, Callable[..., tuple[Array, Array, Array]]] = {
        "ours": partial(ours, rounds=options.rounds),
        "py-dem-bones": partial(theirs, smooth=options.smooth),
    }
    left_out = np.arange(len(shapes)) // (BLOCK if len(shapes) > 100 else 1) % 2 == 1
    found: dict[str, Any] = {"set": name, "asked": count}
    taken = {}
    for who, fit in fits.items():
        weights, given, taken[who] = fit(rest, shapes, count)
        found[f"{who}: bones"] = int((weights.max(axis=0) > 0).sum())
        found[f"{who}: E_RMS"] = round(e_rms(rest, shapes, given), 3)
        kept, given, _ = fit(rest, shapes[~left_out], count)
        found[f"{who}: half, bones"] = int((kept.max(axis=0) > 0).sum())
        found[f"{who}: half, E_RMS"] = round(e_rms(rest, shapes[~left_out], given), 3)
        found[f"{who}: unseen"] = round(posed_anew(rest, kept, shapes[left_out]), 3)
    ratios = taken["py-dem-bones"] / taken["ours"]
    found["our seconds"], found["our core seconds"] = taken["ours"].round(2).tolist()
    found["time of py-dem-bones / ours"], found["core time of py-dem-bones / ours"] = ratios.round(2).tolist()
    return found


def large(as_json: bool) -> None:
    """Fourteen poses of the built-in hand at the size of a scan, with as many bones as the paper has."""
    examples, _ = ps.datasets.hand(level=2)
    chosen = examples[np.linspace(0, len(examples) - 1, 14).astype(np.int64)]
    mesh, shapes = chosen.rig.mesh, np.stack([chosen.shapes[k] for k in range(14)]).astype(np.float64)
    finer = subdivide(mesh.triangles, len(mesh.points))
    fine = ps.Mesh(finer.refine(mesh.points), finer.triangles)
    for surface, given in ((mesh, shapes), (fine, np.stack([finer.refine(shape) for shape in shapes]))):
        weights, made, taken = ours(surface, given, 1300)
        sizes = {"vertices": len(surface.points), "triangles": len(surface.triangles)}
        used = int((weights.max(axis=0) > 0).sum())
        spent = dict(zip(("seconds", "core seconds"), taken.round(1).tolist(), strict=True))
        found = {**sizes, "bones": used, **spent, "E_RMS": round(e_rms(surface, given, made), 4)}
        show("the built-in hand in 14 shapes, 1,300 bones", [found], as_json)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--sets", nargs="+", default=["wolf", "dem-bones", "face", "spot"])
    parser.add_argument("--counts", nargs="+", type=int, default=[10, 20, 30, 40])
    parser.add_argument("--smooth", type=float, help="scale both penalties of py-dem-bones; 0 for none")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="most rounds of ours")
    parser.add_argument("--large", action="store_true", help="our own time on a large mesh instead")
    options = parser.parse_args()
    train, _ = ps.datasets.bending_arm(rings=12, sides=8)
    ps.bones(train, 3)
    ps.bones(train, 40)
    if options.large:
        large(options.json)
        return
    for name in options.sets:
        rest, shapes = shapes_of(name)
        rows = [row(name, rest, shapes, count, options) for count in options.counts]
        show(f"{name}: {len(rest.points)} vertices, {len(shapes)} shapes", rows, options.json)


if __name__ == "__main__":
    main()
