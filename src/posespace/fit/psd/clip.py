"""Poses that move many joints at once, as the frames of clips do: which poses they are, and their layers.

Such poses lie close together along curves in a space of many dimensions. A layer through each of them would oscillate
between them, so each region of the skin gets a regression instead, smoothed as cross-validation finds best. A clip of
few poses is still reproduced exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.fit.gram import gram_of
from posespace.fit.psd.normals import with_normals
from posespace.fit.regions import Region, SpaceChoice, by_joint, whole
from posespace.fit.regression import Regression, RegressionChoice, evenly_spread, principal_coordinates
from posespace.motion import Motion
from posespace.poses.active import Active, active_in_poses
from posespace.rig import Rig
from posespace.skin.driver import Driver
from posespace.skin.layer import Layer
from posespace.skin.provenance import CROSS_VALIDATED_ERROR

LEAST = 8
"""Fewest poses of similar movers that make a clip."""

EXACT_BELOW = 24
"""A clip of fewer poses may be sculpts: every one of them is reproduced."""

SIMILAR = 0.5
"""Two poses have similar movers if they share this fraction of all that either moves."""

FEW = 0.1
"""Poses outside the clip belong to it as well if they are no more than this fraction of all."""


def clip_poses(rig: Rig, motion: Motion) -> NDArray[np.bool_]:
    """Return (P,) which poses are frames of clips."""
    moves = active_in_poses(rig, motion, shown=True)
    clusters: list[tuple[Active, list[int]]] = []
    for index in sorted(range(len(moves)), key=lambda k: -len(moves[k])):
        if len(moves[index]) < 2:
            continue
        for movers, poses in clusters:
            if len(moves[index] & movers) >= SIMILAR * len(moves[index] | movers):
                poses.append(index)
                break
        else:
            clusters.append((moves[index], [index]))
    in_clip = np.zeros(len(moves), dtype=bool)
    for _, poses in clusters:
        in_clip[poses] = len(poses) >= LEAST
    away = np.array([bool(movers) for movers in moves])
    if (away & ~in_clip).sum() <= FEW * away.sum():
        return away
    return in_clip


def clip_layers(
    rig: Rig, motion: Motion, residuals: Floats, least: float, normals: Floats | None = None
) -> tuple[list[Layer], list[dict[str, Any]]]:
    """Return a layer per region that reproduces the residuals, and figures on each region.

    A region whose held-out poses no pose space helps to predict gets no layer.

    Parameters
    ----------
    rig, motion : the P poses
    residuals : (P, N, 3) displacements that earlier layers do not give
    least : a vertex whose residuals are all shorter is not corrected
    normals : (P, N, 3) residuals of the normals, or None
    """
    spaces = SpaceChoice(rig, motion)
    sizes = np.linalg.norm(residuals, axis=2)
    active, moves = np.flatnonzero(sizes.max(axis=1) > least), sizes.max(axis=0) > least
    exact = len(active) < EXACT_BELOW
    layers, figures = list[Layer](), list[dict[str, Any]]()
    # An exact fit has one space for all of the skin, so regions would only make it larger.
    for region in [whole(rig)] if exact else by_joint(rig):
        support = np.flatnonzero((region.mask > 0) & moves)
        if not len(support):
            continue
        masked = (residuals[:, support] * region.mask[support, None]).astype(np.float32)
        gram = gram_of(masked[evenly_spread(len(masked))], np.arange(len(support), dtype=np.int32))
        samples, choice = spaces.best(region, principal_coordinates(gram), exact)
        figures.append(_figures(region, choice, samples.space.names, len(active)))
        if choice.shrink > 0:
            driver = _driver(choice.regression(samples, len(motion)), choice.shrink, active)
            layer = Layer(f"{region.name} (clip)", driver, support.astype(np.int32), masked[active])
            layers.append(layer if normals is None else with_normals(layer, normals[active] * region.mask[:, None]))
    return layers, figures


def _driver(regression: Regression, shrink: float, active: NDArray[np.intp]) -> Driver:
    """The driver with one coordinate for each active pose: its weight."""
    return Driver(regression.samples.space, regression.interpolant(shrink * regression.operator[:, active]))


def _figures(region: Region, choice: RegressionChoice, axes: tuple[str, ...], poses: int) -> dict[str, Any]:
    return {
        "name": f"{region.name} (clip)",
        "poses": poses,
        "axes": len(axes),
        CROSS_VALIDATED_ERROR: round(choice.relative_error, 4),
        "shrunk to": round(choice.shrink, 4),
    }
