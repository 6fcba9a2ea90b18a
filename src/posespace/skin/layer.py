"""Layer and Detail: displacements that a pose drives, and the drivers that give their coordinates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace import check
from posespace.check import Floats, Floats32, Ints
from posespace.errors import InputError, quoted
from posespace.geometry.subdivision import MOST_LEVELS
from posespace.interpolate.fitted import RBFInterpolant, ShepardInterpolant
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.poses.spaces import PoseSpace
from posespace.skeleton import Skeleton
from posespace.skin.basis import PackedBasis

Interpolant = RBFInterpolant | ShepardInterpolant
Basis = Floats | PackedBasis


@dataclass(frozen=True, eq=False)
class Driver:
    """Coordinates from a pose: a pose space and the interpolant over it."""

    space: PoseSpace
    interpolant: Interpolant

    def __post_init__(self) -> None:
        have = self.interpolant.centres.shape[1]
        if have != self.space.dimensions:
            raise InputError(f"interpolant: expected {self.space.dimensions} numbers per sample, got {have}")
        if self.interpolant.metric != self.space.metric:
            raise InputError(f"interpolant: expected metric {self.space.metric!r}, got {self.interpolant.metric!r}")
        if not self.components:
            raise InputError("interpolant: expected at least one component, got none")
        if self.interpolant.flat:
            raise InputError("interpolant: expected a column of weights or values per component, got one dimension")

    @property
    def components(self) -> int:
        """How many coordinates it gives: one for each component of a layer."""
        return self.interpolant.columns

    def coordinates(
        self, pose: Pose | Motion, skeleton: Skeleton, parts: tuple[Floats, Floats] | None = None
    ) -> Floats:
        """Return the coordinates (C,) of a pose, or (P, C) of a motion; its `parts` may be known: see `Parts.of`."""
        with np.errstate(over="ignore", invalid="ignore"):
            where = self.space.coordinates(pose, skeleton, parts)
            values: Floats = self.interpolant(where[None])[0] if isinstance(pose, Pose) else self.interpolant(where)
        check.ordinary(f"coordinates over {quoted(', '.join(self.space.names))}", values)
        return values

    def truncated(self, components: int) -> Driver:
        """Return a driver of at most the first `components` coordinates (at least 1)."""
        made = self.interpolant
        if components >= self.components:
            return self
        if isinstance(made, RBFInterpolant):
            return replace(self, interpolant=replace(made, weights=made.weights[:, :components]))
        return replace(self, interpolant=replace(made, values=made.values[:, :components]))


@dataclass(frozen=True, eq=False)
class Layer:
    """Displacements of some vertices, driven by a pose space and added in the rest shape.

    Parameters
    ----------
    name : the joints, controls or region it is for
    driver : pose to coordinates (C,)
    support : (S,) int32, the vertices it moves, ascending
    basis : (C, S, 3) the displacement of each vertex per unit of each coordinate, as an array or packed
    normal_basis : (C, S, 3) or None, the same for the rest normals
    normal_driver : the driver of `normal_basis` where it has its own; None: it shares `driver`
    """

    name: str
    driver: Driver
    support: Ints
    basis: Basis
    normal_basis: Basis | None = None
    normal_driver: Driver | None = None

    def __post_init__(self) -> None:
        support = check.indices(f"layer {self.name!r} support", self.support, ("S",), below=2**31)
        if (np.diff(support) <= 0).any():
            raise InputError(f"layer {self.name!r} support: expected ascending vertices, each once")
        object.__setattr__(self, "support", support)
        shape = (self.driver.components, len(support), 3)
        object.__setattr__(self, "basis", checked_basis(f"layer {self.name!r} basis", self.basis, shape))
        if self.normal_basis is not None:
            count = (self.normal_driver or self.driver).components
            normal = checked_basis(f"layer {self.name!r} normal_basis", self.normal_basis, (count, *shape[1:]))
            object.__setattr__(self, "normal_basis", normal)
        elif self.normal_driver is not None:
            raise InputError(f"layer {self.name!r}: it has a normal driver but no normal basis")

    def packed(self, bits: int) -> Layer:
        """Return the layer with its bases packed in 32, 16 or 8 bits per number."""
        normal = None if self.normal_basis is None else PackedBasis.pack(np.asarray(self.normal_basis), bits)
        return replace(self, basis=PackedBasis.pack(np.asarray(self.basis), bits), normal_basis=normal)

    def truncated(self, components: int, truncate: Callable[[Driver], Driver]) -> Layer:
        """Return the layer with at most its first `components` (at least 1); `truncate` does the same to a driver."""
        normal = None if self.normal_basis is None else self.normal_basis[:components]
        own = None if self.normal_driver is None else truncate(self.normal_driver)
        return Layer(self.name, truncate(self.driver), self.support, self.basis[:components], normal, own)


def checked_basis(name: str, basis: Basis, shape: tuple[int, ...]) -> Basis:
    """Return a basis that has this shape and ordinary numbers."""
    if not isinstance(basis, PackedBasis):
        return check.floats(name, basis, shape, check.LARGEST)
    if basis.shape != shape:
        raise InputError(f"{name}: expected shape {shape}, got {basis.shape}")
    return basis


def widened(basis: Basis, support: Ints, wider: Ints) -> Floats32:
    """Return a basis (C, S, 3) on a support that holds its own, zero elsewhere; both supports are ascending."""
    wide = np.zeros((basis.shape[0], len(wider), 3), dtype=np.float32)
    wide[:, np.searchsorted(wider, support)] = np.asarray(basis)
    return wide


def combined(basis: Basis, coordinates: Floats) -> Floats:
    """Displacements (S, 3) of coordinates (C,)."""
    if isinstance(basis, PackedBasis):
        return basis.combine(coordinates)
    return np.tensordot(coordinates, basis, axes=1)


@dataclass(frozen=True, eq=False)
class Detail:
    """Fine relief: the skinned surface subdivided, then moved along its normals by driven heights.

    Parameters
    ----------
    levels : how often the surface is subdivided, 0 to 6
    driver : pose to coordinates (C,); None: learned bones, each with its own
    heights : (C, F) height of each fine vertex per unit of each coordinate, in the mesh's unit; or whole numbers of 16
        or 8 bits, to be multiplied by `scales`
    scales : (C,) the length of one unit of each component's heights, or None where they are lengths
    """

    levels: int
    driver: Driver | None
    heights: NDArray[Any]
    scales: Floats | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.levels <= MOST_LEVELS:
            raise InputError(f"detail levels: expected 0 to {MOST_LEVELS}, got {self.levels}")
        count = len(self.heights) if self.driver is None else self.driver.components
        if self.scales is None:
            heights = check.floats("detail heights", self.heights, (count, "F"), check.LARGEST)
        else:
            heights = _whole(self.heights, count)
            object.__setattr__(self, "scales", check.floats("detail scales", self.scales, (count,), check.LARGEST))
        object.__setattr__(self, "heights", heights)

    def raised(self, coordinates: Floats) -> Floats:
        """Return the heights (F,) of coordinates (C,), or (F, C) where each vertex has its own."""
        shares = coordinates if self.scales is None else coordinates * self.scales
        return np.asarray(shares @ self.heights if shares.ndim == 1 else np.einsum("fc,cf->f", shares, self.heights))

    def packed(self, bits: int) -> Detail:
        """Return the detail with its heights in 32, 16 or 8 bits per number."""
        if check.bits(bits) == 32:
            heights = self.heights if self.scales is None else self.heights * self.scales[:, None]
            return replace(self, heights=heights.astype(np.float32), scales=None)
        plain = self.packed(32).heights
        most = 2 ** (bits - 1) - 1
        scales = np.abs(plain).max(axis=1, initial=0.0).astype(np.float64) / most
        whole = np.rint(plain / np.where(scales > 0, scales, 1.0)[:, None])
        return replace(self, heights=whole.astype(f"i{bits // 8}"), scales=scales)


def _whole(heights: NDArray[Any], count: int) -> NDArray[Any]:
    """Heights (C, F) in whole numbers, read-only."""
    found = np.asarray(heights)
    if found.dtype not in (np.int16, np.int8) or found.ndim != 2 or len(found) != count:
        wanted = f"whole numbers of 16 or 8 bits of shape ({count}, F)"
        raise InputError(f"detail heights: expected {wanted}, got {found.dtype} of shape {found.shape}")
    view = found.view()
    view.flags.writeable = False
    return view
