"""Virtual muscles: a clip compressed into a few independent signals that the skeleton drives."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.examples import Examples, require_examples
from posespace.fit.contradictions import warn_of_contradictions
from posespace.fit.gram import Array32, gram_of, linear_combinations, principal
from posespace.fit.ica import independent_signals, principal_signals
from posespace.fit.muscles.cross_validation import Clip, choose_joints, errors_by_signals, geometric_mean
from posespace.fit.regression import (
    SAMPLED,
    CrossValidation,
    RegressionChoice,
    evenly_spread,
    principal_coordinates,
)
from posespace.fit.residuals import normal_residuals
from posespace.fit.self_check import checked, said
from posespace.fit.shared_normals import share_normals
from posespace.fit.stream import Mix, Resources, Source
from posespace.fit.weights.nearest_bone import on_nearest_bone
from posespace.poses.active import changing
from posespace.poses.digests import pose_digests
from posespace.poses.links import about_links, linked
from posespace.progress import track
from posespace.rig import Rig
from posespace.skin.basis import PackedBasis
from posespace.skin.driver import Driver
from posespace.skin.layer import Layer
from posespace.skin.provenance import about_fit
from posespace.skin.skin import Skin

KINDS = {"ica": independent_signals, "pca": principal_signals}

BONES = ("nearest", "weights")
TRIED: dict[str | None, tuple[str, ...]] = {None: ("weights", "nearest"), **{kind: (kind,) for kind in BONES}}
"""The bones that are compared, by the setting."""

NORMALS = ("none", "shared")

MOST_SIGNALS = 32
"""Most signals tried when their number is chosen."""

MOST_FRAMES = 400
"""Most frames, spread evenly, that signals are learned from; they are then extended to all frames of a longer clip."""

PREFERENCE = 4.0
"""The rig's weights are preferred unless their squared error is this many times that of the nearest bones."""

HELPS = 0.99
"""Signals help if they leave less than this fraction of the squared error of held-out frames."""

NEAR_BEST = 1.05
"""The fewest signals are chosen whose cross-validation error is within this factor of the least."""


@dataclass(frozen=True)
class Muscles:
    """Virtual muscles: a few independent signals, driven by the joints and controls that predict them best.

    Parameters
    ----------
    signals : number of signals per region; None: the smallest number whose cross-validation error is close to
        the best
    joints : maximum number of joints and controls that drive a region; the best predictors are chosen; None: all that
        move
    centres : maximum number of centres, frames spread over the pose space, from which the signals are interpolated;
        limits the cost of playback, however long the clip is; None: all frames
    segments : make one region per bone, each with its own signals and joints; otherwise the whole skin is one region
    smoothing : smoothing of the signals over the pose space, at least 0; None: chosen by cross-validation
    kind : "ica": independent signals; "pca": principal components that span the same space, for comparison
    bones : "nearest": each vertex moves rigidly with its nearest bone, as in the paper; "weights": with the rig's
        skinning weights; None: the rig's weights, unless nearest bones give less than half the cross-validation error
    normals : "none": normals are computed from the posed surface; "shared": corrections of the normals driven by the
        same signals, which other programs and the browser can show. Fitting them keeps all frames in memory
    bits : bits per stored number: 32, 16 or 8
    """

    signals: int | None = None
    joints: int | None = None
    centres: int | None = 100
    segments: bool = False
    smoothing: float | None = None
    kind: str = field(default="ica", metadata={"choices": tuple(KINDS)})
    bones: str | None = field(default=None, metadata={"choices": BONES})
    normals: str = field(default="none", metadata={"choices": NORMALS})
    bits: int = 16

    def __post_init__(self) -> None:
        for name in ("signals", "joints", "centres"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, check.count(name, getattr(self, name)))
        object.__setattr__(self, "bits", check.bits(self.bits))
        if self.smoothing is not None and not 0 <= check.number("smoothing", self.smoothing) < np.inf:
            raise InputError(f"smoothing: expected finite and at least 0, got {self.smoothing}")
        check.choice("kind", self.kind, tuple(KINDS))
        if self.bones not in TRIED:
            check.choice("bones", str(self.bones), BONES)
        check.choice("normals", self.normals, NORMALS)

    def fit(self, examples: Examples, resources: Resources | None = None) -> Skin:
        """Return the skin of the examples, which are frames in order of time.

        Where no signals predict held-out frames better than plain skinning, the skin has none, with a warning.
        `resources` limits the memory and processes that the fit may use.
        """
        require_examples(examples)
        examples = linked(examples)
        warn_of_contradictions(examples)
        names = _moving(examples)
        sampled = evenly_spread(len(examples), MOST_FRAMES)
        tried = TRIED[self.bones]
        candidates = [self._candidate(examples, names, kind, sampled, resources) for kind in tried]
        best = candidates[0] if candidates[0].error <= PREFERENCE * candidates[-1].error else candidates[-1]
        poses = pose_digests(examples.motion, examples.rig.skeleton)
        if len(tried) > 1 and best.error >= HELPS * candidates[0].plain_error:
            message = "muscles: no signals help on held-out frames, so the skin is plain skinning"
            warnings.warn(message, stacklevel=2)
            return Skin(examples.rig, about=about_fit("muscles", self, poses))
        layers = self._layers(best, examples, sampled)
        if self.normals == "shared":
            skinned = replace(examples, rig=best.rig)
            layers = share_normals(skinned, layers, normal_residuals(skinned), self.bits)
        figures = {
            **about_links(examples.rig.skeleton),
            "bones": best.bones,
            "regions": [_figures(region, layer) for region, layer in zip(best.regions, layers, strict=True)],
            "left out": _error_curve(best.errors, examples),
        }
        about = about_fit("muscles", self, poses, best.residuals.damped, figures)
        return said(checked(Skin(best.rig, tuple(layers), about=about), examples))

    def _candidate(
        self,
        examples: Examples,
        names: tuple[str, ...],
        bones: str,
        sampled: NDArray[np.int64],
        resources: Resources | None,
    ) -> _Candidate:
        """The residuals of one kind of bones, and how well signals predict them."""
        rig = on_nearest_bone(examples.rig) if bones == "nearest" else examples.rig
        residuals = Source(replace(examples, rig=rig), resources)
        regions = self._regions(examples, rig, residuals.some(sampled), names, sampled)
        residuals.release()
        most = max(self.signals or 0, MOST_SIGNALS)
        errors = np.sum(
            [
                errors_by_signals(region.clip, region.names, region.choice, self._most_centres(examples), most)
                for region in regions
            ],
            axis=0,
        )
        count = _fewest(geometric_mean(errors)) if self.signals is None else self.signals
        return _Candidate(bones, rig, residuals, regions, errors, count)

    def _most_centres(self, examples: Examples) -> int:
        return len(examples) if self.centres is None else self.centres

    def _regions(
        self, examples: Examples, rig: Rig, frames: Array32, names: tuple[str, ...], sampled: NDArray[np.int64]
    ) -> list[_Region]:
        """The regions that move, each with what drives it, from the residuals (T, N, 3) of the sampled frames."""
        parts = (
            _by_bone(examples.rig) if self.segments else {"muscles": np.arange(len(rig.mesh.points), dtype=np.int32)}
        )
        motion = examples.motion[sampled]
        clips = {name: Clip(rig, motion, gram_of(frames, vertices)) for name, vertices in parts.items()}
        largest = max(float(np.trace(clip.gram)) for clip in clips.values())
        if largest <= (1e-6 * rig.mesh.diagonal) ** 2 * len(frames):
            raise InputError("examples: the bones alone reproduce every frame, so there is nothing to learn")
        regions = []
        for name, clip in track(list(clips.items()), "regions"):
            if np.trace(clip.gram) > 1e-12 * largest:
                driving = names if self.joints is None else choose_joints(clip, names, self.joints)
                validation = CrossValidation(clip.coordinates(driving))
                used = np.ix_(validation.sampled, validation.sampled)
                choice = validation.best(principal_coordinates(clip.gram[used]))
                if self.smoothing is not None:
                    choice = replace(choice, smoothing=self.smoothing)
                regions.append(_Region(name, parts[name], clip, driving, choice))
        return regions

    def _layers(self, candidate: _Candidate, examples: Examples, sampled: NDArray[np.int64]) -> list[Layer]:
        """One layer per region: signals of the sampled frames, extended to all frames, then their basis."""
        signals = [self._signals(region, candidate.count) for region in candidate.regions]
        if len(sampled) < len(examples):
            signals = _extended(candidate, signals, sampled)
        ones = [np.ones(len(region.vertices), dtype=np.float32) for region in candidate.regions]
        mixes = [
            Mix(region.vertices.astype(np.int64), mask, np.linalg.pinv(values).T.astype(np.float32))
            for region, mask, values in zip(candidate.regions, ones, signals, strict=True)
        ]
        layers = []
        bases = candidate.residuals.combined(mixes)
        for region, values, basis in zip(candidate.regions, signals, bases, strict=True):
            samples = replace(region.clip, motion=examples.motion).coordinates(region.names)
            regression = region.choice.regression(samples, self._most_centres(examples))
            interpolant = regression.interpolant(region.choice.shrink * regression.operator @ values.T)
            driver = Driver(samples.space, interpolant)
            layers.append(Layer(region.name, driver, region.vertices, PackedBasis.pack(basis, self.bits)))
        return layers

    def _signals(self, region: _Region, count: int) -> Floats:
        """The signals (K, T) of a region at the sampled frames."""
        gram = region.clip.gram
        rank = len(principal(gram)[0])
        if self.signals is not None and self.signals > rank and not self.segments:
            raise InputError(f"signals: expected at most {rank}, the rank of the {len(gram)} frames, got {count}")
        return KINDS[self.kind](gram, min(count, rank))


@dataclass(frozen=True, eq=False)
class _Region:
    """Vertices (S,) that share signals, their clip, the names of what drives them, and the regression's settings."""

    name: str
    vertices: Ints
    clip: Clip
    names: tuple[str, ...]
    choice: RegressionChoice


@dataclass(frozen=True, eq=False)
class _Candidate:
    """The residuals of one kind of bones, and the errors (R, K) of held-out runs by number of signals."""

    bones: str
    rig: Rig
    residuals: Source
    regions: list[_Region]
    errors: Floats
    count: int

    @property
    def error(self) -> float:
        """The mean squared error of a held-out frame with the chosen number of signals."""
        frames = min(SAMPLED, len(self.regions[0].clip.gram))
        return float(self.errors[:, min(self.count, self.errors.shape[1]) - 1].sum()) / frames

    @property
    def plain_error(self) -> float:
        """The mean squared error of a frame without signals."""
        return sum(float(np.trace(region.clip.gram)) / len(region.clip.gram) for region in self.regions)


def _extended(candidate: _Candidate, signals: list[Floats], sampled: NDArray[np.int64]) -> list[Floats]:
    """The signals (K, P) of all frames, by least squares, from those (K, T) of the sampled frames."""
    frames, vertices = candidate.residuals.some(sampled), len(candidate.rig.mesh.points)
    bases = [
        linear_combinations(frames, region.vertices, np.linalg.pinv(values).T)
        for region, values in zip(candidate.regions, signals, strict=True)
    ]
    wide = np.zeros((sum(len(basis) for basis in bases), vertices, 3), dtype=np.float32)
    starts = np.cumsum([0, *(len(basis) for basis in bases)])
    for start, basis, region in zip(starts, bases, candidate.regions, strict=False):
        wide[start : start + len(basis), region.vertices] = basis
    products = candidate.residuals.products(wide)
    extended = []
    for start, basis in zip(starts, bases, strict=False):
        flat = basis.reshape(len(basis), -1).astype(np.float64)
        extended.append(np.linalg.solve(flat @ flat.T, products[:, start : start + len(basis)].T))
    return extended


def _moving(examples: Examples) -> tuple[str, ...]:
    """The joints and controls that change during a clip; raises for a single frame, or where nothing does."""
    if len(examples) < 2:
        raise InputError(f"examples: a clip needs at least 2 frames, got {len(examples)}")
    joints, controls = changing(examples.rig, examples.motion)
    if not joints and not controls:
        raise InputError("examples: the clip is constant, nothing moves in it, so nothing can drive signals")
    return (*joints, *controls)


def _by_bone(rig: Rig) -> dict[str, Ints]:
    """The vertices of each bone that has any, by its joint's name."""
    bone = on_nearest_bone(rig).influences[:, 0]
    return {rig.skeleton.names[joint]: np.flatnonzero(bone == joint).astype(np.int32) for joint in np.unique(bone)}


def _fewest(errors: Floats) -> int:
    """The fewest signals whose squared error (K,) is within `NEAR_BEST` of the least."""
    return 1 + int(np.argmax(errors <= NEAR_BEST**2 * errors.min()))


def _figures(region: _Region, layer: Layer) -> dict[str, Any]:
    return {
        "name": region.name,
        "joints": list(region.names),
        "centres": len(layer.driver.interpolant.centres),
        "signals": layer.driver.components,
    }


def _error_curve(errors: Floats, examples: Examples) -> list[dict[str, float]]:
    """Root mean square error of a typical held-out run by number of signals, in the mesh's unit."""
    frames = min(SAMPLED, len(examples)) / len(errors)
    curve = np.sqrt(geometric_mean(errors) / (frames * len(examples.rig.mesh.points)))
    return [{"signals": count, "rms": float(error)} for count, error in enumerate(curve, 1)]
