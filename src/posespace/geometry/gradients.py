"""Deformation gradients of triangles, linear in the positions of the corners and the images of the normals.

Sumner and Popović (2004) give a triangle a fourth corner, along its normal. Here the image of the unit normal is the
unknown: the same energy, without an extra corner.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from posespace.check import Floats, Ints
from posespace.geometry.edges import edges_of
from posespace.geometry.normals import area_vectors

_FLAT = 1e-12
"""Triangles whose area is below this share of their longest edge's square have no normal."""


def solid(points: Floats, triangles: Ints) -> Ints:
    """Return the numbers (S,) of the triangles (T, 3) that have an area, and so a gradient."""
    corners = points[triangles]
    edges = corners - np.roll(corners, 1, axis=1)
    longest = (edges**2).sum(axis=2).max(axis=1, initial=0.0)
    area = np.linalg.norm(area_vectors(points, triangles), axis=1)
    return np.flatnonzero(area > _FLAT * np.maximum(longest, 1e-300)).astype(np.int32)


def gradient_operator(points: Floats, triangles: Ints) -> sparse.csr_array:
    """Return the matrix (3T, N + T) that takes corners (N, 3) and images of normals (T, 3) to gradients.

    Rows 3t to 3t + 2 of the product are the transpose of triangle t's gradient (3, 3). All triangles have an area.
    """
    count, faces = len(points), len(triangles)
    a, b, c = (points[triangles[:, k]] for k in range(3))
    vectors = area_vectors(points, triangles)
    double = np.linalg.norm(vectors, axis=1, keepdims=True)
    normals = vectors / double
    # Where a function is one at a corner and zero at the others, it grows across the opposite edge.
    slopes = [np.cross(normals, edge) / double for edge in (c - b, a - c, b - a)]
    values = np.stack([*slopes, normals], axis=2)  # (T, 3, 4)
    columns = np.concatenate([triangles, count + np.arange(faces)[:, None]], axis=1)
    rows = np.arange(3 * faces + 1) * 4
    flat = np.repeat(columns[:, None], 3, axis=1).reshape(-1)
    return sparse.csr_array((values.reshape(-1), flat.astype(np.int64), rows), shape=(3 * faces, count + faces))


def gradients(operator: sparse.csr_array, positions: Floats) -> Floats:
    """Return the gradients (T, 3, 3) of corners and images of normals `positions` (N + T, 3)."""
    matrices: Floats = np.asarray(operator @ positions).reshape(-1, 3, 3).transpose(0, 2, 1)
    return matrices


def surface_gradients(points: Floats, triangles: Ints, posed: Floats) -> Floats:
    """Return the gradients (T, 3, 3) from points (N, 3) to posed ones; a normal grows as the root of the area.

    A triangle that has no area before has the identity.
    """
    good = solid(points, triangles)
    deformation = np.tile(np.eye(3), (len(triangles), 1, 1))
    chosen = triangles[good]
    operator = gradient_operator(points, chosen)
    after = area_vectors(posed, chosen)
    before = np.linalg.norm(area_vectors(points, chosen), axis=1, keepdims=True)
    # As in Sumner and Popović: the cross product over the root of its length.
    length = np.linalg.norm(after, axis=1, keepdims=True)
    images = after / np.sqrt(np.maximum(length, 1e-300) * before)
    deformation[good] = gradients(operator, np.concatenate([posed, images]))
    return deformation


def nearest_rotations(matrices: Floats) -> Floats:
    """Return the rotations (T, 3, 3) nearest to matrices (T, 3, 3)."""
    left, _, right = np.linalg.svd(matrices)
    left[..., 2] *= np.sign(np.linalg.det(left @ right))[:, None]
    nearest: Floats = left @ right
    return nearest


def adjacent(triangles: Ints) -> Ints:
    """Return pairs (A, 2) of triangles (T, 3) that share an edge; where more than two meet, each with the next."""
    edges = edges_of(triangles)
    order = np.argsort(edges.sides.ravel(), kind="stable")
    first, second = order[:-1], order[1:]
    same = edges.sides.ravel()[first] == edges.sides.ravel()[second]
    pairs = np.stack([first[same] // 3, second[same] // 3], axis=1)
    neighbours: Ints = pairs[pairs[:, 0] != pairs[:, 1]].astype(np.int32)
    return neighbours
