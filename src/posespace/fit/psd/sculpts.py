"""Sculpts: an editing session. Shapes are added, replaced and removed; each new skin re-solves only what changed."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posespace import check
from posespace.about import about_fit
from posespace.check import Floats
from posespace.errors import InputError, closest_name, quoted
from posespace.examples import Examples
from posespace.fit.psd.clip import clip_layers, clip_poses
from posespace.fit.psd.layers import Deltas, at_all_samples, cardinal_layer, choose_radius, per_vertex_layer
from posespace.fit.psd.normals import LEAST, turned, with_normals
from posespace.fit.psd.plan import LayerPlan, check_place, plan_layers
from posespace.fit.psd.settings import EVERY, PSDSettings
from posespace.interpolate.rbf import RBF
from posespace.layer import Layer
from posespace.linking import linked_rig, said_of_links
from posespace.metric import axis_lengths
from posespace.motion import Motion, pose_digests
from posespace.moving import at_rest
from posespace.pose import Pose, require_pose
from posespace.rig import Rig
from posespace.skin import Skin

# Poses whose quaternions and controls differ by less are one pose.
_SAME = 1e-9

# Fraction of the box's diagonal by which a text file's digits may move the rest shape: it still is the rest shape.
_ROUNDING = 2e-5


@dataclass(frozen=True, eq=False)
class Sculpt:
    """A shape (N, 3) at a pose.

    Parameters
    ----------
    pose, shape : as they were given
    displacement : (N, 3) what it adds in the rest shape
    moved : (N,) bool, which vertices that moves
    damped : how many of them are damped
    turn : (N, 3) what it adds to the rest normals, or None where normals are not corrected
    """

    pose: Pose
    shape: Floats
    displacement: Floats
    moved: NDArray[np.bool_]
    damped: int
    turn: Floats | None


@dataclass(frozen=True, eq=False)
class _Solved:
    """A layer with what it was solved from, to see whether that has changed; None where nothing is left to add."""

    deltas: Deltas
    deltas_from: tuple[object, ...]
    layer: Layer | None
    layer_from: tuple[object, ...]
    radius: tuple[float, ...]


class Sculpts:
    """Named sculpts of one rig, open for changes.

    Parameters
    ----------
    rig : the rig, whose mesh is the rest shape
    settings : e.g. `ps.PSD(smoothing=0.1)`; `set_radius` changes them
    """

    def __init__(self, rig: Rig, settings: PSDSettings | None = None) -> None:
        check.kind("rig", rig, Rig)
        self.rig = rig
        self.settings = PSDSettings() if settings is None else settings
        check.kind("settings", self.settings, PSDSettings)
        self._sculpts: dict[str, Sculpt] = {}
        self._solved: dict[tuple[str, ...], _Solved] = {}
        self._linked = rig

    def __repr__(self) -> str:
        return f"Sculpts({len(self._sculpts)} of {self.rig})"

    @property
    def names(self) -> tuple[str, ...]:
        """The sculpts in the order in which they were added."""
        return tuple(self._sculpts)

    def add(self, name: str, pose: Pose, shape: ArrayLike) -> None:
        """Add the sculpt `shape` (N, 3), in posed space, at a pose where there is none yet."""
        check.kind("sculpt's name", name, str)
        require_pose(f"sculpt {name!r}", pose)
        if name in self._sculpts:
            raise InputError(f"sculpt {name!r}: there is one of that name already; replace it, or give another name")
        if len(pose.rotations) != len(self.rig.skeleton):
            have, want = len(pose.rotations), len(self.rig.skeleton)
            raise InputError(f"pose {name!r}: expected {want} joints as in the rig, got {have}")
        if self.settings.space is not None:
            check_place(self.rig, name, pose, self.settings.space)
        if self.settings.smoothing == 0 and (other := self._at(pose)) is not None:
            raise InputError(
                f"sculpts {other!r} and {name!r} lie at the same place in the pose space; "
                "move or remove one, or set smoothing above 0"
            )
        self._put(name, pose, shape)

    def replace(self, name: str, shape: ArrayLike) -> None:
        """Give the sculpt `name` another shape (N, 3) at its pose."""
        self._put(name, self._find(name).pose, shape)

    def remove(self, name: str) -> None:
        """Take the sculpt `name` away."""
        self._find(name)
        del self._sculpts[name]

    def set_radius(self, what: str | Sequence[str], value: float | None) -> None:
        """Set how far sculpts reach; None: chosen again.

        `what` is a joint or control, for its axis in every layer; a list of them, for the layer they span; or "*", for
        all that have no radius of their own.
        """
        given = self.settings.radii
        key = what if isinstance(what, str) else tuple(sorted(what))
        given.pop(key, None)
        if value is not None:
            given[key] = value
        self.settings = replace(self.settings, radius=given)

    def examples(self) -> Examples:
        """Return the sculpts as examples, to save or to fit by another method."""
        return Examples.from_shapes(self.rig, self._motion(), [sculpt.shape for sculpt in self._sculpts.values()])

    def skin(self) -> Skin:
        """Return the skin that reproduces every sculpt; frames of clips it comes near, see `clip`."""
        settings, motion = self.settings, self._motion()
        self._linked = rig = linked_rig(self.rig, motion)
        clip = clip_poses(rig, motion) if settings.open_to_clips else np.zeros(len(motion), dtype=bool)
        silent = np.array([not sculpt.moved.any() for sculpt in self._sculpts.values()])
        plans = plan_layers(rig, motion, silent, clip, settings.space, settings.anchor)
        self._warn_of_unknown_radii(plans)
        solved: list[tuple[LayerPlan, _Solved]] = []
        for plan in plans:
            solved.append((plan, self._solve(plan, solved, motion)))
        self._solved = {plan.controls: found for plan, found in solved}
        layers = [found.layer for _, found in solved if found.layer]
        figures = [_figures(plan, found, motion) for plan, found in solved if found.layer]
        if clip.any():
            every, corrected = range(len(motion)), settings.normals == "shared"
            normals = self._left(every, layers, motion, normals=True) if corrected else None
            more, of_clips = clip_layers(rig, motion, self._left(every, layers, motion), self._threshold, normals)
            layers, figures = layers + more, figures + of_clips
        damped = {name: sculpt.damped for name, sculpt in self._sculpts.items() if sculpt.damped}
        own = {**said_of_links(rig.skeleton), "damped vertices by sculpt": damped, "layers": figures}
        about = about_fit("psd", settings, pose_digests(motion, rig.skeleton), sum(damped.values()), own)
        return Skin(rig, tuple(layers), about=about)

    def _solve(self, plan: LayerPlan, earlier: list[tuple[LayerPlan, _Solved]], motion: Motion) -> _Solved:
        settings, known = self.settings, self._solved.get(plan.controls)
        sculpts = list(self._sculpts.values())
        # A layer that is zero in the rest pose adds nothing to examples that are at rest in its space.
        reaching = [found.layer for before, found in earlier if before.rest is None or before.reach & plan.moves]
        below = [layer for layer in reaching if layer]
        deltas_from = (*(sculpts[number] for number in plan.own), *below)
        if known is not None and known.deltas_from == deltas_from:
            deltas = known.deltas
        else:
            deltas = self._deltas(plan, below, motion)
        if not len(deltas.support):
            return _Solved(deltas, deltas_from, None, (), ())
        given = tuple(settings.radii_in(plan.controls, plan.axes))
        held = [sculpts[number] for numbers in plan.held for number in numbers] if settings.per_vertex else []
        layer_from = (plan.name, deltas, plan.space, plan.centres.tobytes(), held, given)
        if known is not None and known.layer_from == layer_from:
            return known
        names = plan.sample_names(motion.names)
        chosen, stretch = 1.0, self._stretch(plan)
        if None in given:
            chosen = choose_radius(plan, deltas, settings.kernel_used, settings.smoothing, names, stretch)
        both = zip(given, stretch.tolist(), strict=True)
        radius = tuple(float(along * chosen if value is None else value) for value, along in both)
        rbf = RBF(settings.kernel_used, radius, smoothing=settings.smoothing)
        if settings.per_vertex:
            layer = per_vertex_layer(plan, deltas, rbf, self._members(plan, deltas), names)
        else:
            layer = cardinal_layer(plan, deltas, rbf, names)
        if settings.normals == "shared":
            layer = with_normals(layer, self._turns(plan, deltas, below, motion, rbf))
        return _Solved(deltas, deltas_from, layer, layer_from, radius)

    def _deltas(self, plan: LayerPlan, below: list[Layer], motion: Motion) -> Deltas:
        """What the plan's own examples add to the sum of the earlier layers."""
        everything = list(self._sculpts.values())
        sculpts = [everything[number] for number in plan.own]
        if not below:
            moved = np.stack([sculpt.moved for sculpt in sculpts])
            return Deltas.of([sculpt.displacement for sculpt in sculpts], moved)
        left = self._left(plan.own, below, motion)
        return Deltas.of(list(left), np.linalg.norm(left, axis=2) > self._threshold)

    def _left(self, numbers: Sequence[int], below: Sequence[Layer], motion: Motion, normals: bool = False) -> Floats:
        """What some layers leave (P, N, 3) of sculpts by number: of their displacements, or of their normals."""
        sculpts = [list(self._sculpts.values())[number] for number in numbers]
        left = np.stack([self._turn(each) if normals else each.displacement for each in sculpts])
        for layer in below:
            where = layer.driver.space.coordinates(motion, self._linked.skeleton)[list(numbers)]
            basis = layer.normal_basis if normals else layer.basis
            if basis is not None:
                left[:, layer.support] -= np.tensordot(layer.driver.interpolant(where), np.asarray(basis), axes=1)
        return left

    def _turns(self, plan: LayerPlan, deltas: Deltas, below: list[Layer], motion: Motion, rbf: RBF) -> Floats:
        """What each component of a layer adds to the normals (C, N, 3)."""
        left = self._left(plan.own, below, motion, normals=True)[deltas.loud]
        if not self.settings.per_vertex:
            return left
        every = np.arange(left.shape[1], dtype=np.int32)
        members = self._members(plan, Deltas(every, left, deltas.loud), normals=True)
        return at_all_samples(plan, deltas.loud, left, rbf, members)

    def _turn(self, sculpt: Sculpt) -> Floats:
        assert sculpt.turn is not None
        return sculpt.turn

    def _members(self, plan: LayerPlan, deltas: Deltas, normals: bool = False) -> NDArray[np.bool_]:
        """Which samples (M, S) each vertex interpolates over: rest, and those that moved it, or turned its normal."""
        sculpts, support = list(self._sculpts.values()), deltas.support
        members = np.zeros((len(plan.centres), len(support)), dtype=bool)
        for row, numbers in enumerate([*((number,) for number in plan.own), *plan.held]):
            for number in numbers:
                sculpt = sculpts[number]
                members[row] |= turned(self._turn(sculpt)[support]) if normals else sculpt.moved[support]
        least = LEAST if normals else self._threshold
        members[: len(plan.own)][deltas.loud] |= np.linalg.norm(deltas.values, axis=2) > least
        if plan.rest is not None:
            members[plan.rest] = True
        return members

    def _stretch(self, plan: LayerPlan) -> Floats:
        """(axes,) what each axis' radius is multiplied by, so that angles and shifts count by how they move skin."""
        space, skeleton = plan.space, self._linked.skeleton
        degrees = [space.degree_of(name, skeleton) for name in space.axes]
        if not any(degree is not None and degree[1] >= 3 for degree in degrees):
            return np.ones(len(space.axes))
        lengths = axis_lengths(self._linked, space, plan.centres)
        return np.asarray(lengths.max() / lengths)

    @property
    def _threshold(self) -> float:
        return self.settings.tolerance * self.rig.mesh.diagonal

    def _motion(self) -> Motion:
        if not self._sculpts:
            raise InputError("sculpts: expected at least one, got none; add one")
        return Motion.from_poses([sculpt.pose for sculpt in self._sculpts.values()], self.names)

    def _put(self, name: str, pose: Pose, shape: ArrayLike) -> None:
        found = check.floats(f"shape of pose {name!r}", shape, self.rig.mesh.points.shape)
        motion = Motion.from_poses([pose], [name])
        displacement, damped = Examples(self.rig, motion, found[None]).residual(0)
        moved = np.linalg.norm(displacement, axis=1) > self._threshold
        if self.settings.anchor and moved.any() and at_rest(self.rig, motion).all():
            if np.linalg.norm(displacement, axis=1).max() <= _ROUNDING * self.rig.mesh.diagonal:
                moved[:] = False
            else:
                message = f"sculpt {name!r} is at the rest pose and not the rest shape: it replaces the anchor there"
                warnings.warn(message, stacklevel=3)
        turn = None
        if self.settings.normals == "shared":
            turn = self.rig.normal_residual(pose, self.rig.mesh.normals(found))
        self._sculpts[name] = Sculpt(pose, found, displacement, moved, int(damped.sum()), turn)

    def _find(self, name: str) -> Sculpt:
        if name not in self._sculpts:
            close = closest_name(name, self.names)
            raise InputError(
                f"sculpt {quoted(name)}: there is none of that name{close and f'; the closest is {close}'}"
            )
        return self._sculpts[name]

    def _at(self, pose: Pose) -> str | None:
        """The sculpt at this very pose, if there is one."""
        if not self._sculpts:
            return None
        turns = np.stack([sculpt.pose.rotations for sculpt in self._sculpts.values()])
        chords = np.minimum(np.abs(turns - pose.rotations).max(axis=2), np.abs(turns + pose.rotations).max(axis=2))
        shifts = np.stack([sculpt.pose.translations for sculpt in self._sculpts.values()]) - pose.translations
        still = np.abs(shifts).max(axis=(1, 2), initial=0.0) <= _SAME * self.rig.mesh.diagonal
        for number in np.flatnonzero((chords.max(axis=1) <= _SAME) & still):
            name = self.names[number]
            theirs = self._sculpts[name].pose.controls
            names = {*pose.controls, *theirs}
            if all(abs(pose.controls.get(key, 0.0) - theirs.get(key, 0.0)) <= _SAME for key in names):
                return name
        return None

    def _warn_of_unknown_radii(self, plans: list[LayerPlan]) -> None:
        known: set[str | tuple[str, ...]] = {EVERY}
        for plan in plans:
            known |= {*plan.axes, *(axis.rpartition(".")[0] for axis in plan.axes), tuple(sorted(plan.controls))}
        for name in self.settings.radii.keys() - known:
            warnings.warn(f"radius of {name!r}: no layer has it, so it changes nothing", stacklevel=3)


def _figures(plan: LayerPlan, found: _Solved, motion: Motion) -> dict[str, Any]:
    return {
        "name": plan.name,
        "sculpts": [motion.names[number] for number in plan.own],
        "radius": dict(zip(plan.axes, found.radius, strict=True)),
    }
