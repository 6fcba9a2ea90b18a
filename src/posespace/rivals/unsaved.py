"""What a rival that cannot be a `Skin` says when it is asked for a file."""

from __future__ import annotations

from pathlib import Path

from posespace.errors import InputError


class Unsaved:
    """Poses like a skin but has no file."""

    def save(self, path: str | Path) -> None:
        """Raise: only a `Skin` has a file."""
        raise InputError(f"{path}: a {type(self).__name__} is only for comparison and has no file; only a Skin has one")
