"""A surface with a few fixed vertices: shared by rivals that are driven by control points alone.

The control points are met exactly, so their vertices are no unknowns; the matrix of the others is factored once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.geometry.anchors import find_anchors
from posespace.geometry.rigid import rigid
from posespace.pose import Pose
from posespace.rig import Rig
from posespace.rivals.unsaved import Unsaved

_NEAR = 1e-4
"""A control point is on a vertex if it is no farther away than this fraction of the box."""
_STILL = 1e-6
"""An example that moves no vertex farther than this fraction of the box is the rest shape."""


class HeldSurface:
    """Least squares ``|rows x - wanted|²`` over the vertices x of a surface, some of which are fixed.

    Parameters
    ----------
    rows : (R, N) sparse; each row sums to zero
    held : (C,) the fixed vertices, each once
    """

    def __init__(self, rows: csr_array, held: Ints) -> None:
        count = rows.shape[1]
        self.rows, self.held = rows, held
        self.free = np.flatnonzero(~np.isin(np.arange(count), held))
        matrix = (rows.T @ rows).tocsr()
        pieces, piece = connected_components(matrix, directed=False)
        loose = np.flatnonzero(np.bincount(piece[held], minlength=pieces) == 0)
        if len(loose):
            vertex = int(np.flatnonzero(piece == loose[0])[0])
            raise InputError(f"mesh: a piece of it, with vertex {vertex}, has no control point")
        self._coupling = matrix[self.free][:, held]
        inner = matrix[self.free][:, self.free].tocsc()
        self._factor = splu(inner, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def __call__(self, wanted: Floats, positions: Floats) -> Floats:
        """Return the vertices (N, 3) for `wanted` (R, 3), with the fixed ones at `positions` (C, 3)."""
        result = np.empty((self.rows.shape[1], 3))
        result[self.held] = positions
        right = (self.rows.T @ wanted)[self.free] - self._coupling @ positions
        result[self.free] = self._factor.solve(right)
        return result

    def drawn(self, wanted: Floats) -> tuple[Floats, Floats]:
        """Return the right-hand sides and the vertices that columns of `wanted` (R, K) add: both (free, K)."""
        right = np.asarray((self.rows.T @ wanted)[self.free])
        return right, self._factor.solve(right)


@dataclass(frozen=True, eq=False)
class Handles:
    """The control points of examples, as vertices of a surface without seams.

    Parameters
    ----------
    rig : a root and, below it, one joint per control point, each resting on a vertex
    joints : (C,) the joints of the control points
    held : (C,) their vertices, of those without seams
    rest : (V, 3) the rest shape, each position once
    triangles : (T, 3)
    shapes : (M, V, 3) the rest shape, then the other examples, aligned with it by their control points
    anchors : (C,) the weight of each control point in the alignment
    """

    rig: Rig
    joints: Ints
    held: Ints
    rest: Floats
    triangles: Ints
    shapes: Floats
    anchors: Floats

    @classmethod
    def of(cls, examples: Examples) -> Handles:
        """Find the vertices of the control points, and align the shapes with the rest shape."""
        rig = examples.rig
        weld, mesh = rig.mesh.weld, rig.mesh
        joints = np.flatnonzero(rig.skeleton.parents >= 0).astype(np.int32)
        rest = mesh.points[weld.first].astype(np.float64)
        positions = rig.skeleton.rest_world[joints, :3, 3]
        gaps = (
            np.stack([np.linalg.norm(rest - point, axis=1) for point in positions]) if len(joints) else np.zeros((0, 1))
        )
        held = gaps.argmin(axis=1)
        far = gaps.min(axis=1) > _NEAR * mesh.diagonal
        if len(joints) < 3 or far.any() or len(np.unique(held)) < len(held):
            which = rig.skeleton.names[joints[int(far.argmax())]] if far.any() else f"{len(joints)} of them"
            raise InputError(f"control points: expected three or more, each on a vertex of its own, got {which!r}")
        shapes = np.stack([np.asarray(examples.shapes[k])[weld.first] for k in range(len(examples))]).astype(np.float64)
        anchors = find_anchors(rest[held], shapes[:, held])[0]
        rotation, translation = rigid(rest[held], shapes[:, held], anchors)
        aligned = (shapes - translation[:, None]) @ rotation
        moved = np.abs(aligned - rest).max(axis=(1, 2)) > _STILL * mesh.diagonal
        aligned = np.concatenate([rest[None], aligned[moved]])
        triangles = weld.groups[mesh.triangles]
        distinct = (triangles != np.roll(triangles, 1, axis=1)).all(axis=1)
        return cls(rig, joints, held.astype(np.int32), rest, triangles[distinct], aligned, anchors)

    @property
    def points(self) -> Ints:
        """(C,) the vertices of the control points, of those of the rig."""
        return np.asarray(self.rig.mesh.weld.first[self.held])

    def positions(self, pose: Pose) -> tuple[Floats, Floats, Floats]:
        """Return a pose's points (C, 3), aligned with the rest shape, and the rigid motion back: (3, 3) and (3,)."""
        world = self.rig.skeleton.world(pose.rotations.astype(np.float64), pose.translations)[self.joints, :3, 3]
        rotation, translation = rigid(self.rest[self.held], world, self.anchors)
        return (world - translation) @ rotation, rotation, translation

    def nearest(self, positions: Floats) -> int:
        """Return the example whose points are nearest to `positions` (C, 3)."""
        return int(((self.shapes[:, self.held] - positions) ** 2).sum(axis=(1, 2)).argmin())

    def posed(self, shape: Floats, rotation: Floats, translation: Floats) -> tuple[Floats, Floats]:
        """Return the points and normals (N, 3) of the rig's mesh for an aligned shape (V, 3)."""
        points = (shape @ rotation.T + translation)[self.rig.mesh.weld.groups]
        return points, self.rig.mesh.normals(points)


@dataclass(frozen=True, eq=False)
class PointedSurface(Unsaved, ABC):
    """A surface driven by control points.

    Parameters
    ----------
    handles : the surface, its control points and its examples
    """

    handles: Handles

    @property
    def rig(self) -> Rig:
        """The rig."""
        return self.handles.rig

    @property
    def points(self) -> Ints:
        """(C,) the vertices of the control points."""
        return self.handles.points

    def pose(self, pose: Pose) -> tuple[Floats, Floats]:
        """Return the posed points (N, 3) and unit normals (N, 3)."""
        positions, rotation, translation = self.handles.positions(pose)
        return self.handles.posed(self.shape(positions), rotation, translation)

    @abstractmethod
    def shape(self, positions: Floats) -> Floats:
        """Return the surface (V, 3) whose control points are at `positions` (C, 3)."""


def gradient_rows(points: Floats, triangles: Ints) -> tuple[csr_array, Floats]:
    """Return the gradients of a surface as rows (2T, N), and the two tangents (T, 2, 3) of their directions.

    Rows and tangents are scaled by the root of the triangle's area, so that a sum of squares is an integral. A triangle
    of no area has zeros.
    """
    corners = points[triangles]
    e1, e2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = np.cross(e1, e2)
    double = np.linalg.norm(normal, axis=1)
    good = double > 1e-9 * max(float(double.mean()), 1e-300)
    size = np.where(good, double, 1.0)
    u = e1 / np.where(good, np.linalg.norm(e1, axis=1), 1.0)[:, None]
    v = np.cross(normal / size[:, None], u)
    root = np.sqrt(size / 2) * good
    # In the plane the corners are (0, 0), (a, 0) and (b, c); rows are the gradients of the two barycentric functions.
    a, b, c = (e1 * u).sum(axis=1), (e2 * u).sum(axis=1), (e2 * v).sum(axis=1)
    safe = np.where(good, a * c, 1.0)
    first = np.stack([c, -b], axis=1) / safe[:, None] * root[:, None]
    second = np.stack([np.zeros_like(a), a], axis=1) / safe[:, None] * root[:, None]
    values = np.stack([-first - second, first, second], axis=2)
    row = np.arange(2 * len(triangles)).reshape(-1, 2)[:, :, None]
    where = (np.broadcast_to(row, values.shape).ravel(), np.broadcast_to(triangles[:, None], values.shape).ravel())
    rows = coo_array((values.ravel(), where), shape=(2 * len(triangles), len(points))).tocsr()
    return rows, np.stack([u, v], axis=1) * root[:, None, None]
