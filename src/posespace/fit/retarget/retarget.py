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
from posespace.fit.gram import Array32, gram_of, linear_combinations, principal
from posespace.fit.ica import independent_signals
from posespace.fit.regression import CrossValidation, PoseCoordinates
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

TRANSFERS = ("operator", "difference")

MOST_LOST = 0.5
"""Largest fraction of the change that the operator may lose before the difference is transferred instead."""

LEAST = 1e-4
"""Signals are kept whose singular value is above this fraction of the largest, unless their number is given."""

_SOUND = 1e-3
"""Fraction of the largest below which a singular value of the map between two characters' signals is dropped."""


@dataclass(frozen=True, eq=False)
class Factors:
    """A deformation at P poses as a product.

    Parameters
    ----------
    basis : (K, N, 3) orthonormal displacements, each vertex in the local axes of its nearest bone
    signals : (K, P) the amount of each displacement at each pose
    """

    basis: Floats
    signals: Floats

    @classmethod
    def of(cls, frames: Array32, count: int | None) -> Factors:
        """Factor displacements (P, N, 3) into their first `count` signals; None: those above `LEAST`."""
        every: Ints = np.arange(frames.shape[1], dtype=np.int32)
        sizes, rows = principal(gram_of(frames, every))
        if count is not None and count > len(sizes):
            raise InputError(f"signals: expected at most {len(sizes)}, the rank of a skin's deformation, got {count}")
        kept = int((sizes > LEAST * sizes[:1]).sum()) if count is None else count
        basis = linear_combinations(frames, every, rows[:kept] / sizes[:kept, None])
        return cls(np.asarray(basis, dtype=np.float64), sizes[:kept, None] * rows[:kept])


@dataclass(frozen=True, eq=False)
class Sampled:
    """Shapes of a skin at the poses of a motion, computed one at a time.

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
        """Sample a skin, without its detail."""
        return cls(on_nearest_bone(skin.rig), motion, lambda pose: skin.rig.skin(pose, skin.displacements(pose)))

    def __len__(self) -> int:
        return len(self.motion)

    def __getitem__(self, index: int, /) -> Floats:
        return self.shape(self.motion[index])

    def frames(self) -> Array32:
        """Return the residuals (P, N, 3) of the shapes, each vertex skinned by its nearest bone."""
        return point_residuals(Examples(self.rig, self.motion, self)).values

    def at(self, rig: Rig, match: Correspondence) -> Sampled:
        """Return the shapes at the vertices of another rig."""
        seen = seen_from(rig, self.rig, match)
        return Sampled(seen, self.motion, lambda pose: match.carry(self.shape(pose)[None])[0])

    def padded(self, match: Correspondence) -> Array32:
        """Return `frames` with zeros for missing vertices, and without surplus ones."""
        return np.stack([match.carry(frame[None])[0] for frame in self.frames()]).astype(np.float32)


def retarget(
    x1: Skin,
    x2: Skin,
    y1: Skin,
    motion: Motion | None = None,
    signals: int | None = None,
    transfer: str | None = None,
    correspondence: str | None = None,
    bits: int = 16,
) -> Skin:
    """Return the skin that is to `y1` as `x2` is to `x1`: the rest shape of `y1`, another deformation.

    Parameters
    ----------
    x1, x2 : two deformations of one body
    y1 : the deformation of another body
    motion : poses of `x1`'s skeleton at which all three are sampled; None: the poses that `x1` was fitted on
    signals : number of signals per skin; None: those above a ten-thousandth of the largest
    transfer : "operator": the paper's product of matrices, which can only mix what `x1` and `y1` already do;
        "difference": what `x2` adds to `x1`, added to `y1`; None: "operator" unless it would lose more than half of
        the change from `x1` to `x2`
    correspondence : between the vertices of the three: "same", "padding" (the paper's) or "closest", see
        `posespace.fit.retarget.correspondence`; None: "same" where the triangles are the same, else "closest"
    bits : bits per stored number: 32, 16 or 8
    """
    _check_settings(signals, transfer, correspondence, bits)
    _check_skins(x1, x2, y1)
    if motion is not None:
        _check_motion(motion, x1.rig)
    poses = (fitted_poses(x1) if motion is None else motion).with_rest(x1.rig.rest)
    names = _moving(x1.rig, poses)
    from_x1, from_x2, from_y1 = (
        Sampled.of(skin, _onto(poses, x1, skin, names, role)) for skin, role in ((x1, "X1"), (x2, "X2"), (y1, "Y1"))
    )
    a1 = Factors.of(_deformation(from_x1, x1, "X1"), signals)
    b1 = Factors.of(_deformation(from_y1, y1, "Y1"), signals)
    match = correspond(from_x1.rig, from_x2.rig, correspondence)
    used, x2_on_x1 = match.kind, from_x2.at(from_x1.rig, match)
    a2 = Factors.of(from_x2.padded(match) if match.kind == "padding" else x2_on_x1.frames(), signals)
    lost = _lost(a1, a2)
    if transfer is None:
        transfer = "operator" if lost <= MOST_LOST else "difference"
    if transfer == "operator":
        product = b1.basis, _operated(a1, a2, b1)
    else:
        match = correspond(from_y1.rig, from_x1.rig, correspondence)
        used = "closest" if match.kind == "closest" else used
        # Both are carried over alike, so that the errors of that are the same in both.
        on_y1 = (sampled.at(from_y1.rig, match) for sampled in (x2_on_x1, from_x1))
        product = _added(b1, *(Factors.of(sampled.frames(), signals) for sampled in on_y1))
    settings = {"transfer": transfer, "correspondence": used, "signals": signals, "bits": bits}
    figures = {
        "signals": [len(factors.signals) for factors in (a1, a2, b1)],
        "fraction of the change outside X1's deformation": lost,
    }
    # No vertex is damped: each has one bone, whose transform has an inverse.
    about = about_fit("retarget", settings, pose_digests(from_y1.motion, from_y1.rig.skeleton), figures=figures)
    return Skin(from_y1.rig, (_layer(from_y1, names, *product, signals, bits),), about=about)


def _check_settings(signals: int | None, transfer: str | None, correspondence: str | None, bits: int) -> None:
    if transfer is not None:
        check.choice("transfer", transfer, TRANSFERS)
    if correspondence is not None:
        check.choice("correspondence", correspondence, KINDS)
    check.bits(bits)
    if signals is not None:
        check.count("signals", signals)


def _check_skins(*skins: Skin) -> None:
    for role, skin in zip(("X1", "X2", "Y1"), skins, strict=True):
        if not isinstance(skin, Skin):
            raise InputError(f"{role}: expected a Skin, got a {type(skin).__name__}; load it with ps.Skin.load")
        if len(skin.points):
            raise InputError(f"{role}: expected a skin driven by a skeleton, got one driven by control points")


def _check_motion(motion: Motion, rig: Rig) -> None:
    """Raise unless given a motion of this rig in which something moves."""
    if not isinstance(motion, Motion):
        remedy = "make one from poses with ps.Motion.from_poses, or load one with ps.load_motion"
        raise InputError(f"motion: expected a Motion, got a {type(motion).__name__}; {remedy}")
    count, joints = motion.rotations.shape[1], len(rig.skeleton)
    if count != joints:
        remedy = "load it with ps.load_motion(file, x1.rig.skeleton)"
        raise InputError(f"motion: expected poses of the {joints} joints of X1, got {count}; {remedy}")
    _moving(rig, motion)


def _deformation(sampled: Sampled, skin: Skin, role: str) -> Array32:
    """The residuals (P, N, 3) of a skin; raises where they are nothing but rounding."""
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
        listed = ", ".join(repr(name) for name in missing[:4])
        known = ", ".join(repr(name) for name in there.names[:4])
        more = f" and {len(missing) - 4} more" if len(missing) > 4 else ""
        raise InputError(f"retarget: {role} lacks the joints {listed}{more}; its joints are {known}, ...; rename them")
    return motion if here.same_as(there) else retarget_motion(motion, here, there)


def _lost(a1: Factors, a2: Factors) -> float:
    """The fraction of the change from X1 to X2 that lies outside the span of X1's deformation."""
    inner = np.tensordot(a1.basis, a2.basis, axes=([1, 2], [1, 2])) @ a2.signals
    outside = max(float((a2.signals**2).sum() - (inner**2).sum()), 0.0)
    change = outside + float(((inner - a1.signals) ** 2).sum())
    return float(np.sqrt(outside / change)) if change > 0 else 0.0


def _operated(a1: Factors, a2: Factors, b1: Factors) -> Floats:
    """Signals (K, P) of Y1's basis: U⁺TUY1 with T = A2 S2 S1⁺ A1⁺ and U = A1 S1 R1⁺ B1⁺.

    With orthonormal bases a pseudo-inverse of such a product is the product of the pseudo-inverses.
    """
    between = a1.signals @ np.linalg.pinv(b1.signals)
    shared = np.linalg.pinv(a1.signals) @ between @ b1.signals
    inner = np.tensordot(a1.basis, a2.basis, axes=([1, 2], [1, 2]))
    return np.asarray(np.linalg.pinv(between, rcond=_SOUND) @ inner @ a2.signals @ shared)


def _added(b1: Factors, a2: Factors, a1: Factors) -> tuple[Floats, Floats]:
    """Y1 plus what X2 adds to X1, all at Y1's vertices: displacements (K, N, 3) and their signals (K, P)."""
    return np.concatenate([b1.basis, a2.basis, a1.basis]), np.concatenate([b1.signals, a2.signals, -a1.signals])


def _layer(
    sampled: Sampled, names: tuple[str, ...], basis: Floats, values: Floats, count: int | None, bits: int
) -> Layer:
    """The layer of a deformation given as basis (K, N, 3) times values (K, P), whose last pose is rest."""
    skeleton = sampled.rig.skeleton
    products = np.tensordot(basis, basis, axes=([1, 2], [1, 2]))
    gram = values.T @ products @ values
    sizes = principal(gram, count)[0]
    signals = independent_signals(gram, max(1, int((sizes > LEAST * sizes[:1]).sum())))
    movers = frozenset(skeleton.index(name) if name in skeleton.names else name for name in names)
    space = space_of(sampled.rig, movers, sampled.motion, "freedoms")
    samples = PoseCoordinates.of(sampled.rig, sampled.motion, space)
    validation, at_rest = CrossValidation(samples), signals[:, -1]
    choice = validation.best((signals.T - at_rest)[validation.sampled])
    regression = choice.regression(samples, len(signals.T))
    at_nodes = regression.operator @ (signals.T - at_rest) + at_rest
    driver = Driver(space, regression.interpolant(at_nodes, at_rest))
    mixed = np.tensordot((values @ np.linalg.pinv(signals)).T, basis, axes=1)
    support: Ints = np.arange(mixed.shape[1], dtype=np.int32)
    return Layer("retargeted", driver, support, PackedBasis.pack(mixed, bits))
