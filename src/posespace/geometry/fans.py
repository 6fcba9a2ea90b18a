"""The triangles around each vertex while edges of a closed surface are collapsed and flipped, compiled.

`fans` (N, W) are the triangles around each vertex, with room to grow, and `degrees` (N,) how many there are. What is
collapsed or flipped is for the caller to decide: these kernels keep the surface a surface.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from posespace.check import Ints
from posespace.jit import njit

_ROOM = 12
"""By how many triangles a fan may grow beyond the largest there is."""


@njit()
def fans_of(triangles: Ints, count: int) -> Any:
    """Return the fans (N, W) and degrees (N,) of `count` vertices of triangles (T, 3)."""
    degrees = np.zeros(count, np.int32)
    for t in range(len(triangles)):
        for k in range(3):
            degrees[triangles[t, k]] += 1
    fans = np.full((count, degrees.max() + _ROOM), -1, np.int32)
    degrees[:] = 0
    for t in range(len(triangles)):
        for k in range(3):
            _join(fans, degrees, triangles[t, k], t)
    return fans, degrees


@njit()
def _join(fans: Ints, degrees: Ints, vertex: int, t: int) -> None:
    fans[vertex, degrees[vertex]] = t
    degrees[vertex] += 1


@njit()
def _leave(fans: Ints, degrees: Ints, vertex: int, t: int) -> None:
    for k in range(degrees[vertex]):
        if fans[vertex, k] == t:
            degrees[vertex] -= 1
            fans[vertex, k] = fans[vertex, degrees[vertex]]
            return


@njit()
def sides_of(a: int, b: int, triangles: Ints, fans: Ints, degrees: Ints) -> Any:
    """Return the triangle that runs from a to b and the one that runs from b to a; -1 where there is none."""
    forward, backward = -1, -1
    for i in range(degrees[a]):
        t = fans[a, i]
        for k in range(3):
            if triangles[t, k] == a:
                if triangles[t, (k + 1) % 3] == b:
                    forward = t
                if triangles[t, (k + 2) % 3] == b:
                    backward = t
    return forward, backward


@njit()
def third(triangles: Ints, t: int, a: int, b: int) -> int:
    """Return the corner of triangle t that is neither a nor b."""
    return int(triangles[t, 0] + triangles[t, 1] + triangles[t, 2] - a - b)


@njit()
def would_pinch(a: int, b: int, triangles: Ints, fans: Ints, degrees: Ints) -> bool:
    """Return whether the surface would touch itself if edge a b collapsed: more than two neighbours are common."""
    common = 0
    for i in range(degrees[a]):
        # On a closed surface each neighbour follows a in exactly one triangle around it.
        for k in range(3):
            if triangles[fans[a, i], k] == a:
                neighbour = triangles[fans[a, i], (k + 1) % 3]
                common += neighbour != b and sides_of(b, neighbour, triangles, fans, degrees)[0] >= 0
    return bool(common != 2)


@njit()
def merge(a: int, b: int, triangles: Ints, fans: Ints, degrees: Ints) -> None:
    """Make b one with a. The two triangles between them go: their corners become -1."""
    for i in range(degrees[b]):
        t = fans[b, i]
        if a in (triangles[t, 0], triangles[t, 1], triangles[t, 2]):
            for k in range(3):
                if triangles[t, k] != b:
                    _leave(fans, degrees, triangles[t, k], t)
            triangles[t] = -1
        else:
            for k in range(3):
                if triangles[t, k] == b:
                    triangles[t, k] = a
            _join(fans, degrees, a, t)
    degrees[b] = 0


@njit()
def flip(a: int, b: int, triangles: Ints, fans: Ints, degrees: Ints) -> None:
    """Replace edge a b by the one between the two corners that face it."""
    forward, backward = sides_of(a, b, triangles, fans, degrees)
    c, d = third(triangles, forward, a, b), third(triangles, backward, a, b)
    triangles[forward, 0], triangles[forward, 1], triangles[forward, 2] = a, d, c
    triangles[backward, 0], triangles[backward, 1], triangles[backward, 2] = d, b, c
    _leave(fans, degrees, a, backward)
    _leave(fans, degrees, b, forward)
    _join(fans, degrees, c, backward)
    _join(fans, degrees, d, forward)
