"""What the bound on corrections costs on unseen poses: the error without it, with it, and cut vertex by vertex.

The last column has the largest true correction of the unseen poses, over the largest true one of its neighbourhood at
the fitted poses: above 1.5, no skin that keeps the rule can be right.

Run: uv run python benchmarks/bound_cost.py [--only 'knight*' ...] [--all]
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from any_rig import METHODS
from rivals import DATA
from sets import every

import posespace as ps
from posespace.check import Floats
from posespace.geometry import skinning
from posespace.poses.parts import parts_of
from posespace.skin.basis import combined
from posespace.skin.bound import FLOOR, Neighbourhoods

Cut = Callable[[Floats, Floats], Floats]

CUTS: dict[str, Cut] = {
    "without the bound": lambda displacements, _: displacements,
    "with it": lambda displacements, ratios: displacements / max(1.0, ratios.max(initial=0.0)),
    "cut vertex by vertex": lambda displacements, ratios: displacements / np.maximum(1.0, ratios)[:, None],
}
"""What is left of a layer's displacements (S, 3), given their lengths over their limits (S,)."""


def error(skin: ps.Skin, unseen: ps.Examples, cut: Cut) -> float:
    """Return the error on unseen poses relative to plain skinning, each layer's displacements cut in a given way."""
    parts = parts_of(skin.rig.skeleton).of(unseen.motion)
    coordinates = [layer.driver.coordinates(unseen.motion, skin.rig.skeleton, parts) for layer in skin.layers]
    squares = np.zeros(2)
    for index, (pose, shape) in enumerate(unseen):
        total = np.zeros(skin.rig.mesh.points.shape)
        for layer, values in zip(skin.layers, coordinates, strict=True):
            displacements = combined(layer.basis, values[index])
            limits = skin.bounds[id(layer.driver)].moved[0].limits
            total[layer.support] += cut(displacements, np.linalg.norm(displacements, axis=1) / limits)
        blend, rest = skin.rig.blend(pose), skin.rig.mesh.points
        squares += [np.square(skinning.apply(blend, rest + added) - shape).sum() for added in (total, 0.0)]
    return float(np.sqrt(squares[0] / squares[1]))


def true_ratio(train: ps.Examples, unseen: ps.Examples) -> float:
    """Return the largest true correction at unseen poses, over the largest of its neighbourhood at fitted ones."""
    vertices = np.arange(len(train.rig.mesh.points), dtype=np.int32)
    at_fitted, at_unseen = (
        np.max([np.linalg.norm(examples.residual(k)[0], axis=1) for k in range(len(examples))], axis=0)
        for examples in (train, unseen)
    )
    around = Neighbourhoods(train.rig.mesh).largest(at_fitted, vertices)
    return float((at_unseen / np.maximum(around, FLOOR * at_fitted.max())).max())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", default=["knight*"], help="names of data sets, * for any ending"
    )
    parser.add_argument("--all", action="store_true", help="rows that the bound does not change by more than 2 % too")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("POSESPACE_DATA", DATA)))
    options = parser.parse_args()
    print(f"| set | method | {' | '.join(CUTS)} | true corrections |\n" + "|---" * (3 + len(CUTS)) + "|", flush=True)
    for name, train, unseen, _ in every(options.data, None, options.only, lambda _name, _reason: None):
        for title, method in METHODS.items():
            skin = method.fit(train)
            errors = {key: error(skin, unseen, cut) for key, cut in CUTS.items()}
            if options.all or errors["with it"] > 1.02 * errors["without the bound"]:
                cells = [f"{value:.4f}" for value in errors.values()] + [f"{true_ratio(train, unseen):.2f}"]
                print(f"| {name} | {title} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
