"""Shapes are checked: what is right is left alone, what went wrong is named with the setting that corrects it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.samples import quick
from helpers.shuffles import bulged
from helpers.strategies import seeds
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import posespace as ps
from posespace import datasets
from posespace.gathering.causes import UNITS, CauseSearch
from posespace.gathering.conventions import Conventions, axes_matrix
from posespace.gathering.outliers import Finding, outlier_notes
from posespace.geometry import rotations

ARM = datasets.bending_arm(rings=16, sides=10)[0].rig


def bends(rig: ps.Rig, angles: tuple[float, ...]) -> ps.Motion:
    """Poses that rotate the last joint: far enough from each other to tell sculpts of them apart."""
    poses = []
    for angle in angles:
        turn = np.array(rig.rest.rotations)
        turn[-2:] = rotations.multiply(turn[-2:], rotations.from_axis_angle((0.0, 0.0, 1.0), angle))
        poses.append(ps.Pose(turn, rig.rest.translations))
    return ps.Motion.from_poses(poses, [f"bend{k}" for k in range(len(angles))])


MOTION = bends(ARM, (0.3, 0.8, 1.3))


def sculpts(rng: np.random.Generator, rig: ps.Rig, motion: ps.Motion, size: float) -> list[NDArray[np.floating]]:
    return [bulged(rng, rig.mesh, rig.skin(pose), size) for pose in motion]


def found(rig: ps.Rig, motion: ps.Motion, shapes: list[NDArray[np.floating]]) -> list[Finding]:
    return ps.check_examples(ps.Examples.from_shapes(rig, motion, shapes))


@quick
@given(seeds, st.floats(0.0, 0.1))
def test_a_right_sculpt_is_never_given_a_cause(seed: int, size: float) -> None:
    shapes = sculpts(np.random.default_rng(seed), ARM, MOTION, size)
    assert [finding.cause for finding in found(ARM, MOTION, shapes)] == [None] * 3


@quick
@given(seeds, st.floats(0.0, 0.05), st.floats(0.0, 1.0))
def test_a_shape_that_is_elsewhere_stands_out_without_a_cause(seed: int, size: float, away: float) -> None:
    rng = np.random.default_rng(seed)
    shapes = sculpts(rng, ARM, MOTION, size)
    direction = rng.normal(size=3)
    shapes[2] = shapes[2] + away * ARM.mesh.diagonal * direction / np.linalg.norm(direction)
    findings = found(ARM, MOTION, shapes)
    assert findings[2].cause is None
    assert findings[2].stands_out or away < 0.3


@quick
@given(seeds, st.sampled_from(UNITS[1:]))
def test_another_unit_is_always_found_and_mended(seed: int, factor: float) -> None:
    shapes = sculpts(np.random.default_rng(seed), ARM, MOTION, 0.05)
    findings = found(ARM, MOTION, [shape / factor for shape in shapes])
    for finding in findings:
        assert finding.cause is not None
        assert finding.cause.unit == pytest.approx(factor, rel=1e-6)
        assert not finding.cause.up
    assert outlier_notes(findings)[0].endswith(f"give `unit={float(f'{factor:.9g}')!r}`")


@quick
@given(seeds, st.sampled_from(CauseSearch(ARM, MOTION)._axes[1:]))
def test_other_axes_are_always_found_and_the_setting_converts_them_back(seed: int, axes: str) -> None:
    shapes = sculpts(np.random.default_rng(seed), ARM, MOTION, 0.03)
    other_shapes = [shape @ axes_matrix(axes) for shape in shapes]
    for shape, there, finding in zip(shapes, other_shapes, found(ARM, MOTION, other_shapes), strict=True):
        assert finding.cause is not None
        mended = Conventions(up=finding.cause.up).converted(finding.pose, there)
        assert np.linalg.norm(mended - shape, axis=1).max() < 0.05 * ARM.mesh.diagonal


@quick
@given(seeds)
def test_swapped_sculpts_are_always_found_and_the_pose_they_fit_is_named(seed: int) -> None:
    first, second, third = sculpts(np.random.default_rng(seed), ARM, MOTION, 0.02)
    causes = [finding.cause for finding in found(ARM, MOTION, [second, first, third])]
    assert [cause and cause.pose for cause in causes] == ["bend1", "bend0", None]


@quick
@given(seeds)
def test_shuffled_vertices_are_always_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shapes = [shape[rng.permutation(len(shape))] for shape in sculpts(rng, ARM, MOTION, 0.05)]
    assert all(finding.cause is not None and finding.cause.reordered for finding in found(ARM, MOTION, shapes))


def test_distances_are_measured_and_placed() -> None:
    shapes = [ARM.skin(pose) for pose in MOTION]
    shapes[1][-1] += (0, 0, 0.1 * ARM.mesh.diagonal)
    finding = found(ARM, MOTION, shapes)[1]
    assert finding.largest == pytest.approx(0.1, rel=1e-3)
    assert finding.rms == pytest.approx(0.1 / np.sqrt(len(ARM.mesh.points)), rel=1e-3)
    assert (finding.vertex, finding.near) == (len(ARM.mesh.points) - 1, ARM.skeleton.names[ARM.influences[-1, 0]])
    face = ps.Rig.from_mesh(ARM.mesh)
    smile = ps.Motion.from_poses([ps.Pose(face.rest.rotations, controls={"smile": 1.0})])
    assert "%" in found(face, smile, [face.mesh.points + 0.01])[0].near


def test_a_shape_far_from_all_others_stands_out_without_a_cause() -> None:
    shapes = [ARM.skin(pose) for pose in MOTION]
    shapes[2] = shapes[2] + 0.4 * ARM.mesh.diagonal
    findings = found(ARM, MOTION, shapes)
    assert [finding.stands_out for finding in findings] == [False, False, True]
    assert findings[2].cause is None
    assert "'bend2' lies 69% of the diagonal" in outlier_notes(findings)[0]


def test_what_explains_only_some_shapes_leaves_the_others_alone() -> None:
    shapes = sculpts(np.random.default_rng(0), ARM, MOTION, 0.05)
    shapes[1] = 100 * shapes[1]
    assert outlier_notes(found(ARM, MOTION, shapes)) == [
        "'bend1': another unit: it is 100 times too large; give `unit={'bend1': 0.01}`"
    ]


@pytest.mark.parametrize("asset", ["hand-godot-xr/hand_l.gltf", "humanoid-rocketbox/Female_Adult_01_cheer_03.glb"])
def test_real_rigs_right_sculpts_have_no_cause_and_wrong_ones_have(data: Path, asset: str) -> None:
    rig = ps.load_rig(data / asset)
    poses = data / "hand-godot-xr" / "poses_left.json" if "hand" in asset else data / asset
    whole = ps.load_motion(poses, rig.skeleton)
    motion = whole[np.arange(0, len(whole), max(1, len(whole) // 4))]
    shapes = sculpts(np.random.default_rng(0), rig, motion, 0.1)
    assert not any(finding.cause for finding in found(rig, motion, shapes))
    assert all(
        finding.cause and finding.cause.unit == 0.01 for finding in found(rig, motion, [100 * s for s in shapes])
    )
    turned = [shape @ axes_matrix("z") for shape in shapes]
    assert all(finding.cause and finding.cause.up == "z" for finding in found(rig, motion, turned))
    gentle = sculpts(np.random.default_rng(0), rig, motion, 0.01)
    swapped = [gentle[1], gentle[0], *gentle[2:]]
    names = [finding.cause and finding.cause.pose for finding in found(rig, motion, swapped)]
    assert names == [motion.names[1], motion.names[0], *[None] * (len(motion) - 2)]


def test_makehuman_hands_of_other_people_have_no_cause(data: Path) -> None:
    stored = dict(np.load(data / "makehuman-cc0" / "hand_left_crop.npz"))
    rig = ps.Rig.from_mesh(ps.Mesh(stored["verts"], stored["tris"]))
    names = [str(name) for name in stored["shape_names"]]
    motion = ps.Motion.from_poses([ps.Pose(rig.rest.rotations, controls={name: 1.0}) for name in names], names)
    findings = found(rig, motion, list(stored["verts"] + stored["shape_deltas"]))
    assert not any(finding.cause for finding in findings)
