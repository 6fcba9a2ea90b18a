"""EigenSkin: corrections compressed by principal components of each joint, driven by the joint's rotation."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace import check
from posespace.check import Floats, Floats32
from posespace.errors import InputError
from posespace.examples import Examples, require_examples
from posespace.fit.block_least_squares import consecutive_folds
from posespace.fit.contradictions import warn_of_contradictions
from posespace.fit.duplicate_poses import merge_duplicate_poses
from posespace.fit.eigenskin.region_terms import region_terms
from posespace.fit.eigenskin.supports import Limits, Neighbours
from posespace.fit.eigenskin.term_components import with_separate_supports, with_shared_supports
from posespace.fit.eigenskin.term_domains import Domain, RegionDomain, pair_domain, single_domains
from posespace.fit.eigenskin.terms import (
    Term,
    cross_validation_error,
    observed_terms,
    residual_after,
    safe,
    solved_terms,
)
from posespace.fit.residuals import normal_residuals
from posespace.fit.self_check import checked, said
from posespace.fit.shared_normals import share_normals
from posespace.fit.stream import Held, Resources, Source
from posespace.fit.weights.optimise import fit_with_weights
from posespace.interpolate.kernels import KERNELS
from posespace.interpolate.rbf import RBF
from posespace.poses.digests import pose_digests
from posespace.poses.links import about_links, linked
from posespace.progress import track
from posespace.skin.basis import PackedBasis, widened
from posespace.skin.layer import Layer
from posespace.skin.provenance import CROSS_VALIDATED_ERROR, SINGULAR_VALUES, about_fit, with_notes
from posespace.skin.skin import Skin

ALLOTMENTS = ("greedy", "equal")
NORMALS = ("none", "shared", "separate")
WEIGHTS = ("given", "optimised")

PAIRS = 1
"""Pairs tried per single term, those with the largest overlap first."""

PAIR_NODES = 4
"""Most nodes of a pair where both are away from rest; where only one is, it has anchors."""

PAPER_THRESHOLD = 0.04
"""The paper's threshold, the default where all components of a layer share a support."""

LOSS = 0.05
LOSS_RANGE = 0.003, 0.02
"""Few components and small supports may lose this fraction of the cross-validation error, clipped to this range."""

NEAR = 0.005
"""A term acts near a vertex where its displacement is above this fraction of its largest, for terms solved jointly."""

NOTICED = 1e-4
"""Singular values below this fraction of the largest are not recorded."""

MOST_READ = 512
"""Most poses whose displacements are held in memory, of one joint or of several. With more poses the skin is learned by
regression alone, which streams over the poses."""


@dataclass(frozen=True)
class EigenSkin:
    """EigenSkin: principal components for each joint, axis or control that moves, and for pairs that move together.

    Parameters
    ----------
    components : maximum number of components per layer; None: as many as the threshold keeps
    allotment : "greedy": each component has its own support, so that displacements are stored where they reduce the
        error most; "equal": all components of a layer share one support, as in the paper
    budget : maximum number of displacements stored at any one vertex; None: no limit
    size : maximum average number of displacements stored per vertex; limits memory. Only with `allotment='greedy'`;
        None: no limit
    threshold : a layer or component acts where its displacement is above this fraction of the largest one observed;
        None: chosen so that the displacements left out have an RMS, relative to all displacements, of 5 % of the
        cross-validation error, but at least 0.3 % and at most 2 %; 0.04 with `allotment='equal'`
    taper : number of rings of vertices over which the edge of a support fades to zero
    kernel : kernel of the RBF over the poses of one joint or control, and of a pair: thin_plate, gaussian, exponential,
        multiquadric, linear or cubic
    radius : radius of the kernel, above 0; None: chosen by leave-one-out cross-validation
    normals : "none": normals are computed from the posed surface; "shared": corrections of the normals driven by the
        components of the points; "separate": corrections with components of their own
    general : solve for all joints jointly from all poses, even if some examples move each joint alone; joints that
        never move alone are always solved jointly
    coupling : add layers for pairs of joints that move together, fitted to the residual of the single joints
    bits : bits per stored number: 32, 16 or 8
    weights : "given": the rig's skinning weights; "optimised": weights fitted to the examples, alternating with the
        layers; the skin's rig then has these weights. In Python see `posespace.optimise_weights`
    """

    components: int | None = None
    allotment: str = field(default="greedy", metadata={"choices": ALLOTMENTS})
    budget: int | None = 32
    size: float | None = None
    threshold: float | None = None
    taper: int = 1
    kernel: str = field(default="thin_plate", metadata={"choices": tuple(KERNELS)})
    radius: float | None = None
    normals: str = field(default="none", metadata={"choices": NORMALS})
    general: bool = False
    coupling: bool = True
    bits: int = 16
    weights: str = field(default="given", metadata={"choices": WEIGHTS})

    def __post_init__(self) -> None:
        for name in ("components", "budget"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, check.count(name, getattr(self, name)))
        object.__setattr__(self, "taper", check.whole("taper", self.taper))
        object.__setattr__(self, "bits", check.bits(self.bits))
        check.choice("allotment", self.allotment, ALLOTMENTS)
        check.choice("normals", self.normals, NORMALS)
        if self.size is not None and not check.number("size", self.size) > 0:
            raise InputError(f"size: expected above 0 entries per vertex, got {self.size}")
        if self.threshold is not None and not 0 <= check.number("threshold", self.threshold) < 1:
            raise InputError(f"threshold: expected at least 0 and below 1, got {self.threshold}")
        if not 0 <= self.taper <= 100:
            raise InputError(f"taper: expected 0 to 100 rings, got {self.taper}")
        check.choice("weights", self.weights, WEIGHTS)
        RBF(self.kernel, self.radius)

    def fit(self, examples: Examples, resources: Resources | None = None) -> Skin:
        """Return the skin of the examples; `resources` limits the memory and processes that the fit may use."""
        require_examples(examples)
        examples = linked(examples)
        warn_of_contradictions(examples)
        examples = merge_duplicate_poses(examples)
        fit = partial(self._fit, resources=resources)
        return said(fit(examples) if self.weights == "given" else fit_with_weights(examples, fit))

    def _fit(self, examples: Examples, resources: Resources | None) -> Skin:
        residuals = Source(examples, resources)
        neighbours = Neighbours(examples.rig.mesh)
        terms = self._terms(examples, residuals, neighbours)
        components = self._components(terms, neighbours)
        layers = [layer for layer, _ in components]
        if self.normals == "shared":
            layers = share_normals(examples, layers, normal_residuals(examples), self.bits)
        elif self.normals == "separate":
            normal_terms = self._terms(examples, Held(normal_residuals(examples)), neighbours)
            normals = [layer for layer, _ in self._components(normal_terms, neighbours)]
            layers = _with_normals(layers, normals, self.bits)
        poses = pose_digests(examples.motion, examples.rig.skeleton)
        figures = {**about_links(examples.rig.skeleton), **_figures(terms), SINGULAR_VALUES: _singular(components)}
        about = about_fit("eigenskin", self, poses, residuals.damped, figures)
        about = with_notes(about, [term.note for term in terms if term.note])
        return checked(Skin(examples.rig, tuple(layers), about=about), examples)

    def _terms(self, examples: Examples, data: Source | Held, neighbours: Neighbours) -> list[Term]:
        """The terms whose sum gives `data` (P, N, 3)."""
        domains, others, several = single_domains(examples, RBF(self.kernel, self.radius))
        if sum(len(domain.poses) for domain in domains) > MOST_READ or several.sum() > MOST_READ:
            return region_terms(examples, data, ())
        observed = observed_terms(domains, data, len(examples.rig.mesh.points))
        terms = [safe(term) for term in track(observed, "cross-validation")]
        if not several.any():
            return terms
        if others:
            return terms + region_terms(examples, data, terms)
        if self.general:
            terms = self._general_terms(examples, terms, data.some(range(len(examples))), several, neighbours)
        if self.coupling:
            terms = terms + self._pair_terms(examples, terms, data.some(np.flatnonzero(several)), several, neighbours)
        return terms

    def _general_terms(
        self,
        examples: Examples,
        terms: list[Term],
        data: Floats32,
        several: NDArray[np.bool_],
        neighbours: Neighbours,
    ) -> list[Term]:
        """The terms of single domains, solved jointly from all poses."""
        masks = [self._mask(term, neighbours) for term in terms]
        rbf = RBF(self.kernel, self.radius)
        domains = [replace(term.domain, rbf=rbf) for term in terms if isinstance(term.domain, Domain)]
        return solved_terms(domains, examples, data, masks, consecutive_folds(np.flatnonzero(several)))

    def _components(self, terms: list[Term], neighbours: Neighbours) -> list[tuple[Layer, Floats]]:
        """The layers of terms, each with all singular values (M,) of its term."""
        if not terms:
            return []
        limits = Limits(self.components, self.threshold, self.taper, self.budget, self.size)
        if self.allotment == "equal":
            threshold = PAPER_THRESHOLD if self.threshold is None else self.threshold
            shared = with_shared_supports(terms, neighbours, limits, threshold)
            layers = [(components.layer(None, self.bits), components.singular) for components in shared]
        else:
            loss = float(np.clip(LOSS * cross_validation_error(terms), *LOSS_RANGE))
            separate = with_separate_supports(terms, neighbours, limits, loss)
            layers = [(components.layer(masks, self.bits), components.singular) for components, masks in separate]
        return [(layer, singular) for layer, singular in layers if layer is not None]

    def _mask(self, term: Term, neighbours: Neighbours) -> Floats32:
        """The mask (N,) of a term that is solved jointly with others: not 0 where it moves the skin noticeably."""
        sizes = neighbours.smoothed(term.sizes)
        least = NEAR if self.threshold is None else self.threshold
        return neighbours.tapered(sizes > least * float(sizes.max()), self.taper)

    def _pair_terms(
        self, examples: Examples, terms: list[Term], data: Floats32, several: NDArray[np.bool_], neighbours: Neighbours
    ) -> list[Term]:
        """Terms of pairs whose supports overlap, from the residual of `terms` at poses that move several joints."""
        together = examples[np.flatnonzero(several)]
        residual = residual_after(terms, together, data)
        masks = [self._mask(term, neighbours) for term in terms]
        overlap = {
            (a, b): float((terms[a].sizes * masks[a]) @ (terms[b].sizes * masks[b]))
            for a, b in itertools.combinations(range(len(terms)), 2)
        }
        best = sorted((pair for pair in overlap if overlap[pair] > 0), key=lambda pair: -overlap[pair])
        rbf = RBF(self.kernel, self.radius)
        domains, pair_masks = [], []
        for a, b in best[: PAIRS * len(terms)]:
            first, second = terms[a].domain, terms[b].domain
            assert isinstance(first, Domain)
            assert isinstance(second, Domain)
            pair = pair_domain(first, second, together.motion, examples.rig, rbf, PAIR_NODES)
            if pair is not None:
                domains.append(pair)
                pair_masks.append(masks[a] * masks[b])
        if not domains:
            return []
        folds = consecutive_folds(np.arange(len(together)))
        pairs = solved_terms(domains, together, residual, pair_masks, folds)
        return [replace(term, features=_at_rows(term.features, several)) for term in pairs]


def _figures(terms: list[Term]) -> dict[str, Any]:
    """The cross-validation error, and the factors of the terms that were shrunk to lower it."""
    shrunk = {
        term.domain.name: round(term.domain.choice.shrink, 4)
        for term in terms
        if isinstance(term.domain, RegionDomain) and term.domain.choice.shrink < 1
    }
    return {CROSS_VALIDATED_ERROR: round(cross_validation_error(terms), 4), "shrunk to": shrunk}


def _singular(components: list[tuple[Layer, Floats]]) -> dict[str, list[float]]:
    """The singular values of each layer's term, largest first, as far as they are noticeable."""
    return {
        layer.name: [float(f"{value:.4g}") for value in values[values > NOTICED * values[0]]]
        for layer, values in components
    }


def _with_normals(layers: list[Layer], normals: list[Layer], bits: int) -> list[Layer]:
    """Layers of points joined with the layers of normals of the same name, on the union of their supports."""
    by_name = {layer.name: layer for layer in normals}
    joined = []
    for layer in layers:
        other = by_name.get(layer.name)
        if other is None:
            joined.append(layer)
            continue
        support = np.union1d(layer.support, other.support).astype(np.int32)
        basis, normal = (PackedBasis.pack(widened(one.basis, one.support, support), bits) for one in (layer, other))
        joined.append(Layer(layer.name, layer.driver, support, basis, normal, other.driver))
    return joined


def _at_rows(features: NDArray[np.floating], rows: NDArray[np.bool_]) -> NDArray[np.floating]:
    """Features of the poses where `rows` (P,) is true as features of all poses, zero at the others."""
    full = np.zeros((len(rows), features.shape[1]))
    full[rows] = features
    return full
