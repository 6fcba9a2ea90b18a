"""LearnedBones: bone transforms from the positions of control points, instead of from a skeleton's joints.

A control point is a joint that only translates. This module poses bones; `fit/points` learns them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.geometry import rotations
from posespace.geometry.local_frames import local_frames
from posespace.geometry.rigid import rigid
from posespace.mesh import Mesh
from posespace.pose import Pose
from posespace.rig import Rig
from posespace.skeleton import Skeleton
from posespace.skin.basis import Basis, PackedBasis, checked_basis
from posespace.skin.bones.on_mesh import BonesOnMesh
from posespace.skin.bones.positions import BonePositions
from posespace.skin.bones.stage import Binding, BoneStage, Corrections, Posed, StoredBones

MOST_BONES = 2000
"""The positions of all bones are solved for together: work and memory grow with the square of their number."""

MOST_INFLUENCES = 16

ROOT = "root"
"""The joint above the control points; it moves the whole."""


def check_beta(beta: float) -> None:
    """Raise unless control points can have this weight in the solve for positions."""
    if not 1e-9 <= check.number("beta", beta) <= 1e9:
        raise InputError(f"beta: expected 1e-9 to 1e9, got {beta}")


@dataclass(frozen=True, eq=False)
class LearnedBones:
    """Virtual bones whose rotations kernel models predict from control points; their positions follow from these.

    Points are first aligned to the rest shape: the rigid motion of the whole is removed. A model gives a bone's
    rotation as ``offset + Σ coefficient · exp(-d² / 2 width²)``, d the distance of the bone's control points from those
    of each sample; a bone has one model, or one per sample, of which the nearest are blended by
    ``exp(-d² / 2 heat²)``. With `holds`, a bone's points are measured in a local frame that moves with them, and its
    rotation is relative to it.
    After the four numbers of the quaternion a model gives the bone's amount of each correction, and then of each
    component of the skin's detail.

    Parameters
    ----------
    points : (M,) int32, the vertices that the control points are on
    rest : (M, 3) their positions at rest
    anchors : (M,) their weights in the rigid motion of the whole, scaled to sum to one
    samples : (S, M, 3) their positions in each example, aligned to the rest shape
    near : (B, C) int32, the control points that influence each bone
    widths : (B, L) of each model's kernel, L is 1 or S
    offsets : (B, L, 4 + K + D) of each model's quaternion and amounts
    coefficients : (B, L, S, 4 + K + D) of each model's kernels
    heat : (B,) radius of the models of a bone when they are blended
    blended : number of models of a bone that are blended, 1 to L
    centres : (B, 3) the middle of each bone at rest
    influences, weights : (N, K) the bones that move each vertex, and their weights
    beta : above 0, weight of the control points in the solve for positions
    holds : (B, C) weights of a bone's control points in its local frame, scaled to sum to one; None: all bones use the
        axes of the whole
    corrections : (K, N, 3) displacements of the rest shape, of which each bone has an amount, or None
    ties : (E, 2) int32, vertices of separate pieces of the surface that stay near each other, for pieces
        without a control point, or None
    """

    points: Ints
    rest: Floats
    anchors: Floats
    samples: Floats
    near: Ints
    widths: Floats
    offsets: Floats
    coefficients: Floats
    heat: Floats
    blended: int
    centres: Floats
    influences: Ints
    weights: Floats
    beta: float
    holds: Floats | None = None
    corrections: Basis | None = None
    ties: Ints | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "points", check.indices("bones' points", self.points, ("M",), below=2**31))
        count = len(self.points)
        put(self, "rest", check.floats("bones' rest", self.rest, (count, 3), check.LARGEST))
        put(self, "anchors", _shares("bones' anchors", self.anchors, (count,)))
        put(self, "samples", check.floats("bones' samples", self.samples, ("S", count, 3), check.LARGEST))
        put(self, "centres", check.floats("bones' centres", self.centres, ("B", 3), check.LARGEST))
        bones, samples = len(self.centres), len(self.samples)
        if not 1 <= bones <= MOST_BONES or not samples or len(np.unique(self.points)) < count or not count:
            got = f"{bones} bones, {samples} samples of {count} points"
            raise InputError(
                f"learned bones: expected 1 to {MOST_BONES} bones, samples, and each point once, got {got}"
            )
        put(self, "near", check.indices("bones' near", self.near, (bones, "C"), below=count))
        if self.holds is not None:
            put(self, "holds", _shares("bones' holds", self.holds, self.near.shape))
        weights = _shares("bones' weights", self.weights, ("N", "K"))
        if weights.shape[1] > MOST_INFLUENCES:
            raise InputError(f"bones' weights: expected at most {MOST_INFLUENCES} per vertex, got {weights.shape[1]}")
        put(self, "weights", weights)
        put(self, "influences", check.indices("bones' influences", self.influences, weights.shape, below=bones))
        if self.ties is not None:
            put(self, "ties", check.indices("bones' ties", self.ties, ("E", 2), below=len(weights)))
            if not len(self.ties):
                raise InputError("bones' ties: expected pairs of vertices, or None where there are none")
        if self.corrections is not None:
            shape = (self.corrections.shape[0], len(weights), 3)
            put(self, "corrections", checked_basis("bones' corrections", self.corrections, shape))
        self._check_models(bones, samples)
        check_beta(self.beta)

    def _check_models(self, bones: int, samples: int) -> None:
        put = object.__setattr__
        widths = check.floats("bones' widths", self.widths, (bones, "L"), check.LARGEST)
        models = widths.shape[1]
        heat = check.floats("bones' heat", self.heat, (bones,), check.LARGEST)
        if models not in (1, samples) or not 1 <= check.whole("blended", self.blended) <= models:
            got = f"{models} of which {self.blended} are blended"
            raise InputError(f"bones' models: expected 1 or {samples} per bone, got {got}")
        if not (widths.min() > 1e-30 and heat.min() > 1e-30):
            raise InputError("bones' widths and heat: expected numbers above 0")
        put(self, "widths", widths)
        put(self, "heat", heat)
        put(self, "offsets", check.floats("bones' offsets", self.offsets, (bones, models, "V"), check.LARGEST))
        values, least = self.offsets.shape[2], 4 + self.correction_count
        if values < least:
            raise InputError(f"bones' offsets: expected at least {least} numbers per model, got {values}")
        shape = (bones, models, samples, values)
        put(self, "coefficients", check.floats("bones' coefficients", self.coefficients, shape, check.LARGEST))

    def __len__(self) -> int:
        return len(self.centres)

    def __repr__(self) -> str:
        return f"LearnedBones({len(self)} bones, {len(self.points)} points, {len(self.samples)} samples)"

    def joints_without_rotation(self, rig: Rig) -> tuple[str, ...]:
        """Return the control points: they only translate."""
        return rig.skeleton.names[1:]

    def require_fit(self, rig: Rig) -> None:
        """Raise unless a rig has the vertices of the weights, and the control points as its joints."""
        count = len(rig.mesh.points)
        if len(self.weights) != count or int(self.points.max()) >= count:
            raise InputError(
                f"learned bones: expected weights and points of {count} vertices as in the rig, got others"
            )
        if rig.blending != "linear":
            raise InputError(f"learned bones: expected a rig that blends linearly, got {rig.blending}")
        _require_control_points(rig.skeleton, self)

    def binding(self, rig: Rig) -> Binding:
        """Return the influences and weights of the bones."""
        del rig
        return Binding(self.influences, self.weights, len(self))

    def drive(self, pose: Pose, rig: Rig) -> tuple[Floats, Floats]:
        """Return the transforms (B, 3, 4) of the bones and their amounts (B, K + D) of corrections and detail."""
        aligned, rotation, translation = self.aligned(pose, rig)
        point_translations = aligned.translations[1:]
        quaternions, amounts = self.predict(point_translations)
        local = rotations.matrices(quaternions)
        transforms = np.empty((len(local), 3, 4))
        transforms[..., :3] = rotation @ local
        with np.errstate(over="ignore", invalid="ignore"):
            positions = self.centres + self.positions(rig.mesh)(local, point_translations)
            positions = positions @ rotation.T + translation
            transforms[..., 3] = positions - np.einsum("bij,bj->bi", transforms[..., :3], self.centres)
        check.ordinary("bone transforms", transforms)
        return transforms, amounts

    def aligned(self, pose: Posed, rig: Rig) -> tuple[Posed, Floats, Floats]:
        """Return a pose, or a motion, whose control points are aligned to their rest positions, and the rigid motion.

        The rotation (..., 3, 3) and translation (..., 3) bring it back. The root of the aligned pose is at rest.
        """
        joints, expected = pose.rotations.shape[-2], len(self.points) + 1
        if joints != expected:
            raise InputError(f"pose: expected {expected} joints as in the rig, got {joints}")
        translations, rotation, translation = self.without_whole(pose.rotations, pose.translations)
        rest = np.broadcast_to(rig.skeleton.rest_rotations, pose.rotations.shape)
        return replace(pose, rotations=rest, translations=translations), rotation, translation

    def without_whole(self, quaternions: Floats, translations: Floats) -> tuple[Floats, Floats, Floats]:
        """Remove the rigid motion of the whole from rotations (..., M + 1, 4) and translations (..., M + 1, 3).

        Returns
        -------
        translations : (..., M + 1, 3) of the joints, that of the root zero
        rotation, translation : (..., 3, 3) and (..., 3), the rigid motion of the whole
        """
        root = rotations.matrices(quaternions[..., 0, :])
        positions = (self.rest + translations[..., 1:, :]) @ np.swapaxes(root, -1, -2) + translations[..., :1, :]
        rotation, translation = rigid(self.rest, positions, self.anchors)
        aligned = np.zeros(translations.shape)
        aligned[..., 1:, :] = (positions - translation[..., None, :]) @ rotation - self.rest
        return aligned, rotation, translation

    @property
    def correction_count(self) -> int:
        """K, the number of corrections."""
        return 0 if self.corrections is None else self.corrections.shape[0]

    @property
    def detail_count(self) -> int:
        """D, the number of components of detail of which each bone has an amount."""
        return int(self.offsets.shape[2]) - 4 - self.correction_count

    @cached_property
    def local_samples(self) -> Floats:
        """The control points of each bone in each example (B, S, C, 3), in the bone's local frame."""
        assert self.holds is not None
        points = local_frames(self.rest[self.near], self.samples[:, self.near], self.holds)[0]
        return np.ascontiguousarray(np.swapaxes(points, 0, 1))

    def predict(self, translations: Floats) -> tuple[Floats, Floats]:
        """Return the rotations (B, 4) of all bones and their amounts (B, K + D) of corrections and detail.

        `translations` (M, 3) are those of the control points, without the motion of the whole.
        """
        squares, frames = self._compared(self.rest + translations)
        kernels = np.exp(-0.5 * squares[:, None] / self.widths[..., None].astype(np.float64) ** 2)
        values = self.offsets + np.einsum("bls,blsq->blq", kernels, self.coefficients)
        quaternions, amounts = _unit(values[..., :4]), values[..., 4:]
        if values.shape[1] == 1:
            quaternions, amounts = quaternions[:, 0], amounts[:, 0]
        else:
            quaternions, amounts = self._blend(squares, quaternions, amounts)
        return quaternions if frames is None else rotations.multiply(frames, quaternions), amounts

    def squared_distances(self, positions: Floats) -> Floats:
        """Return (B, S) each bone's squared distance of control points (M, 3), aligned to rest, from each sample."""
        return self._compared(positions)[0]

    def _compared(self, positions: Floats) -> tuple[Floats, Floats | None]:
        """Squared distances (B, S) of each bone's control points from each sample, and its local frame (B, 4)."""
        if self.holds is None:
            gaps = positions - self.samples
            return np.einsum("smx,smx->ms", gaps, gaps)[self.near].sum(axis=1), None
        points, frames = local_frames(self.rest[self.near], positions[self.near], self.holds)
        gaps = points[:, None] - self.local_samples
        return np.einsum("bscx,bscx->bs", gaps, gaps), frames

    def _blend(self, squares: Floats, quaternions: Floats, amounts: Floats) -> tuple[Floats, Floats]:
        """The rotations (B, 4) and amounts (B, K + D) of the models nearest to a pose, blended."""
        nearest = np.argsort(squares, axis=1, kind="stable")[:, : self.blended]
        taken = np.take_along_axis(quaternions, nearest[..., None], axis=1)
        # Two quaternions stand for one rotation: each takes the sign of the nearest model's.
        agree = np.einsum("blq,bq->bl", taken, taken[:, 0])
        near = np.take_along_axis(squares, nearest, axis=1)
        share = np.exp(-0.5 * (near - near[:, :1]) / self.heat[:, None].astype(np.float64) ** 2)
        nearest_amounts = np.take_along_axis(amounts, nearest[..., None], axis=1)
        blended = np.einsum("bl,blk->bk", share / share.sum(axis=1, keepdims=True), nearest_amounts)
        return _unit(np.einsum("bl,blq->bq", np.where(agree < 0, -share, share), taken)), blended

    def positions(self, mesh: Mesh) -> BonePositions:
        """Return what solves for the positions of the bones from their rotations, on a mesh."""
        return self._on(mesh).positions

    def links(self, rig: Rig) -> Ints | None:
        """Return the parents: control points move relative to the whole, and to no other joint."""
        return rig.skeleton.parents

    def corrections_of(self, rig: Rig) -> Corrections:
        """Return the corrections, with limits from the displacements at the samples."""
        return self._on(rig.mesh).corrections

    def _on(self, mesh: Mesh) -> BonesOnMesh:
        """What the bones make of a mesh, made once: kept here for the last mesh, as a cached property would be."""
        kept: BonesOnMesh | None = vars(self).get("_kept")
        if kept is None or kept.mesh is not mesh:
            kept = vars(self)["_kept"] = BonesOnMesh(self, mesh)
        return kept

    def with_constant(self) -> LearnedBones:
        """Return the bones with one more component whose amount is always one, e.g. for mean heights."""
        one, none = np.ones((*self.offsets.shape[:2], 1)), np.zeros((*self.coefficients.shape[:3], 1))
        return replace(
            self,
            offsets=np.concatenate([self.offsets, one], axis=2).astype(np.float32),
            coefficients=np.concatenate([self.coefficients, none], axis=3).astype(np.float32),
        )

    def packed(self, bits: int) -> Self:
        """Return the bones with their corrections packed in 32, 16 or 8 bits per number."""
        if self.corrections is None:
            return self
        return replace(self, corrections=PackedBasis.pack(np.asarray(self.corrections), bits, full=True))

    def stored(self) -> StoredBones:
        """Return all fields by name, without those that are None."""
        values: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray | PackedBasis)}
        return StoredBones(arrays, {"blended": self.blended, "beta": self.beta})

    def figures(self) -> dict[str, Any]:
        """Return how many bones, control points, examples and models there are."""
        return {
            "bones": len(self),
            "control_points": len(self.points),
            "on_vertices": self.points.tolist(),
            "examples": len(self.samples),
            "points_per_bone": int(self.near.shape[1]),
            "models_per_bone": int(self.widths.shape[1]),
            "beta": float(self.beta),
        }


def learned_bones(bones: BoneStage, name: str) -> LearnedBones:
    """Return the bones of a skin with control points; raise for others, naming the argument."""
    if not isinstance(bones, LearnedBones):
        raise InputError(f"{name}: expected a skin with control points, got one that joints move")
    return bones


def _require_control_points(skeleton: Skeleton, bones: LearnedBones) -> None:
    """Raise unless a skeleton is a root and, below it, a joint at each control point's rest position."""
    count = len(bones.points)
    parents = np.concatenate([[-1], np.zeros(count, np.int32)])
    frames = np.tile(np.eye(4), (count + 1, 1, 1))
    frames[1:, :3, 3] = bones.rest
    size = 1 + float(np.abs(bones.rest).max(initial=0.0))
    fits = len(skeleton) == count + 1 and np.array_equal(skeleton.parents, parents) and skeleton.stretches is None
    fits = fits and bool((rotations.angles_between(skeleton.rest_rotations, rotations.IDENTITY) < 1e-6).all())
    if not fits or np.abs(skeleton.local_frames - frames).max() > 1e-5 * size or skeleton.links is not None:
        raise InputError(f"learned bones: expected a skeleton of a root and {count} control points below it")


def _shares(name: str, value: Floats, shape: tuple[int | str, ...]) -> Floats:
    """Numbers of at least 0, each row scaled to sum to one."""
    shares = check.floats(name, value, shape, check.LARGEST)
    total = shares.sum(axis=-1, keepdims=True, dtype=np.float64)
    if not (shares.size and shares.min() >= 0 and total.min() > 1e-30):
        raise InputError(f"{name}: expected numbers of at least 0 that do not sum to 0")
    if np.abs(total - 1).max() > 1e-6:
        shares = shares / total
        shares.flags.writeable = False
    return shares


def _unit(quaternions: Floats) -> Floats:
    """Quaternions (..., 4) at unit length; one of no length becomes the identity."""
    length = np.linalg.norm(quaternions, axis=-1, keepdims=True)
    lost = length < 1e-12
    return np.where(lost, rotations.IDENTITY, quaternions / np.where(lost, 1.0, length))
