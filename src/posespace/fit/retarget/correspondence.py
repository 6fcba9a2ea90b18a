"""Which place on one rest shape corresponds to each vertex of another: the same, none, or the closest point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.geometry.surface import Surface
from posespace.mesh import Mesh
from posespace.rig import Rig

KINDS = ("auto", "same", "padding", "closest")


@dataclass(frozen=True, eq=False)
class Correspondence:
    """For each vertex of one mesh three vertices of another, and their shares.

    Parameters
    ----------
    kind : how it was found
    corners : (N, 3) vertices of the other mesh
    shares : (N, 3) that sum to one, or to zero where a vertex has no counterpart
    """

    kind: str
    corners: Ints
    shares: Floats

    def carry(self, values: Floats) -> Floats:
        """Return values (K, N, 3) at the vertices from values (K, M, 3) at those of the other mesh."""
        found: Floats = sum(self.shares[:, [k]] * values[:, self.corners[:, k]] for k in range(3))  # type: ignore[assignment]
        return found


def correspond(to: Rig, of: Rig, kind: str = "auto") -> Correspondence:
    """Return the place on the rest shape of `of` that corresponds to each vertex of `to`.

    Parameters
    ----------
    kind : "same": vertex by vertex; "padding": vertex by vertex, and none for those that `of` lacks, as in the paper;
        "closest": the closest point, after joints of one name have been laid onto each other; "auto": "same" where both
        have the same triangles, else "closest"
    """
    count, have = len(to.mesh.points), len(of.mesh.points)
    if kind == "auto":
        kind = "same" if np.array_equal(to.mesh.triangles, of.mesh.triangles) and count == have else "closest"
    if kind == "same" and count != have:
        raise InputError(f"correspondence 'same': expected equal vertex counts, got {count} and {have}; use 'closest'")
    if kind == "closest":
        return Correspondence(kind, *closest_points(np.asarray(to.mesh.points, dtype=np.float64), _laid_onto(of, to)))
    own = np.minimum(np.arange(count, dtype=np.int32), have - 1)
    shares = np.zeros((count, 3))
    shares[:have, 0] = 1.0
    return Correspondence(kind, np.repeat(own[:, None], 3, axis=1), shares)


def seen_from(to: Rig, of: Rig, way: Correspondence) -> Rig:
    """Return the rest shape of `of` at the vertices of `to`, each on the bone of `of` that has the name of its own.

    Both rigs have one bone per vertex. Where `of` lacks a bone, that of the next joint above which it has is taken.
    """
    bones, names = np.zeros(len(to.skeleton), dtype=np.int32), of.skeleton.names
    for joint in to.skeleton.order:
        parent = to.skeleton.parents[joint]
        above = bones[parent] if parent >= 0 else 0
        name = to.skeleton.names[joint]
        bones[joint] = names.index(name) if name in names else above
    mesh = to.mesh.with_points(way.carry(of.mesh.points[None].astype(np.float64))[0])
    return Rig(mesh, of.skeleton, bones[to.influences], to.weights, of.inverse_bind)


def _laid_onto(rig: Rig, other: Rig) -> Mesh:
    """The rest shape of a rig moved so that its joints rest where those of the same name in another rig do.

    Along a bone the shift goes evenly from that of its joint to that of its child, so that longer bones get longer
    flesh.
    """
    skeleton, names = rig.skeleton, other.skeleton.names
    joints, others = (np.linalg.inv(each.inverse_bind.astype(np.float64))[:, :3, 3] for each in (rig, other))
    shifts = np.zeros((len(skeleton), 3))
    for joint, name in enumerate(skeleton.names):
        if name in names:
            shifts[joint] = others[names.index(name)] - joints[joint]
    points, weights = np.asarray(rig.mesh.points, dtype=np.float64), rig.dense_weights()
    moved = points.copy()
    for joint, children in enumerate(skeleton.children):
        end, end_shift = joints[joint], shifts[joint]
        if children:
            end, end_shift = joints[list(children)].mean(axis=0), shifts[list(children)].mean(axis=0)
        elif (parent := int(skeleton.parents[joint])) >= 0:
            end, end_shift = 2 * end - joints[parent], 2 * end_shift - shifts[parent]
        along = end - joints[joint]
        length = float(along @ along)
        share = np.clip((points - joints[joint]) @ along / length, 0, 1) if length > 0 else np.zeros(len(points))
        moved += weights[:, [joint]] * (shifts[joint] + share[:, None] * (end_shift - shifts[joint]))
    return rig.mesh.with_points(moved)


def closest_points(points: Floats, mesh: Mesh) -> tuple[Ints, Floats]:
    """Return the corners (N, 3) of the triangle closest to each point (N, 3), and the shares (N, 3) of the place."""
    found = Surface(mesh.points, mesh.triangles).closest(points)
    return mesh.triangles[found.triangles], found.shares
