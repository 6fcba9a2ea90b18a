"""The built-in hand and arm."""

from __future__ import annotations

from collections.abc import Iterator

import posespace as ps
from sets.data_set import DataSet, Offer


def offers() -> Iterator[Offer]:
    """The data sets that come with the library."""
    yield "arm clip", arm_clip
    yield "hand, single joints", single_joints
    yield "hand, with grasps", with_grasps


def arm_clip() -> DataSet:
    """A simulated clip of an arm."""
    return DataSet("arm clip", *ps.datasets.arm(), "blocks of 10 frames: every fifth unseen")


def single_joints() -> DataSet:
    """One degree of freedom at a time to fit on, all joints at once to evaluate on."""
    train, unseen = ps.datasets.hand()
    return DataSet("hand, single joints", train, unseen, "single joints to fit on, random poses of all joints unseen")


def with_grasps() -> DataSet:
    """Single joints, pairs and grasps to fit on, other grasps to evaluate on."""
    train = ps.datasets.hand()[0].joined(ps.datasets.hand_together())
    split = "single joints, pairs and random grasps to fit on, other grasps unseen"
    return DataSet("hand, with grasps", train, ps.datasets.hand_grasps(), split)
