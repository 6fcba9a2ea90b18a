"""The simulated hand and arm, stored with the package: solved by `posespace simulate`, see their `about`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from posespace.datasets import stored
from posespace.datasets.finer import refined
from posespace.datasets.ranges import ranges_of
from posespace.errors import InputError
from posespace.examples import Examples

HAND, ARM = (Path(__file__).with_name(f"{name}.npz") for name in ("hand", "arm"))
HAND_MORE = Path(__file__).with_name("hand_more.npz")
HAND_FINE = Path(__file__).with_name("hand_fine.npz")


def hand(level: int = 1) -> tuple[Examples, Examples]:
    """Return examples to fit on and unseen ones to evaluate on: a right hand in millimetres, 17 joints.

    The first set moves one degree of freedom at a time through its whole range, the rest pose first; the second rotates
    all joints at once, each drawn uniformly from its whole range. All sets of the hand were made by nonlinear finite
    elements with contact, so the truth and the tissue are known, and no skin passes through skin.

    Parameters
    ----------
    level : 1: 6,990 vertices and 13,976 triangles; 2: 27,954 and 55,904, whose first vertices are those of level 1.
        The shapes of level 2 are made when they are asked for, from those of level 1
    """
    examples = _read(HAND, level)
    random = np.array([name.startswith("random") for name in examples.motion.names])
    return examples[np.flatnonzero(~random)], examples[np.flatnonzero(random)]


def hand_between(level: int = 1) -> Examples:
    """Return 66 unseen examples: each degree of freedom alone, at three angles that `hand` does not have.

    Two are the middles of the first and the last interval of its range, the third is drawn uniformly from all of it.
    """
    return _named(_read(HAND_MORE, level), "between")


def hand_together(level: int = 1) -> Examples:
    """Return 72 examples to fit on, besides those of `hand`: 32 of two joints at once and 40 random grasps."""
    return _named(_read(HAND_MORE, level), "pair", "train")


def hand_grasps(level: int = 1) -> Examples:
    """Return 37 unseen examples: 25 random grasps, a fist, a pinch and ten everyday grasps by name."""
    return _other_than(_read(HAND_MORE, level), "rest", "pair", "train", "between")


def hand_jumps() -> dict[str, list[tuple[float, float]]]:
    """Return the steps, from and to degrees, in which the hand's skin changes suddenly, by range.

    In such a step some vertex moves more than twice as much per degree as in the median step of its range, because a
    fold forms. Only ranges with such a step are given; the angles are those of `hand` and `hand_between`.
    """
    jumps = {side.name: side.jumps() for side in ranges_of(hand()[0], hand_between())}
    return {name: steps for name, steps in jumps.items() if steps}


def arm() -> tuple[Examples, Examples]:
    """Return examples to fit on and unseen ones to evaluate on: the frames of `arm_clip` in blocks of ten.

    Every fifth block, frames 40 to 49 and 90 to 99, is for evaluation: 80 frames and 20.
    """
    clip = arm_clip()
    unseen = np.arange(len(clip)) // 10 % 5 == 4
    return clip[np.flatnonzero(~unseen)], clip[np.flatnonzero(unseen)]


def arm_clip() -> Examples:
    """Return 100 frames in order, 24 per second: a right arm in millimetres, 3,234 vertices, 3 joints.

    From rest in the first frame, the elbow bends to 80 degrees and back while the forearm twists by 70 degrees to
    either side, independently. Made by nonlinear finite elements, each frame from the rest shape.
    """
    return stored.read(ARM)[0]


def _read(path: Path, level: int) -> Examples:
    if level not in (1, 2):
        raise InputError(f"hand level: expected 1 or 2, got {level}")
    examples, _ = stored.read(path)
    return refined(examples, HAND_FINE) if level == 2 else examples


def _named(examples: Examples, *starts: str) -> Examples:
    return examples[[k for k, name in enumerate(examples.motion.names) if name.startswith(starts)]]


def _other_than(examples: Examples, *starts: str) -> Examples:
    return examples[[k for k, name in enumerate(examples.motion.names) if not name.startswith(starts)]]
