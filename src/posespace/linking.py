"""Which joint each joint is linked to in pose spaces: its parent, unless the skeleton is flat or has several roots.

Only what the joints do to each other is a pose. So the joint that carries all skin is linked to none, nor is anything
above it. Where many joints hang from one, as in hands of games, or stand side by side as roots, each is linked to the
joint that it keeps its place on: by the motion, by the skin they share, and by distance.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Ints
from posespace.examples import Examples
from posespace.geometry.edges import edges_of
from posespace.motion import Motion
from posespace.rig import Rig
from posespace.skeleton import Skeleton

LEAST_FLAT = 4
"""A joint with fewer skinned children is no hub, however few other joints there are."""

_MOTION, _SKIN, _DISTANCE = 10.0, 0.2, 0.05
"""What counts against a link: how far the joint wanders as seen from there and its distance, as fractions of the box
diagonal, and the fraction of skin not shared. A joint that keeps its place wanders by rounding alone, so that motion
decides where there is any."""

_MOST_POSES = 200


def linked(examples: Examples) -> Examples:
    """Return the examples with a rig whose skeleton has the links of its pose spaces."""
    rig = linked_rig(examples.rig, examples.motion)
    return examples if rig is examples.rig else replace(examples, rig=rig)


def linked_rig(rig: Rig, motion: Motion) -> Rig:
    """Return the rig with the links of its pose spaces; as it is where they are known or those of its parents."""
    if rig.skeleton.links is not None:
        return rig
    links = find_links(rig, motion)
    if np.array_equal(links, rig.skeleton.parents):
        return rig
    return replace(rig, skeleton=replace(rig.skeleton, links=links))


def rerouted(skeleton: Skeleton) -> dict[str, str]:
    """Return the joints that are linked to another than their parent, and to which, by name."""
    joints = skeleton.parts.rerouted
    return {skeleton.names[joint]: skeleton.names[skeleton.parts.links[joint]] for joint in joints}


def said_of_links(skeleton: Skeleton) -> dict[str, dict[str, str]]:
    """Return what a fit says of the links, for `Skin.about`; nothing where all joints are linked to their parents."""
    found = rerouted(skeleton)
    return {"linked for pose spaces": found} if found else {}


def find_links(rig: Rig, motion: Motion) -> Ints:
    """Return (J,) the joint that each joint is linked to, -1 for those that only move the whole."""
    skeleton = rig.skeleton
    links = skeleton.parents.copy()
    weight = rig.dense_weights().sum(axis=0)
    carried = _below(skeleton, weight)
    roots = np.flatnonzero((skeleton.parents < 0) & (carried > 0))
    first = int(roots[carried[roots].argmax()])
    anchor = _anchor(skeleton, weight, carried, first)
    loose = [int(root) for root in roots if root != first]
    if (hub := _hub(skeleton, weight)) is not None:
        loose += skeleton.children[hub]
        if hub == anchor and weight[hub] <= 0:
            anchor = max(skeleton.children[hub], key=lambda child: float(carried[child]))
            loose.remove(anchor)
    above = anchor
    while above >= 0:
        links[above], above = -1, int(skeleton.parents[above])
    if loose:
        _attach(links, loose, _costs(rig, motion, weight > 0))
    return links


def _below(skeleton: Skeleton, weight: Floats) -> Floats:
    """(J,) the weight of each joint and all below it."""
    total = weight.astype(np.float64)
    for joint in reversed(skeleton.order):
        if skeleton.parents[joint] >= 0:
            total[skeleton.parents[joint]] += total[joint]
    return total


def _anchor(skeleton: Skeleton, weight: Floats, carried: Floats, root: int) -> int:
    """The lowest joint that carries all that a root carries."""
    joint = root
    while weight[joint] <= 0:
        below = [child for child in skeleton.children[joint] if carried[child] > 0]
        if len(below) != 1:
            break
        joint = below[0]
    return joint


def _hub(skeleton: Skeleton, weight: Floats) -> int | None:
    """The joint that most of the skinned joints hang from directly, if there is one."""
    skinned = np.flatnonzero((weight > 0) & (skeleton.parents >= 0))
    if not len(skinned):
        return None
    counts = np.bincount(skeleton.parents[skinned], minlength=len(skeleton))
    hub = int(counts.argmax())
    others = int((weight > 0).sum()) - int(weight[hub] > 0)
    return hub if counts[hub] >= max(LEAST_FLAT, 0.5 * others) and counts[hub] > 0.5 * others else None


def _attach(links: Ints, loose: list[int], costs: Floats) -> None:
    """Link each loose joint, the cheapest first, to a joint that hangs together with the anchor already."""
    links[loose] = -1
    waiting = dict.fromkeys(loose)
    known = {joint: _top(links, joint) for joint in range(len(links))}
    inside = np.array([known[joint] not in waiting for joint in range(len(links))])
    while waiting:
        offers = np.where(inside[:, None], costs, np.inf)[:, list(waiting)]
        place, column = np.unravel_index(int(offers.argmin()), offers.shape)
        joint = list(waiting)[int(column)]
        links[joint] = place
        del waiting[joint]
        inside |= np.array([known[other] == joint for other in range(len(links))])


def _top(links: Ints, joint: int) -> int:
    while links[joint] >= 0:
        joint = int(links[joint])
    return joint


def _costs(rig: Rig, motion: Motion, skinned: NDArray[np.bool_]) -> Floats:
    """(J, J) what speaks against linking the joint of a column to the joint of a row."""
    step = 1 + len(motion) // _MOST_POSES
    moved = rig.transforms(motion[::step]).astype(np.float64)
    rest = np.linalg.inv(rig.inverse_bind.astype(np.float64))[:, :3, 3]
    places = np.einsum("pjab,jb->pja", moved[..., :3], rest) + moved[..., 3]
    gaps = places[:, None] - moved[:, :, None, :, 3]
    # Where each joint rests, as seen from every other: the inverse of a bone transform, up to its scale, turns back.
    seen = np.einsum("pjba,pjkb->pjka", moved[..., :3], gaps)
    wandered = np.sqrt(((seen - seen.mean(axis=0)) ** 2).sum(axis=3).mean(axis=0)) if len(seen) else 0.0
    apart = np.linalg.norm(rest[:, None] - rest, axis=2)
    diagonal = rig.mesh.diagonal
    cost = _MOTION * wandered / diagonal + _SKIN * (1 - _shared(rig)) + _DISTANCE * apart / diagonal
    cost[~skinned] = np.inf
    return np.asarray(cost)


def _shared(rig: Rig) -> Floats:
    """(J, J) how much skin joints share, across edges too: 1 where all skin of one is also the other's."""
    weights = rig.dense_weights()
    ends = edges_of(rig.mesh.triangles).ends
    across = weights[ends[:, 0]].T @ weights[ends[:, 1]]
    both = weights.T @ weights + across + across.T
    own = np.diag(both)
    least = np.minimum(own[:, None], own)
    return np.asarray(np.divide(both, least, out=np.zeros_like(both), where=least > 0).clip(0, 1))
