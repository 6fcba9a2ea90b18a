"""Points that are said to be the same on two bodies: correct ones pass in any pose, wrong ones are named."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from posespace.check import Floats
from posespace.datasets import ScannedHand, scanned_hand
from posespace.geometry.correspondence_check import Pairing
from posespace.geometry.geodesics import Geodesics

LEAST = {15: (0.75, 0.5), 30: (0.85, 0.75), 60: (0.85, 0.85)}
"""By the number of landmarks: the fraction of swaps, and of landmarks far off, that is noticed at least."""


@cache
def small_hand() -> ScannedHand:
    return scanned_hand(vertices=1500)


def sets(count: int) -> tuple[list[str], Floats, Floats, list[Floats]]:
    """Names, positions on the hand at rest, lengths over its surface, and positions in all its poses."""
    hand = small_hand()
    names = list(hand.landmarks)[:count]
    vertices = [hand.landmarks[name] for name in names]
    rest = np.asarray(hand.mesh.points[vertices], dtype=np.float64)
    lengths = Geodesics(hand.mesh.points, hand.mesh.triangles)(vertices)[:, vertices]
    shapes = [np.asarray(hand.examples.shapes[k], dtype=np.float64)[vertices] for k in range(len(hand))]
    return names, rest, lengths, shapes


@pytest.mark.parametrize("count", LEAST)
def test_correct_points_pass_and_wrong_ones_are_named(count: int) -> None:
    names, rest, lengths, shapes = sets(count)
    rng = np.random.default_rng(0)
    swaps, far = [], []
    for there in shapes:
        for size in (1.0, 1.3):
            assert Pairing(rest, size * there, lengths).problem(names, "landmark") == ""
        assert Pairing(rest, there[::-1], lengths).problem(names, "landmark")
        assert "mirrored" in Pairing(rest, there * [-1, 1, 1], lengths).problem(names, "landmark")
        for _ in range(4):
            i, j = rng.choice(count, 2, replace=False)
            swapped = there.copy()
            swapped[[i, j]] = there[[j, i]]
            problem = Pairing(rest, swapped, lengths).problem(names, "landmark")
            swaps.append("swapped" in problem and repr(names[i]) in problem and repr(names[j]) in problem)
            moved = there.copy()
            moved[i] = there[rng.choice(np.argsort(np.linalg.norm(there - there[i], axis=1))[count // 2 :])] + 5.0
            far.append(repr(names[i]) in Pairing(rest, moved, lengths).problem(names, "landmark"))
    assert np.mean(swaps) >= LEAST[count][0]
    assert np.mean(far) >= LEAST[count][1]


def test_few_flat_or_unconnected_points_are_not_judged() -> None:
    rng = np.random.default_rng(1)
    flat = np.concatenate([rng.normal(size=(12, 2)), np.zeros((12, 1))], axis=1)
    assert Pairing(flat, flat * [-1, 1, 1]).handedness() == pytest.approx(0.0)
    assert Pairing(flat[:4], flat[3::-1]).problem(list("abcd"), "landmark") == ""
    alone = np.where(np.eye(12, dtype=bool), 0.0, np.inf)
    assert Pairing(flat, flat[::-1], alone).problem([str(k) for k in range(12)], "landmark") == ""
