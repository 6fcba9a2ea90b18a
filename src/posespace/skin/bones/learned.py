"""LearnedBones: bone transforms from the places of a few control points, instead of from a skeleton's joints.

A control point is a joint that only shifts. What is here poses bones; how it is learned is in `fit/points`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.geometry import rotations
from posespace.geometry.local_frames import local_frames
from posespace.geometry.rigid import rigid
from posespace.skeleton import Skeleton
from posespace.skin.basis import Basis, PackedBasis, checked_basis

MOST_BONES = 2000
"""The places of all bones are found together: work and memory grow with the square of their number."""

MOST_INFLUENCES = 16

ROOT = "root"
"""The joint above the control points; it carries the whole."""


@dataclass(frozen=True, eq=False)
class LearnedBones:
    """Virtual bones whose rotations kernel models predict from control points, and whose places follow from these.

    Points are first brought to the rest by the rigid motion of the whole. A model gives a bone's rotation as
    ``offset + Σ coefficient · exp(-d² / 2 width²)``, d the distance of the bone's own points from those of each
    sample; a bone has one model, or one per sample, of which the nearest are blended by ``exp(-d² / 2 heat²)``.
    With `holds`, a bone sees its points from a frame that moves with them, and is turned relative to it.
    After the four numbers of the rotation models give how much of each correction the bone adds, and then how much of
    each component of the skin's detail.

    Parameters
    ----------
    points : (M,) int32, the vertices that the control points are on
    rest : (M, 3) where they are at rest
    anchors : (M,) how much each counts in the rigid motion of the whole, scaled to sum to one
    samples : (S, M, 3) where they are in each example, brought to the rest
    near : (B, C) int32, the control points that influence each bone
    widths : (B, L) of each model's kernel, L is 1 or S
    offsets : (B, L, 4 + K + D) of each model's quaternion and amounts
    coefficients : (B, L, S, 4 + K + D) of each model's kernels
    heat : (B,) how far the models of a bone reach when they are blended
    blended : how many models of a bone are blended, 1 to L
    centres : (B, 3) the middle of each bone at rest
    influences, weights : (N, K) the bones that move each vertex, and how much
    beta : above 0, how strongly the surface is drawn to the control points
    holds : (B, C) how much each of a bone's points counts in the frame it sees them from, scaled to sum to one; None:
        all bones see them from the frame of the whole
    corrections : (K, N, 3) displacements of the rest shape, each bone adding its own amount of each, or None
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
        if self.corrections is not None:
            shape = (self.corrections.shape[0], len(weights), 3)
            put(self, "corrections", checked_basis("bones' corrections", self.corrections, shape))
        self._check_models(bones, samples)
        if not 1e-9 <= check.number("beta", self.beta) <= 1e9:
            raise InputError(f"beta: expected 1e-9 to 1e9, got {self.beta}")

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

    def aligned(self, turns: Floats, shifts: Floats) -> tuple[Floats, Floats, Floats]:
        """Take the rigid motion of the whole out of rotations (..., M + 1, 4) and shifts (..., M + 1, 3) of the joints.

        Returns
        -------
        shifts : (..., M + 1, 3) of the joints, that of the root zero
        turn, shift : (..., 3, 3) and (..., 3), the rigid motion of the whole
        """
        places = (self.rest + shifts[..., 1:, :]) @ np.swapaxes(rotations.matrices(turns[..., 0, :]), -1, -2)
        places = places + shifts[..., :1, :]
        turn, shift = rigid(self.rest, places, self.anchors)
        seen = np.zeros(shifts.shape)
        seen[..., 1:, :] = (places - shift[..., None, :]) @ turn - self.rest
        return seen, turn, shift

    @property
    def correction_count(self) -> int:
        """K, how many corrections there are."""
        return 0 if self.corrections is None else self.corrections.shape[0]

    @property
    def detail_count(self) -> int:
        """D, of how many components of detail each bone has its own amount."""
        return int(self.offsets.shape[2]) - 4 - self.correction_count

    @cached_property
    def local_samples(self) -> Floats:
        """The points of each bone in each example (B, S, C, 3), as the bone sees them."""
        assert self.holds is not None
        seen = local_frames(self.rest[self.near], self.samples[:, self.near], self.holds)[0]
        return np.ascontiguousarray(np.swapaxes(seen, 0, 1))

    def predict(self, shifts: Floats) -> tuple[Floats, Floats]:
        """Return the rotations (B, 4) of all bones and their amounts (B, K + D) of corrections and detail.

        `shifts` (M, 3) are those of the points, without the motion of the whole.
        """
        squares, frames = self._seen(self.rest + shifts)
        kernels = np.exp(-0.5 * squares[:, None] / self.widths[..., None].astype(np.float64) ** 2)
        found = self.offsets + np.einsum("bls,blsq->blq", kernels, self.coefficients)
        turns, amounts = _unit(found[..., :4]), found[..., 4:]
        if found.shape[1] == 1:
            turns, amounts = turns[:, 0], amounts[:, 0]
        else:
            turns, amounts = self._blend(squares, turns, amounts)
        return turns if frames is None else rotations.multiply(frames, turns), amounts

    def squared_distances(self, places: Floats) -> Floats:
        """Return how far (B, S) points (M, 3), without the whole's motion, are from each bone's samples, squared."""
        return self._seen(places)[0]

    def _seen(self, places: Floats) -> tuple[Floats, Floats | None]:
        """How far (B, S) each bone's points (M, 3) are from those of each sample, squared, and its own frame (B, 4)."""
        if self.holds is None:
            gaps = places - self.samples
            return np.einsum("smx,smx->ms", gaps, gaps)[self.near].sum(axis=1), None
        seen, frames = local_frames(self.rest[self.near], places[self.near], self.holds)
        gaps = seen[:, None] - self.local_samples
        return np.einsum("bscx,bscx->bs", gaps, gaps), frames

    def _blend(self, squares: Floats, turns: Floats, amounts: Floats) -> tuple[Floats, Floats]:
        """The rotations (B, 4) and amounts (B, K + D) that the models nearest to a pose give together."""
        nearest = np.argsort(squares, axis=1, kind="stable")[:, : self.blended]
        taken = np.take_along_axis(turns, nearest[..., None], axis=1)
        # Two quaternions stand for one rotation: each takes the sign of the nearest model's.
        agree = np.einsum("blq,bq->bl", taken, taken[:, 0])
        near = np.take_along_axis(squares, nearest, axis=1)
        share = np.exp(-0.5 * (near - near[:, :1]) / self.heat[:, None].astype(np.float64) ** 2)
        own = np.take_along_axis(amounts, nearest[..., None], axis=1)
        together = np.einsum("bl,blk->bk", share / share.sum(axis=1, keepdims=True), own)
        return _unit(np.einsum("bl,blq->bq", np.where(agree < 0, -share, share), taken)), together

    def displacements(self, amounts: Floats) -> Floats:
        """Return the displacements (N, 3) of the rest shape where each bone adds its amounts (B, K + D)."""
        if self.corrections is None:
            return np.zeros((len(self.weights), 3))
        each = self.per_vertex(amounts[:, : self.correction_count])
        return np.asarray(np.einsum("nc,cnx->nx", each, np.asarray(self.corrections)))

    def per_vertex(self, amounts: Floats) -> Floats:
        """Return how much (N, A) each vertex has of what its bones have (B, A)."""
        return np.asarray(np.einsum("nk,nkc->nc", self.weights, amounts[self.influences]))

    def with_constant(self) -> LearnedBones:
        """Return bones that always have one of the next component, e.g. of the mean heights."""
        one, none = np.ones((*self.offsets.shape[:2], 1)), np.zeros((*self.coefficients.shape[:3], 1))
        return replace(
            self,
            offsets=np.concatenate([self.offsets, one], axis=2).astype(np.float32),
            coefficients=np.concatenate([self.coefficients, none], axis=3).astype(np.float32),
        )

    def packed(self, bits: int) -> LearnedBones:
        """Return the bones with their corrections packed in 32, 16 or 8 bits per number."""
        if self.corrections is None:
            return self
        return replace(self, corrections=PackedBasis.pack(np.asarray(self.corrections), bits, full=True))


def require_control_points(skeleton: Skeleton, bones: LearnedBones) -> None:
    """Raise unless a skeleton is a root and, below it, a joint for each control point where it rests."""
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
    """Numbers from 0 on, each row of them scaled to sum to one."""
    found = check.floats(name, value, shape, check.LARGEST)
    total = found.sum(axis=-1, keepdims=True, dtype=np.float64)
    if not (found.size and found.min() >= 0 and total.min() > 1e-30):
        raise InputError(f"{name}: expected numbers of at least 0 that do not sum to 0")
    if np.abs(total - 1).max() > 1e-6:
        found = found / total
        found.flags.writeable = False
    return found


def _unit(quaternions: Floats) -> Floats:
    """Quaternions (..., 4) at unit length; one of no length stands for no rotation."""
    length = np.linalg.norm(quaternions, axis=-1, keepdims=True)
    lost = length < 1e-12
    return np.where(lost, rotations.IDENTITY, quaternions / np.where(lost, 1.0, length))
