"""The unseen sets of the built-in hand: PSD and EigenSkin, and the error by distance from the end of a range.

All errors are fractions of plain skinning's on the same poses. Nothing is chosen by looking at these poses.

Run: uv run python benchmarks/hand.py [--json]
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from timing import show, wants_json

import posespace as ps

Row = dict[str, object]


def main() -> None:
    as_json = wants_json()
    single, random = ps.datasets.hand()
    sets = {
        "single joints": ps.datasets.hand_between(),
        "all joints at random": random,
        "random grasps": ps.datasets.hand_grasps().named("grasp *"),
        "named grasps": ps.datasets.hand_grasps().named("!grasp *"),
    }
    fitted_on = {"single joints": single, "also pairs and grasps": single.joined(ps.datasets.hand_together())}
    skins = {
        f"{name}, fitted on {title}": method.fit(examples)
        for title, examples in fitted_on.items()
        for name, method in (("PSD", ps.PSD()), ("EigenSkin", ps.EigenSkin()))
    }
    show("unseen sets", [_row(name, skin, sets) for name, skin in skins.items()], as_json)
    bins = by_distance(single, sets["single joints"])
    show("single joints, by distance from the end of the range", [_row(n, s, bins) for n, s in skins.items()], as_json)
    grasps = {name: sets["named grasps"].named(name) for name in sets["named grasps"].motion.names}
    show("named grasps", [_row(name, skin, grasps) for name, skin in skins.items()], as_json)


def _row(name: str, skin: ps.Skin, sets: dict[str, ps.Examples]) -> Row:
    row: Row = {"fit": name}
    for title, examples in sets.items():
        found = ps.evaluate(skin, examples)
        assert found.seen == 0
        row[f"{title} ({len(examples)})" if len(examples) > 1 else title] = round(found.rel_err, 3)
    return row


def by_distance(single: ps.Examples, unseen: ps.Examples) -> dict[str, ps.Examples]:
    """The unseen angles in groups, by how many intervals of the fitted angles lie between them and the end."""
    stops: dict[str, list[float]] = {}
    for freedom, degrees in _angles(single.motion.names):
        stops.setdefault(freedom, [0.0]).append(degrees)
    groups: dict[int, list[int]] = {}
    for index, (freedom, degrees) in enumerate(_angles(unseen.motion.names)):
        beyond = np.sort(stops[freedom])
        place = int(np.searchsorted(beyond, degrees))
        groups.setdefault(min(place - 1, len(beyond) - 1 - place, 2), []).append(index)
    names = ("in the last interval", "in the one before", "further in")
    return {names[k]: unseen[groups[k]] for k in sorted(groups)}


def _angles(names: Iterable[str]) -> list[tuple[str, float]]:
    found = [re.fullmatch(r"(?:between )?(\w+\.\w) ([+-]\d+)", name) for name in names]
    return [(match[1], float(match[2])) for match in found if match]


if __name__ == "__main__":
    main()
