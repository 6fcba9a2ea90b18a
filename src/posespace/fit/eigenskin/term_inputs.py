"""Domains: what each term of a correction depends on: one joint, one degree of freedom, one control, or a pair.

A term is an RBF through values at its domain's nodes, which are places of a pose space, and is zero at its anchors: at
the rest pose, and for a pair wherever one of the two is at rest. So terms add up without disturbing each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.examples import Examples
from posespace.fit.regression import HELD
from posespace.geometry.farthest_points import spread
from posespace.interpolate.distances import distances
from posespace.interpolate.fitted import RBFInterpolant
from posespace.interpolate.rbf import RBF
from posespace.motion import Motion
from posespace.poses.active import active_in_space, single_spaces
from posespace.poses.spaces import PoseSpace
from posespace.rig import Rig
from posespace.skin.driver import Driver

ALONE = 0.25
"""Poses that move one thing alone speak for it if they go this fraction of the way that any pose goes.

The first frames of a clip may turn one joint before the others by next to nothing."""


@dataclass(frozen=True, eq=False)
class Domain:
    """What one term of the sum depends on.

    Parameters
    ----------
    name : of the joint, degree of freedom, control or pair
    space : the pose space
    nodes : (M, D) places with values
    anchors : (A, D) places where the term is zero
    poses : (M,) the pose that lies at each node and moves nothing else; -1 where there is none
    """

    name: str
    space: PoseSpace
    nodes: Floats
    anchors: Floats
    poses: NDArray[np.int64]

    @property
    def alone(self) -> bool:
        """Whether each node is a pose that moves nothing else, so that its values are observed."""
        return bool((self.poses >= 0).all())

    @cached_property
    def places(self) -> Floats:
        """(M + A, D) the nodes, then the anchors."""
        return np.concatenate([self.nodes, self.anchors])

    def driver(self, settings: RBF, values: Floats) -> Driver:
        """Return the driver that gives `values` (M, C) at the nodes and zero at the anchors."""
        padded = np.concatenate([values, np.zeros((len(self.anchors), values.shape[1]))])
        names = [f"{self.name} #{k}" for k in range(len(padded))]
        made = settings.fit(self.places, padded, self.space.metric, names, origin=len(self.nodes))
        return Driver(self.space, made.with_reach(HELD))

    def cardinal(self, settings: RBF) -> RBFInterpolant:
        """Return the interpolant that gives (M,) how much of each node's value the term has at a place."""
        interpolant = self.driver(settings, np.eye(len(self.nodes))).interpolant
        assert isinstance(interpolant, RBFInterpolant)
        return interpolant


def single_domains(examples: Examples) -> tuple[list[Domain], list[PoseSpace], NDArray[np.bool_]]:
    """Return a domain for each thing that poses move alone and far enough, and what moves only with other things.

    Returns
    -------
    domains : their nodes are those poses
    others : the pose spaces of what moves only together with other things
    several : (P,) which poses move more than one thing
    """
    rig, motion = examples.rig, examples.motion
    spaces = single_spaces(rig, motion)
    moves = np.stack([active_in_space(rig, motion, space) for space in spaces], axis=1)
    several = moves.sum(axis=1) > 1
    domains, others = [], []
    for column, space in enumerate(spaces):
        where = space.coordinates(motion, rig.skeleton)
        rest = space.coordinates(rig.rest, rig.skeleton)[None]
        alone = np.flatnonzero(moves[:, column] & ~several)
        far = distances(where, rest, space.metric)[:, 0]
        if len(alone) and far[alone].max() > ALONE * far.max():
            alone = _apart(where, alone, space.metric)
            domains.append(Domain(", ".join(space.names), space, where[alone], rest, alone))
        else:
            others.append(space)
    return domains, others, several


def pair_domain(first: Domain, second: Domain, motion: Motion, rig: Rig, most: int) -> Domain | None:
    """Return the domain of two that move together in some pose, or None where they are of different kinds."""
    if first.space.kind != second.space.kind:
        return None
    space = PoseSpace(first.space.kind, first.space.names + second.space.names)
    together = active_in_space(rig, motion, first.space) & active_in_space(rig, motion, second.space)
    if not together.any():
        return None
    still = [domain.space.coordinates(rig.rest, rig.skeleton)[None] for domain in (first, second)]
    one = np.column_stack([first.nodes, np.repeat(still[1], len(first.nodes), axis=0)])
    other = np.column_stack([np.repeat(still[0], len(second.nodes), axis=0), second.nodes])
    anchors = np.concatenate([np.column_stack(still), one, other])
    where = space.coordinates(motion, rig.skeleton)[together]
    nodes = _spread(where, anchors, space.metric, most)
    return Domain(f"{first.name} × {second.name}", space, nodes, anchors, np.full(len(nodes), -1))


def _spread(where: Floats, anchors: Floats, metric: str, most: int) -> Floats:
    """Up to `most` of the places (P, D), each the farthest from the anchors and those before; none crowd together."""
    gaps = distances(where, anchors, metric).min(axis=1)
    least = 0.25 * float(gaps.max()) / most
    return where[spread(gaps, lambda k: distances(where, where[[k]], metric)[:, 0], most, least)]


def _apart(where: Floats, poses: NDArray[np.int64], metric: str) -> NDArray[np.int64]:
    """The poses but for those at the place of an earlier one: equal poses were merged, so they differ elsewhere."""
    gaps = distances(where[poses], where[poses], metric)
    again = np.tril(gaps <= 1e-6, -1).any(axis=1)
    return poses[~again]
