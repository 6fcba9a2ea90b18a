"""Principal components of terms, and their supports: one for all components of a term, or one for each component."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Floats32
from posespace.fit.eigenskin import supports
from posespace.fit.eigenskin.supports import Limits, Neighbours, Sizes
from posespace.fit.eigenskin.terms import Term
from posespace.fit.gram import gram_of
from posespace.interpolate.fitted import RBFInterpolant
from posespace.progress import track
from posespace.skin.basis import PackedBasis
from posespace.skin.driver import Driver
from posespace.skin.layer import Layer

MOST = 48
"""Most components of a term where their number is chosen."""


@dataclass(frozen=True, eq=False)
class Components:
    """The first principal components of a term.

    Parameters
    ----------
    term : what they are components of
    mask : (N,) the fraction of the term that they are components of; 0 outside their support
    nodes : (M, C) their coordinates at the term's nodes, for displacements of unit length
    mix : (C, M) each component as a linear combination of the displacements at the nodes
    singular : (M,) the singular values of the term over the poses of the fit, also those of components left out
    """

    term: Term
    mask: Floats32
    nodes: Floats
    mix: Floats32
    singular: Floats

    @property
    def support(self) -> NDArray[np.int64]:
        """(S,) the vertices where the mask is not 0."""
        return self.term.support[self.mask[self.term.support] > 0]

    def basis(self) -> Floats32:
        """Return displacements (C, S, 3) where a coordinate is at its largest over the nodes; rebuilt each time."""
        values = _masked(self.term, self.mask)
        return (self.mix @ values.reshape(len(values), -1)).reshape(len(self.mix), values.shape[1], 3)

    def sizes(self) -> Floats32:
        """Return (C, N) the norm, over the poses of the fit, of what each component adds to each vertex."""
        full = np.zeros((len(self.mix), self.term.vertices), dtype=np.float32)
        coordinates = self.term.features @ (self.nodes / _largest(self.nodes))
        lengths = np.linalg.norm(coordinates, axis=0).astype(np.float32)
        basis = self.basis()
        full[:, self.support] = lengths[:, None] * np.sqrt(np.einsum("csi,csi->cs", basis, basis))
        return full

    def layer(self, masks: Floats32 | None, bits: int) -> Layer | None:
        """Return the layer, with masks (C, N) on its components if given, or None if it is zero."""
        basis = self.basis()
        if masks is not None:
            basis *= masks[:, self.support, None]
        used = np.flatnonzero(basis.any(axis=(1, 2)))
        acts = basis.any(axis=(0, 2))
        if not len(used):
            return None
        driver = self.term.driver(self.nodes)
        assert isinstance(driver.interpolant, RBFInterpolant)
        weights = (driver.interpolant.weights / _largest(self.nodes))[:, used]
        scaled = Driver(driver.space, replace(driver.interpolant, weights=weights))
        packed = PackedBasis.pack(basis[used][:, acts], bits)
        return Layer(self.term.domain.name, scaled, self.support[acts].astype(np.int32), packed)


def decompose(term: Term, mask: Floats32, most: int) -> Components:
    """Return up to `most` principal components of a masked term over the poses of the fit."""
    triangle = _triangular_factor(term.features)
    values = _masked(term, mask)
    # In double precision: between its nodes a smooth regression magnifies the rounding of coordinates at them.
    gram = gram_of(values, np.arange(values.shape[1], dtype=np.int32))
    energy, vectors = np.linalg.eigh(triangle @ gram @ triangle.T)
    energy, vectors = energy[::-1], vectors[:, ::-1]
    kept = min(most, int((energy > 1e-10 * max(energy[0], 1e-300)).sum()))
    lengths = np.sqrt(energy[:kept])
    # Coordinates carry the lengths, so that large components count for more when a radius is chosen.
    nodes = np.linalg.pinv(triangle) @ vectors[:, :kept] * lengths
    mix = _largest(nodes)[:, None] * (vectors[:, :kept] / lengths).T @ triangle
    return Components(term, mask, nodes, mix.astype(np.float32), np.sqrt(np.maximum(energy, 0.0)))


def with_shared_supports(
    terms: Sequence[Term], neighbours: Neighbours, limits: Limits, threshold: float
) -> list[Components]:
    """Give all components of a term one support: where the term is above `threshold`, smaller where over budget."""
    sizes = neighbours.smoothed(np.stack([term.sizes for term in terms]))
    most, budget = MOST if limits.components is None else limits.components, limits.budget
    most = most if budget is None else min(most, budget)
    entries = [min(most, len(term.domain.nodes)) for term in terms]
    level = np.full(sizes.shape[1], threshold * float(sizes.max()), dtype=np.float32)
    if budget is not None:
        level = np.maximum(level, supports.within_budget(sizes * (sizes > level), entries, budget))
    masks = neighbours.tapered(sizes > level, limits.taper)
    return _decomposed(terms, masks, most)


def with_separate_supports(
    terms: Sequence[Term], neighbours: Neighbours, limits: Limits, loss: float
) -> Iterator[tuple[Components, Floats32]]:
    """Give each component a support: the vertices where it is among the largest.

    An entry is one component at one vertex. The largest of all entries are kept: those above the threshold, or without
    a threshold as few as keep the root mean square of the rest below the fraction `loss` of all. Yields the components
    of each term and their masks (C, N), one term at a time: all masks together are as large as the data.
    """
    reach = 0.1 * loss if limits.threshold is None else limits.threshold
    masks = _masks_above(terms, neighbours, reach, limits.taper)
    most = MOST if limits.components is None else limits.components
    decomposed = _decomposed(terms, masks, most)
    sizes = [Sizes.of(neighbours.smoothed(components.sizes())) for components in decomposed]
    if limits.threshold is None:
        least = _level_of_loss(sizes, loss)
    else:
        least = limits.threshold * max(entries.largest for entries in sizes)
    level = np.full(masks.shape[1], least, dtype=np.float32)
    if limits.budget is not None:
        level = np.maximum(level, supports.crowded_out(sizes, len(level), limits.budget))
    if limits.size is not None:
        kept = np.concatenate([entries.above(level) for entries in sizes])
        last = len(kept) - int(limits.size * len(level)) - 1
        if last >= 0:
            level = np.maximum(level, np.partition(kept, last)[last])
    for components, entries in track(list(zip(decomposed, sizes, strict=True)), "layers"):
        yield components, neighbours.tapered(entries.inside(level), limits.taper)


def _decomposed(terms: Sequence[Term], masks: Floats32, most: int) -> list[Components]:
    pairs = list(zip(terms, masks, strict=True))
    return [decompose(term, mask, most) for term, mask in track(pairs, "principal components")]


def _level_of_loss(sizes: Sequence[Sizes], loss: float) -> float:
    """The size below which all entries together are the fraction `loss` of all, by root mean square."""
    ascending = np.sort(np.concatenate([entries.above(np.zeros(1, dtype=np.float32)) for entries in sizes]))
    lost = np.cumsum(ascending.astype(np.float64) ** 2)
    dropped = int(np.searchsorted(lost, loss**2 * lost[-1])) if len(lost) else 0
    return float(ascending[dropped - 1]) if dropped else 0.0


def _masks_above(terms: Sequence[Term], neighbours: Neighbours, threshold: float, taper: int) -> Floats32:
    """Masks (terms, N) of where each term moves the skin by more than `threshold` of the largest displacement."""
    sizes = neighbours.smoothed(np.stack([term.sizes for term in terms]))
    return neighbours.tapered(sizes > threshold * float(sizes.max()), taper)


def _masked(term: Term, mask: Floats32) -> Floats32:
    """Displacements (M, S, 3) of a term at its nodes where a mask (N,) is not zero, times the mask."""
    inside = mask[term.support] > 0
    return np.asarray(term.values[:, inside] * mask[term.support[inside], None])


def _largest(nodes: Floats) -> Floats:
    """(C,) the coordinate of largest magnitude of each component, with its sign; 1 where all are zero."""
    signed = nodes[np.abs(nodes).argmax(axis=0), np.arange(nodes.shape[1])]
    return np.where(signed == 0, 1.0, signed)


def _triangular_factor(features: Floats) -> Floats:
    """The factor R (M, M) of a QR decomposition of features (P, M): its columns have the same inner products."""
    padded = np.concatenate([features, np.zeros((features.shape[1], features.shape[1]))])
    return np.asarray(np.linalg.qr(padded, mode="r"))
