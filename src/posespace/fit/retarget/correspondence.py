"""Correspondence of two rest shapes: each vertex of one has a vertex, a point or nothing of the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.geometry.surface import Surface
from posespace.mesh import Mesh
from posespace.rig import Rig

KINDS = ("same", "padding", "closest")


@dataclass(frozen=True, eq=False)
class Correspondence:
    """For each vertex of one mesh a point of another: three vertices and barycentric coordinates.

    Parameters
    ----------
    kind : one of `KINDS`
    corners : (N, 3) vertices of the other mesh
    shares : (N, 3) barycentric coordinates, which sum to one, or to zero where a vertex has no counterpart
    """

    kind: str
    corners: Ints
    shares: Floats

    def carry(self, values: Floats) -> Floats:
        """Return values (K, N, 3) at the vertices from values (K, M, 3) at those of the other mesh."""
        carried: Floats = sum(self.shares[:, [k]] * values[:, self.corners[:, k]] for k in range(3))  # type: ignore[assignment]
        return carried


def correspond(to: Rig, of: Rig, kind: str | None = None) -> Correspondence:
    """Return the point on the rest shape of `of` that corresponds to each vertex of `to`.

    Parameters
    ----------
    kind : "same": vertex by vertex; "padding": vertex by vertex, and none for those that `of` lacks, as in the paper;
        "closest": the closest point, after joints of one name have been moved onto each other; None: "same" where both
        have the same triangles, else "closest"
    """
    count, other_count = len(to.mesh.points), len(of.mesh.points)
    if kind is None:
        kind = "same" if np.array_equal(to.mesh.triangles, of.mesh.triangles) and count == other_count else "closest"
    if kind == "same" and count != other_count:
        counts = f"{count} and {other_count}"
        raise InputError(f"correspondence 'same': expected equal vertex counts, got {counts}; use 'closest'")
    if kind == "closest":
        return Correspondence(kind, *closest_points(np.asarray(to.mesh.points, dtype=np.float64), _fitted_onto(of, to)))
    vertices = np.minimum(np.arange(count, dtype=np.int32), other_count - 1)
    shares = np.zeros((count, 3))
    shares[:other_count, 0] = 1.0
    return Correspondence(kind, np.repeat(vertices[:, None], 3, axis=1), shares)


def seen_from(to: Rig, of: Rig, match: Correspondence) -> Rig:
    """Return the rest shape of `of` at the vertices of `to`, each on the bone with the name of its bone in `to`.

    Both rigs have one bone per vertex. Where `of` lacks a bone, that of the nearest ancestor which it has is taken.
    """
    bones, names = np.zeros(len(to.skeleton), dtype=np.int32), of.skeleton.names
    for joint in to.skeleton.order:
        parent = to.skeleton.parents[joint]
        above = bones[parent] if parent >= 0 else 0
        name = to.skeleton.names[joint]
        bones[joint] = names.index(name) if name in names else above
    mesh = to.mesh.with_points(match.carry(of.mesh.points[None].astype(np.float64))[0])
    return Rig(mesh, of.skeleton, bones[to.influences], to.weights, of.inverse_bind)


def _fitted_onto(rig: Rig, other: Rig) -> Mesh:
    """The rest shape of a rig moved so that its joints have the rest positions of those of the same name in another.

    Along a bone the translation varies linearly from that of its joint to that of its child, so that longer bones get
    longer flesh.
    """
    skeleton, names = rig.skeleton, other.skeleton.names
    joints, others = (np.linalg.inv(one.inverse_bind.astype(np.float64))[:, :3, 3] for one in (rig, other))
    translations = np.zeros((len(skeleton), 3))
    for joint, name in enumerate(skeleton.names):
        if name in names:
            translations[joint] = others[names.index(name)] - joints[joint]
    points, weights = np.asarray(rig.mesh.points, dtype=np.float64), rig.dense_weights()
    moved = points.copy()
    for joint, children in enumerate(skeleton.children):
        end, end_translation = joints[joint], translations[joint]
        if children:
            end, end_translation = joints[list(children)].mean(axis=0), translations[list(children)].mean(axis=0)
        elif (parent := int(skeleton.parents[joint])) >= 0:
            end, end_translation = 2 * end - joints[parent], 2 * end_translation - translations[parent]
        along = end - joints[joint]
        length = float(along @ along)
        share = np.clip((points - joints[joint]) @ along / length, 0, 1) if length > 0 else np.zeros(len(points))
        moved += weights[:, [joint]] * (translations[joint] + share[:, None] * (end_translation - translations[joint]))
    return rig.mesh.with_points(moved)


def closest_points(points: Floats, mesh: Mesh) -> tuple[Ints, Floats]:
    """Return corners (N, 3) and barycentric coordinates (N, 3) of the point of a mesh closest to each point (N, 3)."""
    closest = Surface(mesh.points, mesh.triangles).closest(points)
    return mesh.triangles[closest.triangles], closest.shares
