"""Sculpts: an editing session in which sculpts are added, changed and removed; a skin solves only what changed."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError, quoted
from posespace.examples import Examples
from posespace.fit.psd.clip import clip_layers, clip_poses
from posespace.fit.psd.influence import Influence, influence_of
from posespace.fit.psd.layers import (
    Deltas,
    at_all_samples,
    cardinal_layer,
    choose_radius,
    leave_one_out_error,
    per_vertex_layer,
)
from posespace.fit.psd.normals import LEAST, noticeable, with_normals
from posespace.fit.psd.plan import LayerPlan, check_in_space, plan_layers
from posespace.fit.psd.sculpt_list import SculptList
from posespace.fit.psd.settings import PSDSettings
from posespace.fit.psd.solved import Residual, Solved
from posespace.fit.self_check import ENOUGH, WORSE, do_not_predict
from posespace.interpolate.distances import distances, spacing
from posespace.interpolate.rbf import RBF
from posespace.late import late
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.poses.active import at_rest
from posespace.poses.axis_lengths import axis_lengths
from posespace.poses.digests import pose_digests
from posespace.poses.links import about_links, linked_rig
from posespace.progress import track
from posespace.rig import Rig
from posespace.sculpt import EVERY, Sculpt, SculptState
from posespace.skin.bound import Bound, Neighbourhoods
from posespace.skin.layer import Layer
from posespace.skin.provenance import CROSS_VALIDATED_ERROR, about_fit, with_notes
from posespace.skin.skin import Skin

# Fraction of the box's diagonal by which the rounding of a text file may move the rest shape.
_ROUNDING = 2e-5


class Sculpts(SculptList):
    """Named sculpts of one rig, open for changes, and the skin that reproduces them.

    Parameters
    ----------
    rig : the rig, whose mesh is the rest shape
    settings : e.g. `ps.PSD(smoothing=0.1)`; a radius among them wins over those of `set_radius`
    """

    def __init__(self, rig: Rig, settings: PSDSettings | None = None) -> None:
        super().__init__(rig)
        self._given = PSDSettings() if settings is None else settings
        check.kind("settings", self._given, PSDSettings)
        # Kept for as long as a sculpt has the same pose and shape, by the identity of its shape.
        self._residuals: dict[int, Residual] = {}
        self._sculpts: dict[str, Residual] = {}
        self._solved: dict[tuple[str, ...], Solved] = {}
        self._linked = rig
        # The skin of the last solve, its plans, and the state that it is of.
        self._last: tuple[SculptState, Skin, list[tuple[LayerPlan, Solved]]] | None = None

    @classmethod
    def open(cls, path: str | Path, settings: PSDSettings | None = None) -> Sculpts:
        """Return the sculpts of an example store; every change is written to it at once, and can be undone later."""
        journal = late("sculpt journal")(path)
        session = cls(journal.rig, settings)
        session._journal, session._state = journal, journal.state()
        return session

    @property
    def settings(self) -> PSDSettings:
        """The settings that the skin is solved with: those given, with the radii of `set_radius`."""
        return self._given.with_radii(self.control_radii)

    def set_radius(self, what: str | Sequence[str], value: float | None) -> None:
        """Set the radius of influence of sculpts: see `SculptList.set_radius`; raises where the settings give one."""
        if self._given.radius is not None:
            problem = f"the settings of the session give {self._given.radius!r}, which wins"
            raise InputError(f"radius: {problem}; leave the radius out of the settings to set it by name")
        super().set_radius(what, value)

    def skin(self) -> Skin:
        """Return the skin that reproduces every sculpt exactly, and frames of clips approximately: see `clip`."""
        self._sculpts = {name: self._residual(name, sculpt) for name, sculpt in self._unmuted().items()}
        self._residuals = {id(residual.sculpt.shape): residual for residual in self._sculpts.values()}
        settings, motion = self.settings, self._motion()
        self._linked = rig = linked_rig(self.rig, motion)
        clip = clip_poses(rig, motion) if settings.open_to_clips else np.zeros(len(motion), dtype=bool)
        # A pose with a radius is a sculpt, not a frame of a clip.
        clip &= np.array([self[name].radius is None for name in self._sculpts])
        silent = np.array([not sculpt.moved.any() for sculpt in self._sculpts.values()])
        plans = plan_layers(rig, motion, silent, clip, settings.space, settings.anchor)
        self._warn_of_unknown_radii(plans)
        solutions: list[tuple[LayerPlan, Solved]] = []
        for plan in track(plans, "layers"):
            solutions.append((plan, self._solve(plan, solutions, motion)))
        self._solved = {plan.controls: solved for plan, solved in solutions}
        layers = [layer for _, solved in solutions for layer in solved.layers]
        figures = [self._figures(plan, solved, motion) for plan, solved in solutions if solved.layers]
        if clip.any():
            every, corrected = range(len(motion)), settings.normals == "shared"
            normals = self._residuals_after(every, layers, motion, normals=True) if corrected else None
            more, of_clips = clip_layers(
                rig, motion, self._residuals_after(every, layers, motion), self._threshold, normals
            )
            layers, figures = layers + more, figures + of_clips
        damped = {name: sculpt.damped for name, sculpt in self._sculpts.items() if sculpt.damped}
        extra = {**about_links(rig.skeleton), "damped vertices by sculpt": damped, "layers": figures}
        about = about_fit("psd", settings, pose_digests(motion, rig.skeleton), sum(damped.values()), extra)
        notes = [solved.note for _, solved in solutions if solved.note]
        skin = Skin(rig, tuple(layers), about=with_notes(about, notes))
        self._last = self._state, skin, solutions
        return skin

    def influence(self, name: str, samples: int = 65) -> Influence:
        """Return how strongly a sculpt acts on the way from rest through its pose, as it is solved: see `Influence`."""
        if self[name].muted:
            raise InputError(f"sculpt {quoted(name)}: it is muted, so no layer has it")
        if self._last is None or self._last[0] is not self._state:
            self.skin()
        assert self._last is not None
        names = list(self._sculpts)
        for plan, solved in self._last[2]:
            if names.index(name) in plan.examples:
                return influence_of(self._linked, plan, solved.layers, self._motion(), name, self._around, samples)
        raise InputError(f"sculpt {quoted(name)}: no layer has it; it shows the rest shape, or is a frame of a clip")

    @property
    def residuals(self) -> list[Floats]:
        """The displacements (N, 3) that the sculpts of the last `skin` add to plain skinning, in their order."""
        return [residual.displacement for residual in self._sculpts.values()]

    def _solve(self, plan: LayerPlan, earlier: list[tuple[LayerPlan, Solved]], motion: Motion) -> Solved:
        settings, known = self.settings, self._solved.get(plan.controls)
        sculpts = list(self._sculpts.values())
        # A layer that is zero in the rest pose adds nothing to examples that are at rest in its space.
        reaching = [solved.layers for before, solved in earlier if before.rest is None or before.reach & plan.moves]
        below = [layer for layers in reaching for layer in layers]
        deltas_from = (*(sculpts[number] for number in plan.examples), *below)
        if known is not None and known.deltas_from == deltas_from:
            deltas = known.deltas
        else:
            deltas = self._deltas(plan, below, motion)
        if not len(deltas.support):
            return Solved(deltas, deltas_from, (), (), ())
        radii = tuple(settings.radii_in(plan.controls, plan.axes))
        held = [sculpts[number] for numbers in plan.held for number in numbers] if settings.per_vertex else []
        reach = self._reach(plan, motion)
        layer_from = (plan.name, deltas, plan.space, plan.centres.tobytes(), held, radii, reach)
        if known is not None and known.layer_from == layer_from:
            return known
        default = self._rbf(plan, deltas, motion, settings.kernel_used, radii, any(single is None for single in reach))
        error, note = None, ""
        if len(plan.examples) > 1:
            default, error, note = self._safe(plan, deltas, motion, default, radii)
        layers = []
        for single in dict.fromkeys(reach):
            part = deltas.only(np.array([radius == single for radius in reach]))
            if part.active.any():
                rbf = default
                if single is not None:
                    # A kernel that decays: far from the pose, the radius hardly changes the default one.
                    rbf = replace(rbf, kernel=settings.kernel or "gaussian", radius=(single,) * len(radii))
                layer = self._layer(plan, part, below, motion, rbf)
                layers.append(layer if single is None else replace(layer, name=f"{layer.name} (radius {single:g})"))
        radius = default.radius
        assert isinstance(radius, tuple)
        return Solved(deltas, deltas_from, tuple(layers), layer_from, radius, error, note)

    def _rbf(
        self,
        plan: LayerPlan,
        deltas: Deltas,
        motion: Motion,
        kernel: str,
        radii: tuple[float | None, ...],
        choose: bool = True,
    ) -> RBF:
        """The interpolation over a plan's samples; the radius of an axis is chosen where it is None."""
        chosen, stretch, smoothing = 1.0, self._stretch(plan), self.settings.smoothing
        if None in radii and choose:
            chosen = choose_radius(plan, deltas, kernel, smoothing, plan.sample_names(motion.names), stretch)
        both = zip(radii, stretch.tolist(), strict=True)
        radius = tuple(float(along * chosen if value is None else value) for value, along in both)
        return RBF(kernel, radius, smoothing=smoothing)

    def _safe(
        self, plan: LayerPlan, deltas: Deltas, motion: Motion, rbf: RBF, radii: tuple[float | None, ...]
    ) -> tuple[RBF, float, str]:
        """The interpolation, its leave-one-out error, and a note where it was replaced.

        Sculpts that predict one another worse than plain skinning does get a kernel that decays away from each.
        """
        names = plan.sample_names(motion.names)
        error = leave_one_out_error(plan, deltas, rbf, names)
        if (
            len(plan.examples) < ENOUGH
            or error <= WORSE
            or self.settings.kernel is not None
            or self.settings.per_vertex
        ):
            return rbf, error, ""
        decaying = RBF("gaussian", self._spaced(plan, radii), smoothing=self.settings.smoothing)
        other = leave_one_out_error(plan, deltas, decaying, names)
        note = f"layer {plan.name!r}: {do_not_predict('sculpts', error)}"
        return (decaying, other, f"{note}; it fades between them") if other < error else (rbf, error, note)

    def _spaced(self, plan: LayerPlan, radii: tuple[float | None, ...]) -> tuple[float, ...]:
        """The radius of each axis; where it is None, the spacing of the samples."""
        stretch = self._stretch(plan).tolist()
        typical = spacing(distances(plan.centres, plan.centres, plan.space.metric, stretch))
        both = zip(radii, stretch, strict=True)
        return tuple(float(along * typical if value is None else value) for value, along in both)

    def _layer(self, plan: LayerPlan, deltas: Deltas, below: list[Layer], motion: Motion, rbf: RBF) -> Layer:
        """The layer of those sculpts of a plan that `deltas` are of."""
        settings, names = self.settings, plan.sample_names(motion.names)
        if settings.per_vertex:
            layer = per_vertex_layer(plan, deltas, rbf, self._members(plan, deltas), names)
        else:
            layer = cardinal_layer(plan, deltas, rbf, names)
        if settings.normals == "shared":
            layer = with_normals(layer, self._normal_components(plan, deltas, below, motion, rbf))
        return layer

    def _reach(self, plan: LayerPlan, motion: Motion) -> tuple[float | None, ...]:
        """The radius of each sculpt of a plan; None: that of the layer."""
        return tuple(self[motion.names[number]].radius for number in plan.examples)

    def _deltas(self, plan: LayerPlan, below: list[Layer], motion: Motion) -> Deltas:
        """What the plan's examples add to the sum of the earlier layers."""
        everything = list(self._sculpts.values())
        sculpts = [everything[number] for number in plan.examples]
        if not below:
            moved = np.stack([sculpt.moved for sculpt in sculpts])
            return Deltas.of([sculpt.displacement for sculpt in sculpts], moved)
        residuals = self._residuals_after(plan.examples, below, motion)
        return Deltas.of(list(residuals), np.linalg.norm(residuals, axis=2) > self._threshold)

    def _residuals_after(
        self, numbers: Sequence[int], below: Sequence[Layer], motion: Motion, normals: bool = False
    ) -> Floats:
        """The residuals (P, N, 3) of sculpts, by number, after some layers: of displacements, or of normals."""
        sculpts = [list(self._sculpts.values())[number] for number in numbers]
        residuals = np.stack([self._normals_of(sculpt) if normals else sculpt.displacement for sculpt in sculpts])
        for layer in below:
            coordinates = layer.driver.space.coordinates(motion, self._linked.skeleton)[list(numbers)]
            basis = layer.normal_basis if normals else layer.basis
            if basis is not None:
                bound = Bound.of(layer.driver, [(layer.support, layer.basis)], self._around)
                amounts = bound.kept(layer.driver.interpolant(coordinates))
                residuals[:, layer.support] -= np.tensordot(amounts, np.asarray(basis), axes=1)
        return residuals

    def _normal_components(
        self, plan: LayerPlan, deltas: Deltas, below: list[Layer], motion: Motion, rbf: RBF
    ) -> Floats:
        """What each component of a layer adds to the normals (C, N, 3)."""
        residuals = self._residuals_after(plan.examples, below, motion, normals=True)[deltas.active]
        if not self.settings.per_vertex:
            return residuals
        every = np.arange(residuals.shape[1], dtype=np.int32)
        members = self._members(plan, Deltas(every, residuals, deltas.active), normals=True)
        return at_all_samples(plan, deltas.active, residuals, rbf, members)

    def _normals_of(self, sculpt: Residual) -> Floats:
        assert sculpt.normals is not None
        return sculpt.normals

    def _members(self, plan: LayerPlan, deltas: Deltas, normals: bool = False) -> NDArray[np.bool_]:
        """The samples (M, S) each vertex interpolates over: rest, and those that moved it, or changed its normal."""
        sculpts, support = list(self._sculpts.values()), deltas.support
        members = np.zeros((len(plan.centres), len(support)), dtype=bool)
        for row, numbers in enumerate([*((number,) for number in plan.examples), *plan.held]):
            for number in numbers:
                sculpt = sculpts[number]
                members[row] |= noticeable(self._normals_of(sculpt)[support]) if normals else sculpt.moved[support]
        least = LEAST if normals else self._threshold
        members[: len(plan.examples)][deltas.active] |= np.linalg.norm(deltas.values, axis=2) > least
        if plan.rest is not None:
            members[plan.rest] = True
        return members

    def _stretch(self, plan: LayerPlan) -> Floats:
        """(axes,) factors on the radius of each axis, to weigh angles and translations by how far they move skin."""
        space, skeleton = plan.space, self._linked.skeleton
        degrees = [space.degree_of(name, skeleton) for name in space.names]
        if not any(degree is not None and degree[1] >= 3 for degree in degrees):
            return np.ones(len(space.names))
        lengths = axis_lengths(self._linked, space, plan.centres)
        return np.asarray(lengths.max() / lengths)

    @cached_property
    def _around(self) -> Neighbourhoods:
        return Neighbourhoods(self.rig.mesh)

    @property
    def _threshold(self) -> float:
        return self.settings.tolerance * self.rig.mesh.diagonal

    def _motion(self) -> Motion:
        return Motion.from_poses([residual.sculpt.pose for residual in self._sculpts.values()], tuple(self._sculpts))

    def _made(self, name: str, pose: Pose, shape: ArrayLike, radius: float | None) -> Sculpt:
        sculpt = super()._made(name, pose, shape, radius)
        if self.settings.space is not None:
            check_in_space(self.rig, name, pose, self.settings.space)
        self._residuals[id(sculpt.shape)] = self._residual(name, sculpt)
        return sculpt

    def _require_free(self, name: str, pose: Pose) -> None:
        # Smoothing averages sculpts of one pose.
        if self.settings.smoothing == 0:
            super()._require_free(name, pose)

    def _displacement(self, name: str, sculpt: Sculpt) -> Floats:
        return self._residual(name, sculpt).displacement

    def _residual(self, name: str, sculpt: Sculpt) -> Residual:
        known = self._residuals.get(id(sculpt.shape))
        if known is not None and known.sculpt.shape is sculpt.shape and known.sculpt.pose is sculpt.pose:
            return known
        motion = Motion.from_poses([sculpt.pose], [name])
        displacement, damped = Examples(self.rig, motion, sculpt.shape[None]).residual(0)
        moved = np.linalg.norm(displacement, axis=1) > self._threshold
        if self.settings.anchor and moved.any() and at_rest(self.rig, motion).all():
            if np.linalg.norm(displacement, axis=1).max() <= _ROUNDING * self.rig.mesh.diagonal:
                moved[:] = False
            else:
                message = f"sculpt {name!r} is at the rest pose and not the rest shape: it replaces the anchor there"
                warnings.warn(message, stacklevel=4)
        normals = None
        if self.settings.normals == "shared":
            normals = self.rig.normal_residual(sculpt.pose, self.rig.mesh.normals(sculpt.shape))
        return Residual(sculpt, displacement, moved, int(damped.sum()), normals)

    def _warn_of_unknown_radii(self, plans: list[LayerPlan]) -> None:
        known: set[str | tuple[str, ...]] = {EVERY}
        for plan in plans:
            known |= {*plan.axes, *(axis.rpartition(".")[0] for axis in plan.axes), tuple(sorted(plan.controls))}
        for name in self.settings.radii.keys() - known:
            warnings.warn(f"radius of {name!r}: no layer has it, so it changes nothing", stacklevel=3)

    def _figures(self, plan: LayerPlan, solved: Solved, motion: Motion) -> dict[str, Any]:
        names = [motion.names[number] for number in plan.examples]
        reach = zip(names, self._reach(plan, motion), strict=True)
        single = {name: radius for name, radius in reach if radius is not None}
        return {
            "name": plan.name,
            "sculpts": names,
            # Where every sculpt has a radius, none has the layer's.
            "radius": dict(zip(plan.axes, solved.radius, strict=True)) if len(single) < len(names) else {},
            **({"radius by sculpt": single} if single else {}),
            **({} if solved.error is None else {CROSS_VALIDATED_ERROR: round(solved.error, 4)}),
        }
