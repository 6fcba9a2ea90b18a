"""Remeshing keeps what matters of a surface."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.tube import tube, volume

from posespace.geometry.remesh import remesh
from posespace.geometry.surface import Surface
from posespace.mesh import Mesh


def test_remeshing_keeps_the_surface_closed_and_its_volume() -> None:
    mesh = tube(60, 40)
    skin = Surface(mesh.points, mesh.triangles)
    for edge in (0.15, 0.5):
        points, triangles = remesh(skin, np.full(len(mesh.points), edge))
        drawn = Mesh(points, triangles)
        assert drawn.is_watertight
        assert volume(drawn) == pytest.approx(volume(mesh), rel=0.02)
        length = np.linalg.norm(points[triangles] - points[np.roll(triangles, 1, axis=1)], axis=2)
        assert 0.4 * edge < length.min()
        assert length.max() < 2 * edge
        assert not len(Surface(points, triangles).crossings())


def test_triangles_follow_the_size_asked_for_at_each_place() -> None:
    mesh = tube(60, 40)
    skin = Surface(mesh.points, mesh.triangles)
    points, triangles = remesh(skin, np.where(mesh.points[:, 0] < 0, 0.2, 0.5))
    length = np.linalg.norm(points[triangles] - points[np.roll(triangles, 1, axis=1)], axis=2)
    along = points[triangles].mean(axis=1)[:, 0]
    assert length[along < -0.6].mean() == pytest.approx(0.2, rel=0.25)
    assert length[along > 0.6].mean() == pytest.approx(0.5, rel=0.25)
    np.testing.assert_allclose(skin.signed_distance(points), 0, atol=0.1)
