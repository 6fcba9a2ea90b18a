"""Terms: values at the nodes of domains, read off where poses move one thing alone, else solved for all together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from posespace.check import Floats, Floats32
from posespace.examples import Examples
from posespace.fit.eigenskin.term_inputs import Domain
from posespace.fit.region_regression import Together
from posespace.fit.regression import principal_coordinates, tried_poses
from posespace.fit.self_check import ENOUGH, WORSE, do_not_predict
from posespace.fit.stream import Held, Source
from posespace.interpolate.distances import distances, spacing
from posespace.interpolate.fitted import RBFInterpolant
from posespace.interpolate.kernels import KERNELS
from posespace.interpolate.rbf import RBF
from posespace.interpolate.samples import SingularError
from posespace.skin.driver import Driver

Folds = Sequence[NDArray[np.int64]]

STRENGTHS = tuple(10.0**power for power in (-7, -6, -5, -4, -3, -2, -1, 0))
"""Strengths tried for the penalty on rough values, relative to the mean diagonal of the normal matrix."""

FLOOR = 0.01
"""Fraction of the penalty that pulls values to zero, where nothing else says what they are."""

FOLDS = 30
"""Runs of poses that are left out in turn when the smoothness is chosen."""

_TRIAL = 1500
_MOST_SIZED = 512
_GROUPS = 48


@dataclass(frozen=True, eq=False)
class Term:
    """A domain and what is added over it.

    Parameters
    ----------
    domain : its pose space and nodes
    settings : the interpolation between them
    vertices : N, of the whole mesh
    support : (S,) the vertices it may move, ascending
    values : (M, S, 3) at the nodes
    features : (P, M) how much of each node there is in each pose of the fit
    note : what a user should know of it, one line, or ""
    """

    domain: Domain | Together
    settings: RBF
    vertices: int
    support: NDArray[np.int64]
    values: Floats32
    features: Floats
    note: str = ""

    def driver(self, values: Floats) -> Driver:
        """Return the driver that gives `values` (M, C) at the nodes."""
        if isinstance(self.domain, Together):
            return self.domain.driver(values)
        return self.domain.driver(self.settings, values)

    def cardinal_features(self, examples: Examples) -> Floats:
        """Return (P, M) how much of each node's value there is in any poses, of a term of one thing or a pair."""
        assert isinstance(self.domain, Domain)
        where = self.domain.space.coordinates(examples.motion, examples.rig.skeleton)
        return self.domain.cardinal(self.settings)(where)

    @cached_property
    def sizes(self) -> Floats32:
        """(N,) the largest displacement that each vertex gets over the poses of the fit."""
        largest = np.zeros(len(self.support), dtype=np.float32)
        rows = np.flatnonzero(np.abs(self.features).max(axis=1) > 0)
        rows = rows[tried_poses(len(rows), _MOST_SIZED)] if len(rows) > _MOST_SIZED else rows
        if self.domain.alone and len(rows) == len(self.domain.nodes):
            for value in self.values:
                np.maximum(largest, np.einsum("ni,ni->n", value, value), out=largest)
        else:
            for row in rows:
                moved = np.tensordot(self.features[row].astype(np.float32), self.values, axes=1)
                np.maximum(largest, np.einsum("ni,ni->n", moved, moved), out=largest)
        sizes = np.zeros(self.vertices, dtype=np.float32)
        sizes[self.support] = np.sqrt(largest)
        return sizes


def read_off(domains: list[Domain], settings: RBF, data: Source | Held, count: int) -> list[Term]:
    """Return the terms of domains whose nodes are poses that move nothing else: the values are observed.

    There are `count` vertices.
    """
    terms, everywhere = [], np.arange(count)
    for domain in domains:
        features = np.zeros((len(data), len(domain.poses)))
        features[domain.poses, np.arange(len(domain.poses))] = 1.0
        terms.append(Term(domain, settings, count, everywhere, data.some(domain.poses), features))
    return terms


def solve_together(
    domains: Sequence[Domain],
    settings: RBF,
    examples: Examples,
    data: Floats32,
    masks: Sequence[Floats32],
    together: Folds,
) -> tuple[list[Term], float]:
    """Solve the values of all domains from all poses by least squares, with a smoothness chosen by leaving poses out.

    Returns the terms and the squared error of the poses left out.

    Parameters
    ----------
    domains : one per term of the sum
    settings : their interpolation
    examples : the poses
    data : (P, N, 3) what the sum should give
    masks : for each domain (N,), 0 where it does not act; vertices that the same domains act on share one solve
    together : runs of poses; a run is left out at once when the smoothness is chosen
    """
    skeleton, motion = examples.rig.skeleton, examples.motion
    resolved, features, penalties = [], [], []
    for domain in domains:
        cardinal = domain.cardinal(settings)
        # The nodes' values are what is solved for: from here on the radius stays as it was chosen.
        resolved.append(RBF(settings.kernel, tuple(cardinal.radius.tolist()), settings.tail, settings.smoothing))
        features.append(cardinal(domain.space.coordinates(motion, skeleton)))
        penalties.append(roughness(cardinal))
    blocks, error = solve_for(features, data, masks, penalties, together)
    terms = [
        Term(domain, own, data.shape[1], np.flatnonzero(mask), block, feature)
        for domain, own, mask, block, feature in zip(domains, resolved, masks, blocks, features, strict=True)
    ]
    return terms, error


def runs_of(poses: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return poses in runs that are left out one at a time: the next frame of a clip would give too much away."""
    return [run for run in np.array_split(poses, min(FOLDS, len(poses))) if len(run)]


def solve_for(
    features: Sequence[Floats], data: Floats32, masks: Sequence[Floats32], penalties: Sequence[Floats], together: Folds
) -> tuple[list[Floats32], float]:
    """Return for each block of features (P, M) the values (M, S, 3) that together give `data`, and the error.

    A block acts on the S vertices where its mask (N,) is not 0; vertices that the same blocks act on share one solve.
    `penalties` (M, M) say which values are rough; without poses to leave out they have next to no weight.
    """
    acts = np.stack([mask > 0 for mask in masks])
    places = [np.cumsum(each) - 1 for each in acts]
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
    values = [
        np.zeros((block.shape[1], int(each.sum()), 3), dtype=np.float32)
        for block, each in zip(features, acts, strict=True)
    ]
    for group in groups:
        solution = group.operator(strength) @ data[:, group.vertices].reshape(len(data), -1)
        split = np.cumsum([features[k].shape[1] for k in group.chosen])[:-1]
        for k, own in zip(group.chosen, np.split(solution.reshape(len(solution), -1, 3), split), strict=True):
            values[k][:, places[k][group.vertices]] = own
    return values, error


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

    def operator(self, strength: float) -> Floats32:
        """The matrix (F, P) from values at the poses to values of the features."""
        normal = self.design.T @ self.design
        normal += strength * max(float(np.trace(normal)) / len(normal), 1e-30) * self.penalty
        return np.linalg.solve(normal, self.design.T).astype(np.float32)


def left_over(terms: Sequence[Term], examples: Examples, data: Floats32) -> Floats32:
    """Return what the terms leave of `data` (P, N, 3) at the poses of the examples."""
    left = data.copy()
    for term in terms:
        features = term.cardinal_features(examples).astype(np.float32)
        moved = slice(None) if len(term.support) == term.vertices else term.support
        left[:, moved] -= np.tensordot(features, term.values, axes=1)
    return left


def expected_error(terms: Sequence[Term]) -> float:
    """Return the error on left-out poses as a fraction of plain skinning's, over all terms that are read or solved.

    Poses that move one thing alone are left out one at a time, runs of poses where things move together.
    """
    error, plain = 0.0, 0.0
    for term in terms:
        if isinstance(term.domain, Together):
            error, plain = error + term.domain.left_out.error, plain + term.domain.left_out.plain
        elif term.domain.alone and len(term.values) > 1:
            values = _padded(term)
            error += float((_left_one_out(term, values)[: len(term.values)] ** 2).sum())
            plain += float((values**2).sum())
    return float(np.sqrt(error / plain)) if plain > 0 else 1.0


def safe(term: Term) -> Term:
    """Return a term that predicts its poses from one another no worse than plain skinning does.

    Where it would be worse, it becomes a function that fades away from each pose, with a note; it passes through the
    poses all the same.
    """
    if len(term.values) < ENOUGH:
        return term
    assert isinstance(term.domain, Domain)
    values, places = _padded(term), term.domain.places
    radius = spacing(distances(places, places, term.domain.space.metric))
    plain, fading = float((values**2).sum()), replace(term, settings=RBF("gaussian", radius))
    error, other = (float((_left_one_out(each, values) ** 2).sum()) for each in (term, fading))
    if error <= WORSE**2 * plain:
        return term
    note = f"layer {term.domain.name!r}: {do_not_predict('poses', float(np.sqrt(error / plain)))}"
    return replace(fading, note=f"{note}; it fades between them") if other < error else replace(term, note=note)


def _padded(term: Term) -> Floats:
    """Principal coordinates (M + A, K) of the values at a term's nodes, then zeros at its anchors."""
    assert isinstance(term.domain, Domain)
    flat = term.values.reshape(len(term.values), -1)
    values = principal_coordinates((flat @ flat.T).astype(np.float64))
    return np.vstack([values, np.zeros((len(term.domain.anchors), values.shape[1]))])


def _left_one_out(term: Term, values: Floats) -> Floats:
    """What is not predicted (M + A, K) of each node from the others; all of it where the others say nothing."""
    assert isinstance(term.domain, Domain)
    places, count = term.domain.places, len(term.domain.nodes)
    try:
        errors = term.settings.leave_one_out(places, values, term.domain.space.metric, origin=count)
    except SingularError:
        return values
    # That the term is zero at its anchors is known.
    errors[count:] = 0.0
    return errors


def _alike(acts: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Vertices in groups that the same blocks act on, from (blocks, N)."""
    _, inverse = np.unique(np.packbits(acts, axis=0), axis=1, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    return np.split(order, np.flatnonzero(np.diff(inverse.ravel()[order])) + 1)


def _choose_strength(groups: Sequence[_Group], data: Floats32, together: Folds) -> tuple[float, float]:
    """The strength that best predicts left-out poses, and its squared error, on some vertices of the largest groups."""
    step = max(1, data.shape[1] // _TRIAL)
    tried = np.zeros(data.shape[1], dtype=bool)
    tried[::step] = True
    acted = np.zeros_like(tried)
    errors = np.zeros(len(STRENGTHS))
    for group in groups:
        acted[group.vertices] = True
    for group in sorted(groups, key=lambda group: -len(group.vertices))[:_GROUPS]:
        sample = data[:, group.vertices[tried[group.vertices]]].reshape(len(data), -1)
        for k, strength in enumerate(STRENGTHS):
            hat = group.design @ group.operator(strength)
            left = sample - hat @ sample
            for fold in together:
                inner = np.eye(len(fold)) - hat[np.ix_(fold, fold)]
                errors[k] += float((np.linalg.lstsq(inner, left[fold], rcond=1e-8)[0] ** 2).sum())
    best = int(errors.argmin())
    still = data[np.ix_(np.concatenate(list(together)), tried & ~acted)]
    return STRENGTHS[best], float(errors[best]) + float((still**2).sum())
