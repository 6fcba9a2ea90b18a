"""What a skin says about how it was made: the same keys for every method, in plain JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

EXAMPLES_ERROR = "own examples, fraction of plain skinning's error"
CROSS_VALIDATED_ERROR = "left out, fraction of plain skinning's error"
"""Keys of what every fit measures: the error at the examples it was given, and at those it left out in turn."""

_NOTES = "notes"


def about_fit(
    method: str, settings: object, poses: Sequence[str] = (), damped: int = 0, own: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return `Skin.about` of a fit: "method", "settings", "poses", "damped vertices", then what is the method's own.

    Parameters
    ----------
    method : what it is called
    settings : all of them, as a dataclass or by name
    poses : digests of the poses it was fitted on, see `pose_digests`; none where nothing was learned from them
    damped : vertices, summed over the poses, whose displacements are damped because their blend nearly loses rank
    own : the method's own figures, by key
    """
    return {
        "method": method,
        "settings": _plain(settings),
        "poses": list(poses),
        "damped vertices": damped,
        **_plain(own or {}),
    }


def with_notes(about: Mapping[str, Any], lines: Sequence[str]) -> dict[str, Any]:
    """Return `Skin.about` with lines on what its users should know added to its notes."""
    notes = [*notes_of(about), *lines]
    return {**about, _NOTES: notes} if notes else dict(about)


def notes_of(about: Mapping[str, Any]) -> list[str]:
    """Return the notes of a skin, one line each; a file may hold anything there, and what is no text is ignored."""
    notes = about.get(_NOTES)
    return [line for line in notes if isinstance(line, str)] if isinstance(notes, list) else []


def _plain(value: Any) -> Any:
    """The value as JSON has it; names in a tuple, as a key, are joined by " + "."""
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {" + ".join(key) if isinstance(key, tuple) else str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value.item() if isinstance(value, np.generic) else value
