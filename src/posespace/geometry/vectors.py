"""Vectors of three numbers, compiled: what the kernels of this room are written with."""

from __future__ import annotations

from typing import Any

from posespace.jit import njit


@njit()
def minus(a: Any, b: Any) -> Any:
    """Return a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@njit()
def dot(a: Any, b: Any) -> float:
    """Return the inner product."""
    return float(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


@njit()
def cross(a: Any, b: Any) -> Any:
    """Return the cross product."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@njit()
def normal(a: Any, b: Any, c: Any) -> Any:
    """Return the normal of a triangle, twice as long as its area."""
    return cross(minus(b, a), minus(c, a))


@njit()
def agree(m: Any, n: Any, cosine: float) -> bool:
    """Return whether two normals, neither zero nor unit, enclose less than the angle of a cosine."""
    squares = dot(m, m) * dot(n, n)
    return bool(squares > 0 and dot(m, n) > cosine * squares**0.5)
