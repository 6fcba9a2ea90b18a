"""Terms of regions: a smooth function of the pose per region, for what moves only together, as in clips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from posespace.check import Floats32
from posespace.examples import Examples
from posespace.fit.eigenskin.term_domains import RegionDomain
from posespace.fit.eigenskin.terms import Term, residual_after
from posespace.fit.gram import gram_of
from posespace.fit.regions import Region, SpaceChoice, by_joint
from posespace.fit.regression import evenly_spread, principal_coordinates
from posespace.fit.stream import Held, Mix, Source
from posespace.progress import track

MOST_NODES = 64
"""Most nodes of a region, which bounds the cost of playing, however long the clip."""


class _Plan(NamedTuple):
    """A region's domain, and the sum over poses that gives its values."""

    domain: RegionDomain
    mix: Mix


def region_terms(examples: Examples, data: Source | Held, others: Sequence[Term]) -> list[Term]:
    """Return a term for each region that it helps to predict in cross-validation.

    Parameters
    ----------
    examples : the poses
    data : displacements (P, N, 3) that the sum of all terms should give
    others : the terms that exist already
    """
    spaces, sampled = SpaceChoice(examples.rig, examples.motion), evenly_spread(len(examples))
    residual = residual_after(others, examples[sampled], data.some(sampled))
    tried = (_plan(region, spaces, residual) for region in track(by_joint(examples.rig), "regions"))
    plans = [plan for plan in tried if plan is not None]
    sums = data.combined([plan.mix for plan in plans])
    vertices = len(examples.rig.mesh.points)
    terms = []
    for plan, total in zip(plans, sums, strict=True):
        values = total - _sum_of(others, examples, plan.mix)
        terms.append(Term(plan.domain, vertices, plan.mix.support, values, plan.domain.regression.features))
    return terms


def _plan(region: Region, spaces: SpaceChoice, residual: Floats32) -> _Plan | None:
    """The domain of a region, from its residuals (T, N, 3) at the sampled poses; None if nothing helps."""
    support = np.flatnonzero(region.mask > 0)
    masked = residual[:, support] * region.mask[support, None]
    gram = gram_of(masked, np.arange(len(support), dtype=np.int32))
    if not np.trace(gram) > 0:
        return None
    # A single pose cannot be held out: it is reproduced.
    samples, choice = spaces.best(region, principal_coordinates(gram), exact=len(residual) == 1)
    if choice.shrink <= 0:
        return None
    regression = choice.regression(samples, MOST_NODES)
    weights = choice.shrink * regression.operator
    return _Plan(RegionDomain(region.name, regression, choice), Mix(support, region.mask[support], weights))


def _sum_of(terms: Sequence[Term], examples: Examples, mix: Mix) -> Floats32:
    """The sum (M, S, 3) over poses of what terms give, with the weights of `mix`."""
    total = np.zeros((len(mix.weights), len(mix.support), 3), dtype=np.float32)
    for term in terms:
        shares = (mix.weights @ term.features_at(examples)).astype(np.float32)
        full = np.zeros((len(term.values), term.vertices, 3), dtype=np.float32)
        full[:, term.support] = term.values
        total += np.tensordot(shares, full[:, mix.support] * mix.mask[:, None], axes=1)
    return total
