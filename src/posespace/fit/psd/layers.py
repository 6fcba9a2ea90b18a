"""Layers from plans and deltas: the choice of the radius, the interpolant over the pose space, and the basis."""

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
from posespace.skin.driver import Driver
from posespace.skin.layer import Layer

_VERTICES = 1000
"""About how many vertices a radius is chosen on."""

WIDEST = 0.2
"""The widest radius that is chosen, as a fraction of the largest distance between samples: wider kernels fit the
samples of a layer as well, but overshoot outside them."""

STEPS = tuple(10.0**power for power in range(-10, -1))
"""Smoothings tried, one after the other, where samples are too close together for a system without smoothing."""


@dataclass(frozen=True, eq=False)
class Deltas:
    """What the examples of a layer add to the earlier layers.

    Parameters
    ----------
    support : (S,) int32 the vertices that some example moves
    values : (C, S, 3) float64, of the active examples, which move a vertex
    active : (E,) bool, which of the layer's examples those are
    """

    support: NDArray[np.int32]
    values: Floats
    active: NDArray[np.bool_]

    @classmethod
    def of(cls, deltas: list[Floats], moved: NDArray[np.bool_]) -> Deltas:
        """From the deltas (N, 3) of each of the layer's examples, and the vertices (E, N) that they move."""
        support, active = np.flatnonzero(moved.any(axis=0)).astype(np.int32), np.asarray(moved.any(axis=1))
        values = [delta[support] for delta, moves in zip(deltas, active.tolist(), strict=True) if moves]
        return cls(support, np.stack(values) if values else np.zeros((0, 0, 3)), active)

    def only(self, chosen: NDArray[np.bool_]) -> Deltas:
        """Return the deltas of the chosen examples (E,)."""
        if chosen.all():
            return self
        return Deltas(self.support, self.values[chosen[self.active]], self.active & chosen)

    @cached_property
    def basis(self) -> Floats:
        """(C, S, 3) float32: with one cardinal function per example as its coordinate, the deltas are the basis."""
        return self.values.astype(np.float32)

    @cached_property
    def factor(self) -> Floats:
        """(E, C) a matrix with the inner products of the deltas, which is all that leave-one-out needs.

        They are taken over evenly chosen vertices of a large support.
        """
        sampled = self.values[:, :: 1 + len(self.support) // _VERTICES].copy()
        energy, vectors = np.linalg.eigh(np.einsum("isk,jsk->ij", sampled, sampled))
        factor = np.zeros((len(self.active), len(sampled)))
        factor[self.active] = vectors * np.sqrt(np.maximum(energy, 0.0))
        return factor


def choose_radius(
    plan: LayerPlan, deltas: Deltas, kernel: str, smoothing: float, names: list[str], stretch: Floats
) -> float:
    """Return the radius of least leave-one-out error, to be multiplied by `stretch` (axes,)."""
    values = np.zeros((len(plan.centres), deltas.factor.shape[1]))
    values[: len(plan.examples)] = deltas.factor
    # Only spaces with the Euclidean metric are stretched.
    scaled = replace(plan, centres=plan.centres / stretch) if (stretch != 1).any() else plan
    chosen = float(_fit(RBF(kernel, smoothing=smoothing), scaled, values, names).radius[0])
    if KERNELS[kernel].scale_free or len(scaled.centres) < 3:
        return chosen
    return min(chosen, WIDEST * float(distances(scaled.centres, scaled.centres, plan.space.metric).max()))


def leave_one_out_error(plan: LayerPlan, deltas: Deltas, settings: RBF, names: list[str]) -> float:
    """Return the leave-one-out error at the layer's examples, as a fraction of the error without the layer."""
    values = np.zeros((len(plan.centres), deltas.factor.shape[1]))
    values[: len(plan.examples)] = deltas.factor
    try:
        errors = settings.leave_one_out(plan.centres, values, plan.space.metric, names, _origin(plan))
    except SingularError:
        return 1.0
    size = float(np.square(values).sum())
    return float(np.sqrt(np.square(errors[: len(plan.examples)]).sum() / size)) if size > 0 else 0.0


def cardinal_layer(plan: LayerPlan, deltas: Deltas, settings: RBF, names: list[str]) -> Layer:
    """Return the layer whose coordinates are the cardinal functions of the examples: each is reproduced exactly."""
    ones = np.eye(len(plan.centres))[:, : len(plan.examples)][:, deltas.active]
    driver = Driver(plan.space, _fit(settings, plan, ones, names))
    return Layer(plan.name, driver, deltas.support, deltas.basis)


def per_vertex_layer(
    plan: LayerPlan, deltas: Deltas, settings: RBF, members: NDArray[np.bool_], names: list[str]
) -> Layer:
    """Return the layer in which each vertex interpolates over its own set of samples, `members` (M, S) bool.

    The basis has the values of each vertex's interpolant at all samples, also those outside its set. The cardinal
    functions of all samples then reproduce that interpolant. Its weights, which cancel each other, would lose their
    digits in float32.
    """
    driver = Driver(plan.space, _fit(settings, plan, np.eye(len(plan.centres)), names))
    basis = at_all_samples(plan, deltas.active, deltas.values, settings, members).astype(np.float32)
    return Layer(plan.name, driver, deltas.support, basis)


def at_all_samples(
    plan: LayerPlan, active: NDArray[np.bool_], values: Floats, settings: RBF, members: NDArray[np.bool_]
) -> Floats:
    """Return each vertex's interpolant at all samples (M, S, 3), from `values` (C, S, 3) at the active examples."""
    full = np.zeros((len(plan.centres), *values.shape[1:]))
    full[: len(plan.examples)][active] = values
    assert settings.radius is not None
    gaps = distances(plan.centres, plan.centres, plan.space.metric, settings.radius)
    kernel = KERNELS[settings.kernel].value(gaps) + settings.smoothing * np.eye(len(gaps))
    return fill_sets(kernel, members, full)


def _fit(settings: RBF, plan: LayerPlan, values: Floats, names: list[str]) -> RBFInterpolant:
    """The interpolant through `values` (M, C), smoothed by as little as makes its system solvable: see `STEPS`."""
    origin = _origin(plan)
    for smoothing in (settings.smoothing, *STEPS):
        try:
            interpolant = replace(settings, smoothing=smoothing).fit(
                plan.centres, values, plan.space.metric, names, origin
            )
        except SingularError as error:
            if settings.smoothing or smoothing == STEPS[-1]:
                raise InputError(f"layer {plan.name!r}: {error}") from error
            continue
        return interpolant.with_reach(EXACT_REACH)
    raise AssertionError


def _origin(plan: LayerPlan) -> int:
    """The sample that the reach is measured from: the rest pose, or else the most central sample."""
    if plan.rest is not None:
        return plan.rest
    return int(distances(plan.centres, plan.centres, plan.space.metric).max(axis=1).argmin())
