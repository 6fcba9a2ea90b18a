"""The simulated hand, stored with the package: solved by `posespace simulate hand`, see its `about`."""

from __future__ import annotations

from pathlib import Path

from posespace.datasets import stored
from posespace.examples import Examples

HAND = Path(__file__).with_name("hand.npz")


def hand() -> tuple[Examples, Examples]:
    """Return examples to fit on and examples to judge by: a right hand in millimetres, 6,990 vertices, 17 joints.

    The first set moves one degree of freedom at a time through its range, the rest pose first; the second turns all
    joints at once. Both were made by nonlinear finite elements, so the truth and the tissue are known.
    """
    examples, _ = stored.read(HAND)
    every = examples.motion.names
    single = [k for k, name in enumerate(every) if not name.startswith("random")]
    random = [k for k, name in enumerate(every) if name.startswith("random")]
    return examples.subset(single), examples.subset(random)
