"""Principal components of terms, and where each acts: the same support for all of a term, or one for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.fit import supports
from posespace.fit.additive import Term
from posespace.fit.supports import Surface
from posespace.interpolant import RBFInterpolant
from posespace.packed import PackedBasis
from posespace.skin import Driver, Layer

Array32 = NDArray[np.float32]
Mask = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Components:
    """The first components of a term.

    Parameters
    ----------
    term : what they are components of
    support : (S,) the vertices considered
    nodes : (M, C) their coordinates at the term's nodes, scaled so that displacements have length one in all
    basis : (C, S, 3) displacements where a coordinate is at its largest over the nodes
    """

    term: Term
    support: NDArray[np.int64]
    nodes: Floats
    basis: Array32

    @property
    def sizes(self) -> Array32:
        """(C, N) how much of each vertex's displacements each component gives: the root of their squares' sum."""
        full = np.zeros((len(self.basis), self.term.values.shape[1]), dtype=np.float32)
        coordinates = self.term.features @ (self.nodes / _largest(self.nodes))
        lengths = np.linalg.norm(coordinates, axis=0).astype(np.float32)
        full[:, self.support] = lengths[:, None] * np.sqrt(np.einsum("csi,csi->cs", self.basis, self.basis))
        return full

    def layer(self, masks: Mask, bits: int) -> Layer | None:
        """Return the layer with masks (C, N) on the components, or None if nothing is left of it."""
        basis = self.basis * masks[:, self.support, None]
        used = np.flatnonzero(basis.any(axis=(1, 2)))
        acts = basis.any(axis=(0, 2))
        if not len(used):
            return None
        driver = self.term.part.driver(self.term.settings, self.nodes)
        assert isinstance(driver.interpolant, RBFInterpolant)
        weights = (driver.interpolant.weights / _largest(self.nodes))[:, used]
        scaled = Driver(driver.space, replace(driver.interpolant, weights=weights))
        packed = PackedBasis.pack(basis[used][:, acts], bits)
        return Layer(self.term.part.name, scaled, self.support[acts].astype(np.int32), packed)


def decompose(term: Term, mask: Mask, most: int) -> Components:
    """Return up to `most` principal components of what a masked term adds over the poses of the fit."""
    support = np.flatnonzero(mask)
    count = len(term.part.nodes)
    triangle = _triangle(term.features)
    matrix = triangle.astype(np.float32) @ (term.values[:, support] * mask[support, None]).reshape(count, -1)
    energy, vectors = np.linalg.eigh((matrix @ matrix.T).astype(np.float64))
    energy, vectors = energy[::-1], vectors[:, ::-1]
    kept = min(most, int((energy > 1e-10 * max(energy[0], 1e-300)).sum()))
    lengths = np.sqrt(energy[:kept])
    # Coordinates carry the lengths, so that large components count for more when a radius is chosen.
    nodes = np.linalg.pinv(triangle) @ vectors[:, :kept] * lengths
    unit = (vectors[:, :kept] / lengths).T.astype(np.float32) @ matrix
    basis = (unit * _largest(nodes)[:, None].astype(np.float32)).reshape(kept, len(support), 3)
    return Components(term, support, nodes, basis)


def on_one_support(
    terms: Sequence[Term], surface: Surface, most: int, threshold: float, taper: int, budget: int
) -> list[tuple[Components, Mask]]:
    """Give each term `most` components on one support, where it is above `threshold`, smaller where over budget."""
    sizes = surface.smoothed(np.stack([term.sizes() for term in terms]))
    most = min(most, budget) if budget else most
    entries = [min(most, len(term.part.nodes)) for term in terms]
    level = np.full(sizes.shape[1], threshold * float(sizes.max()), dtype=np.float32)
    if budget:
        level = np.maximum(level, supports.within_budget(sizes * (sizes > level), entries, budget))
    masks = surface.tapered(sizes > level, taper)
    found = [decompose(term, mask, most) for term, mask in zip(terms, masks, strict=True)]
    return [(components, np.ones((len(components.basis), len(level)), np.float32)) for components in found]


def on_own_supports(
    terms: Sequence[Term],
    surface: Surface,
    most: int,
    threshold: float,
    taper: int,
    budget: int,
    size: float | None,
) -> list[tuple[Components, Mask]]:
    """Give each component its own support: where it is above `threshold` of the largest and among the largest there.

    An entry is one component at one vertex. Of all entries the largest are kept: at most `budget` at a vertex, and at
    most `size` a vertex on average, which is where they take away most error.
    """
    reach = surface.smoothed(np.stack([term.sizes() for term in terms]))
    masks = surface.tapered(reach > threshold * float(reach.max()), taper)
    found = [decompose(term, mask, most) for term, mask in zip(terms, masks, strict=True)]
    rows = np.cumsum([0, *(len(components.basis) for components in found)])
    sizes = surface.smoothed(np.concatenate([components.sizes for components in found]))
    level = np.full(sizes.shape[1], threshold * float(sizes.max()), dtype=np.float32)
    if budget:
        level = np.maximum(level, supports.within_budget(sizes, [1] * len(sizes), budget))
    if size is not None:
        kept = sizes[sizes > level]
        last = len(kept) - int(size * sizes.shape[1]) - 1
        if last >= 0:
            level = np.maximum(level, np.partition(kept, last)[last])
    acts = surface.tapered(sizes > level, taper)
    return [(components, acts[rows[k] : rows[k + 1]]) for k, components in enumerate(found)]


def _largest(nodes: Floats) -> Floats:
    """(C,) the coordinate of largest magnitude of each component, with its sign; 1 where all are zero."""
    signed = nodes[np.abs(nodes).argmax(axis=0), np.arange(nodes.shape[1])]
    return np.where(signed == 0, 1.0, signed)


def _triangle(features: Floats) -> Floats:
    """The triangular factor (M, M) of features (P, M): it has the same lengths and angles."""
    padded = np.concatenate([features, np.zeros((features.shape[1], features.shape[1]))])
    return np.asarray(np.linalg.qr(padded, mode="r"))
