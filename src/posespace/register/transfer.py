"""Deformation transfer (Sumner and Popović 2004): the deformation of one mesh applied to another of any topology.

Each target triangle follows a source triangle: it should have the same deformation gradient. One sparse least-squares
solve, weighted by area, gives the vertices; it is factored once for all poses.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu
from scipy.spatial import KDTree

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.geometry.cholesky import BlockCholesky
from posespace.geometry.edges import edges_of
from posespace.geometry.gradients import adjacent, gradient_operator, solid, surface_gradients
from posespace.geometry.normals import area_vectors, vertex_sums
from posespace.mesh import Mesh

_HELD = 1e-6
_LINKS = 4
"""Pairs of vertices that hold a loose part, such as an eye, to the largest one."""


def transfer(
    source_rest: Mesh,
    source_posed: ArrayLike,
    target_rest: Mesh,
    correspondence: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
) -> Floats:
    """Apply the deformation of one mesh to another.

    Parameters
    ----------
    source_rest : the mesh that is deformed
    source_posed : (S, 3) its points in one pose, or (P, S, 3) in many: the solve is factored once
    target_rest : the mesh to deform, at rest in about the same pose
    correspondence : (T,) for each triangle of the target the triangle of the source that it follows, -1 for none: such
        a triangle takes the mean gradient of its neighbours. None: both have the same triangles.
        `triangle_correspondence` finds one
    rotation : (3, 3) from the source's axes to the target's; None: they are the same

    Returns
    -------
    points : (N, 3) or (P, N, 3) of the target. The whole moves as the source's middle does, in proportion to its size
    """
    check.kind("source_rest", source_rest, Mesh)
    check.kind("target_rest", target_rest, Mesh)
    shape = source_rest.points.shape
    single = np.ndim(source_posed) == 2
    posed = check.floats("source_posed", source_posed, shape if single else ("P", *shape), check.LARGEST)
    poses = posed[None] if single else posed
    follows = _checked(source_rest, target_rest, correspondence)
    transferred = Transfer(source_rest, target_rest, follows, rotation)
    shapes = [transferred(pose) for pose in poses]
    points = np.stack(shapes) if shapes else np.zeros((0, *target_rest.points.shape))
    return points[0] if single else points


class Transfer:
    """Deformation transfer from one mesh to another, factored once.

    Parameters
    ----------
    source, target : the meshes at rest
    follows : (T,) the source's triangle that each of the target's follows, -1 for none
    rotation : (3, 3) from the source's axes to the target's; None: they are the same
    """

    def __init__(self, source: Mesh, target: Mesh, follows: Ints, rotation: ArrayLike | None = None) -> None:
        self._source, self._target = source, target
        self._rotation = np.eye(3) if rotation is None else check.floats("rotation", rotation, (3, 3))
        weld = target.weld
        points = np.asarray(target.points, dtype=np.float64)[weld.first]
        corners = weld.groups[target.triangles]
        good = solid(points, corners)
        if not len(good):
            raise InputError("target_rest: expected a mesh with triangles that have an area, got none")
        self._points, self._triangles, self._follows = points, corners[good], follows[good]
        self._known = self._follows >= 0
        if not self._known.any():
            raise InputError("correspondence: expected some triangles of the target to follow the source, got none")
        self._areas = np.linalg.norm(area_vectors(points, self._triangles), axis=1) / 2
        self._spread()
        self._slopes = gradient_operator(points, self._triangles)[:, : len(points)]
        self._link()
        self._factor()

    def _spread(self) -> None:
        """Factor the system that spreads gradients from triangles that follow the source to those that do not."""
        rows, columns = np.flatnonzero(~self._known), np.flatnonzero(self._known)
        if not len(rows):
            return
        one, other = adjacent(self._triangles).T
        pairs = sparse.csr_array((np.ones(len(one)), (one, other)), shape=(len(self._known), len(self._known)))
        sides = (pairs + pairs.T).tocsr()[rows]
        self._known_sides = sides[:, columns]
        # A small weight at the mean of all: a part that follows nothing has no neighbour with a gradient.
        self._unknown = splu((sparse.diags_array(sides.sum(axis=1) + _HELD) - sides[:, rows]).tocsc())

    def _link(self) -> None:
        """Tie loose parts to the largest one: differences of vertices (L, N) that rotate with the latter."""
        count = len(self._points)
        sides = edges_of(self._triangles).ends
        graph = sparse.coo_array((np.ones(len(sides)), (sides[:, 0], sides[:, 1])), shape=(count, count))
        parts = connected_components(graph, directed=False)[1]
        main = np.flatnonzero(parts == np.bincount(parts).argmax())
        tree = KDTree(self._points[main])
        loose, held = [], []
        gaps, nearest = map(np.asarray, tree.query(self._points))
        for part in np.unique(parts[np.setdiff1d(np.arange(count), main)]):
            vertices = np.flatnonzero(parts == part)
            chosen = vertices[np.argsort(gaps[vertices])[:_LINKS]]
            loose.append(chosen)
            held.append(main[nearest[chosen]])
        self._loose = np.concatenate(loose) if loose else np.zeros(0, np.int64)
        self._held = np.concatenate(held) if held else np.zeros(0, np.int64)
        rows = np.arange(len(self._loose))
        self._ties = sparse.csr_array((np.ones(len(rows)), (rows, self._loose)), shape=(len(rows), count))
        self._ties = self._ties - sparse.csr_array((np.ones(len(rows)), (rows, self._held)), shape=(len(rows), count))

    def _factor(self) -> None:
        weights = sparse.diags_array(np.repeat(self._areas, 3))
        self._right = (self._slopes.T @ weights).tocsr()
        # A vertex without a triangle follows the nearest vertex, by its ties.
        matrix = self._right @ self._slopes + self._ties.T @ self._ties
        # The translation of the whole is free: one vertex is fixed, and the whole is translated afterwards.
        size = matrix.diagonal().mean()
        hold = sparse.coo_array(([size], ([0], [0])), shape=matrix.shape)
        lower = sparse.tril(matrix + hold + 1e-12 * size * sparse.eye_array(matrix.shape[0]), format="coo")
        rows, columns = lower.row.astype(np.int64), lower.col.astype(np.int64)
        self._cholesky = BlockCholesky(self._points, rows, columns, width=1)
        if not self._cholesky.factor(lower.data[:, None, None]):
            raise InputError("target_rest: its triangles are too thin to be solved for; remesh it")

    def __call__(self, posed: Floats) -> Floats:
        """Return the target's points (N, 3) for the source's `posed` points (S, 3)."""
        source, rotation = self._source, self._rotation
        rest, moved = np.asarray(source.points, dtype=np.float64), np.asarray(posed, dtype=np.float64)
        wanted: Floats = rotation @ surface_gradients(rest, source.triangles, moved)[self._follows] @ rotation.T
        wanted = self._filled(wanted)
        right = self._right @ wanted.transpose(0, 2, 1).reshape(-1, 3)
        if len(self._loose):
            count = len(self._points)
            fans = np.maximum(np.bincount(self._triangles.ravel(), minlength=count), 1)
            around = vertex_sums(wanted.reshape(-1, 9), self._triangles, count) / fans[:, None]
            offset = self._points[self._loose] - self._points[self._held]
            right += self._ties.T @ np.einsum("lij,lj->li", around[self._held].reshape(-1, 3, 3), offset)
        points = self._cholesky.backsolve(right)
        share = self._target.diagonal / max(source.diagonal, 1e-300)
        goal = self._points.mean(axis=0) + share * rotation @ (moved.mean(axis=0) - rest.mean(axis=0))
        return np.asarray(self._target.weld.scatter(points - points.mean(axis=0) + goal))

    def _filled(self, wanted: Floats) -> Floats:
        """Gradients (T, 3, 3), those that follow nothing the mean of their neighbours'."""
        if self._known.all():
            return wanted
        known = wanted[self._known].reshape(-1, 9)
        right = self._known_sides @ known + _HELD * known.mean(axis=0)
        filled = wanted.copy()
        filled[~self._known] = self._unknown.solve(np.ascontiguousarray(right)).reshape(-1, 3, 3)
        return filled


def _checked(source: Mesh, target: Mesh, correspondence: ArrayLike | None) -> Ints:
    count, most = len(target.triangles), len(source.triangles)
    if correspondence is None:
        if most != count:
            raise InputError(f"correspondence: the source has {most} triangles, the target {count}; give one")
        return np.arange(count, dtype=np.int32)
    return check.indices("correspondence", correspondence, (count,), below=most, least=-1)
