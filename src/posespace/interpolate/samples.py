"""Samples: checked points of a pose space and the values there, ready for an interpolator to fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posespace.check import floats
from posespace.errors import InputError
from posespace.interpolate.distances import COINCIDENT, Array, axis_count, closest


class SingularError(InputError):
    """The samples do not determine an interpolant; the message names them and the remedy."""


class Samples(NamedTuple):
    """Checked samples: points (M, D), values (M, C), and their original shape and `order` (M,)."""

    points: Array
    values: Array
    metric: str
    names: Sequence[str] | None
    flat: bool
    order: NDArray[np.int64]

    @classmethod
    def check(
        cls, samples: ArrayLike, values: ArrayLike, metric: str, names: Sequence[str] | None, origin: int = 0
    ) -> Samples:
        """Check samples (M, D) and values (M, C) or (M,) as they were given, and bring sample `origin` to the front."""
        points = np.array(floats("samples", samples, ("M", "D")), dtype=np.float64)
        if not points.size:
            raise InputError(f"samples: expected at least 1 with at least 1 axis, got shape {points.shape}")
        axis_count(points.shape[1], metric)
        flat = np.ndim(values) == 1
        checked = floats("values", values, (len(points),) if flat else (len(points), "C"))
        if names is not None and len(names) != len(points):
            raise InputError(f"names: expected {len(points)}, one per sample, got {len(names)}")
        order = np.concatenate([[origin], np.delete(np.arange(len(points)), origin)])
        rows = np.array(checked, dtype=np.float64).reshape(len(points), -1)
        return cls(points[order], rows[order], metric, names, flat, order)

    def in_given_order(self, rows: Array) -> Array:
        """Return rows (M, C) as the samples were given."""
        ordered = np.empty_like(rows)
        ordered[self.order] = rows
        return ordered

    def as_given(self, columns: Array) -> Array:
        """Return (N, C) as it is, or its one column (N,) where the values came as (M,)."""
        return columns[:, 0].copy() if self.flat else columns

    def name(self, index: int) -> str:
        """Return the name of a sample for a message."""
        number = int(self.order[index])
        return str(number) if self.names is None else repr(self.names[number])

    def check_apart(self, gaps: Array) -> None:
        """Raise where two samples coincide, by the distances `gaps` (M, M) between them."""
        first, second = closest(gaps)
        if first != second and gaps[first, second] <= COINCIDENT * gaps.max():
            raise SingularError(
                f"samples {self.name(first)} and {self.name(second)} coincide in the pose space; move or remove one"
            )
