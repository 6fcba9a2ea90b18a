"""Domains: what each term of the sum depends on. One joint, one degree of freedom, one control, a pair, or a region.

The term of a pair is zero wherever one of the two is at rest, so terms add up without disturbing each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.examples import Examples
from posespace.fit.regression import EXACT_REACH, Regression, RegressionChoice
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
"""Poses that move one joint or control alone are used for its term if they reach this fraction of its range.

The first frames of a clip may rotate one joint slightly before the others."""


@dataclass(frozen=True, eq=False)
class Domain:
    """The domain of a joint, degree of freedom, control or pair, and the interpolation over it.

    Parameters
    ----------
    name : of the joint, degree of freedom, control or pair
    space : the pose space
    nodes : (M, D) positions where the term has values
    anchors : (A, D) positions where the term is zero
    poses : (M,) the pose at each node, if it moves nothing else; -1 where there is none
    rbf : the interpolation between nodes and anchors
    """

    name: str
    space: PoseSpace
    nodes: Floats
    anchors: Floats
    poses: NDArray[np.int64]
    rbf: RBF

    @property
    def alone(self) -> bool:
        """Whether each node is a pose that moves nothing else, so that the term's values are observed there."""
        return bool((self.poses >= 0).all())

    @cached_property
    def samples(self) -> Floats:
        """(M + A, D) the nodes, then the anchors."""
        return np.concatenate([self.nodes, self.anchors])

    def driver(self, values: Floats) -> Driver:
        """Return the driver that gives `values` (M, C) at the nodes and zero at the anchors."""
        padded = np.concatenate([values, np.zeros((len(self.anchors), values.shape[1]))])
        names = [f"{self.name} #{k}" for k in range(len(padded))]
        interpolant = self.rbf.fit(self.samples, padded, self.space.metric, names, origin=len(self.nodes))
        return Driver(self.space, interpolant.with_reach(EXACT_REACH))

    def cardinal(self) -> RBFInterpolant:
        """Return the interpolant that gives (M,) the weight of each node's value at any position."""
        interpolant = self.driver(np.eye(len(self.nodes))).interpolant
        assert isinstance(interpolant, RBFInterpolant)
        return interpolant


@dataclass(frozen=True, eq=False)
class RegionDomain:
    """The domain of a region of the skin: a pose space of several joints, with a regression over it.

    Parameters
    ----------
    name : of the region
    regression : over the region's pose space
    choice : its settings and their cross-validation error
    """

    name: str
    regression: Regression
    choice: RegressionChoice

    alone = False

    @property
    def nodes(self) -> Floats:
        """(M, D) positions where the term has values."""
        return self.regression.nodes

    def driver(self, values: Floats) -> Driver:
        """Return the driver that gives `values` (M, C) at the nodes and zero at rest."""
        return Driver(self.regression.samples.space, self.regression.interpolant(values))


def single_domains(examples: Examples, rbf: RBF) -> tuple[list[Domain], list[PoseSpace], NDArray[np.bool_]]:
    """Return a domain for each joint, degree of freedom or control that some poses move alone.

    Returns
    -------
    domains : their nodes are those poses
    others : the pose spaces of what moves only together with others
    several : (P,) which poses move more than one
    """
    rig, motion = examples.rig, examples.motion
    spaces = single_spaces(rig, motion)
    moves = np.stack([active_in_space(rig, motion, space) for space in spaces], axis=1)
    several = moves.sum(axis=1) > 1
    domains, others = [], []
    for column, space in enumerate(spaces):
        coordinates = space.coordinates(motion, rig.skeleton)
        rest = space.coordinates(rig.rest, rig.skeleton)[None]
        alone = np.flatnonzero(moves[:, column] & ~several)
        from_rest = distances(coordinates, rest, space.metric)[:, 0]
        if len(alone) and from_rest[alone].max() > ALONE * from_rest.max():
            alone = _distinct(coordinates, alone, space.metric)
            domains.append(Domain(", ".join(space.names), space, coordinates[alone], rest, alone, rbf))
        else:
            others.append(space)
    return domains, others, several


def pair_domain(first: Domain, second: Domain, motion: Motion, rig: Rig, rbf: RBF, most: int) -> Domain | None:
    """Return the domain of two that move together in some pose, or None where they are of different kinds.

    It has at most `most` nodes.
    """
    if first.space.kind != second.space.kind:
        return None
    space = PoseSpace(first.space.kind, first.space.names + second.space.names)
    together = active_in_space(rig, motion, first.space) & active_in_space(rig, motion, second.space)
    if not together.any():
        return None
    rest = [domain.space.coordinates(rig.rest, rig.skeleton)[None] for domain in (first, second)]
    first_alone = np.column_stack([first.nodes, np.repeat(rest[1], len(first.nodes), axis=0)])
    second_alone = np.column_stack([np.repeat(rest[0], len(second.nodes), axis=0), second.nodes])
    anchors = np.concatenate([np.column_stack(rest), first_alone, second_alone])
    coordinates = space.coordinates(motion, rig.skeleton)[together]
    nodes = _spread(coordinates, anchors, space.metric, most)
    return Domain(f"{first.name} × {second.name}", space, nodes, anchors, np.full(len(nodes), -1), rbf)


def _spread(coordinates: Floats, anchors: Floats, metric: str, most: int) -> Floats:
    """Up to `most` of the poses (P, D), each the farthest from the anchors and those before; none crowd together."""
    gaps = distances(coordinates, anchors, metric).min(axis=1)
    least = 0.25 * float(gaps.max()) / most
    return coordinates[spread(gaps, lambda k: distances(coordinates, coordinates[[k]], metric)[:, 0], most, least)]


def _distinct(coordinates: Floats, poses: NDArray[np.int64], metric: str) -> NDArray[np.int64]:
    """The poses without those that coincide with an earlier one in this space."""
    gaps = distances(coordinates[poses], coordinates[poses], metric)
    repeated = np.tril(gaps <= 1e-6, -1).any(axis=1)
    return poses[~repeated]
