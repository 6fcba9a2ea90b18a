"""Displacement bases: as arrays, or packed: each component only at the vertices it moves, in 32, 16 or 8 bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from posespace import check
from posespace.check import Floats, Floats32, Ints
from posespace.errors import InputError

_TYPES: dict[int, type[np.generic]] = {32: np.float32, 16: np.int16, 8: np.int8}


@dataclass(frozen=True, eq=False)
class PackedBasis:
    """The displacements (C, S, 3) of C components on a support of S vertices, without those that are zero.

    Parameters
    ----------
    vertices : S
    starts : (C + 1,) where each component's entries begin, and where the last one's end
    rows : (E,) for each entry the vertex, by its index in the support, ascending within a component; (0,) where every
        component has all vertices
    values : (E, 3) float32, int16 or int8
    scales : (C,) float32, the length of one unit of each component's values
    """

    vertices: int
    starts: Ints
    rows: NDArray[np.integer]
    values: NDArray[Any]
    scales: NDArray[np.float32]

    def __post_init__(self) -> None:
        entries = len(self.values)
        starts = check.indices("basis starts", self.starts, ("C",), below=entries + 1)
        if len(starts) < 1 or starts[0] != 0 or starts[-1] != entries or (np.diff(starts) < 0).any():
            raise InputError(f"basis starts: expected ascending from 0 to the {entries} entries")
        rows = np.asarray(self.rows)
        full = len(rows) == 0 and bool((np.diff(starts) == self.vertices).all())
        if rows.dtype.kind not in "iu" or (rows.shape != (entries,) and not full):
            raise InputError(f"basis rows: expected {entries} whole numbers, got {rows.dtype} of shape {rows.shape}")
        if rows.size and not (rows.min() >= 0 and rows.max() < self.vertices):
            raise InputError(f"basis rows: expected vertices below {self.vertices}")
        falls = np.flatnonzero(np.diff(rows.astype(np.int64)) <= 0) + 1
        if not np.isin(falls, starts).all():
            raise InputError("basis rows: expected ascending vertices within a component, each once")
        values = np.asarray(self.values)
        if values.shape != (entries, 3) or values.dtype not in tuple(np.dtype(kind) for kind in _TYPES.values()):
            raise InputError(f"basis values: expected float32, int16 or int8 of shape ({entries}, 3)")
        if values.dtype == np.float32:
            check.floats("basis values", values, (entries, 3), check.LARGEST)
        scales = check.floats("basis scales", self.scales, (len(starts) - 1,), check.LARGEST)
        size = max(float(values.max(initial=0)), -float(values.min(initial=0)))
        largest = float(np.abs(scales).max(initial=0.0)) * size
        if largest > check.LARGEST:
            raise InputError(f"basis: expected displacements of at most {check.LARGEST:g}, got {largest:g}")
        for name, array in (("starts", starts), ("rows", rows), ("values", values), ("scales", scales)):
            object.__setattr__(self, name, array)

    @classmethod
    def pack(cls, dense: Floats, bits: int = 32, full: bool = False) -> PackedBasis:
        """Pack displacements (C, S, 3), leaving out zero ones; 16 and 8 bits have one scale per component.

        With `full` none is left out, and `rows` are not needed.
        """
        check.bits(bits)
        values = check.floats("basis", dense, ("C", "S", 3)).astype(np.float32)
        largest = np.abs(values).max(axis=(1, 2), initial=0.0)
        kept = (values != 0).any(axis=2)
        scales = np.ones(len(values), dtype=np.float32)
        if bits < 32:
            steps = np.iinfo(_TYPES[bits]).max  # type: ignore[type-var]
            scales = np.where(largest > 0, largest / steps, 1).astype(np.float32)
            values = np.rint(values / scales[:, None, None]).astype(_TYPES[bits])
            kept = (values != 0).any(axis=2)
        kept |= full
        starts = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int32)
        small: DTypeLike = np.uint16 if values.shape[1] <= 2**16 else np.uint32
        rows = np.zeros(0, small) if full else np.nonzero(kept)[1].astype(small)
        return cls(values.shape[1], starts, rows, values[kept], scales)

    @property
    def shape(self) -> tuple[int, int, int]:
        """(C, S, 3), as if it were stored in full."""
        return len(self.scales), self.vertices, 3

    @property
    def size(self) -> int:
        """The number of stored numbers, those of the entries alone."""
        return int(self.values.size)

    @property
    def nbytes(self) -> int:
        """Bytes of all its arrays."""
        return sum(array.nbytes for array in (self.starts, self.rows, self.values, self.scales))

    @property
    def bits(self) -> int:
        """Bits per number: 32, 16 or 8."""
        return 8 * int(self.values.dtype.itemsize)

    @property
    def entry_rows(self) -> NDArray[np.integer]:
        """`rows`, in full."""
        return self.rows if len(self.rows) else np.tile(np.arange(self.vertices), len(self.scales))[: len(self.values)]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the displacements (C, S, 3) in full."""
        dense = np.zeros(self.shape, dtype=np.float32)
        component = np.repeat(np.arange(len(self.scales)), np.diff(self.starts))
        dense[component, self.entry_rows] = self.values * self.scales[component, None]
        return dense if dtype is None else dense.astype(dtype)

    def combine(self, coordinates: Floats) -> Floats:
        """Return the displacements (S, 3) at coordinates (C,)."""
        weights = np.repeat(coordinates * self.scales, np.diff(self.starts))
        rows = self.entry_rows
        sums = [np.bincount(rows, weights * axis, minlength=self.vertices) for axis in self.values.T]
        return np.stack(sums, axis=1)

    def __getitem__(self, columns: slice) -> PackedBasis:
        """Return some components that follow one another, e.g. `basis[:3]`."""
        first, last, step = columns.indices(len(self.scales))
        if step != 1:
            raise InputError(f"basis: expected components that follow one another, got a step of {step}")
        starts = self.starts[first : max(first, last) + 1]
        entries = slice(int(starts[0]), int(starts[-1]))
        part = self.scales[first : max(first, last)]
        return PackedBasis(self.vertices, starts - starts[0], self.rows[entries], self.values[entries], part)


Basis = Floats | PackedBasis
"""A basis (C, S, 3), as an array or packed."""


def checked_basis(name: str, basis: Basis, shape: tuple[int, ...]) -> Basis:
    """Return `basis` if it has this shape and its numbers are not too large."""
    if not isinstance(basis, PackedBasis):
        return check.floats(name, basis, shape, check.LARGEST)
    if basis.shape != shape:
        raise InputError(f"{name}: expected shape {shape}, got {basis.shape}")
    return basis


def widened(basis: Basis, support: Ints, wider: Ints) -> Floats32:
    """Return a basis (C, S, 3) on a `wider` support, zero where it had none; both supports are ascending."""
    wide = np.zeros((basis.shape[0], len(wider), 3), dtype=np.float32)
    wide[:, np.searchsorted(wider, support)] = np.asarray(basis)
    return wide


def combined(basis: Basis, coordinates: Floats) -> Floats:
    """Return the displacements (S, 3) at coordinates (C,)."""
    if isinstance(basis, PackedBasis):
        return basis.combine(coordinates)
    return np.tensordot(coordinates, basis, axes=1)
