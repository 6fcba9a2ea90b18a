"""PSD on the built-in data sets' unseen poses, and how long a change to an editing session takes.

The session is a face of 11,248 vertices with 43 sculpts; a time is from the change until the new skin is there.

Run: uv run python benchmarks/psd.py
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count

import numpy as np
from face import face
from timing import alternate, report, wants_json

import posespace as ps
from posespace import datasets


def session(rig: ps.Rig, deltas: dict[str, np.ndarray], radius: float | None = None, **settings: object) -> ps.Sculpts:
    """A session with each expression at its control's 1."""
    sculpts = ps.Sculpts(rig, ps.PSD(**settings))  # type: ignore[arg-type]
    sculpts.set_radius("*", radius)
    for name, delta in deltas.items():
        sculpts.add(name, ps.Pose(rig.rest.rotations, controls={name: 1.0}), rig.mesh.points + delta)
    return sculpts


def other_radius(sculpts: ps.Sculpts) -> Callable[[], ps.Skin]:
    """Another radius at each call."""
    number = count()

    def change() -> ps.Skin:
        sculpts.set_radius("*", 1.0 + 0.01 * (next(number) % 50))
        return sculpts.skin()

    return change


def resculpt(sculpts: ps.Sculpts, rig: ps.Rig, delta: np.ndarray) -> Callable[[], ps.Skin]:
    """Another smile at each call."""
    number = count()

    def change() -> ps.Skin:
        sculpts.replace("mouthSmile_L", rig.mesh.points + delta * (1 + 0.01 * (next(number) % 50)))
        return sculpts.skin()

    return change


def accuracy(as_json: bool) -> None:
    """Print the relative error (plain skinning is 1) in layers, with other kernels, and in one space of all joints."""
    for title, (train, unseen), still in (
        ("arm", datasets.bending_arm(), "upper_arm"),
        ("hand", datasets.hand(), "forearm"),
    ):
        joints = tuple(name for name in train.rig.skeleton.names if name != still)
        rivals = {
            "layers": ps.PSD(),
            "layers, per vertex": ps.PSD(per_vertex=True),
            "layers, gaussian": ps.PSD("gaussian"),
            "layers, thin_plate": ps.PSD("thin_plate"),
            "one space of all joints": ps.PSD(space=ps.PoseSpace("joint", joints)),
        }
        errors = {name: round(ps.evaluate(psd.fit(train), unseen).rel_err, 4) for name, psd in rivals.items()}
        print(json.dumps({"title": title, "rel_err": errors}) if as_json else f"{title}: relative error {errors}")


def main() -> None:
    as_json = wants_json()
    accuracy(as_json)
    rig, deltas = face()
    space = ps.PoseSpace("controls", tuple(deltas))
    one = session(rig, deltas, space=space, radius=1.0)
    chosen = session(rig, deltas, space=space)
    sets = session(rig, deltas, space=space, radius=1.0, per_vertex=True)
    apart = session(rig, deltas, radius=1.0)
    smile = deltas["mouthSmile_L"]
    rivals = {
        "a radius changes": other_radius(one),
        "a sculpt is replaced": resculpt(one, rig, smile),
        "the same, radius chosen": resculpt(chosen, rig, smile),
        "per vertex: a radius changes": other_radius(sets),
        "per vertex: a sculpt is replaced": resculpt(sets, rig, smile),
        "43 layers: all radii change": other_radius(apart),
        "43 layers: a sculpt is replaced": resculpt(apart, rig, smile),
    }
    title = f"{len(rig.mesh.points)} vertices, {len(deltas)} sculpts"
    report(title, alternate(rivals), "a radius changes", as_json)


if __name__ == "__main__":
    main()
