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
from posespace.fit.gram import Array32, combined, gram_of, principal
from posespace.fit.ica import independent_signals, principal_signals
from posespace.fit.muscles.cross_validation import Clip, choose_joints, errors_by_signals, typical
from posespace.fit.regression import TRIED, LeftOut, Trial, principal_coordinates, tried_poses
from posespace.fit.residuals import normal_residuals
from posespace.fit.self_check import checked, said
from posespace.fit.shared_normals import share_normals
from posespace.fit.stream import Mix, Resources, Source
from posespace.fit.weights.nearest_bone import on_nearest_bone
from posespace.poses.active import changing
from posespace.poses.digests import pose_digests
from posespace.poses.links import about_links, linked
from posespace.rig import Rig
from posespace.skin.basis import PackedBasis
from posespace.skin.driver import Driver
from posespace.skin.layer import Layer
from posespace.skin.provenance import about_fit
from posespace.skin.skin import Skin

KINDS = {"ica": independent_signals, "pca": principal_signals}

BONES = ("auto", "nearest", "weights")
NORMALS = ("none", "shared")

MOST_CHOSEN = 32
"""Most signals tried when their number is chosen."""

MOST_FRAMES = 400
"""Frames, spread evenly, that signals are found in; those of longer clips are carried over from there."""

RATHER = 4.0
"""Bones as the rig blends them are taken unless their squared error is this many times that of the nearest bones."""

HELPS = 0.99
"""Signals that leave more than this fraction of the squared error of left-out frames do not help."""

NEAR_BEST = 1.05
"""The fewest signals are chosen whose left-out error is within this factor of the least."""


@dataclass(frozen=True)
class Muscles:
    """Virtual muscles: a few independent signals, driven by the joints and controls that predict them best.

    Parameters
    ----------
    signals : how many signals per region; 0: the fewest with about the least error on left-out runs of frames
    joints : most joints and controls that drive a region; those that predict left-out frames best are taken. 0: all
    centres : most frames that the signals are interpolated between, spread over where the joints have been, so that the
        cost of playing does not grow with the clip; 0: all frames
    segments : make a region, with signals and joints of its own, for each bone; else all vertices are one region
    smoothing : at least 0, how much the signals are smoothed over the poses; if not given, chosen by left-out runs
    kind : "ica": independent signals; "pca": the principal components that span the same, to compare with
    bones : "nearest": each vertex moves with its nearest bone alone, as in the paper; "weights": as the rig blends
        them; "auto": the rig's, unless the nearest bones have less than half of their error on left-out frames
    normals : "none": normals follow from the posed surface; "shared": corrections driven by the same signals, which
        other programs and the browser can show. They are fitted with all frames in memory
    bits : per stored number: 32, 16 or 8
    """

    signals: int = 0
    joints: int = 0
    centres: int = 100
    segments: bool = False
    smoothing: float | None = None
    kind: str = field(default="ica", metadata={"choices": tuple(KINDS)})
    bones: str = field(default="auto", metadata={"choices": BONES})
    normals: str = field(default="none", metadata={"choices": NORMALS})
    bits: int = 16

    def __post_init__(self) -> None:
        for name in ("signals", "joints", "centres"):
            object.__setattr__(self, name, check.whole(name, getattr(self, name)))
        object.__setattr__(self, "bits", check.bits(self.bits))
        if self.signals < 0:
            raise InputError(f"signals: expected at least 1, or 0 to choose, got {self.signals}")
        if self.joints < 0:
            raise InputError(f"joints: expected at least 1, or 0 for all, got {self.joints}")
        if self.centres < 0:
            raise InputError(f"centres: expected at least 1, or 0 for all frames, got {self.centres}")
        if self.smoothing is not None and not 0 <= check.number("smoothing", self.smoothing) < np.inf:
            raise InputError(f"smoothing: expected finite and at least 0, got {self.smoothing}")
        check.choice("kind", self.kind, tuple(KINDS))
        check.choice("bones", self.bones, BONES)
        check.choice("normals", self.normals, NORMALS)

    def fit(self, examples: Examples, resources: Resources | None = None) -> Skin:
        """Return the skin of the examples, which are frames in order of time.

        Where no signals predict left-out frames better than the rig does by itself, there are none, with a warning.
        `resources` says what memory and processes it may use.
        """
        require_examples(examples)
        examples = linked(examples)
        warn_of_contradictions(examples)
        names = _moving(examples)
        tried = tried_poses(len(examples), MOST_FRAMES)
        kinds = ("weights", "nearest") if self.bones == "auto" else (self.bones,)
        fitted = [self._fitted(examples, names, kind, tried, resources) for kind in kinds]
        best = fitted[0] if fitted[0].error <= RATHER * fitted[-1].error else fitted[-1]
        poses = pose_digests(examples.motion, examples.rig.skeleton)
        if self.bones == "auto" and best.error >= HELPS * fitted[0].plain:
            message = "muscles: no signals help on frames that were left out of the fit; the skin is the rig's own"
            warnings.warn(message, stacklevel=2)
            return Skin(examples.rig, about=about_fit("muscles", self, poses))
        layers = self._layers(best, examples, tried)
        if self.normals == "shared":
            seen = replace(examples, rig=best.rig)
            layers = share_normals(seen, layers, normal_residuals(seen), self.bits)
        own = {
            **about_links(examples.rig.skeleton),
            "bones": best.bones,
            "regions": [_figures(region, layer) for region, layer in zip(best.regions, layers, strict=True)],
            "left out": _curve_figures(best.errors, examples),
        }
        about = about_fit("muscles", self, poses, best.frames.damped, own)
        return said(checked(Skin(best.rig, tuple(layers), about=about), examples))

    def _fitted(
        self,
        examples: Examples,
        names: tuple[str, ...],
        bones: str,
        tried: NDArray[np.int64],
        resources: Resources | None,
    ) -> _Fitted:
        """What is left of the frames when bones move the vertices one way, and how well it can be predicted."""
        rig = on_nearest_bone(examples.rig) if bones == "nearest" else examples.rig
        frames = Source(replace(examples, rig=rig), resources)
        regions = self._regions(examples, rig, frames.some(tried), names, tried)
        frames.release()
        most = max(self.signals, MOST_CHOSEN)
        errors = np.sum(
            [errors_by_signals(each.clip, each.names, each.choice, self._most(examples), most) for each in regions],
            axis=0,
        )
        count = self.signals or _fewest(typical(errors))
        return _Fitted(bones, rig, frames, regions, errors, count)

    def _most(self, examples: Examples) -> int:
        """Most centres of a region."""
        return self.centres or len(examples)

    def _regions(
        self, examples: Examples, rig: Rig, frames: Array32, names: tuple[str, ...], tried: NDArray[np.int64]
    ) -> list[_Region]:
        """The regions that move, each with what drives it, by the frames tried (T, N, 3)."""
        places = (
            _by_bone(examples.rig) if self.segments else {"muscles": np.arange(len(rig.mesh.points), dtype=np.int32)}
        )
        motion = examples.motion[tried]
        clips = {name: Clip(rig, motion, gram_of(frames, each)) for name, each in places.items()}
        largest = max(float(np.trace(clip.gram)) for clip in clips.values())
        if largest <= (1e-6 * rig.mesh.diagonal) ** 2 * len(frames):
            raise InputError("examples: the bones alone reproduce every frame, so there is nothing to learn")
        found = []
        for name, clip in clips.items():
            if np.trace(clip.gram) > 1e-12 * largest:
                driving = choose_joints(clip, names, self.joints) if self.joints else names
                trial = Trial(clip.places(driving))
                choice = trial.best(principal_coordinates(clip.gram[np.ix_(trial.tried, trial.tried)]))
                if self.smoothing is not None:
                    choice = replace(choice, smoothing=self.smoothing)
                found.append(_Region(name, places[name], clip, driving, choice))
        return found

    def _layers(self, fitted: _Fitted, examples: Examples, tried: NDArray[np.int64]) -> list[Layer]:
        """The layers of all regions: signals of the frames tried, carried over to all frames, then their bases."""
        some = [self._signals(region, fitted.count) for region in fitted.regions]
        signals = some if len(tried) == len(examples) else _carried(fitted, some, tried)
        ones = [np.ones(len(region.vertices), dtype=np.float32) for region in fitted.regions]
        mixes = [
            Mix(region.vertices.astype(np.int64), mask, np.linalg.pinv(own).T.astype(np.float32))
            for region, mask, own in zip(fitted.regions, ones, signals, strict=True)
        ]
        layers = []
        for region, own, basis in zip(fitted.regions, signals, fitted.frames.combined(mixes), strict=True):
            places = replace(region.clip, motion=examples.motion).places(region.names)
            regression = region.choice.regression(places, self._most(examples))
            driven = regression.interpolant(region.choice.shrink * regression.operator @ own.T)
            driver = Driver(places.space, driven)
            layers.append(Layer(region.name, driver, region.vertices, PackedBasis.pack(basis, self.bits)))
        return layers

    def _signals(self, region: _Region, count: int) -> Floats:
        """The signals (K, T) of a region at the frames tried."""
        gram = region.clip.gram
        rank = len(principal(gram)[0])
        if self.signals > rank and not self.segments:
            raise InputError(f"signals: expected at most {rank}, the rank of the {len(gram)} frames, got {count}")
        return KINDS[self.kind](gram, min(count, rank))


@dataclass(frozen=True, eq=False)
class _Region:
    """Vertices (S,) that share signals, their clip, what drives them, and how that is interpolated."""

    name: str
    vertices: Ints
    clip: Clip
    names: tuple[str, ...]
    choice: LeftOut


@dataclass(frozen=True, eq=False)
class _Fitted:
    """The frames as one kind of bones leaves them, and (R, K) how well signals predict left-out runs of them."""

    bones: str
    rig: Rig
    frames: Source
    regions: list[_Region]
    errors: Floats
    count: int

    @property
    def error(self) -> float:
        """The mean squared error of a left-out frame, with the number of signals that is taken."""
        left = min(TRIED, len(self.regions[0].clip.gram))
        return float(self.errors[:, min(self.count, self.errors.shape[1]) - 1].sum()) / left

    @property
    def plain(self) -> float:
        """The mean square of a frame, before any signal."""
        return sum(float(np.trace(region.clip.gram)) / len(region.clip.gram) for region in self.regions)


def _carried(fitted: _Fitted, some: list[Floats], tried: NDArray[np.int64]) -> list[Floats]:
    """The signals (K, P) of all frames from those (K, T) of the frames tried: what comes nearest to each frame."""
    frames, vertices = fitted.frames.some(tried), len(fitted.rig.mesh.points)
    bases = [
        combined(frames, region.vertices, np.linalg.pinv(own).T)
        for region, own in zip(fitted.regions, some, strict=True)
    ]
    wide = np.zeros((sum(len(basis) for basis in bases), vertices, 3), dtype=np.float32)
    starts = np.cumsum([0, *(len(basis) for basis in bases)])
    for start, basis, region in zip(starts, bases, fitted.regions, strict=False):
        wide[start : start + len(basis), region.vertices] = basis
    products = fitted.frames.products(wide)
    found = []
    for start, basis in zip(starts, bases, strict=False):
        flat = basis.reshape(len(basis), -1).astype(np.float64)
        found.append(np.linalg.solve(flat @ flat.T, products[:, start : start + len(basis)].T))
    return found


def _moving(examples: Examples) -> tuple[str, ...]:
    """The joints and controls that change during a clip; raises for a single frame, or where nothing does."""
    if len(examples) < 2:
        raise InputError(f"examples: a clip needs at least 2 frames, got {len(examples)}")
    joints, controls = changing(examples.rig, examples.motion)
    if not joints and not controls:
        raise InputError("examples: the clip is constant, nothing moves in it, so nothing can drive signals")
    return (*joints, *controls)


def _by_bone(rig: Rig) -> dict[str, Ints]:
    """The vertices of each bone that has some, by its joint's name."""
    bone = on_nearest_bone(rig).influences[:, 0]
    return {rig.skeleton.names[joint]: np.flatnonzero(bone == joint).astype(np.int32) for joint in np.unique(bone)}


def _fewest(errors: Floats) -> int:
    """The fewest signals whose squared error (K,) is about the least."""
    return 1 + int(np.argmax(errors <= NEAR_BEST**2 * errors.min()))


def _figures(region: _Region, layer: Layer) -> dict[str, Any]:
    return {
        "name": region.name,
        "joints": list(region.names),
        "centres": len(layer.driver.interpolant.centres),
        "signals": layer.driver.components,
    }


def _curve_figures(errors: Floats, examples: Examples) -> list[dict[str, float]]:
    """Error of a typical left-out run against signals: root mean square over its vertices, in the mesh's unit."""
    frames = min(TRIED, len(examples)) / len(errors)
    each = np.sqrt(typical(errors) / (frames * len(examples.rig.mesh.points)))
    return [{"signals": count, "rms": float(error)} for count, error in enumerate(each, 1)]
