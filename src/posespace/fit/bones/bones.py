"""Virtual bones: shapes in correspondence become examples with a rig, which linear blending nearly reproduces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.fit.bones.bone_weights import bone_centres
from posespace.fit.bones.clusters import cluster_transforms, cluster_triangles
from posespace.fit.bones.placed import Placed, placed
from posespace.fit.bones.refine import Bones, refine, start
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.rig import Rig
from posespace.skeleton import Skeleton


def bones(
    shapes: Examples | Sequence[Mesh] | ArrayLike,
    count: int,
    triangles: ArrayLike | None = None,
    influences: int = 4,
    rest: ArrayLike | None = None,
) -> Examples:
    """Return the shapes as examples with a rig of virtual bones that reproduces them as well as it can.

    The bones are found, not given: parts of the surface that move nearly rigidly, and weights that blend them. They
    hang from nothing, each rests at the middle of what it moves, and the poses have a rotation and a shift for each.

    Parameters
    ----------
    shapes : a mesh animation or a handful of shapes with the same vertices: meshes, an array (P, N, 3) with
        `triangles`, or examples, whose rest shape and names are kept and whose joints are not looked at
    count : how many bones, exactly
    triangles : (T, 3) of shapes that are given as an array
    influences : most bones that move a vertex, 1 to 8
    rest : (N, 3) the rest shape; None: that of the examples, or else the first shape
    """
    given, rest_mesh, motion = _gathered(shapes, triangles, rest)
    _check_settings(count, influences, rest_mesh)
    laid = placed(rest_mesh.points, rest_mesh.triangles, given)
    labels = cluster_triangles(laid.points, laid.triangles, laid.shapes, count)
    moved = cluster_transforms(laid.points, laid.triangles, laid.shapes, labels, count)
    begun = start(laid.points, laid.triangles, laid.shapes, labels, moved, influences)
    found = refine(laid.points, laid.triangles, laid.shapes, begun)
    return _examples(rest_mesh, given, motion, laid, found)


def _gathered(
    shapes: Examples | Sequence[Mesh] | ArrayLike, triangles: ArrayLike | None, rest: ArrayLike | None
) -> tuple[Floats, Mesh, Motion | None]:
    """The shapes (P, N, 3), the rest shape, and the poses of examples, whose names and times are kept."""
    motion, mesh = None, None
    if isinstance(shapes, Examples):
        motion, mesh = shapes.motion, shapes.rig.mesh
        given = np.stack([np.asarray(shapes.shapes[k]) for k in range(len(shapes))]) if len(shapes) else np.zeros(0)
    elif isinstance(shapes, Sequence) and shapes and isinstance(shapes[0], Mesh):
        mesh = shapes[0]
        for number, shape in enumerate(shapes):
            if len(shape.points) != len(mesh.points):
                counts = f"{len(mesh.points)} vertices as in the first shape, got {len(shape.points)}"
                raise InputError(f"shape {number}: expected {counts}; register the shapes first")
        given = np.stack([shape.points for shape in shapes])
    else:
        given = np.asarray(shapes)
    given = check.floats("shapes", given, ("P", "N", 3), check.LARGEST)
    least = 2 if motion is None and rest is None else 1
    if len(given) < least:
        raise InputError(f"shapes: expected at least {least} beside the rest shape, got {len(given)}")
    points = given[0] if rest is None else check.floats("rest", rest, given.shape[1:], check.LARGEST)
    if mesh is None:
        if triangles is None:
            raise InputError("triangles: expected the triangles (T, 3) of shapes that are given as an array")
        mesh = Mesh(points, np.asarray(triangles))
    elif rest is not None:
        mesh = mesh.with_points(points)
    return given, mesh, motion


def _check_settings(count: int, influences: int, mesh: Mesh) -> None:
    if not 1 <= check.whole("influences", influences) <= 8:
        raise InputError(f"influences: expected 1 to 8, got {influences}")
    if not len(mesh.triangles):
        raise InputError("shapes: expected triangles, from whose motion bones are found, got none")
    if not 1 <= check.whole("count", count) <= len(mesh.triangles):
        raise InputError(f"count: expected 1 to {len(mesh.triangles)} bones, as there are triangles, got {count}")
    if mesh.diagonal <= 0:
        raise InputError("shapes: expected a rest shape of some size, got all vertices in one place")


def _examples(mesh: Mesh, shapes: Floats, motion: Motion | None, laid: Placed, found: Bones) -> Examples:
    """The examples of bones found on placed shapes."""
    count = len(found.transforms)
    rest_world = np.tile(np.eye(4), (count, 1, 1))
    centres = bone_centres(laid.points, found.influences, found.weights, count)
    rest_world[:, :3, 3] = laid.centre + laid.scale * centres
    names = [f"bone{k}" for k in range(count)]
    skeleton = Skeleton.from_world(names, np.full(count, -1, np.int32), rest_world)
    rig = Rig(mesh, skeleton, found.influences[laid.groups], found.weights[laid.groups])
    world = np.tile(np.eye(4), (len(shapes), count, 1, 1))
    world[..., :3, :] = laid.given_transforms(found.transforms).transpose(1, 0, 2, 3)
    times, poses = (None, None) if motion is None else (motion.times, motion.names)
    return Examples.from_shapes(rig, Motion.from_world(skeleton, world @ rest_world, times, poses), shapes)
