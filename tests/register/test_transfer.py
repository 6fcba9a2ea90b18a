"""Deformation transfer: what one mesh does, another one does."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.bean import MARKS, bean, sphere, template
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import posespace as ps
from posespace.errors import InputError

SOURCE = template(3)


def centred(points: np.ndarray) -> np.ndarray:
    return points - points.mean(axis=-2, keepdims=True)


def test_a_mesh_onto_itself_is_its_own_pose() -> None:
    posed = np.stack([bean(sphere(3)[0], bend) for bend in (0.0, 0.8, 1.6)])
    assert np.allclose(ps.transfer(SOURCE, posed, SOURCE), posed, atol=1e-6)
    assert np.allclose(ps.transfer(SOURCE, posed[2], SOURCE), posed[2], atol=1e-6)


@settings(max_examples=10)
@given(st.integers(0, 2**31), st.floats(0.3, 3.0))
def test_linear_maps_are_transferred_exactly_to_any_shape(seed: int, size: float) -> None:
    matrix = Rotation.random(random_state=seed).as_matrix()
    posed = SOURCE.points @ matrix.T + 3.0
    other = ps.Mesh(size * bean(sphere(2)[0], 0.7), sphere(2)[1])
    follows = np.random.default_rng(seed).integers(0, len(SOURCE.triangles), len(other.triangles))
    found = ps.transfer(SOURCE, posed, other, follows)
    assert np.allclose(centred(found), centred(other.points @ matrix.T), atol=1e-6)


def test_a_bend_is_transferred_to_other_triangles() -> None:
    points, triangles = sphere(4, 0.3)
    target = ps.Mesh(1.2 * bean(points), triangles)
    own = {f"{k}": tuple(SOURCE.points[k].tolist()) for k in MARKS}
    other = {name: tuple(1.2 * x for x in place) for name, place in own.items()}
    follows, turn = ps.triangle_correspondence(SOURCE, target, own, other)
    assert turn is None
    assert (follows >= 0).mean() > 0.99
    found = ps.transfer(SOURCE, bean(sphere(3)[0], 1.2), target, follows)
    truth = 1.2 * bean(points, 1.2)
    gaps = np.linalg.norm(centred(found) - centred(truth), axis=1)
    assert gaps.mean() < 0.01 * target.diagonal


def test_a_target_with_other_axes_is_bent_in_its_own() -> None:
    turn = np.array([(1.0, 0, 0), (0, 0, -1), (0, 1, 0)])
    target = ps.Mesh(SOURCE.points @ turn.T, SOURCE.triangles)
    posed = bean(sphere(3)[0], 1.2)
    assert np.allclose(centred(ps.transfer(SOURCE, posed, target, rotation=turn)), centred(posed @ turn.T), atol=1e-6)
    marks = {f"{k}": k for k in MARKS}
    _, found = ps.triangle_correspondence(SOURCE, target, marks, marks)
    assert found is not None
    assert np.allclose(found, turn, atol=1e-6)


def test_loose_parts_and_triangles_that_follow_nothing_go_along() -> None:
    ball = 0.1 * sphere(1)[0] + SOURCE.points[0] + (0.05, 0, 0)
    points = np.concatenate([SOURCE.points, ball])
    target = ps.Mesh(points, np.concatenate([SOURCE.triangles, sphere(1)[1] + len(SOURCE.points)]))
    follows = np.concatenate([np.arange(len(SOURCE.triangles)), np.full(len(sphere(1)[1]), -1)])
    turn = Rotation.from_rotvec((0, 0, 1.0)).as_matrix()
    found = ps.transfer(SOURCE, SOURCE.points @ turn.T, target, follows)
    assert np.allclose(centred(found), centred(points @ turn.T), atol=1e-3)


def test_bad_input_is_named() -> None:
    other = template(2)
    with pytest.raises(InputError, match="the source has 512 triangles, the target 128"):
        ps.transfer(SOURCE, SOURCE.points, other)
    with pytest.raises(InputError, match="correspondence: expected indices from -1 to 511"):
        ps.transfer(SOURCE, SOURCE.points, other, np.full(128, 512))
    with pytest.raises(InputError, match="got none"):
        ps.transfer(SOURCE, SOURCE.points, other, np.full(128, -1))
    with pytest.raises(InputError, match="source_posed: expected shape"):
        ps.transfer(SOURCE, SOURCE.points[:-1], SOURCE)
    with pytest.raises(InputError, match="source_rest: expected a Mesh"):
        ps.transfer(SOURCE.points, SOURCE.points, SOURCE)  # type: ignore[arg-type]
    empty = ps.Mesh(np.zeros((3, 3)), np.zeros((0, 3), np.int32))
    with pytest.raises(InputError, match="target_rest: expected a mesh with triangles"):
        ps.transfer(SOURCE, SOURCE.points, empty, np.zeros(0, np.int32))
