"""Sculpts carried to the other side of a rig."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import KDTree

import posespace as ps
from posespace import rotations
from posespace.errors import InputError
from posespace.skeleton import other_side


def sided_face(control: str, lift: float = 1.0, off: float = 0.0) -> ps.Examples:
    """A strip of vertices about x = 3; the sculpt lifts its left end."""
    points = np.array([[x, y, 0.0] for x in (1, 2, 3, 4, 5) for y in (0, 1)])
    points[0, 0] += off
    rig = ps.Rig.from_mesh(ps.Mesh(points, [[0, 1, 2], [1, 3, 2]]))
    shape = points.copy()
    shape[0] += (0.2, 0.1, lift)
    motion = ps.Motion([[[0, 0, 0, 1.0]]], names=(control,), controls=np.ones((1, 1)), control_names=(control,))
    return ps.Examples.from_shapes(rig, motion, shape[None])


def test_a_sculpt_of_one_side_becomes_one_of_the_other() -> None:
    mirrored = ps.mirror_examples(sided_face("smile_L"))
    assert mirrored.motion.names == mirrored.motion.control_names == ("smile_R",)
    moved = mirrored.shapes[0] - mirrored.rig.mesh.points
    np.testing.assert_allclose(moved[8], (-0.2, 0.1, 1.0), atol=1e-9)
    np.testing.assert_allclose(np.delete(moved, 8, axis=0), 0, atol=1e-9)


def test_a_rest_shape_that_is_not_symmetric_is_reported_with_how_far_off_it_is() -> None:
    with pytest.raises(InputError, match=r"not symmetric: vertex \d+ rests 0.3 from a mirror image, 0.073 of the box"):
        ps.mirror_examples(sided_face("smile_L", off=0.3))
    with pytest.raises(InputError, match="two vertices have the same mirror image"):
        ps.mirror_examples(sided_face("smile_L", off=1.0), tolerance=0.3)


def test_the_camel_mirrored_twice_is_the_camel(data: Path) -> None:
    rig = ps.load_rig(data / "quadrupeds-rocketbox" / "Camel_OneHump_01.glb")
    rng = np.random.default_rng(0)
    names = rig.skeleton.names
    legs = [name for name in names if other_side(name) in names and other_side(name) != name][:6]
    poses = []
    for leg in legs:
        turn = np.array(rig.rest.rotations)
        bend = rotations.from_axis_angle((0.0, 0.6, 0.8), 0.7)
        turn[names.index(leg)] = rotations.multiply(turn[names.index(leg)], bend)
        poses.append(ps.Pose(turn, rig.rest.translations))
    weld = rig.mesh.weld
    bumps = [weld.scatter(0.01 * rng.normal(size=(len(weld.first), 3))) for _ in legs]
    shapes = [rig.skin(pose, bump) for pose, bump in zip(poses, bumps, strict=True)]
    examples = ps.Examples.from_shapes(rig, ps.Motion.from_poses(poses, legs), shapes)
    once = ps.mirror_examples(examples)
    assert once.motion.names == tuple(other_side(leg) for leg in legs)
    reflect = np.array([-1.0, 1.0, 1.0])
    points = rig.mesh.points.astype(np.float64)
    partner = KDTree(points).query(points * reflect)[1]
    for index in range(len(examples)):
        # The camel's weights are symmetric to three digits: so is what they do to the mirrored shape.
        image = np.asarray(examples.shapes[index])[partner] * reflect
        off = np.linalg.norm(once.shapes[index] - image, axis=1)
        assert np.median(off) < 1e-6 * rig.mesh.diagonal
        assert off.max() < 0.01 * rig.mesh.diagonal
    twice = ps.mirror_examples(once)
    for index in range(len(examples)):
        np.testing.assert_allclose(twice.shapes[index], examples.shapes[index], atol=1e-5 * rig.mesh.diagonal)
    with pytest.raises(InputError, match="not symmetric"):
        ps.mirror_examples(examples, normal=(0, 0, 1))


def test_the_face_mirrors_its_smile(data: Path) -> None:
    stored = np.load(data / "face-ict-facekit" / "ict_face_head.npz")
    rig = ps.Rig.from_mesh(ps.Mesh(stored["neutral"], stored["tris"]))
    names = list(stored["names"])
    left, right = (stored["deltas"][names.index(f"mouthSmile_{side}")] for side in "LR")
    one = np.ones((1, 1))
    motion = ps.Motion([[[0, 0, 0, 1.0]]], names=("smile_L",), controls=one, control_names=("mouthSmile_L",))
    examples = ps.Examples.from_shapes(rig, motion, (stored["neutral"] + left)[None])
    mirrored = ps.mirror_examples(examples)
    assert mirrored.motion.control_names == ("mouthSmile_R",)
    # The two smiles were scanned; they agree to a fiftieth of their size.
    assert np.abs(mirrored.shapes[0] - (stored["neutral"] + right)).max() < 0.02 * np.abs(right).max()
    np.testing.assert_allclose(ps.mirror_examples(mirrored).shapes[0], examples.shapes[0], atol=1e-5)
