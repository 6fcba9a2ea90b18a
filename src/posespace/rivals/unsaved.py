"""Rivals that are not a `Skin` and so cannot be saved."""

from __future__ import annotations

from pathlib import Path

from posespace.errors import InputError


class Unsaved:
    """Poses like a skin but cannot be saved."""

    def save(self, path: str | Path) -> None:
        """Raise: only a `Skin` has a file."""
        raise InputError(f"{path}: a {type(self).__name__} is only for comparison and has no file; only a Skin has one")
