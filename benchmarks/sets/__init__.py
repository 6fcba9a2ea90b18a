"""Every data set at hand, for benchmarks that ask how a method does on any rig and any clip."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path

from sets import built_in, clips, faces, godot_hand, mesh_sequences, wolf
from sets.data_set import DataSet, LeftOutError, plain_error, seen_before

__all__ = ["DataSet", "every", "plain_error", "seen_before"]


def every(
    data: Path,
    cache: Path | None = None,
    only: Sequence[str] = ("*",),
    left_out: Callable[[str, str], None] | None = None,
) -> Iterator[DataSet]:
    """Make the data sets one after the other; those whose files are absent are passed over.

    Parameters
    ----------
    data : the folder of real assets
    cache : where simulated shapes are kept, so that they are made once; None leaves those sets out
    only : patterns of names, e.g. "knight, Walking*"; others are not made
    left_out : called with the name of a set in which there is nothing to learn, and the reason
    """
    every_offer = chain(
        built_in.offers(),
        mesh_sequences.offers(data),
        wolf.offers(data),
        faces.offers(data),
        godot_hand.offers(data, cache),
        clips.offers(data),
    )
    for name, make in every_offer:
        if any(fnmatchcase(name, pattern) for pattern in only):
            try:
                yield make()
            except LeftOutError as reason:
                if left_out is not None:
                    left_out(name, str(reason))
