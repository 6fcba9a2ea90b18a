"""Skinning weights fitted to example shapes: a small quadratic problem at each vertex, over the joints nearby."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import prange
from numpy.typing import ArrayLike

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.fit.weights.simplex import energy_of, sparse_on_simplex
from posespace.geometry.edges import neighbours_of
from posespace.jit import njit
from posespace.motion import Motion
from posespace.progress import track
from posespace.rig import Rig, pack_weights
from posespace.skin.basis import combined
from posespace.skin.skin import Skin

CANDIDATES = 12
"""Most candidate joints per vertex: memory grows with the square."""

RINGS = 3
"""Joints that influence vertices up to this many edges away are candidates at a vertex."""

STEPS = 2
"""Joints up to this many steps in the skeleton from one that influences a vertex are candidates there."""

SETTLED = 1e-7
"""The rounds end when no weight changes by more than this."""

NOISE = 1e-5
"""Errors up to this fraction of the box's diagonal may be rounding, which weights are not fitted to."""

ALTERNATIONS = 3
"""Most fits of a skin that alternate with fits of its weights."""


def optimise_weights(
    examples: Examples,
    influences: int = 4,
    rounds: int = 20,
    smoothness: float = 0.01,
    displacements: ArrayLike | Callable[[int], Floats] | None = None,
) -> Rig:
    """Return the examples' rig with the weights that bring linear blending closest to the example shapes.

    Weights are at least 0, sum to one at each vertex and are equal at seams. The change from the rig's weights is kept
    smooth, so the error at the examples never grows, and weights that the examples do not determine stay the same.

    Parameters
    ----------
    examples : their rig has the initial weights
    influences : most joints that move a vertex, 1 to 8; the smallest weights are dropped first
    rounds : most passes over the surface
    smoothness : penalty on different changes of neighbouring vertices, relative to the mean error of a single joint
    displacements : (P, N, 3) added to the rest shape before skinning, or a function from the index of a pose to (N, 3);
        None: none
    """
    if not 1 <= influences <= 8:
        raise InputError(f"influences: expected 1 to 8, got {influences}")
    if rounds < 1 or not 0 <= smoothness < np.inf:
        raise InputError(f"rounds and smoothness: expected at least 1 and at least 0, got {rounds} and {smoothness}")
    rig, weld = examples.rig, examples.rig.mesh.weld
    if rig.blending != "linear":
        raise InputError(f"optimise_weights: expected a rig with linear blending, got {rig.blending}")
    if not len(examples):
        raise InputError("examples: expected at least one shape to fit weights to, got none")
    added = displacements if callable(displacements) else None
    if displacements is not None and added is None:
        checked = check.floats("displacements", displacements, (len(examples), *rig.mesh.points.shape))  # type: ignore[arg-type]
        added = checked.__getitem__
    edges = _edges(rig)
    start = _cut(weld.gather(rig.dense_weights()), influences)
    joints = _candidates(rig, start, edges)
    gram = _gram(examples, joints, added)
    scale = float(np.einsum("gcc->gc", gram)[joints >= 0].mean()) or 1.0
    pull = 1e-12 * scale + len(examples) * (NOISE * rig.mesh.diagonal) ** 2
    edge = smoothness * scale * len(start) / max(edges.nnz, 1)
    problem, weights = _Problem(gram, joints, edges.indptr, edges.indices, start, edge, pull), start.copy()
    for _ in track(range(rounds), "weights"):
        if _sweep(problem, weights, influences) < SETTLED:
            break
    order, packed = pack_weights(weights, influences)
    return replace(rig, influences=order[weld.groups], weights=packed[weld.groups])


def fit_with_weights(examples: Examples, fit: Callable[[Examples], Skin]) -> Skin:
    """Return a skin with optimised weights: fits of weights and skin alternate, and the best on the examples is taken.

    The first weights are those of linear blending alone. They are not compared with the rig's on the examples, which a
    skin nearly reproduces with any weights; they improve unseen poses.
    """
    most = min(max(4, examples.rig.weights.shape[1]), 8)
    rig = optimise_weights(examples, most)
    added: Callable[[int], Floats] | None = None
    best, least = None, np.inf
    for _ in range(ALTERNATIONS):
        if added is not None:
            rig = optimise_weights(replace(examples, rig=rig), most, displacements=added)
        skin = fit(replace(examples, rig=rig))
        added = _Displacements(skin, examples.motion)
        gaps = (rig.skin(pose, added(index)) - shape for index, (pose, shape) in enumerate(examples))
        error = sum(float((gap**2).sum()) for gap in gaps)
        if best is not None and error >= least:
            break
        best, least = skin, error
    assert best is not None
    return best


class _Displacements:
    """The displacements of the rest shape that a skin adds at the poses of a motion, by index."""

    def __init__(self, skin: Skin, motion: Motion) -> None:
        self._skin = skin
        self._driven = [skin.coordinates(layer.driver, motion) for layer in skin.layers]

    def __call__(self, index: int) -> Floats:
        total = np.zeros(self._skin.rig.mesh.points.shape)
        for layer, values in zip(self._skin.layers, self._driven, strict=True):
            total[layer.support] += combined(layer.basis, values[index])
        return total


def _edges(rig: Rig) -> sp.csr_matrix:
    """Which welded vertices (G, G) share an edge."""
    groups, count = rig.mesh.weld.groups, len(rig.mesh.weld.first)
    starts, ends = neighbours_of(groups[rig.mesh.triangles], count)
    return sp.csr_matrix((np.ones(len(ends)), ends, starts), shape=(count, count))


def _cut(dense: Floats, influences: int) -> Floats:
    """Keep the largest weights (G, J) of each vertex, scaled to sum to one."""
    order = np.argsort(-dense, axis=1, kind="stable")[:, influences:]
    kept = dense.copy()
    np.put_along_axis(kept, order, 0.0, axis=1)
    cut: Floats = kept / kept.sum(axis=1, keepdims=True)
    return cut


def _candidates(rig: Rig, dense: Floats, edges: sp.csr_matrix) -> Ints:
    """Return (G, C) the candidate joints of each welded vertex, -1 where there are fewer.

    The joints of the vertex come first, then those of the vertices around it, then their relatives in the skeleton.
    """
    parents = rig.skeleton.parents
    children = np.flatnonzero(parents >= 0)
    link = np.zeros((len(parents), len(parents)))
    link[children, parents[children]] = link[parents[children], children] = 1.0
    around = dense
    degree = np.maximum(np.asarray(edges.sum(axis=1)), 1)
    for _ in range(RINGS):
        around = np.maximum(around, np.asarray(edges @ around) / degree)
    score, related = dense + 1e-2 * around, around
    for step in range(STEPS):
        related = np.minimum(related @ link, 1.0)
        score = score + 1e-4 ** (step + 1) * related
    count = min(CANDIDATES, len(parents))
    order = np.argsort(-score, axis=1, kind="stable")[:, :count]
    return np.where(np.take_along_axis(score, order, axis=1) > 0, order, -1).astype(np.int32)


def _gram(examples: Examples, joints: Ints, displacements: Callable[[int], Floats] | None) -> Floats:
    """Return (G, C, C) inner products, over poses, of the errors that each joint alone would leave at a vertex.

    Since weights sum to one, the squared error of weights w is then wᵀ·gram·w.
    """
    rig, weld = examples.rig, examples.rig.mesh.weld
    rest = np.ascontiguousarray(rig.mesh.points[weld.first], dtype=np.float64)
    gram = np.zeros((*joints.shape, joints.shape[1]))
    for index, name in enumerate(track(examples.motion.names, "shapes")):
        shape = check.floats(f"shape of pose {name!r}", examples.shapes[index], rig.mesh.points.shape)
        points = rest if displacements is None else rest + weld.gather(displacements(index))
        transforms = rig.transforms(examples.motion[index]).astype(np.float64)
        _add_products(transforms, joints, points, weld.gather(shape), gram)
    if not np.isfinite(gram).all():
        raise InputError("examples: the numbers of some shape are too large to fit weights to")
    return gram


@njit(parallel=True)
def _add_products(
    transforms: Floats, joints: Ints, points: Floats, observed: Floats, gram: Floats
) -> None:  # pragma: no cover - compiled
    """Add one pose's products (G, C, C) to `gram`."""
    count, most = joints.shape
    for vertex in prange(count):
        gap = np.zeros((most, 3))
        for c in range(most):
            if joints[vertex, c] >= 0:
                bone = transforms[joints[vertex, c]]
                for k in range(3):
                    moved = bone[k, 3] - observed[vertex, k]
                    for i in range(3):
                        moved += bone[k, i] * points[vertex, i]
                    gap[c, k] = moved
        for c in range(most):
            for d in range(most):
                gram[vertex, c, d] += gap[c, 0] * gap[d, 0] + gap[c, 1] * gap[d, 1] + gap[c, 2] * gap[d, 2]


class _Problem(NamedTuple):
    """The quadratic problem of all weights.

    Parameters
    ----------
    gram : (G, C, C) of each vertex's candidate joints
    joints : (G, C) the candidates, -1 for none
    starts, neighbours : the adjacent vertices of each, as a compressed list
    initial : (G, J) the initial weights
    edge : penalty on the squared difference of two neighbours' changes from the initial weights
    pull : penalty on the squared change itself
    """

    gram: Floats
    joints: Ints
    starts: Ints
    neighbours: Ints
    initial: Floats
    edge: float
    pull: float


@njit()
def _sweep(problem: _Problem, weights: Floats, influences: int) -> float:  # pragma: no cover - compiled
    """Give each vertex its best weights for those of its neighbours; return the largest change of a weight."""
    joints, initial, edge, pull = problem.joints, problem.initial, problem.edge, problem.pull
    largest = 0.0
    most = joints.shape[1]
    for vertex in range(len(joints)):
        around = problem.neighbours[problem.starts[vertex] : problem.starts[vertex + 1]]
        old, target, normal = np.zeros(most), np.zeros(most), problem.gram[vertex].copy()
        for c in range(most):
            joint = joints[vertex, c]
            normal[c, c] += pull + edge * len(around)
            if joint >= 0:
                old[c] = weights[vertex, joint]
                target[c] = (pull + edge * len(around)) * initial[vertex, joint]
                for other in around:
                    target[c] += edge * (weights[other, joint] - initial[other, joint])
        new = sparse_on_simplex(normal, target, old, joints[vertex] >= 0, influences)
        if energy_of(normal, target, new) < energy_of(normal, target, old):
            largest = max(largest, np.abs(new - old).max())
            for c in range(most):
                if joints[vertex, c] >= 0:
                    weights[vertex, joints[vertex, c]] = new[c]
    return largest
