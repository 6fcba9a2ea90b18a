"""Terms for what moves only together with other things, as in clips: a smooth function of the pose per region."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats32
from posespace.examples import Examples
from posespace.fit.eigenskin.additive import Term
from posespace.fit.gram import gram_of
from posespace.fit.regional import Together
from posespace.fit.regions import Listening, Region, by_joint
from posespace.fit.regression import principal_coordinates
from posespace.interpolate.rbf import RBF

MOST_NODES = 64
"""Most nodes of a region, so that the cost of playing does not grow with the clip."""

_SETTINGS = RBF("multiquadric")


def terms_together(examples: Examples, data: Floats32) -> list[Term]:
    """Return a term for each region whose left-out runs of poses it helps to predict.

    Parameters
    ----------
    examples : the poses
    data : (P, N, 3) what the sum of the terms should give
    """
    listening = Listening(examples.rig, examples.motion)
    found = (_term(region, listening, data) for region in by_joint(examples.rig))
    return [term for term in found if term is not None]


def _term(region: Region, listening: Listening, data: Floats32) -> Term | None:
    support = np.flatnonzero(region.mask > 0)
    own = data[:, support] * region.mask[support, None]
    gram = gram_of(own, np.arange(len(support), dtype=np.int32))
    if not np.trace(gram) > 0:
        return None
    trial, choice = listening.best(region, principal_coordinates(gram))
    if choice.shrink <= 0:
        return None
    regression = trial.regression(choice, MOST_NODES)
    operator = (choice.shrink * regression.operator).astype(np.float32)
    values = np.tensordot(operator, own, axes=1)
    domain = Together(region.name, regression, choice)
    return Term(domain, _SETTINGS, data.shape[1], support, values, regression.features)
