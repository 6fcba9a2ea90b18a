"""Domains: what each term of a correction depends on: one joint, one degree of freedom, one control, or a pair.

A term is an RBF through values at its domain's nodes, which are places of a pose space, and is zero at its anchors: at
the rest pose, and for a pair wherever one of the two is at rest. So terms add up without disturbing each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.geometry.spread import spread
from posespace.interpolate.distances import closest, distances
from posespace.interpolate.fitted import RBFInterpolant
from posespace.interpolate.rbf import RBF
from posespace.layer import Driver
from posespace.motion import Motion
from posespace.moving import moved_in, single_spaces
from posespace.rig import Rig
from posespace.spaces import PoseSpace

MOST_NODES = {"freedoms": 8, "controls": 8, "joint": 16}
"""Most nodes of a domain that is seen only together with others."""

ALONE = 0.25
"""Poses that move one thing alone speak for it if they go this fraction of the way that any pose goes.

The first frames of a clip may turn one joint before the others by next to nothing."""

WHOLE_NODES = 48
"""Most nodes of a domain of all that moves together, so that the cost of playing does not grow with the clip."""


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
        return Driver(self.space, settings.fit(self.places, padded, self.space.metric, names))

    def cardinal(self, settings: RBF) -> RBFInterpolant:
        """Return the interpolant that gives (M,) how much of each node's value the term has at a place."""
        interpolant = self.driver(settings, np.eye(len(self.nodes))).interpolant
        assert isinstance(interpolant, RBFInterpolant)
        return interpolant


def single_domains(examples: Examples) -> tuple[list[Domain], NDArray[np.bool_]]:
    """Return a domain for each thing that moves, and which poses (P, domains) move it.

    Where poses move it alone and far enough, its nodes are those poses; else nodes are spread over where it has been.
    """
    rig, motion = examples.rig, examples.motion
    spaces = single_spaces(rig, motion)
    moves = np.stack([moved_in(rig, motion, space) for space in spaces], axis=1)
    several = moves.sum(axis=1) > 1
    domains = []
    for column, space in enumerate(spaces):
        where = space.coordinates(motion, rig.skeleton)
        rest = space.coordinates(rig.rest, rig.skeleton)[None]
        alone = np.flatnonzero(moves[:, column] & ~several)
        far = distances(where, rest, space.metric)[:, 0]
        if len(alone) and far[alone].max() > ALONE * far.max():
            _refuse_doubles(space, where[alone], [motion.names[index] for index in alone])
            domains.append(Domain(", ".join(space.names), space, where[alone], rest, alone))
        else:
            nodes = _spread(where[moves[:, column]], rest, space.metric, MOST_NODES[space.kind])
            domains.append(Domain(", ".join(space.names), space, nodes, rest, np.full(len(nodes), -1)))
    return domains, moves


def whole_domain(domains: Sequence[Domain], motion: Motion, rig: Rig) -> Domain | None:
    """Return one domain for joints or controls that always move together, or None where they are of different kinds."""
    if len(domains) < 2 or len({domain.space.kind for domain in domains}) > 1:
        return None
    space = PoseSpace(domains[0].space.kind, tuple(name for domain in domains for name in domain.space.names))
    where, rest = (space.coordinates(which, rig.skeleton) for which in (motion, rig.rest))
    nodes = _spread(where, rest[None], space.metric, WHOLE_NODES)
    return Domain(" + ".join(domain.name for domain in domains), space, nodes, rest[None], np.full(len(nodes), -1))


def pair_domain(first: Domain, second: Domain, motion: Motion, rig: Rig, most: int) -> Domain | None:
    """Return the domain of two that move together in some pose, or None where they are of different kinds."""
    if first.space.kind != second.space.kind:
        return None
    space = PoseSpace(first.space.kind, first.space.names + second.space.names)
    together = moved_in(rig, motion, first.space) & moved_in(rig, motion, second.space)
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


def _refuse_doubles(space: PoseSpace, where: Floats, names: list[str]) -> None:
    gaps = distances(where, where, space.metric)
    first, second = closest(gaps)
    if first != second and gaps[first, second] <= 1e-6:
        raise InputError(
            f"poses {names[first]!r} and {names[second]!r} put {', '.join(space.names)} at the same place; remove one"
        )
