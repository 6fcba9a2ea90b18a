"""Rivals that are not a `Skin` and so cannot be saved."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from posespace.check import Ints
from posespace.errors import InputError


class Unsaved:
    """Poses like a skin but cannot be saved."""

    @property
    def points(self) -> Ints:
        """(M,) the vertices that control points are on: none, where joints make the pose."""
        return np.zeros(0, np.int32)

    def save(self, path: str | Path) -> None:
        """Raise: only a `Skin` has a file."""
        raise InputError(f"{path}: a {type(self).__name__} is only for comparison and has no file; only a Skin has one")
