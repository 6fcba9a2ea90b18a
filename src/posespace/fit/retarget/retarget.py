"""Retargeting: the change from one deformation to another, applied to a third.

X1 and X2 are two deformations of one body, Y1 that of another; Y2 is to Y1 as X2 is to X1. Everything is a product of
thin factors: no matrix has vertices on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.fit.gram import Array32, combined, gram_of, principal
from posespace.fit.ica import independent_signals
from posespace.fit.regression import Places, Trial
from posespace.fit.residuals import point_residuals
from posespace.fit.retarget.correspondence import KINDS, Correspondence, correspond, seen_from
from posespace.fit.retarget.fitted_poses import fitted_poses
from posespace.fit.weights.nearest_bone import on_nearest_bone
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.poses.active import changing, space_of
from posespace.poses.digests import pose_digests
from posespace.poses.retarget_motion import retarget_motion
from posespace.rig import Rig
from posespace.skin.basis import PackedBasis
from posespace.skin.driver import Driver
from posespace.skin.layer import Layer
from posespace.skin.provenance import about_fit
from posespace.skin.skin import Skin

TRANSFERS = ("auto", "operator", "difference")

LOST = 0.5
"""Largest fraction of the change that the operator may lose before the difference is carried instead."""

KEPT = 1e-4
"""Where no number is given, signals are kept whose singular value is above this fraction of the largest."""

_SOUND = 1e-3
"""Fraction of the largest below which a singular value of the map between two characters' signals is dropped."""


@dataclass(frozen=True, eq=False)
class Factors:
    """A deformation at P poses as a product.

    Parameters
    ----------
    basis : (K, N, 3) orthonormal displacements, each vertex in the frame of its nearest bone
    signals : (K, P) how much of each displacement every pose has
    """

    basis: Floats
    signals: Floats

    @classmethod
    def of(cls, frames: Array32, count: int) -> Factors:
        """Take displacements (P, N, 3) apart into their first signals; `count` 0: those that matter."""
        every: Ints = np.arange(frames.shape[1], dtype=np.int32)
        sizes, rows = principal(gram_of(frames, every))
        if count > len(sizes):
            raise InputError(f"signals: expected at most {len(sizes)}, the rank of a skin's deformation, got {count}")
        kept = count or int((sizes > KEPT * sizes[:1]).sum())
        basis = combined(frames, every, rows[:kept] / sizes[:kept, None])
        return cls(np.asarray(basis, dtype=np.float64), sizes[:kept, None] * rows[:kept])


@dataclass(frozen=True, eq=False)
class Sampled:
    """Shapes at some poses, one at a time.

    Parameters
    ----------
    rig : the rest shape, each vertex on its nearest bone
    motion : the poses
    shape : pose to posed points (N, 3)
    """

    rig: Rig
    motion: Motion
    shape: Callable[[Pose], Floats]

    @classmethod
    def of(cls, skin: Skin, motion: Motion) -> Sampled:
        """Play a skin, without its detail."""
        return cls(on_nearest_bone(skin.rig), motion, lambda pose: skin.rig.skin(pose, skin.displacements(pose)))

    def __len__(self) -> int:
        return len(self.motion)

    def __getitem__(self, index: int, /) -> Floats:
        return self.shape(self.motion[index])

    def frames(self) -> Array32:
        """Return what the shapes do beyond the bones (P, N, 3)."""
        return point_residuals(Examples(self.rig, self.motion, self)).values

    def at(self, rig: Rig, way: Correspondence) -> Sampled:
        """Return the shapes at the vertices of another rig."""
        return Sampled(seen_from(rig, self.rig, way), self.motion, lambda pose: way.carry(self.shape(pose)[None])[0])

    def padded(self, way: Correspondence) -> Array32:
        """Return `frames` with zeros for vertices that are missing, and without those that are too many."""
        return np.stack([way.carry(frame[None])[0] for frame in self.frames()]).astype(np.float32)


def retarget(
    x1: Skin,
    x2: Skin,
    y1: Skin,
    motion: Motion | None = None,
    signals: int = 0,
    transfer: str = "auto",
    correspondence: str = "auto",
    bits: int = 16,
) -> Skin:
    """Return the skin that is to `y1` as `x2` is to `x1`: the rest shape of `y1`, another deformation.

    Parameters
    ----------
    x1, x2 : two deformations of one body
    y1 : the deformation of another body
    motion : poses of `x1`'s skeleton at which all three are sampled; None: the poses that `x1` was fitted on
    signals : how many per skin; 0: those above a ten-thousandth of the largest
    transfer : "operator": the paper's product of matrices, which can only mix what `x1` and `y1` already do;
        "difference": what `x2` adds to `x1`, added to `y1`; "auto": "operator" unless it would lose more than half of
        what changes from `x1` to `x2`
    correspondence : between the vertices of the three: "same", "padding" (the paper's), "closest" or "auto", see
        `posespace.fit.retarget.correspondence`
    bits : per stored number: 32, 16 or 8
    """
    _check_settings(signals, transfer, correspondence, bits)
    for role, skin in (("X1", x1), ("X2", x2), ("Y1", y1)):
        if not isinstance(skin, Skin):
            raise InputError(f"{role}: expected a Skin, got a {type(skin).__name__}; load it with ps.Skin.load")
    if motion is not None:
        _check_motion(motion, x1.rig)
    poses = (fitted_poses(x1) if motion is None else motion).with_rest(x1.rig.rest)
    names = _moving(x1.rig, poses)
    one, two, three = (
        Sampled.of(skin, _onto(poses, x1, skin, names, role)) for skin, role in ((x1, "X1"), (x2, "X2"), (y1, "Y1"))
    )
    a1, b1 = (
        Factors.of(_deformed(each, skin, role), signals) for each, skin, role in ((one, x1, "X1"), (three, y1, "Y1"))
    )
    way = on = correspond(one.rig, two.rig, correspondence)
    a2 = Factors.of(two.padded(way) if way.kind == "padding" else two.at(one.rig, way).frames(), signals)
    lost = _lost(a1, a2)
    if transfer == "auto":
        transfer = "operator" if lost <= LOST else "difference"
    if transfer == "operator":
        product = b1.basis, _operated(a1, a2, b1)
    else:
        on = correspond(three.rig, one.rig, correspondence)
        # Both in the same way, so that its errors are the same in both.
        both = (each.at(three.rig, on).frames() for each in (two.at(one.rig, way), one))
        product = _added(b1, *(Factors.of(frames, signals) for frames in both))
    taken = "closest" if "closest" in (way.kind, on.kind) else way.kind
    settings = {"transfer": transfer, "correspondence": taken, "signals": signals, "bits": bits}
    own = {
        "signals": [len(each.signals) for each in (a1, a2, b1)],
        "fraction of the change outside X1's deformation": lost,
    }
    # No vertex is damped: each hangs on one bone, whose transform has an inverse.
    about = about_fit("retarget", settings, pose_digests(three.motion, three.rig.skeleton), figures=own)
    return Skin(three.rig, (_layer(three, names, *product, signals, bits),), about=about)


def _check_settings(signals: int, transfer: str, correspondence: str, bits: int) -> None:
    check.choice("transfer", transfer, TRANSFERS)
    check.choice("correspondence", correspondence, KINDS)
    check.bits(bits)
    if check.whole("signals", signals) < 0:
        raise InputError(f"signals: expected at least 1, or 0 for those that matter, got {signals}")


def _check_motion(motion: Motion, rig: Rig) -> None:
    """Raise unless given a motion of this rig in which something moves."""
    if not isinstance(motion, Motion):
        remedy = "make one from poses with ps.Motion.from_poses, or load one with ps.load_motion"
        raise InputError(f"motion: expected a Motion, got a {type(motion).__name__}; {remedy}")
    have, want = motion.rotations.shape[1], len(rig.skeleton)
    if have != want:
        remedy = "load it with ps.load_motion(file, x1.rig.skeleton)"
        raise InputError(f"motion: expected poses of the {want} joints of X1, got {have}; {remedy}")
    _moving(rig, motion)


def _deformed(sampled: Sampled, skin: Skin, role: str) -> Array32:
    """What a skin does beyond the bones (P, N, 3); raises where that is nothing but rounding."""
    frames = sampled.frames()
    if np.abs(frames).max(initial=0.0) <= 1e-6 * sampled.rig.mesh.diagonal:
        why = "it has no layers, so there is nothing to carry to or from" if not skin.layers else "it does not"
        raise InputError(f"retarget: {role} must deform at the poses sampled, beyond what its bones do; {why}")
    return frames


def _moving(rig: Rig, motion: Motion) -> tuple[str, ...]:
    """The joints that move, or else the controls that do."""
    joints, controls = changing(rig, motion)
    if not joints and not controls:
        raise InputError("motion: the clip is constant, no joint and no control moves in it")
    return joints or controls


def _onto(motion: Motion, source: Skin, target: Skin, names: Sequence[str], role: str) -> Motion:
    """The poses on another skin's skeleton, by joint names."""
    here, there = source.rig.skeleton, target.rig.skeleton
    missing = [name for name in names if name in here.names and name not in there.names]
    if missing:
        some = ", ".join(repr(name) for name in missing[:4])
        have = ", ".join(repr(name) for name in there.names[:4])
        more = f" and {len(missing) - 4} more" if len(missing) > 4 else ""
        raise InputError(f"retarget: {role} lacks the joints {some}{more}; its joints are {have}, ...; rename them")
    return motion if here.same_as(there) else retarget_motion(motion, here, there)


def _lost(a1: Factors, a2: Factors) -> float:
    """The fraction of the change from X1 to X2 that lies outside what X1 does."""
    inner = np.tensordot(a1.basis, a2.basis, axes=([1, 2], [1, 2])) @ a2.signals
    outside = max(float((a2.signals**2).sum() - (inner**2).sum()), 0.0)
    change = outside + float(((inner - a1.signals) ** 2).sum())
    return float(np.sqrt(outside / change)) if change > 0 else 0.0


def _operated(a1: Factors, a2: Factors, b1: Factors) -> Floats:
    """Signals (K, P) of Y1's basis: U⁺TUY1 with T = A2 S2 S1⁺ A1⁺ and U = A1 S1 R1⁺ B1⁺.

    With orthonormal bases a pseudo-inverse of such a product is the product of the pseudo-inverses.
    """
    turn = a1.signals @ np.linalg.pinv(b1.signals)
    shared = np.linalg.pinv(a1.signals) @ turn @ b1.signals
    inner = np.tensordot(a1.basis, a2.basis, axes=([1, 2], [1, 2]))
    return np.asarray(np.linalg.pinv(turn, rcond=_SOUND) @ inner @ a2.signals @ shared)


def _added(b1: Factors, a2: Factors, a1: Factors) -> tuple[Floats, Floats]:
    """Y1 with what X2 adds to X1, all at Y1's vertices: displacements (K, N, 3) and their signals (K, P)."""
    return np.concatenate([b1.basis, a2.basis, a1.basis]), np.concatenate([b1.signals, a2.signals, -a1.signals])


def _layer(sampled: Sampled, names: tuple[str, ...], basis: Floats, values: Floats, count: int, bits: int) -> Layer:
    """The layer of a deformation given as basis (K, N, 3) times values (K, P), whose last pose is rest."""
    skeleton = sampled.rig.skeleton
    products = np.tensordot(basis, basis, axes=([1, 2], [1, 2]))
    gram = values.T @ products @ values
    sizes = principal(gram, count or None)[0]
    found = independent_signals(gram, max(1, int((sizes > KEPT * sizes[:1]).sum())))
    movers = frozenset(skeleton.index(name) if name in skeleton.names else name for name in names)
    places = Places.of(sampled.rig, sampled.motion, space_of(sampled.rig, movers, sampled.motion, "freedoms"))
    trial, at_rest = Trial(places), found[:, -1]
    choice = trial.best((found.T - at_rest)[trial.tried])
    regression = choice.regression(trial.places, len(found.T))
    driven = regression.operator @ (found.T - at_rest) + at_rest
    driver = Driver(places.space, regression.interpolant(driven, at_rest))
    mixed = np.tensordot((values @ np.linalg.pinv(found)).T, basis, axes=1)
    support: Ints = np.arange(mixed.shape[1], dtype=np.int32)
    return Layer("retargeted", driver, support, PackedBasis.pack(mixed, bits))
