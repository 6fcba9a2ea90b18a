"""Terms: displacements at the nodes of domains, observed where poses move one thing alone, else solved for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Floats32
from posespace.examples import Examples
from posespace.fit.block_least_squares import Folds, solve_blocks
from posespace.fit.eigenskin.term_domains import Domain, RegionDomain
from posespace.fit.regression import evenly_spread, principal_coordinates
from posespace.fit.self_check import ENOUGH, WORSE, do_not_predict
from posespace.fit.stream import Held, Source
from posespace.interpolate.distances import distances, spacing
from posespace.interpolate.fitted import RBFInterpolant
from posespace.interpolate.kernels import KERNELS
from posespace.interpolate.rbf import RBF
from posespace.interpolate.samples import SingularError
from posespace.skin.driver import Driver

FLOOR = 0.01
"""Fraction of the roughness penalty that pulls values to zero, where the poses do not determine them."""

_MOST_MEASURED = 512
"""Most poses, spread evenly, that a term's largest displacements are taken over."""


@dataclass(frozen=True, eq=False)
class Term:
    """A domain and the displacements at its nodes.

    Parameters
    ----------
    domain : its pose space and nodes
    vertices : N, of the whole mesh
    support : (S,) the vertices it may move, ascending
    values : (M, S, 3) displacements at the nodes
    features : (P, M) the weight of each node at each pose of the fit
    note : a line for the user, or ""
    """

    domain: Domain | RegionDomain
    vertices: int
    support: NDArray[np.int64]
    values: Floats32
    features: Floats
    note: str = ""

    def driver(self, values: Floats) -> Driver:
        """Return the driver that gives `values` (M, C) at the nodes."""
        return self.domain.driver(values)

    def features_at(self, examples: Examples) -> Floats:
        """Return (P, M) the weight of each node at the poses of examples, of a term that is not a region's."""
        assert isinstance(self.domain, Domain)
        return self.domain.cardinal()(self.domain.space.coordinates(examples.motion, examples.rig.skeleton))

    @cached_property
    def sizes(self) -> Floats32:
        """(N,) the length of each vertex's largest displacement over the poses of the fit."""
        largest = np.zeros(len(self.support), dtype=np.float32)
        rows = np.flatnonzero(np.abs(self.features).max(axis=1) > 0)
        rows = rows[evenly_spread(len(rows), _MOST_MEASURED)] if len(rows) > _MOST_MEASURED else rows
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


def observed_terms(domains: list[Domain], data: Source | Held, vertices: int) -> list[Term]:
    """Return the terms of domains whose nodes are poses that move nothing else, so that their values are observed."""
    terms, support = [], np.arange(vertices)
    for domain in domains:
        features = np.zeros((len(data), len(domain.poses)))
        features[domain.poses, np.arange(len(domain.poses))] = 1.0
        terms.append(Term(domain, vertices, support, data.some(domain.poses), features))
    return terms


def solved_terms(
    domains: Sequence[Domain], examples: Examples, data: Floats32, masks: Sequence[Floats32], folds: Folds
) -> list[Term]:
    """Return terms whose sum is nearest to `data` (P, N, 3), smoothed as cross-validation finds best.

    Parameters
    ----------
    domains : one per term
    examples : the P poses
    data : the displacements at the poses
    masks : (N,) per domain, 0 where it does not act
    folds : poses to hold out together
    """
    skeleton, motion = examples.rig.skeleton, examples.motion
    resolved, features, penalties = [], [], []
    for domain in domains:
        cardinal = domain.cardinal()
        # The values at the nodes are unknown: from here on the radius stays as it was chosen.
        rbf = RBF(domain.rbf.kernel, tuple(cardinal.radius.tolist()), domain.rbf.tail, domain.rbf.smoothing)
        resolved.append(replace(domain, rbf=rbf))
        features.append(cardinal(domain.space.coordinates(motion, skeleton)))
        penalties.append(roughness(cardinal))
    values = solve_blocks(features, data, masks, penalties, folds)
    return [
        Term(domain, data.shape[1], np.flatnonzero(mask), block, feature)
        for domain, mask, block, feature in zip(resolved, masks, values, features, strict=True)
    ]


def roughness(cardinal: RBFInterpolant) -> Floats:
    """Return (M, M) the quadratic form of the kernel energy of values at the nodes, plus a small multiple of one."""
    count = len(cardinal.centres)
    gaps = distances(cardinal.centres, cardinal.centres, cardinal.metric, cardinal.radius)
    kernel = KERNELS[cardinal.kernel]
    weights = cardinal.weights[:count]
    energy = kernel.sign * weights.T @ kernel.value(gaps) @ weights
    mean = float(np.trace(energy)) / len(energy)
    pull = FLOOR * np.eye(len(energy))
    return pull if mean <= 0 else energy / mean + pull


def residual_after(terms: Sequence[Term], examples: Examples, data: Floats32) -> Floats32:
    """Return `data` (P, N, 3) at the poses of the examples minus what the terms give."""
    residual = data.copy()
    for term in terms:
        features = term.features_at(examples).astype(np.float32)
        moved = slice(None) if len(term.support) == term.vertices else term.support
        residual[:, moved] -= np.tensordot(features, term.values, axes=1)
    return residual


def cross_validation_error(terms: Sequence[Term]) -> float:
    """Return the error of all terms on held-out poses, as a fraction of plain skinning's.

    Poses that move one thing alone are held out one at a time; elsewhere whole runs of poses are.
    """
    error, plain = 0.0, 0.0
    for term in terms:
        if isinstance(term.domain, RegionDomain):
            error, plain = error + term.domain.choice.error, plain + term.domain.choice.plain_error
        elif term.domain.alone and len(term.values) > 1:
            values = _padded(term)
            error += float((_leave_one_out(term.domain, values)[: len(term.values)] ** 2).sum())
            plain += float((values**2).sum())
    return float(np.sqrt(error / plain)) if plain > 0 else 1.0


def safe(term: Term) -> Term:
    """Return a term that predicts its poses from one another no worse than plain skinning does.

    A term that would be worse gets a kernel that decays away from each pose, and a note. It still passes through its
    poses.
    """
    if len(term.values) < ENOUGH:
        return term
    domain = term.domain
    assert isinstance(domain, Domain)
    values = _padded(term)
    radius = spacing(distances(domain.samples, domain.samples, domain.space.metric))
    plain, decaying = float((values**2).sum()), replace(domain, rbf=RBF("gaussian", radius))
    error, other = (float((_leave_one_out(tried, values) ** 2).sum()) for tried in (domain, decaying))
    if error <= WORSE**2 * plain:
        return term
    note = f"layer {domain.name!r}: {do_not_predict('poses', float(np.sqrt(error / plain)))}"
    if other < error:
        return replace(term, domain=decaying, note=f"{note}; it fades between them")
    return replace(term, note=note)


def _padded(term: Term) -> Floats:
    """Principal coordinates (M + A, K) of the values at a term's nodes, then zeros at its anchors."""
    assert isinstance(term.domain, Domain)
    flat = term.values.reshape(len(term.values), -1)
    values = principal_coordinates((flat @ flat.T).astype(np.float64))
    return np.vstack([values, np.zeros((len(term.domain.anchors), values.shape[1]))])


def _leave_one_out(domain: Domain, values: Floats) -> Floats:
    """Errors (M + A, K) of each node predicted from the others; its whole value where that system is singular."""
    count = len(domain.nodes)
    try:
        errors = domain.rbf.leave_one_out(domain.samples, values, domain.space.metric, origin=count)
    except SingularError:
        return values
    # That the term is zero at its anchors is known.
    errors[count:] = 0.0
    return errors
