"""Wrong landmarks: those whose distances, or whose handedness, differ between template and scan."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posespace.check import Floats
from posespace.geometry.correspondence_check import Pairing
from posespace.geometry.geodesics import Geodesics
from posespace.geometry.surface import Surface

_MOST = 300
"""Largest number of landmarks that are checked: the work grows with the square."""


def wrong_landmarks(names: Sequence[str], surface: Surface, ours: Floats, theirs: Floats) -> str:
    """Return what is wrong with landmarks, naming them; "" where nothing is noticed.

    Parameters
    ----------
    names : L of them
    surface : of the template
    ours : (L, 3) their positions on it
    theirs : (L, 3) on the scan, in the template's unit
    """
    chosen = np.unique(np.linspace(0, len(names) - 1, min(len(names), _MOST)).astype(np.int64))
    nearest = surface.closest(ours[chosen])
    corners = surface.triangles[nearest.triangles]
    vertices = corners[np.arange(len(chosen)), nearest.shares.argmax(axis=1)]
    lengths = Geodesics(surface.points, surface.triangles)(vertices)[:, vertices]
    return Pairing(ours[chosen], theirs[chosen], lengths).problem([names[k] for k in chosen], "landmark")
