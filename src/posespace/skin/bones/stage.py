"""BoneStage: from a pose to the transforms of bones; what callers ask of any bones without knowing their kind.

`skeleton.py` and `learned.py` have the two kinds. Bones are data: the rig that they move is given to every method.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Ints
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.rig import Rig
from posespace.skin.basis import PackedBasis

Posed = TypeVar("Posed", bound=Pose | Motion)


class Binding(NamedTuple):
    """How bones move vertices.

    Parameters
    ----------
    influences, weights : (N, K) the bones that move each vertex, and their weights
    bone_count : B
    """

    influences: Ints
    weights: Floats
    bone_count: int

    def per_vertex(self, amounts: Floats) -> Floats:
        """Return the amounts (N, A) of each vertex: those of its bones (B, A), blended by its weights."""
        return np.asarray(np.einsum("nk,nkc->nc", self.weights, amounts[self.influences]))


class Corrections(NamedTuple):
    """Displacements of the rest shape, of which each bone has an amount.

    Parameters
    ----------
    displacements : (K, N, 3) per unit of each amount
    limits : (N,) the largest displacement of each vertex; see `posespace.skin.bound`
    """

    displacements: Floats
    limits: Floats

    @classmethod
    def none(cls, vertices: int) -> Corrections:
        """Return no corrections of N vertices; the limits are above 0, as one divides by them."""
        return cls(np.zeros((0, vertices, 3)), np.full(vertices, np.finfo(np.float32).tiny, np.float64))

    def at(self, amounts: Floats) -> Floats:
        """Return the displacements (N, 3) for amounts (N, K) of each vertex, within the limits.

        Each vertex is limited by itself: one bone's excess must not weaken the others.
        """
        displaced = np.einsum("nc,cnx->nx", amounts, self.displacements)
        over = np.linalg.norm(displaced, axis=1) / self.limits
        return np.asarray(displaced / np.maximum(over, 1.0)[:, None])


class StoredBones(NamedTuple):
    """What a file stores of bones besides the rig, by name; nothing for a skeleton."""

    arrays: Mapping[str, NDArray[Any] | PackedBasis]
    numbers: Mapping[str, float]


@runtime_checkable
class BoneStage(Protocol):
    """The bones of a skin, and what they add to the surface besides their transforms."""

    @property
    def points(self) -> Ints:
        """(M,) int32, the vertices that control points are on; (0,) where joints make the pose."""
        ...

    @property
    def centres(self) -> Floats:
        """(B, 3) where bones are at rest that are no joints of the rig; (0, 3) where its joints are the bones."""
        ...

    @property
    def correction_count(self) -> int:
        """K, how many corrections each bone has an amount of."""
        ...

    @property
    def detail_count(self) -> int:
        """D, how many components of the skin's detail each bone has an amount of."""
        ...

    def joints_without_rotation(self, rig: Rig) -> tuple[str, ...]:
        """Return the joints whose rotations, and limits of these, do nothing."""
        ...

    def require_fit(self, rig: Rig) -> None:
        """Raise unless the bones can move a rig."""
        ...

    def binding(self, rig: Rig) -> Binding:
        """Return how the bones move the vertices of a rig."""
        ...

    def drive(self, pose: Pose, rig: Rig) -> tuple[Floats, Floats]:
        """Return the transforms (B, 3, 4) of the bones, rest to posed space, and their amounts (B, K + D)."""
        ...

    def aligned(self, pose: Posed, rig: Rig) -> tuple[Posed, Floats, Floats]:
        """Return a pose, or a motion, without the rigid motion of the whole, and that motion: (..., 3, 3), (..., 3).

        What is known to be relative to the whole already is returned unchanged.
        """
        ...

    def links(self, rig: Rig) -> Ints | None:
        """Return the joint (J,) that each joint of a rig is linked to in pose spaces; None: its motion tells."""
        ...

    def corrections_of(self, rig: Rig) -> Corrections:
        """Return the corrections of a rig's vertices, with K = 0 where there are none."""
        ...

    def packed(self, bits: int) -> Self:
        """Return the bones with their corrections packed in 32, 16 or 8 bits per number."""
        ...

    def stored(self) -> StoredBones:
        """Return what a file stores of the bones."""
        ...

    def figures(self) -> dict[str, Any]:
        """Return the figures that `posespace info` shows of the bones."""
        ...
