"""Poses that move much at once, as the frames of clips do: which they are, and the layers that bring them back.

Such poses lie close together along curves of a space of many dimensions. A layer through each of them exactly would
swing between them; a regression per region of the skin comes near them instead, as near as predicts left-out runs best.
Few poses it passes through.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.fit.gram import gram_of
from posespace.fit.psd.normals import with_normals
from posespace.fit.regions import Listening, Region, by_joint, whole
from posespace.fit.regression import LeftOut, Regression, principal_coordinates, tried_poses
from posespace.motion import Motion
from posespace.poses.active import Active, active_in_poses
from posespace.rig import Rig
from posespace.skin.driver import Driver
from posespace.skin.layer import Layer
from posespace.skin.provenance import CROSS_VALIDATED_ERROR

LEAST = 8
"""Poses that mostly move the same things make a clip if there are at least so many."""

EXACT_BELOW = 24
"""A clip of fewer poses may be sculpts: every one of them is reproduced."""

ALIKE = 0.5
"""Two poses mostly move the same things if they share this fraction of all that either moves."""

FEW = 0.1
"""If no more than this fraction of all poses is left beside the clip, they belong to it."""


def clip_poses(rig: Rig, motion: Motion) -> NDArray[np.bool_]:
    """Return (P,) which poses are frames of clips."""
    moves = active_in_poses(rig, motion, shown=True)
    clusters: list[tuple[Active, list[int]]] = []
    for index in sorted(range(len(moves)), key=lambda k: -len(moves[k])):
        if len(moves[index]) < 2:
            continue
        for all_of_them, poses in clusters:
            if len(moves[index] & all_of_them) >= ALIKE * len(moves[index] | all_of_them):
                poses.append(index)
                break
        else:
            clusters.append((moves[index], [index]))
    found = np.zeros(len(moves), dtype=bool)
    for _, poses in clusters:
        found[poses] = len(poses) >= LEAST
    away = np.array([bool(each) for each in moves])
    if (away & ~found).sum() <= FEW * away.sum():
        return away
    return found


def clip_layers(
    rig: Rig, motion: Motion, left: Floats, least: float, normals: Floats | None = None
) -> tuple[list[Layer], list[dict[str, Any]]]:
    """Return a layer per region that brings back what is `left` (P, N, 3) of the poses, and what it says of itself.

    What is shorter than `least` in all poses is not corrected. A region that no pose space helps to predict in left-out
    runs of poses gets no layer. `normals` (P, N, 3) is what is left of the normals, or None.
    """
    listening = Listening(rig, motion)
    sizes = np.linalg.norm(left, axis=2)
    loud, moved = np.flatnonzero(sizes.max(axis=1) > least), sizes.max(axis=0) > least
    exact = len(loud) < EXACT_BELOW
    layers, figures = list[Layer](), list[dict[str, Any]]()
    # In one space for all of the skin, regions would only make it larger.
    for region in [whole(rig)] if exact else by_joint(rig):
        support = np.flatnonzero((region.mask > 0) & moved)
        if not len(support):
            continue
        own = (left[:, support] * region.mask[support, None]).astype(np.float32)
        every, tried = np.arange(len(support), dtype=np.int32), tried_poses(len(own))
        trial, choice = listening.best(region, principal_coordinates(gram_of(own[tried], every)), exact)
        figures.append(_figures(region, choice, trial.places.space.names, len(loud)))
        if choice.shrink > 0:
            driver = _driver(choice.regression(trial.places, len(motion)), choice.shrink, loud)
            layer = Layer(f"{region.name} (clip)", driver, support.astype(np.int32), own[loud])
            layers.append(layer if normals is None else with_normals(layer, normals[loud] * region.mask[:, None]))
    return layers, figures


def _driver(regression: Regression, shrink: float, loud: NDArray[np.intp]) -> Driver:
    """The driver whose coordinates say how much of each loud pose there is."""
    return Driver(regression.places.space, regression.interpolant(shrink * regression.operator[:, loud]))


def _figures(region: Region, choice: LeftOut, axes: tuple[str, ...], poses: int) -> dict[str, Any]:
    return {
        "name": f"{region.name} (clip)",
        "poses": poses,
        "axes": len(axes),
        CROSS_VALIDATED_ERROR: round(choice.ratio, 4),
        "shrunk to": round(choice.shrink, 4),
    }
