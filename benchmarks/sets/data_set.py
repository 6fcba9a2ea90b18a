"""A data set: examples to fit on, unseen ones, and how they were told apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import posespace as ps
from sets.alike import alike


class DataSet(NamedTuple):
    """Examples of one rig in two parts.

    Parameters
    ----------
    name : what the tables call it
    train : the examples to fit on
    unseen : the examples to evaluate on
    split : how the two were told apart, in words
    """

    name: str
    train: ps.Examples
    unseen: ps.Examples
    split: str


Offer = tuple[str, Callable[[], DataSet]]
"""The name of a data set, and what makes it; making it raises `LeftOutError` where there is nothing to learn."""


class LeftOutError(Exception):
    """A data set is left out; the message says why in one line."""


def parted(name: str, examples: ps.Examples, unseen: NDArray[np.bool_], split: str) -> DataSet:
    """Return the data set in which the examples marked in `unseen` (P,) are for evaluation and all others to fit on."""
    train = examples[np.flatnonzero(~unseen)]
    return DataSet(name, train, examples[np.flatnonzero(unseen)], split)


def plain_error(examples: ps.Examples) -> float:
    """Return the root mean square error of plain skinning, as a fraction of the diagonal."""
    rig = examples.rig
    squares = [np.square(rig.skin(pose) - shape).sum(axis=1).mean() for pose, shape in examples]
    return float(np.sqrt(np.mean(squares))) / rig.mesh.diagonal


def seen_before(train: ps.Examples, unseen: ps.Examples) -> int:
    """Return how many unseen poses are, up to rigid motion of the whole, also among those to fit on: clips repeat."""
    return int(alike(train.rig, unseen.motion, train.motion).any(axis=1).sum())
