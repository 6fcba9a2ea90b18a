"""Terms for what moves only together with other things, as in clips: a smooth function of the pose per region."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from posespace.check import Floats32
from posespace.examples import Examples
from posespace.fit.eigenskin.term_solve import Term, left_over
from posespace.fit.gram import gram_of
from posespace.fit.region_regression import Together
from posespace.fit.regions import Listening, Region, by_joint
from posespace.fit.regression import principal_coordinates, tried_poses
from posespace.fit.stream import Held, Mix, Source
from posespace.interpolate.rbf import RBF

MOST_NODES = 64
"""Most nodes of a region, so that the cost of playing does not grow with the clip."""

_SETTINGS = RBF("multiquadric")


class _Planned(NamedTuple):
    """A region's function of the pose, before its values are known, and the sum over poses that gives them."""

    domain: Together
    mix: Mix


def terms_together(examples: Examples, data: Source | Held, alone: Sequence[Term]) -> list[Term]:
    """Return a term for each region whose left-out runs of poses it helps to predict.

    Parameters
    ----------
    examples : the poses
    data : displacements (P, N, 3) that the sum of all terms should give
    alone : the terms that are there already
    """
    listening, tried = Listening(examples.rig, examples.motion), tried_poses(len(examples))
    some = left_over(alone, examples[tried], data.some(tried))
    planned = [plan for region in by_joint(examples.rig) if (plan := _planned(region, listening, some)) is not None]
    values = data.combined([plan.mix for plan in planned])
    vertices = len(examples.rig.mesh.points)
    terms = []
    for plan, own in zip(planned, values, strict=True):
        left, features = own - _given_already(alone, examples, plan.mix), plan.domain.regression.features
        terms.append(Term(plan.domain, _SETTINGS, vertices, plan.mix.support, left, features))
    return terms


def _planned(region: Region, listening: Listening, some: Floats32) -> _Planned | None:
    """What a region depends on, by its displacements at the poses tried (T, N, 3)."""
    support = np.flatnonzero(region.mask > 0)
    own = some[:, support] * region.mask[support, None]
    gram = gram_of(own, np.arange(len(support), dtype=np.int32))
    if not np.trace(gram) > 0:
        return None
    # A single pose cannot be left out: it is reproduced.
    trial, choice = listening.best(region, principal_coordinates(gram), exact=len(some) == 1)
    if choice.shrink <= 0:
        return None
    regression = choice.regression(trial.places, MOST_NODES)
    weights = choice.shrink * regression.operator
    return _Planned(Together(region.name, regression, choice), Mix(support, region.mask[support], weights))


def _given_already(alone: Sequence[Term], examples: Examples, mix: Mix) -> Floats32:
    """What the terms that are there already give (M, S, 3) of a sum over poses."""
    total = np.zeros((len(mix.weights), len(mix.support), 3), dtype=np.float32)
    for term in alone:
        shares = (mix.weights @ term.cardinal_features(examples)).astype(np.float32)
        full = np.zeros((len(term.values), term.vertices, 3), dtype=np.float32)
        full[:, term.support] = term.values
        total += np.tensordot(shares, full[:, mix.support] * mix.mask[:, None], axes=1)
    return total
