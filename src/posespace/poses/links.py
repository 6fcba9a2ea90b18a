"""Which joint each joint is linked to in pose spaces: its parent, unless the skeleton is flat or has several roots.

Only what the joints do to each other is a pose. So the joint that carries all skin is linked to none, nor is anything
above it. Where many joints hang from one, as in hands of games, or stand side by side as roots, each is linked to the
joint relative to which it moves least: by the motion, by the skin they share, and by distance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from posespace.budget import NUMBERS_A_STEP, Budget
from posespace.check import Floats, Ints
from posespace.examples import Examples
from posespace.geometry.edges import edges_of
from posespace.motion import Motion
from posespace.poses.parts import parts_of
from posespace.rig import Rig
from posespace.skeleton import Skeleton

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LEAST_FLAT = 4
"""A joint with fewer skinned children is no hub, however few other joints there are."""

_MOTION, _SKIN, _DISTANCE = 10.0, 0.2, 0.05
"""Costs of a link: the joint's relative motion and its distance, as fractions of the box diagonal, and the fraction of
skin not shared. A joint that does not move relative to another has a motion of rounding alone, so motion decides where
there is any."""

_MOST_POSES = 200
_TOGETHER = 300_000
"""Numbers that are compared at once: costs are never held for all pairs of joints."""


def linked(examples: Examples) -> Examples:
    """Return the examples with links for pose spaces in their skeleton."""
    rig = linked_rig(examples.rig, examples.motion)
    return examples if rig is examples.rig else replace(examples, rig=rig)


def linked_rig(rig: Rig, motion: Motion, budget: Budget | None = None) -> Rig:
    """Return the rig with links for pose spaces; unchanged where it has links, or where they are the parents.

    Several rigs of a file share its `budget`; None: that of a rig of this size.
    """
    if rig.skeleton.links is not None:
        return rig
    links = find_links(rig, motion, budget)
    if np.array_equal(links, rig.skeleton.parents):
        return rig
    return replace(rig, skeleton=replace(rig.skeleton, links=links))


def rerouted_names(skeleton: Skeleton) -> dict[str, str]:
    """Return the joints that are linked to another than their parent, and to which, by name."""
    joints = parts_of(skeleton).rerouted
    return {skeleton.names[joint]: skeleton.names[parts_of(skeleton).links[joint]] for joint in joints}


def about_links(skeleton: Skeleton) -> dict[str, dict[str, str]]:
    """Return what a fit records of the links in `Skin.about`; empty where all joints are linked to their parents."""
    links = rerouted_names(skeleton)
    return {"linked for pose spaces": links} if links else {}


def find_links(rig: Rig, motion: Motion, budget: Budget | None = None) -> Ints:
    """Return (J,) the joint that each joint is linked to, -1 for those that move the whole."""
    skeleton = rig.skeleton
    links = skeleton.parents.copy()
    weight: Floats = np.zeros(len(skeleton))
    np.add.at(weight, rig.influences.ravel(), rig.weights.ravel())
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
        links[loose] = -1
        size = rig.mesh.points.nbytes + rig.weights.nbytes + rig.influences.nbytes
        costs = _Costs(rig, motion, weight > 0, len(loose), budget or Budget(size, "rig"))
        _attach(links, loose, skeleton.order, costs)
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
    """The parent of most of the skinned joints, if there is one."""
    skinned = np.flatnonzero((weight > 0) & (skeleton.parents >= 0))
    if not len(skinned):
        return None
    counts = np.bincount(skeleton.parents[skinned], minlength=len(skeleton))
    hub = int(counts.argmax())
    others = int((weight > 0).sum()) - int(weight[hub] > 0)
    return hub if counts[hub] >= max(LEAST_FLAT, 0.5 * others) and counts[hub] > 0.5 * others else None


def _attach(links: Ints, loose: list[int], order: tuple[int, ...], costs: _Costs) -> None:
    """Link each loose joint, the cheapest first, to a joint that is connected to the anchor already.

    Of links that cost the same, the one to the first joint is taken.
    """
    columns, waiting = np.array(loose), np.ones(len(loose), dtype=bool)
    hanging = _hanging(links, order)
    best, nearest = np.full(len(loose), np.inf), np.zeros(len(loose), dtype=np.int64)
    inside = [joint for top, joints in hanging.items() if top not in set(loose) for joint in joints]
    while waiting.any():
        for rows, cost in costs.blocks(np.array(inside, dtype=np.int64), columns[waiting]):
            least = cost.argmin(axis=0)
            lowest, joint = cost[least, np.arange(len(least))], rows[least]
            old_best, old_nearest = best[waiting], nearest[waiting]
            better = (lowest < old_best) | ((lowest == old_best) & (joint < old_nearest))
            best[waiting] = np.where(better, lowest, old_best)
            nearest[waiting] = np.where(better, joint, old_nearest)
        equal = np.flatnonzero(waiting & (best == best[waiting].min()))
        chosen = int(equal[nearest[equal].argmin()])
        links[loose[chosen]] = nearest[chosen]
        waiting[chosen] = False
        inside = hanging[loose[chosen]]


def _hanging(links: Ints, order: tuple[int, ...]) -> dict[int, list[int]]:
    """Return the joints that hang on each joint that is linked to none, itself included, ascending."""
    top = np.arange(len(links))
    for joint in order:
        if links[joint] >= 0:
            top[joint] = top[links[joint]]
    hanging: dict[int, list[int]] = {}
    for joint, above in enumerate(top.tolist()):
        hanging.setdefault(above, []).append(joint)
    return hanging


class _Costs:
    """Costs of linking joints to others, block by block: all pairs of thousands of joints would fill the memory.

    Parameters
    ----------
    rig, motion : the links are found from these; of a long motion as many poses as the budget allows
    skinned : (J,) whether a joint moves skin: only to those can others be linked
    loose : number of joints to be linked
    budget : of memory and work
    """

    def __init__(self, rig: Rig, motion: Motion, skinned: NDArray[np.bool_], loose: int, budget: Budget) -> None:
        self._skinned, self._diagonal = skinned, rig.mesh.diagonal
        self._shared = _shared_skin(rig, budget)
        self._skin = self._shared.diagonal()
        pairs = 3 * loose * len(skinned)
        what, remedy = f"joints to be linked, {loose},", "give them parents, or set the skeleton's links"
        budget.work(len(skinned) + pairs // NUMBERS_A_STEP, what, remedy)
        most = min(_MOST_POSES, 1 + budget.steps * NUMBERS_A_STEP // pairs)
        moved = rig.transforms(motion[:: 1 + len(motion) // most]).astype(np.float64)
        budget.work(pairs * max(len(moved) - 1, 0) // NUMBERS_A_STEP, what, remedy)
        self._rotations, self._translations = moved[..., :3], moved[..., 3]
        self._rest = np.linalg.inv(rig.inverse_bind.astype(np.float64))[:, :3, 3]
        self._positions = np.einsum("pjab,jb->pja", self._rotations, self._rest) + self._translations

    def blocks(self, rows: Ints, columns: Ints) -> Iterator[tuple[Ints, Floats]]:
        """Yield some of the rows, and the costs (r, c) of linking the joints of columns to those of rows."""
        rows = rows[self._skinned[rows]]
        step = max(1, _TOGETHER // max(1, 3 * len(columns) * len(self._positions), len(self._rest)))
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            yield block, self._costs(block, columns)

    def _costs(self, rows: Ints, columns: Ints) -> Floats:
        gaps = self._positions[:, None, columns] - self._translations[:, rows, None]
        # Each joint's position relative to others: the transpose inverts a bone's rotation, up to scale.
        seen = gaps @ self._rotations[:, rows]
        motion = np.sqrt(((seen - seen.mean(axis=0)) ** 2).sum(axis=3).mean(axis=0)) if len(seen) else 0.0
        apart = np.linalg.norm(self._rest[rows, None] - self._rest[columns], axis=2)
        shared = np.zeros((len(rows), len(self._rest)))
        for k, row in enumerate(rows):
            entries = slice(*self._shared.indptr[row : row + 2])
            shared[k, self._shared.indices[entries]] = self._shared.data[entries]
        least = np.minimum(self._skin[rows, None], self._skin[columns])
        share = np.divide(shared[:, columns], least, out=np.zeros(least.shape), where=least > 0).clip(0, 1)
        cost = _MOTION * motion / self._diagonal + _SKIN * (1 - share) + _DISTANCE * apart / self._diagonal
        return np.asarray(cost)


def _shared_skin(rig: Rig, budget: Budget) -> csr_array:
    """(J, J) the skin that joints share, across edges too; on the diagonal, the skin of each."""
    from scipy.sparse import csr_array

    vertices, slots = rig.weights.shape
    ends = edges_of(rig.mesh.triangles).ends
    products = (vertices + 2 * len(ends)) * slots**2
    budget.work(products // NUMBERS_A_STEP, "influences per vertex", "keep the strongest few of each vertex")
    budget.hold(min(products, len(rig.skeleton) ** 2), "the skin that joints share")
    rows = np.repeat(np.arange(vertices), slots)
    weights = csr_array(
        (rig.weights.ravel().astype(np.float64), (rows, rig.influences.ravel())), (vertices, len(rig.skeleton))
    )
    ones, (a, b) = np.ones(2 * len(ends)), ends.T
    neighbours = csr_array((ones, (np.concatenate([a, b]), np.concatenate([b, a]))), (vertices, vertices))
    return csr_array(weights.T @ (weights + neighbours @ weights))
