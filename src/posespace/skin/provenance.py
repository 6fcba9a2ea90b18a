"""Provenance: how a skin was made, in plain JSON with the same keys for every method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

EXAMPLES_ERROR = "own examples, fraction of plain skinning's error"
CROSS_VALIDATED_ERROR = "left out, fraction of plain skinning's error"
"""Keys of the errors that every fit measures: at its examples, and at the same examples by cross-validation."""

SINGULAR_VALUES = "singular values"
"""Key of the singular values of what each layer was made from, by the layer's name, largest first."""

_NOTES = "notes"


def about_fit(
    method: str, settings: object, poses: Sequence[str] = (), damped: int = 0, figures: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return `Skin.about` of a fit: "method", "settings", "poses", "damped vertices", then the figures of the method.

    Parameters
    ----------
    method : its name
    settings : of the fit, as a dataclass or by name
    poses : digests of the poses it was fitted on, see `pose_digests`; none where nothing was learned from them
    damped : vertices, summed over the poses, whose displacements are damped because their blend nearly loses rank
    figures : further figures of the method, by key
    """
    return {
        "method": method,
        "settings": _plain(settings),
        "poses": list(poses),
        "damped vertices": damped,
        **_plain(figures or {}),
    }


def with_notes(about: Mapping[str, Any], lines: Sequence[str]) -> dict[str, Any]:
    """Return `Skin.about` with lines added to its notes for users."""
    notes = [*notes_of(about), *lines]
    return {**about, _NOTES: notes} if notes else dict(about)


def notes_of(about: Mapping[str, Any]) -> list[str]:
    """Return the notes of a skin, one line each; a file may hold anything there, and what is no text is ignored."""
    notes = about.get(_NOTES)
    return [line for line in notes if isinstance(line, str)] if isinstance(notes, list) else []


def _plain(value: Any) -> Any:
    """The value as plain JSON; a key that is a tuple of names is joined by " + "."""
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {" + ".join(key) if isinstance(key, tuple) else str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value.item() if isinstance(value, np.generic) else value
