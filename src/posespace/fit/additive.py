"""Values at the nodes of parts: read off where poses move one thing alone, else solved for all parts together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from posespace.check import Floats
from posespace.distance import distances
from posespace.examples import Examples
from posespace.fit.parts import Part
from posespace.interpolant import KERNELS, RBFInterpolant
from posespace.interpolate import RBF

Array32 = NDArray[np.float32]
Mask = NDArray[np.float32]

Folds = Sequence[NDArray[np.int64]]

STRENGTHS = tuple(10.0**power for power in (-7, -6, -5, -4, -3, -2, -1, 0))
"""Of the penalty on rough values, relative to the mean diagonal of the normal matrix."""

FLOOR = 0.01
"""Part of the penalty that pulls values to zero, where nothing else says what they are."""

_TRIAL = 1500
_GROUPS = 48


@dataclass(frozen=True, eq=False)
class Term:
    """A part and what it adds.

    Parameters
    ----------
    part : its pose space and nodes
    settings : the interpolation between them
    values : (M, N, 3) at the nodes
    features : (P, M) how much of each node there is in each pose of the fit
    """

    part: Part
    settings: RBF
    values: Array32
    features: Floats

    def sizes(self) -> Array32:
        """Return (N,) the largest displacement that each vertex gets over the poses of the fit."""
        largest = np.zeros(self.values.shape[1], dtype=np.float32)
        rows = np.flatnonzero(np.abs(self.features).max(axis=1) > 0)
        if self.part.alone and len(rows) == len(self.part.nodes):
            for value in self.values:
                np.maximum(largest, np.einsum("ni,ni->n", value, value), out=largest)
        else:
            for row in rows:
                moved = np.tensordot(self.features[row].astype(np.float32), self.values, axes=1)
                np.maximum(largest, np.einsum("ni,ni->n", moved, moved), out=largest)
        return np.sqrt(largest)


def read_off(parts: list[Part], settings: RBF, data: Array32) -> list[Term]:
    """Return the terms of parts whose nodes are poses that move nothing else: the values are observed."""
    terms = []
    for part in parts:
        features = np.zeros((len(data), len(part.poses)))
        features[part.poses, np.arange(len(part.poses))] = 1.0
        terms.append(Term(part, settings, _rows(data, part.poses), features))
    return terms


def solve_together(
    parts: Sequence[Part],
    settings: RBF,
    examples: Examples,
    data: Array32,
    masks: Sequence[Mask],
    together: Folds,
) -> tuple[list[Term], float]:
    """Solve the values of all parts from all poses by least squares, with a smoothness chosen by leaving poses out.

    Returns the terms and the squared error of the poses left out.

    Parameters
    ----------
    parts : the terms of the sum
    settings : of their interpolation
    examples : the poses
    data : (P, N, 3) what the sum should give
    masks : for each part (N,), 0 where it has no say; vertices that the same parts act on share one solve
    together : poses that are left out at once when the smoothness is chosen
    """
    skeleton, motion = examples.rig.skeleton, examples.motion
    resolved, features, penalties = [], [], []
    for part in parts:
        cardinal = part.cardinal(settings)
        # The nodes' values are what is solved for: from here on the radius stays as it was chosen.
        resolved.append(RBF(settings.kernel, tuple(cardinal.radius.tolist()), settings.tail, settings.smoothing))
        features.append(cardinal(part.space.coordinates(motion, skeleton)))
        penalties.append(roughness(cardinal))
    blocks, error = solve_for(features, data, masks, penalties, together)
    terms = [
        Term(part, own, block, feature)
        for part, own, block, feature in zip(parts, resolved, blocks, features, strict=True)
    ]
    return terms, error


def solve_for(
    features: Sequence[Floats], data: Array32, masks: Sequence[Mask], penalties: Sequence[Floats], together: Folds
) -> tuple[list[Array32], float]:
    """Return for each block of features (P, M) the values (M, N, 3) that together give `data`, and the error.

    A block has no say at vertices where its mask (N,) is 0; vertices that the same blocks act on share one solve.
    `penalties` (M, M) say which values are rough; without poses to leave out they have next to no weight.
    """
    spans = np.cumsum([0, *(block.shape[1] for block in features)])
    acts = np.stack([mask > 0 for mask in masks])
    groups = [
        _Group(
            vertices,
            chosen,
            np.concatenate([features[k] for k in chosen], axis=1),
            block_diag(*(penalties[k] for k in chosen)),
        )
        for vertices in _alike(acts)
        if len(chosen := np.flatnonzero(acts[:, vertices[0]]).tolist())
    ]
    strength, error = _choose_strength(groups, data, together) if together else (STRENGTHS[0], 0.0)
    values = np.zeros((int(spans[-1]), *data.shape[1:]), dtype=np.float32)
    for group in groups:
        rows = np.concatenate([np.arange(spans[k], spans[k + 1]) for k in group.chosen])
        solution = group.operator(strength) @ data[:, group.vertices].reshape(len(data), -1)
        values[rows[:, None], group.vertices] = solution.reshape(len(rows), -1, 3)
    return [values[spans[k] : spans[k + 1]] for k in range(len(features))], error


def roughness(cardinal: RBFInterpolant) -> Floats:
    """Return (M, M) how rough the interpolant of values at the nodes is, by its kernels' energy, plus a little."""
    count = len(cardinal.centres)
    gaps = distances(cardinal.centres, cardinal.centres, cardinal.metric, cardinal.radius)
    kernel = KERNELS[cardinal.kernel]
    weights = cardinal.weights[:count]
    energy = kernel.sign * weights.T @ kernel.value(gaps) @ weights
    mean = float(np.trace(energy)) / len(energy)
    pull = FLOOR * np.eye(len(energy))
    return pull if mean <= 0 else energy / mean + pull


class _Group(NamedTuple):
    """Vertices that the same blocks act on, which blocks, their features (P, F) and penalties (F, F)."""

    vertices: NDArray[np.int64]
    chosen: list[int]
    design: Floats
    penalty: Floats

    def operator(self, strength: float) -> Array32:
        """The matrix (F, P) from values at the poses to values of the features."""
        normal = self.design.T @ self.design
        normal += strength * max(float(np.trace(normal)) / len(normal), 1e-30) * self.penalty
        return np.linalg.solve(normal, self.design.T).astype(np.float32)


def in_regions(term: Term, regions: Mapping[str, Mask]) -> list[Term]:
    """Split a term over the surface by masks (N,) that sum to one, so that each region gets components of its own."""
    part = term.part
    return [
        replace(term, part=replace(part, name=f"{part.name} on {name}"), values=term.values * mask[:, None])
        for name, mask in regions.items()
    ]


def left_over(terms: Sequence[Term], examples: Examples, data: Array32) -> Array32:
    """Return what the terms leave of `data` (P, N, 3) at the poses of the examples."""
    left = data.copy()
    for term in terms:
        where = term.part.space.coordinates(examples.motion, examples.rig.skeleton)
        features = term.part.cardinal(term.settings)(where).astype(np.float32)
        left -= np.tensordot(features, term.values, axes=1)
    return left


def _rows(data: Array32, poses: NDArray[np.int64]) -> Array32:
    """The chosen poses: a view where they stand one after another."""
    if (np.diff(poses) == 1).all():
        return data[int(poses[0]) : int(poses[-1]) + 1]
    return data[poses]


def _alike(acts: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Vertices in groups that the same blocks act on, from (blocks, N)."""
    _, inverse = np.unique(np.packbits(acts, axis=0), axis=1, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    return np.split(order, np.flatnonzero(np.diff(inverse.ravel()[order])) + 1)


def _choose_strength(groups: Sequence[_Group], data: Array32, together: Folds) -> tuple[float, float]:
    """The strength that best predicts poses left out, and its squared error, on some vertices of the largest groups."""
    step = max(1, data.shape[1] // _TRIAL)
    judged = np.zeros(data.shape[1], dtype=bool)
    judged[::step] = True
    acted = np.zeros_like(judged)
    errors = np.zeros(len(STRENGTHS))
    for group in groups:
        acted[group.vertices] = True
    for group in sorted(groups, key=lambda group: -len(group.vertices))[:_GROUPS]:
        sample = data[:, group.vertices[judged[group.vertices]]].reshape(len(data), -1)
        for k, strength in enumerate(STRENGTHS):
            hat = group.design @ group.operator(strength)
            left = sample - hat @ sample
            for fold in together:
                inner = np.eye(len(fold)) - hat[np.ix_(fold, fold)]
                errors[k] += float((np.linalg.lstsq(inner, left[fold], rcond=1e-8)[0] ** 2).sum())
    best = int(errors.argmin())
    still = data[np.ix_(np.concatenate(list(together)), judged & ~acted)]
    return STRENGTHS[best], float(errors[best]) + float((still**2).sum())
