"""How long a change to a PSD session takes until the new skin is there: 11,248 vertices, 43 sculpts, one pose space.

Run: uv run python benchmarks/psd.py
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import numpy as np
from face import face
from timing import report, take_turns, wants_json

import posespace as ps


def session(rig: ps.Rig, deltas: dict[str, np.ndarray], **settings: object) -> ps.Sculpts:
    """A session with each expression at its control's 1."""
    sculpts = ps.Sculpts(rig, ps.PSD(**settings))  # type: ignore[arg-type]
    for name, delta in deltas.items():
        sculpts.add(name, ps.Pose(rig.rest.rotations, controls={name: 1.0}), rig.mesh.points + delta)
    return sculpts


def refall(sculpts: ps.Sculpts) -> Callable[[], ps.Skin]:
    """Another falloff at each call."""
    number = count()

    def change() -> ps.Skin:
        sculpts.set_falloff("*", 1.0 + 0.01 * (next(number) % 50))
        return sculpts.skin()

    return change


def resculpt(sculpts: ps.Sculpts, rig: ps.Rig, delta: np.ndarray) -> Callable[[], ps.Skin]:
    """Another smile at each call."""
    number = count()

    def change() -> ps.Skin:
        sculpts.replace("mouthSmile_L", rig.mesh.points + delta * (1 + 0.01 * (next(number) % 50)))
        return sculpts.skin()

    return change


def main() -> None:
    as_json = wants_json()
    rig, deltas = face()
    space = ps.PoseSpace("controls", tuple(deltas))
    one = session(rig, deltas, space=space, falloff=1.0)
    chosen = session(rig, deltas, space=space)
    sets = session(rig, deltas, space=space, falloff=1.0, per_vertex=True)
    apart = session(rig, deltas, falloff=1.0)
    smile = deltas["mouthSmile_L"]
    rivals = {
        "a falloff changes": refall(one),
        "a sculpt is replaced": resculpt(one, rig, smile),
        "the same, falloff chosen": resculpt(chosen, rig, smile),
        "per vertex: a falloff changes": refall(sets),
        "per vertex: a sculpt is replaced": resculpt(sets, rig, smile),
        "43 layers: all falloffs change": refall(apart),
        "43 layers: a sculpt is replaced": resculpt(apart, rig, smile),
    }
    title = f"{len(rig.mesh.points)} vertices, {len(deltas)} sculpts"
    report(title, take_turns(rivals), "a falloff changes", as_json)


if __name__ == "__main__":
    main()
