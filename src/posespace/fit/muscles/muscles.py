"""Virtual muscles: a clip compressed into a few independent signals that the skeleton drives."""

from __future__ import annotations

from dataclasses import dataclass
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
from posespace.fit.muscles.left_out import FRAMES, Clip, LeftOut, choose_joints, typical
from posespace.fit.residuals import point_residuals
from posespace.fit.thin_plate import ThinPlate
from posespace.fit.weights.nearest_bone import on_nearest_bone
from posespace.layer import Driver, Layer
from posespace.motion import pose_digests
from posespace.moving import changing
from posespace.rig import Rig
from posespace.skin import Skin
from posespace.spaces import PoseSpace

KINDS = {"ica": independent_signals, "pca": principal_signals}

MOST_CHOSEN = 20
"""Most signals tried when their number is chosen."""

NEAR_BEST = 1.05
"""The fewest signals are chosen whose left-out error is within this factor of the least."""


@dataclass(frozen=True)
class Muscles:
    """Virtual muscles: a few independent signals, driven by the joints that predict them best.

    Parameters
    ----------
    signals : how many signals per region; 0: the fewest with about the least error on left-out runs of frames
    joints : most joints that drive a region; those that predict left-out frames best are taken
    centres : most frames that the signals are interpolated between, spread over where the joints have been, so that the
        cost of playing does not grow with the clip; 0: all frames
    segments : make a region, with signals and joints of its own, for each bone; else all vertices are one region
    smoothing : at least 0, how much the signals are smoothed over the poses
    kind : "ica": independent signals; "pca": the principal components that span the same, to compare with
    bones : "nearest": each vertex moves with its nearest bone alone, as in the paper; "weights": as the rig blends them
    bits : per stored number: 32, 16 or 8
    """

    signals: int = 7
    joints: int = 4
    centres: int = 100
    segments: bool = False
    smoothing: float = 1e-3
    kind: str = "ica"
    bones: str = "nearest"
    bits: int = 16

    def __post_init__(self) -> None:
        for name in ("signals", "joints", "centres"):
            object.__setattr__(self, name, check.whole(name, getattr(self, name)))
        object.__setattr__(self, "bits", check.bits(self.bits))
        if self.signals < 0:
            raise InputError(f"signals: expected at least 1, or 0 to choose, got {self.signals}")
        if self.joints < 1:
            raise InputError(f"joints: expected at least 1, got {self.joints}")
        if self.centres < 0:
            raise InputError(f"centres: expected at least 1, or 0 for all frames, got {self.centres}")
        if not 0 <= check.number("smoothing", self.smoothing) < np.inf:
            raise InputError(f"smoothing: expected finite and at least 0, got {self.smoothing}")
        check.choice("kind", self.kind, tuple(KINDS))
        check.choice("bones", self.bones, ("nearest", "weights"))

    def fit(self, examples: Examples) -> Skin:
        """Return the skin of the examples, which are frames in order of time."""
        require_examples(examples)
        warn_of_contradictions(examples)
        names = _moving_joints(examples)
        rig = on_nearest_bone(examples.rig) if self.bones == "nearest" else examples.rig
        found = point_residuals(Examples(rig, examples.motion, examples.shapes))
        regions = self._regions(examples, rig, found.values, names)
        errors = self._left_out(regions)
        count = self.signals or _fewest(typical(errors))
        layers = [self._layer(region, count, found.values) for region in regions]
        own = {
            "regions": [_figures(region, layer) for region, layer in zip(regions, layers, strict=True)],
            "left out": _curve_figures(errors, examples),
        }
        poses = pose_digests(examples.motion, rig.skeleton)
        return Skin(rig, tuple(layers), about=about_fit("muscles", self, poses, found.damped, own))

    def _regions(self, examples: Examples, rig: Rig, frames: Array32, names: tuple[str, ...]) -> list[_Region]:
        """The regions that move, each with the joints that drive it."""
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
                chosen = choose_joints(clip, names, self.joints, self.signals or MOST_CHOSEN, self.smoothing)
                found.append(_Region(name, places[name], clip, PoseSpace("quaternions", chosen)))
        return found

    def _left_out(self, regions: list[_Region]) -> Floats:
        """(R, K) the summed squared error of each left-out run of frames with 1, 2, ... K signals per region."""
        most = max(self.signals, MOST_CHOSEN)
        each = [
            LeftOut(region.clip.thinned(FRAMES), most).errors(region.space, self.smoothing, self.centres)
            for region in regions
        ]
        return np.asarray(np.sum(each, axis=0))

    def _layer(self, region: _Region, count: int, frames: Array32) -> Layer:
        gram = region.clip.gram
        rank = len(principal(gram)[0])
        if count > rank and not self.segments:
            raise InputError(f"signals: expected at most {rank}, the rank of the {len(frames)} frames, got {count}")
        signals = KINDS[self.kind](gram, min(count, rank))
        where, rest = region.clip.places(region.space)
        plate = ThinPlate.spread(where, rest, self.centres)
        driver = Driver(region.space, plate.fit(where, signals.T, self.smoothing))
        basis = combined(frames, region.vertices, np.linalg.pinv(signals).T)
        return Layer(region.name, driver, region.vertices, PackedBasis.pack(basis, self.bits))


@dataclass(frozen=True, eq=False)
class _Region:
    """Vertices (S,) that share signals, their clip, and the joints that drive them."""

    name: str
    vertices: Ints
    clip: Clip
    space: PoseSpace


def _moving_joints(examples: Examples) -> tuple[str, ...]:
    """The joints that turn during a clip; raises for a single frame, or where none turns."""
    if len(examples) < 2:
        raise InputError(f"examples: a clip needs at least 2 frames, got {len(examples)}")
    joints, _ = changing(examples.rig, examples.motion)
    if not joints:
        raise InputError("examples: the clip is constant, no joint turns in it, so nothing can drive signals")
    return joints


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
        "joints": list(region.space.names),
        "centres": len(layer.driver.interpolant.centres),
        "signals": layer.driver.components,
    }


def _curve_figures(errors: Floats, examples: Examples) -> list[dict[str, float]]:
    """Error of a typical left-out run against signals: root mean square over its vertices, in the mesh's unit."""
    frames = min(FRAMES, len(examples)) / len(errors)
    each = np.sqrt(typical(errors) / (frames * len(examples.rig.mesh.points)))
    return [{"signals": count, "rms": float(error)} for count, error in enumerate(each, 1)]
