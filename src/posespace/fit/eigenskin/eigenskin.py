"""EigenSkin: corrections compressed by principal components of each joint, driven by the joint's rotation."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace import check
from posespace.check import Floats32
from posespace.errors import InputError
from posespace.examples import Examples, require_examples
from posespace.fit.contradictions import warn_of_contradictions
from posespace.fit.duplicate_poses import merged
from posespace.fit.eigenskin.region_terms import terms_together
from posespace.fit.eigenskin.supports import Neighbours
from posespace.fit.eigenskin.term_components import on_one_support, on_own_supports
from posespace.fit.eigenskin.term_inputs import Domain, pair_domain, single_domains
from posespace.fit.eigenskin.term_solve import Term, expected_error, left_over, read_off, runs_of, safe, solve_together
from posespace.fit.region_regression import Together
from posespace.fit.residuals import normal_residuals
from posespace.fit.self_check import checked, said
from posespace.fit.shared_normals import share_normals
from posespace.fit.stream import Held, Resources, Source
from posespace.fit.weights.optimise import fit_with_weights
from posespace.interpolate.kernels import KERNELS
from posespace.interpolate.rbf import RBF
from posespace.poses.digests import pose_digests
from posespace.poses.links import about_links, linked
from posespace.skin.basis import PackedBasis, widened
from posespace.skin.layer import Layer
from posespace.skin.provenance import CROSS_VALIDATED_ERROR, about_fit, with_notes
from posespace.skin.skin import Skin

ALLOTMENTS = ("greedy", "equal")
NORMALS = ("none", "shared", "separate")
WEIGHTS = ("given", "optimised")

PAIRS = 1
"""Pairs tried per single term, those with the largest overlap first."""

PAIR_NODES = 4
"""Most nodes of a pair where both are turned; the places where only one is are its anchors."""

PAPER_THRESHOLD = 0.04
"""The threshold where all components of a layer share a support, unless told: the paper's."""

PART = 0.05
LOSSES = 0.003, 0.02
"""What is lost to few components and small supports is this fraction of the error on left-out poses, within bounds."""

NEAR = 0.005
"""Fraction of a term's own largest displacement above which it is near, for terms that are solved together."""

MOST_READ = 512
"""Poses whose displacements are read as they are, of one thing or of several; where there are more, the skin is learned
by regression alone, which passes over the poses and holds none of them."""


@dataclass(frozen=True)
class EigenSkin:
    """EigenSkin: principal components for each joint, axis or control that moves, and for pairs that move together.

    Parameters
    ----------
    components : most components per layer; 0: as many as matter beside the error on left-out poses
    allotment : "greedy": each component has its own support, so that entries go where they remove most error;
        "equal": all components of a layer share one support, as in the paper
    budget : most displacement entries per vertex; supports shrink smoothly to keep within it. 0: no limit
    size : most displacement entries per vertex on average, which sets the memory; if not given, as many as the
        threshold leaves. Greedy only
    threshold : a layer or component acts where its displacement is above this fraction of the largest one observed; if
        not given, so low that what is lost is 5 % of the cross-validation error, but from 0.3 to 2 % of all
    taper : over how many rings of vertices the edge of a support fades to zero
    kernel : kernel of the RBF that drives what poses move alone, and pairs of it: thin_plate, gaussian, exponential,
        multiquadric, linear or cubic
    radius : how far a sample reaches, above 0; if not given, chosen by leave-one-out
    normals : "none": normals follow from the posed surface; "shared": corrections driven by the components of the
        points; "separate": corrections with components of their own
    general : solve for all joints together from all poses, even where each is seen alone; joints never seen alone
        always are
    coupling : add layers for pairs of joints that move together, fitted to what the single ones leave
    bits : per stored number: 32, 16 or 8
    weights : "given": the rig's; "optimised": fitted to the examples in turn with the layers, so that the skin's rig
        has new ones, see `posespace.optimise_weights`
    """

    components: int = 0
    allotment: str = field(default="greedy", metadata={"choices": ALLOTMENTS})
    budget: int = 32
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
        for name in ("components", "budget", "taper"):
            object.__setattr__(self, name, check.whole(name, getattr(self, name)))
        object.__setattr__(self, "bits", check.bits(self.bits))
        if self.components < 0:
            raise InputError(f"components: expected at least 1, or 0 to choose, got {self.components}")
        check.choice("allotment", self.allotment, ALLOTMENTS)
        check.choice("normals", self.normals, NORMALS)
        if self.budget < 0:
            raise InputError(f"budget: expected at least 1 entry per vertex, or 0 for no limit, got {self.budget}")
        if self.size is not None and not check.number("size", self.size) > 0:
            raise InputError(f"size: expected above 0 entries per vertex, got {self.size}")
        if self.threshold is not None and not 0 <= check.number("threshold", self.threshold) < 1:
            raise InputError(f"threshold: expected from 0 to 1, got {self.threshold}")
        if not 0 <= self.taper <= 100:
            raise InputError(f"taper: expected 0 to 100 rings, got {self.taper}")
        check.choice("weights", self.weights, WEIGHTS)
        RBF(self.kernel, self.radius)

    def fit(self, examples: Examples, resources: Resources | None = None) -> Skin:
        """Return the skin of the examples; `resources` says what memory and processes it may use."""
        require_examples(examples)
        examples = linked(examples)
        warn_of_contradictions(examples)
        examples = merged(examples)
        fit = partial(self._fit, resources=resources)
        return said(fit(examples) if self.weights == "given" else fit_with_weights(examples, fit))

    def _fit(self, examples: Examples, resources: Resources | None) -> Skin:
        found = Source(examples, resources)
        neighbours = Neighbours(examples.rig.mesh)
        terms = self._terms(examples, found, neighbours)
        layers = self._layers(terms, neighbours)
        if self.normals == "shared":
            layers = share_normals(examples, layers, normal_residuals(examples), self.bits)
        elif self.normals == "separate":
            own = self._layers(self._terms(examples, Held(normal_residuals(examples)), neighbours), neighbours)
            layers = _with_normals(layers, own, self.bits)
        poses = pose_digests(examples.motion, examples.rig.skeleton)
        figures = {**about_links(examples.rig.skeleton), **_figures(terms)}
        about = about_fit("eigenskin", self, poses, found.damped, figures)
        about = with_notes(about, [term.note for term in terms if term.note])
        return checked(Skin(examples.rig, tuple(layers), about=about), examples)

    def _terms(self, examples: Examples, data: Source | Held, neighbours: Neighbours) -> list[Term]:
        """The terms of the sum that gives `data` (P, N, 3)."""
        domains, others, several = single_domains(examples)
        if sum(len(domain.poses) for domain in domains) > MOST_READ or several.sum() > MOST_READ:
            return terms_together(examples, data, ())
        alone = read_off(domains, RBF(self.kernel, self.radius), data, len(examples.rig.mesh.points))
        terms = [safe(term) for term in alone]
        if not several.any():
            return terms
        if self.general and not others:
            terms = self._general(examples, terms, data.some(range(len(examples))), several, neighbours)
        if self.coupling and not others:
            terms = terms + self._pairs(examples, terms, data.some(np.flatnonzero(several)), several, neighbours)
        return terms + terms_together(examples, data, terms) if others else terms

    def _general(
        self,
        examples: Examples,
        alone: list[Term],
        data: Floats32,
        several: NDArray[np.bool_],
        neighbours: Neighbours,
    ) -> list[Term]:
        """Terms of single domains solved from all poses at once."""
        near = [self._loose(term, neighbours) for term in alone]
        domains = [term.domain for term in alone if isinstance(term.domain, Domain)]
        settings, folds = RBF(self.kernel, self.radius), runs_of(np.flatnonzero(several))
        return solve_together(domains, settings, examples, data, near, folds)[0]

    def _layers(self, terms: list[Term], neighbours: Neighbours) -> list[Layer]:
        made: list[Layer | None]
        if not terms:
            return []
        if self.allotment == "equal":
            threshold = PAPER_THRESHOLD if self.threshold is None else self.threshold
            alike = on_one_support(terms, neighbours, self.components, threshold, self.taper, self.budget)
            made = [components.layer(None, self.bits) for components in alike]
        else:
            loss = float(np.clip(PART * expected_error(terms), *LOSSES))
            settings = self.components, self.threshold, self.taper, self.budget, self.size
            found = on_own_supports(terms, neighbours, *settings, loss)
            made = [components.layer(masks, self.bits) for components, masks in found]
        return [layer for layer in made if layer is not None]

    def _loose(self, term: Term, neighbours: Neighbours) -> Floats32:
        """Where a term acts (N,): where it moves the skin at all, by its own measure."""
        sizes = neighbours.smoothed(term.sizes)
        least = NEAR if self.threshold is None else self.threshold
        return neighbours.tapered(sizes > least * float(sizes.max()), self.taper)

    def _pairs(
        self, examples: Examples, terms: list[Term], data: Floats32, several: NDArray[np.bool_], neighbours: Neighbours
    ) -> list[Term]:
        """Terms for pairs whose supports overlap, from what the terms leave of the poses that move several joints."""
        together = examples[np.flatnonzero(several)]
        left = left_over(terms, together, data)
        near = [self._loose(term, neighbours) for term in terms]
        overlap = {
            (a, b): float((terms[a].sizes * near[a]) @ (terms[b].sizes * near[b]))
            for a, b in itertools.combinations(range(len(terms)), 2)
        }
        best = sorted((pair for pair in overlap if overlap[pair] > 0), key=lambda pair: -overlap[pair])
        domains, masks = [], []
        for a, b in best[: PAIRS * len(terms)]:
            first, second = terms[a].domain, terms[b].domain
            assert isinstance(first, Domain)
            assert isinstance(second, Domain)
            pair = pair_domain(first, second, together.motion, examples.rig, PAIR_NODES)
            if pair is not None:
                domains.append(pair)
                masks.append(near[a] * near[b])
        if not domains:
            return []
        folds = runs_of(np.arange(len(together)))
        found, _ = solve_together(domains, RBF(self.kernel, self.radius), together, left, masks, folds)
        return [replace(term, features=_at_rows(term.features, several)) for term in found]


def _figures(terms: list[Term]) -> dict[str, Any]:
    """What a fit says of how well it predicts poses that were left out, and of what was shrunk for that."""
    shrunk = {
        term.domain.name: round(term.domain.left_out.shrink, 4)
        for term in terms
        if isinstance(term.domain, Together) and term.domain.left_out.shrink < 1
    }
    return {CROSS_VALIDATED_ERROR: round(expected_error(terms), 4), "shrunk to": shrunk}


def _with_normals(layers: list[Layer], normals: list[Layer], bits: int) -> list[Layer]:
    """Layers of points joined with the layers of normals of the same name, on the support of both."""
    own = {layer.name: layer for layer in normals}
    joined = []
    for layer in layers:
        other = own.get(layer.name)
        if other is None:
            joined.append(layer)
            continue
        support = np.union1d(layer.support, other.support).astype(np.int32)
        basis, normal = (PackedBasis.pack(widened(each.basis, each.support, support), bits) for each in (layer, other))
        joined.append(Layer(layer.name, layer.driver, support, basis, normal, other.driver))
    return joined


def _at_rows(features: NDArray[np.floating], rows: NDArray[np.bool_]) -> NDArray[np.floating]:
    """Features of some poses as features of all poses, zero at the others."""
    full = np.zeros((len(rows), features.shape[1]))
    full[rows] = features
    return full
