"""Random rigs, poses and skins for property tests."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
from helpers.tube import tube
from hypothesis import strategies as st
from numpy.typing import NDArray

from posespace.geometry import rotations
from posespace.geometry.subdivision import fine_vertex_count
from posespace.interpolate.distances import axis_count, distances
from posespace.interpolate.fitted import RBFInterpolant, ShepardInterpolant
from posespace.interpolate.kernels import KERNELS, TAILS
from posespace.interpolate.rbf import RBF
from posespace.interpolate.shepard import Shepard
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.poses.parts import parts_of
from posespace.poses.spaces import PoseSpace
from posespace.rig import Rig, pack_weights
from posespace.skeleton import Skeleton
from posespace.skin.bones.learned import LearnedBones
from posespace.skin.detail import Detail
from posespace.skin.driver import Driver
from posespace.skin.layer import Layer
from posespace.skin.skin import Skin

seeds = st.integers(0, 2**32 - 1)


def random_rotations(rng: np.random.Generator, *shape: int) -> NDArray[np.float64]:
    return np.asarray(rotations.normalize(rng.normal(size=(*shape, 4))))


def random_rig(rng: np.random.Generator, vertices: int = 20, joints: int = 5, scaled: bool = False) -> Rig:
    """A rig of random triangles; parents stand in any order, rest transforms turn, shift and, if asked, scale.

    One joint is linked to none, every other to some joint: often another than its parent.
    """
    order = rng.permutation(joints)
    parents = np.full(joints, -1)
    for k in range(1, joints):
        parents[order[k]] = order[rng.integers(0, k)] if rng.random() < 0.8 else -1
    world = np.tile(np.eye(4), (joints, 1, 1))
    world[:, :3, :3] = rotations.matrices(random_rotations(rng, joints))
    if scaled:
        world[:, :3, :3] *= rng.uniform(0.5, 2.0, size=(joints, 1, 3))
    world[:, :3, 3] = rng.normal(size=(joints, 3))
    skeleton = Skeleton.from_world([f"joint{k}" for k in range(joints)], parents, world)
    skeleton = replace(skeleton, links=random_links(rng, parents))
    points = rng.normal(size=(vertices, 3)).astype(rng.choice([np.float32, np.float64]))
    mesh = Mesh(points, rng.integers(0, vertices, size=(vertices, 3)))
    dense = rng.random((vertices, joints)) * (rng.random((vertices, joints)) < 0.5)
    return Rig(mesh, skeleton, *pack_weights(dense))


def random_links(rng: np.random.Generator, parents: NDArray[np.integer]) -> NDArray[np.int32]:
    """A random tree over the joints, or the parents with all roots but one linked to that one."""
    links = np.array(parents, dtype=np.int32)
    if rng.random() < 0.5:
        order = rng.permutation(len(links))
        links[order[0]] = -1
        for k in range(1, len(links)):
            links[order[k]] = order[rng.integers(0, k)]
    else:
        roots = np.flatnonzero(links < 0)
        links[roots[1:]] = roots[0]
    return links


def random_pose(rng: np.random.Generator, rig: Rig, bend: float = np.pi) -> Pose:
    """A pose whose joints turn from rest by up to `bend` radians and shift a little."""
    joints = len(rig.skeleton)
    axis = rng.normal(size=(joints, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    turn = rotations.from_axis_angle(axis, rng.uniform(0, bend, joints))
    rest = rig.skeleton.rest_rotations.astype(np.float64)
    return Pose(rotations.multiply(rest, turn), 0.1 * rng.normal(size=(joints, 3)), {"smile": float(rng.random())})


def random_skin(rng: np.random.Generator) -> Skin:
    """A skin with a layer for each kind of pose space and interpolator, normal corrections and detail.

    Its joints make poses: they are linked to others. One interpolant does not reach as far as its own samples lie.
    """
    rig = random_rig(rng)
    motion = Motion.from_poses([random_pose(rng, rig) for _ in range(6)])
    layers = []
    joints = [name for name, link in zip(rig.skeleton.names, parts_of(rig.skeleton).links, strict=True) if link >= 0]
    a, b, c = joints[:3]
    kinds = (
        ("joint", "joint", (a, b), RBF("exponential")),
        ("quaternions", "quaternions", (c,), Shepard()),
        ("freedoms", "freedoms", (f"{a}.z", f"{b}.x", f"{b}.ty", "smile"), Shepard()),
        ("controls", "controls", ("smile",), Shepard()),
        ("near", "freedoms", (f"{c}.tx", f"{c}.tz", f"{a}.y"), RBF("multiquadric", 1.0)),
        # Three samples lie in a plane of their pose space.
        ("flat", "joint", (a, c), RBF("thin_plate")),
        ("plane", "freedoms", (f"{a}.x", f"{b}.y", f"{c}.tz"), RBF("cubic", (1.0, 0.5, 2.0))),
    )
    for name, kind, names, settings in kinds:
        space, flat = PoseSpace(kind, names), name in ("flat", "plane")
        where = space.coordinates(motion, rig.skeleton)[: 3 if flat else 6]
        origin = {"origin": int(rng.integers(len(where)))} if isinstance(settings, RBF) else {}
        made = settings.fit(where, rng.normal(size=(len(where), 2)), space.metric, **origin)
        if isinstance(made, RBFInterpolant):
            assert (made.span is not None) == flat
            made = made.with_reach(0.5) if name == "near" else made
        driver = Driver(space, made)
        support = np.sort(rng.choice(len(rig.mesh.points), 7, replace=False))
        basis = rng.normal(size=(2, 7, 3)).astype(np.float32)
        normal = rng.normal(size=(2, 7, 3)).astype(np.float32) if kind != "controls" else None
        layers.append(Layer(name, driver, support, basis, normal, driver if kind == "joint" else None))
    heights = rng.normal(size=(2, fine_vertex_count(rig.mesh.triangles, len(rig.mesh.points), 1)))
    return Skin(rig, tuple(layers), Detail(1, layers[0].driver, heights), {"method": "random", "seed": 1})


def random_interpolants(
    rng: np.random.Generator, samples: NDArray[np.float64], metric: str
) -> Iterator[tuple[str, RBFInterpolant | ShepardInterpolant]]:
    """Every kernel with every tail, with and without a reach and a span, and Shepard's: by name, two columns each."""
    count, dimensions = samples.shape
    radii = axis_count(dimensions, metric)
    axes = 3 * radii if metric == "rotation" else dimensions
    for kernel, tail, reaches, flat in product(KERNELS, TAILS, (False, True), (False, True)):
        radius = rng.uniform(0.5, 2.0, radii)
        far = float(distances(samples, samples[:1], metric, radius).max())
        rows = np.linalg.qr(rng.normal(size=(axes, axes)))[0][: max(1, min(count, axes) // 2)]
        weights = rng.normal(size=(count + {"none": 0, "constant": 1, "linear": 1 + dimensions}[tail], 2))
        yield (
            f"{kernel}, tail {tail}{', reach' * reaches}{', span' * flat}",
            RBFInterpolant(
                kernel,
                metric,
                tail,
                radius,
                samples,
                weights,
                0.5 * far if reaches else math.inf,
                rows if flat else None,
            ),
        )
    for power, reach in product((1.0, 2.5), (0.0, 0.5)):
        values = rng.normal(size=(count, 2))
        yield f"shepard, power {power}, reach {reach}", ShepardInterpolant(metric, power, reach, samples, values)


def random_drivers_skin(rng: np.random.Generator, kind: str, bits: int = 32) -> tuple[Skin, Motion]:
    """A skin with a layer for each of `random_interpolants` over one kind of pose space, and poses of it.

    Among the poses are its samples; others lie far beyond them, where bounds hold coordinates back.
    """
    rig = random_rig(rng)
    joints = [name for name, link in zip(rig.skeleton.names, parts_of(rig.skeleton).links, strict=True) if link >= 0]
    a, b, c = joints[:3]
    names = {
        "joint": (a, b),
        "quaternions": (b, c),
        "freedoms": (f"{a}.x", f"{a}.z", f"{b}.ty", f"{c}.y", "smile"),
        "controls": ("smile", "frown", "load"),
    }
    space = PoseSpace(kind, names[kind])
    controls = space.controls(rig.skeleton)
    poses = [
        replace(random_pose(rng, rig, bend), controls={name: float(rng.normal(scale=bend)) for name in controls})
        for bend in (1.0,) * 6 + (np.pi,) * 6
    ]
    motion = Motion.from_poses(poses)
    samples = space.coordinates(motion[:6], rig.skeleton)
    layers = []
    for name, interpolant in random_interpolants(rng, samples, space.metric):
        driver = Driver(space, interpolant)
        support = np.sort(rng.choice(len(rig.mesh.points), 7, replace=False))
        normal = rng.normal(size=(2, 7, 3)) if "constant" in name else None
        layers.append(Layer(name, driver, support, rng.normal(size=(2, 7, 3)), normal))
    return Skin(rig, tuple(layers)).packed(bits), motion


def random_points_skin(rng: np.random.Generator) -> Skin:
    """A skin with learned bones, one model or several for each, a layer and detail that its control points drive.

    Some have bones with frames of their own, some have corrections, and some have detail that the bones drive.
    """
    mesh = tube(4, 5)
    vertices, count, bones, samples = len(mesh.points), 5, 4, 6
    points = rng.choice(vertices, count, replace=False)
    rest = mesh.points[points].astype(np.float64)
    world = np.tile(np.eye(4), (count + 1, 1, 1))
    world[1:, :3, 3] = rest
    names = ["root", *(f"point{k}" for k in range(1, count + 1))]
    skeleton = Skeleton.from_world(names, [-1, *([0] * count)], world)
    rig = Rig(mesh, skeleton, *pack_weights(rng.random((vertices, count + 1))))
    models = int(rng.choice([1, samples]))
    corrections, raised = int(rng.integers(3)), 2 * int(rng.integers(2))
    learned = LearnedBones(
        points=points.astype(np.int32),
        rest=rest,
        anchors=rng.random(count),
        samples=rest + rng.normal(size=(samples, count, 3)),
        near=np.stack([rng.choice(count, 3, replace=False) for _ in range(bones)]).astype(np.int32),
        widths=rng.uniform(1, 3, (bones, models)),
        offsets=rng.normal(size=(bones, models, 4 + corrections + raised)),
        coefficients=rng.normal(size=(bones, models, samples, 4 + corrections + raised)),
        heat=rng.uniform(1, 2, bones),
        blended=1 if models == 1 else 3,
        centres=rng.normal(size=(bones, 3)),
        influences=np.argsort(rng.random((vertices, bones)), axis=1)[:, :2].astype(np.int32),
        weights=rng.random((vertices, 2)).astype(np.float32),
        beta=3.0,
        holds=rng.random((bones, 3)) if rng.integers(2) else None,
        corrections=0.1 * rng.normal(size=(corrections, vertices, 3)).astype(np.float32) if corrections else None,
        ties=rng.choice(vertices, (3, 2), replace=False).astype(np.int32) if raised else None,
    )
    space = PoseSpace("freedoms", tuple(f"{name}.{axis}" for name in names[1:] for axis in ("tx", "ty", "tz")))
    where = rng.normal(size=(samples, space.dimensions))
    driver = Driver(space, RBF("gaussian", 4.0).fit(where, rng.normal(size=(samples, 2)), space.metric))
    layer = Layer("smile", driver, np.arange(7), 0.1 * rng.normal(size=(2, 7, 3)).astype(np.float32))
    heights = rng.normal(size=(2, fine_vertex_count(mesh.triangles, vertices, 1)))
    detail = Detail(1, None if raised else driver, 0.1 * heights)
    return Skin(rig, (layer,), detail, {"method": "random"}, learned)
