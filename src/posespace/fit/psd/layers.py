"""From a plan and its deltas to a layer: the radius, the interpolant over the pose space, the basis."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.errors import InputError
from posespace.fit.psd.plan import LayerPlan
from posespace.fit.psd.vertex_sets import fill_sets
from posespace.fit.regression import EXACT_REACH
from posespace.interpolate.distances import distances
from posespace.interpolate.fitted import RBFInterpolant
from posespace.interpolate.kernels import KERNELS
from posespace.interpolate.rbf import RBF
from posespace.interpolate.samples import SingularError
from posespace.skin.layer import Driver, Layer

# About how many vertices a radius is chosen by.
_ENOUGH = 1000

WIDEST = 0.2
"""The widest radius that is chosen, as a fraction of the largest distance between samples: wider kernels follow the
samples of a layer as closely, but run wild outside them."""

STEPS = tuple(10.0**power for power in range(-10, -1))
"""Smoothings tried, one after the other, where samples lie too close together for a system without."""


@dataclass(frozen=True, eq=False)
class Deltas:
    """What a layer's own examples add to the earlier layers.

    Parameters
    ----------
    support : (S,) int32 the vertices that some example moves
    values : (C, S, 3) float64, of the examples that move anything
    loud : (own examples,) bool, which examples those are
    """

    support: NDArray[np.int32]
    values: Floats
    loud: NDArray[np.bool_]

    @classmethod
    def of(cls, deltas: list[Floats], moved: NDArray[np.bool_]) -> Deltas:
        """From the deltas (N, 3) of each own example and the vertices (own examples, N) that they move."""
        support, loud = np.flatnonzero(moved.any(axis=0)).astype(np.int32), np.asarray(moved.any(axis=1))
        values = [delta[support] for delta, some in zip(deltas, loud.tolist(), strict=True) if some]
        return cls(support, np.stack(values) if values else np.zeros((0, 0, 3)), loud)

    def only(self, chosen: NDArray[np.bool_]) -> Deltas:
        """Return the deltas of some of the examples, `chosen` (own examples,); as they are where all are."""
        if chosen.all():
            return self
        return Deltas(self.support, self.values[chosen[self.loud]], self.loud & chosen)

    @cached_property
    def basis(self) -> Floats:
        """(C, S, 3) float32: with one cardinal function per example as coordinate, the deltas are the basis."""
        return self.values.astype(np.float32)

    @cached_property
    def factor(self) -> Floats:
        """(own examples, C) a matrix with the inner products of the deltas: all that leave-one-out needs of them.

        Of a large support, evenly chosen vertices say enough.
        """
        some = self.values[:, :: 1 + len(self.support) // _ENOUGH].copy()
        energy, vectors = np.linalg.eigh(np.einsum("isk,jsk->ij", some, some))
        factor = np.zeros((len(self.loud), len(some)))
        factor[self.loud] = vectors * np.sqrt(np.maximum(energy, 0.0))
        return factor


def choose_radius(
    plan: LayerPlan, deltas: Deltas, kernel: str, smoothing: float, names: list[str], stretch: Floats
) -> float:
    """Return the radius of least leave-one-out error, to be multiplied by `stretch` (axes,)."""
    values = np.zeros((len(plan.centres), deltas.factor.shape[1]))
    values[: len(plan.own)] = deltas.factor
    # Only spaces of straight distance are stretched.
    alike = replace(plan, centres=plan.centres / stretch) if (stretch != 1).any() else plan
    chosen = float(_fit(RBF(kernel, smoothing=smoothing), alike, values, names).radius[0])
    if KERNELS[kernel].scale_free or len(alike.centres) < 3:
        return chosen
    return min(chosen, WIDEST * float(distances(alike.centres, alike.centres, plan.space.metric).max()))


def left_out_error(plan: LayerPlan, deltas: Deltas, settings: RBF, names: list[str]) -> float:
    """Return the error at the layer's own examples, each left out in turn, as a fraction of that of no layer."""
    values = np.zeros((len(plan.centres), deltas.factor.shape[1]))
    values[: len(plan.own)] = deltas.factor
    try:
        errors = settings.leave_one_out(plan.centres, values, plan.space.metric, names, _origin(plan))
    except SingularError:
        return 1.0
    size = float(np.square(values).sum())
    return float(np.sqrt(np.square(errors[: len(plan.own)]).sum() / size)) if size > 0 else 0.0


def cardinal_layer(plan: LayerPlan, deltas: Deltas, settings: RBF, names: list[str]) -> Layer:
    """Return the layer whose coordinates are the cardinal functions of the examples: each is reproduced exactly."""
    ones = np.eye(len(plan.centres))[:, : len(plan.own)][:, deltas.loud]
    driver = Driver(plan.space, _fit(settings, plan, ones, names))
    return Layer(plan.name, driver, deltas.support, deltas.basis)


def per_vertex_layer(
    plan: LayerPlan, deltas: Deltas, settings: RBF, members: NDArray[np.bool_], names: list[str]
) -> Layer:
    """Return the layer in which each vertex interpolates over its own set of samples, `members` (M, S) bool.

    Where a sample is not in a vertex's set, the vertex's interpolant has some value there. With these values in the
    basis, the cardinal functions of all samples give that interpolant back; its own weights, which cancel each other,
    would lose their digits in float32.
    """
    driver = Driver(plan.space, _fit(settings, plan, np.eye(len(plan.centres)), names))
    basis = at_all_samples(plan, deltas.loud, deltas.values, settings, members).astype(np.float32)
    return Layer(plan.name, driver, deltas.support, basis)


def at_all_samples(
    plan: LayerPlan, loud: NDArray[np.bool_], values: Floats, settings: RBF, members: NDArray[np.bool_]
) -> Floats:
    """Return what each vertex's interpolant gives at all samples (M, S, 3); `values` (C, S, 3) are at the loud ones."""
    full = np.zeros((len(plan.centres), *values.shape[1:]))
    full[: len(plan.own)][loud] = values
    assert settings.radius is not None
    gaps = distances(plan.centres, plan.centres, plan.space.metric, settings.radius)
    kernel = KERNELS[settings.kernel].value(gaps) + settings.smoothing * np.eye(len(gaps))
    return fill_sets(kernel, members, full)


def _fit(settings: RBF, plan: LayerPlan, values: Floats, names: list[str]) -> RBFInterpolant:
    """The interpolant through `values` (M, C), or as near to them as a sound system comes: see `STEPS`."""
    origin = _origin(plan)
    for smoothing in (settings.smoothing, *STEPS):
        try:
            made = replace(settings, smoothing=smoothing).fit(plan.centres, values, plan.space.metric, names, origin)
        except SingularError as error:
            if settings.smoothing or smoothing == STEPS[-1]:
                raise InputError(f"layer {plan.name!r}: {error}") from error
            continue
        return made.held(EXACT_REACH)
    raise AssertionError


def _origin(plan: LayerPlan) -> int:
    """The sample that reach is measured from: the rest pose, or where it is none the one least far from all others."""
    if plan.rest is not None:
        return plan.rest
    return int(distances(plan.centres, plan.centres, plan.space.metric).max(axis=1).argmin())
