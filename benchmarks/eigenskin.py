"""EigenSkin's choices by number, on poses the fit did not see: components, kernels, coupling, allotment, bits.

Run: uv run python benchmarks/eigenskin.py [--json] [--data FOLDER] [--only TABLE]
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
from rivals import DATA, frames
from timing import show

import posespace as ps

PAPER = (0.161, 0.160, 0.100, 0.098, 0.065)
"""Figure 7 of Kry, James and Pai 2002: the thumb's carpo-metacarpal joint with 1 to 5 components."""
KERNELS = ("thin_plate", "linear", "exponential", "gaussian", "multiquadric", "cubic")

Row = dict[str, object]


def score(skin: ps.Skin, unseen: ps.Examples) -> float:
    """The relative error on unseen poses."""
    found = ps.evaluate(skin, unseen)
    assert found.seen == 0
    return round(found.rel_err, 4)


def bytes_per_vertex(skin: ps.Skin, unseen: ps.Examples) -> float:
    """What the skin stores, excluding the rig."""
    return round(ps.evaluate(skin, unseen[[0]]).bytes_per_vertex, 1)


def components(train: ps.Examples, random: ps.Examples, between: ps.Examples) -> list[Row]:
    """Error against components per layer, all other settings the defaults: a layer per degree of freedom."""
    rows = []
    for count in (1, 2, 3, 4, 5, 0):
        skin = ps.EigenSkin(count).fit(train)
        rows.append(
            {
                "components": count or "chosen",
                **errors_of_joints(skin, between),
                "25 random poses": score(skin, random),
                "bytes per vertex": bytes_per_vertex(skin, random),
            }
        )
    return rows


def as_in_the_paper(train: ps.Examples, between: ps.Examples) -> list[Row]:
    """The paper's settings next to its figures: components per joint, one RBF per joint, one support per layer."""
    train, between = (one_space_per_joint(each) for each in (train, between))
    rows = []
    for count, paper in enumerate(PAPER, 1):
        row: Row = {"components per joint": count, "paper": paper}
        for budget, title in ((10, ""), (0, ", no budget")):
            skin = ps.EigenSkin(
                count, "equal", budget, threshold=0.04, kernel="exponential", coupling=False, bits=32
            ).fit(train)
            row |= {f"{name}{title}": error for name, error in errors_of_joints(skin, between).items()}
        rows.append(row)
    return rows


def one_space_per_joint(examples: ps.Examples) -> ps.Examples:
    """The examples on a skeleton that does not know its axes, so that a joint is one thing that moves."""
    rig = examples.rig
    return replace(examples, rig=replace(rig, skeleton=replace(rig.skeleton, axes=None, limits=None)))


def errors_of_joints(skin: ps.Skin, between: ps.Examples) -> Row:
    """The error on angles of the thumb's carpo-metacarpal joint, and the mean over all joints."""
    each = ps.evaluate(skin, between).per_joint
    thumb = score(skin, between.named("between thumb_cmc.*"))
    return {"thumb_cmc": thumb, "mean over joints": round(float(np.mean(list(each.values()))), 4)}


def kernels(train: ps.Examples, random: ps.Examples, between: ps.Examples) -> list[Row]:
    """Which interpolation between the poses of a joint generalises best, without compression."""
    rows = []
    for kernel in KERNELS:
        skin = ps.EigenSkin(20, budget=None, threshold=0.0, kernel=kernel, bits=32).fit(train)
        rows.append({"kernel": kernel, "angles between": score(skin, between), "25 random poses": score(skin, random)})
    return rows


def coupling(train: ps.Examples, random: ps.Examples) -> list[Row]:
    """What poses of several joints add."""
    more = train.joined(ps.datasets.hand_together())
    settings = {
        "single joints only": (train, ps.EigenSkin()),
        "general: all poses solved together": (more, ps.EigenSkin(general=True, coupling=False)),
        "coupling layers": (more, ps.EigenSkin()),
        "general and coupling": (more, ps.EigenSkin(general=True)),
        "coupling layers, no budget": (more, ps.EigenSkin(budget=None)),
    }
    rows = []
    for name, (examples, method) in settings.items():
        skin = method.fit(examples)
        size = bytes_per_vertex(skin, random)
        rows.append({"fit": name, "25 random poses": score(skin, random), "bytes per vertex": size})
    return rows


def allotment(name: str, train: ps.Examples, unseen: ps.Examples) -> list[Row]:
    """Greedy against equal components at the same bytes or fewer."""
    rows = []
    for count in (1, 2, 3, 5):
        equal = ps.EigenSkin(count, "equal", budget=None, threshold=0.04, bits=32).fit(train)
        size = bytes_per_vertex(equal, unseen)
        entries = sum(layer.basis.size for layer in equal.layers) / 3 / len(train.rig.mesh.points)
        share = 1.0
        while bytes_per_vertex(greedy := _greedy(share * entries).fit(train), unseen) > size:
            share -= 0.05
        rows.append(
            {
                "set": name,
                "equal": count,
                "bytes per vertex": size,
                "equal error": score(equal, unseen),
                "greedy bytes": bytes_per_vertex(greedy, unseen),
                "greedy error": score(greedy, unseen),
            }
        )
    return rows


def _greedy(entries: float) -> ps.EigenSkin:
    return ps.EigenSkin(20, budget=None, size=entries, bits=32)


def sizes(train: ps.Examples, random: ps.Examples) -> list[Row]:
    """Fewer bits, and level of detail by dropping trailing components."""
    full = ps.EigenSkin(bits=32).fit(train)
    skins = {f"{bits} bits": full.packed(bits) for bits in (32, 16, 8)}
    skins |= {f"16 bits, first {count} components": full.packed(16).truncated(count) for count in (3, 2, 1)}
    return [
        {"skin": name, "25 random poses": score(skin, random), "bytes per vertex": bytes_per_vertex(skin, random)}
        for name, skin in skins.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, one line a table")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("POSESPACE_DATA", DATA)))
    parser.add_argument("--only", help="the title of one table")
    given = parser.parse_args()
    train, random = ps.datasets.hand()
    between = ps.datasets.hand_between()
    tables = {
        "components per degree of freedom": lambda: components(train, random, between),
        "components per joint, as in the paper": lambda: as_in_the_paper(train, between),
        "kernels, uncompressed": lambda: kernels(train, random, between),
        "poses of several joints": lambda: coupling(train, random),
        "allotment, hand": lambda: allotment("hand", train, random),
        "sizes": lambda: sizes(train, random),
    }
    if (given.data / "meshseq-dembones").is_dir():
        _, odd, even, _ = frames(given.data)
        tables["allotment, dem-bones"] = lambda: allotment("dem-bones", odd, even)
    for title, make in tables.items():
        if given.only not in (None, title):
            continue
        show(title, make(), given.json)


if __name__ == "__main__":
    main()
