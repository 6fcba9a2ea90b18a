"""Virtual muscles: a clip compressed into a few independent signals that the skeleton drives."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from posespace import check
from posespace.about import about_fit
from posespace.basis import PackedBasis
from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.examples import Examples, require_examples
from posespace.fit.contradictions import warn_of_contradictions
from posespace.fit.gram import Array32, combined, gram_of, principal
from posespace.fit.ica import independent_signals, principal_signals
from posespace.fit.muscles.left_out import Clip, choose_joints, errors_by_signals, typical
from posespace.fit.regression import TRIED, LeftOut, Trial, principal_coordinates
from posespace.fit.residuals import point_residuals
from posespace.fit.weights.nearest_bone import on_nearest_bone
from posespace.layer import Driver, Layer
from posespace.linking import linked
from posespace.motion import pose_digests
from posespace.moving import changing
from posespace.rig import Rig
from posespace.skin import Skin

KINDS = {"ica": independent_signals, "pca": principal_signals}

BONES = ("auto", "nearest", "weights")

MOST_CHOSEN = 20
"""Most signals tried when their number is chosen."""

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
        them; "auto": whichever predicts left-out runs of frames better
    bits : per stored number: 32, 16 or 8
    """

    signals: int = 0
    joints: int = 0
    centres: int = 100
    segments: bool = False
    smoothing: float | None = None
    kind: str = "ica"
    bones: str = "auto"
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

    def fit(self, examples: Examples) -> Skin:
        """Return the skin of the examples, which are frames in order of time.

        Where no signals predict left-out frames better than the rig does by itself, there are none, with a warning.
        """
        require_examples(examples)
        examples = linked(examples)
        warn_of_contradictions(examples)
        names = _moving(examples)
        kinds = ("weights", "nearest") if self.bones == "auto" else (self.bones,)
        fitted = [self._fitted(examples, names, kind) for kind in kinds]
        best = min(fitted, key=lambda each: each.error)
        plain = _plain_error(examples) if self.bones == "auto" else np.inf
        poses = pose_digests(examples.motion, examples.rig.skeleton)
        if best.error >= plain:
            message = "muscles: no signals help on frames that were left out of the fit; the skin is the rig's own"
            warnings.warn(message, stacklevel=2)
            return Skin(examples.rig, about=about_fit("muscles", self, poses))
        layers = [self._layer(region, best.count, best.frames) for region in best.regions]
        own = {
            "bones": best.bones,
            "regions": [_figures(region, layer) for region, layer in zip(best.regions, layers, strict=True)],
            "left out": _curve_figures(best.errors, examples),
        }
        return Skin(best.rig, tuple(layers), about=about_fit("muscles", self, poses, best.damped, own))

    def _fitted(self, examples: Examples, names: tuple[str, ...], bones: str) -> _Fitted:
        """What is left of the frames when bones move the vertices one way, and how well it can be predicted."""
        rig = on_nearest_bone(examples.rig) if bones == "nearest" else examples.rig
        found = point_residuals(replace(examples, rig=rig))
        regions = self._regions(examples, rig, found.values, names)
        most = max(self.signals, MOST_CHOSEN)
        errors = np.sum(
            [errors_by_signals(each.clip, each.names, each.choice, self._most(each), most) for each in regions], axis=0
        )
        count = self.signals or _fewest(typical(errors))
        return _Fitted(bones, rig, found.values, found.damped, regions, errors, count)

    def _most(self, region: _Region) -> int:
        """Most centres of a region."""
        return self.centres or len(region.clip.gram)

    def _regions(self, examples: Examples, rig: Rig, frames: Array32, names: tuple[str, ...]) -> list[_Region]:
        """The regions that move, each with what drives it."""
        places = (
            _by_bone(examples.rig) if self.segments else {"muscles": np.arange(len(rig.mesh.points), dtype=np.int32)}
        )
        clips = {name: Clip(rig, examples.motion, gram_of(frames, each)) for name, each in places.items()}
        largest = max(float(np.trace(clip.gram)) for clip in clips.values())
        if largest <= (1e-6 * rig.mesh.diagonal) ** 2 * len(examples):
            raise InputError("examples: the bones alone reproduce every frame, so there is nothing to learn")
        found = []
        for name, clip in clips.items():
            if np.trace(clip.gram) > 1e-12 * largest:
                driving = choose_joints(clip, names, self.joints) if self.joints else names
                choice = Trial(clip.places(driving)).best(principal_coordinates(clip.gram))
                if self.smoothing is not None:
                    choice = replace(choice, smoothing=self.smoothing)
                found.append(_Region(name, places[name], clip, driving, choice))
        return found

    def _layer(self, region: _Region, count: int, frames: Array32) -> Layer:
        gram = region.clip.gram
        rank = len(principal(gram)[0])
        if self.signals > rank and not self.segments:
            raise InputError(f"signals: expected at most {rank}, the rank of the {len(frames)} frames, got {count}")
        signals = KINDS[self.kind](gram, min(count, rank))
        regression = Trial(region.clip.places(region.names), 1).regression(region.choice, self._most(region))
        driven = regression.interpolant(region.choice.shrink * regression.operator @ signals.T)
        basis = combined(frames, region.vertices, np.linalg.pinv(signals).T)
        driver = Driver(regression.places.space, driven)
        return Layer(region.name, driver, region.vertices, PackedBasis.pack(basis, self.bits))


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
    """The frames as one kind of bones leaves them (P, N, 3), and (R, K) how well signals predict left-out runs."""

    bones: str
    rig: Rig
    frames: Array32
    damped: int
    regions: list[_Region]
    errors: Floats
    count: int

    @property
    def error(self) -> float:
        """The mean squared error of a left-out frame, with the number of signals that is taken."""
        tried = min(TRIED, len(self.frames))
        return float(self.errors[:, min(self.count, self.errors.shape[1]) - 1].sum()) / tried


def _moving(examples: Examples) -> tuple[str, ...]:
    """The joints and controls that change during a clip; raises for a single frame, or where nothing does."""
    if len(examples) < 2:
        raise InputError(f"examples: a clip needs at least 2 frames, got {len(examples)}")
    joints, controls = changing(examples.rig, examples.motion)
    if not joints and not controls:
        raise InputError("examples: the clip is constant, nothing moves in it, so nothing can drive signals")
    return (*joints, *controls)


def _plain_error(examples: Examples) -> float:
    """The mean squared error of a frame by the rig alone."""
    return float(np.square(point_residuals(examples).values, dtype=np.float64).sum()) / len(examples)


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
