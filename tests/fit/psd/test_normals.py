"""Corrections of normals in PSD: sculpts are shaded as they were made, and the points stay as they are without."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.clips import bending, bulging, parted, tube_rig

import posespace as ps
from posespace.check import Floats
from posespace.errors import InputError
from posespace.evaluation.score import angles_between
from posespace.fit.psd.normals import LEAST, noticeable

ARM, UNSEEN = ps.datasets.bending_arm(rings=16, sides=8)


def carried_degrees(skin: ps.Skin, examples: ps.Examples) -> Floats:
    """(P,) mean angle between the true normals and those of a program that carries rest normals and corrections."""
    means = []
    for pose, shape in examples:
        normals = skin.rig.normals + skin.normal_displacements(pose)
        turned = np.einsum("nij,nj->ni", skin.rig.blend(pose)[:, :, :3], normals)
        turned /= np.linalg.norm(turned, axis=1, keepdims=True)
        means.append(angles_between(turned, examples.rig.mesh.normals(shape)).mean())
    return np.array(means)


@pytest.mark.parametrize("settings", [{}, {"per_vertex": True}, {"kernel": "thin_plate"}, {"anchor": False}])
def test_every_sculpt_has_the_normals_of_its_shape(settings: dict[str, object]) -> None:
    skin = ps.PSD(normals="shared", **settings).fit(ARM)  # type: ignore[arg-type]
    for pose, shape in ARM:
        truth = ARM.rig.mesh.normals(shape)
        off = angles_between(skin.pose(pose)[1], truth)
        # Normals that are corrected by less are left alone; per vertex, the rest of the layer shows through there.
        corrected = noticeable(ARM.rig.normal_residual(pose, truth)) | ("per_vertex" not in settings)
        assert off[corrected].max(initial=0.0) < np.degrees(2 * LEAST)


@pytest.mark.parametrize("settings", [{}, {"per_vertex": True}])
def test_corrections_of_normals_leave_the_points_alone(settings: dict[str, object]) -> None:
    plain, shaded = (ps.PSD(normals=kind, **settings).fit(ARM) for kind in ("none", "shared"))  # type: ignore[arg-type]
    for pose in UNSEEN.motion[:5]:
        np.testing.assert_allclose(shaded.pose(pose)[0], plain.pose(pose)[0], atol=1e-12)
    assert all(layer.normal_basis is None for layer in plain.layers)
    assert all(layer.normal_basis is not None and layer.normal_driver is None for layer in shaded.layers)


def test_unseen_poses_are_shaded_better_where_normals_are_carried() -> None:
    plain, shaded = (ps.PSD(normals=kind).fit(ARM) for kind in ("none", "shared"))
    assert carried_degrees(shaded, UNSEEN).mean() < 0.3 * carried_degrees(plain, UNSEEN).mean()


def test_frames_of_clips_are_shaded_better_too() -> None:
    kept, left_out = parted(bulging(tube_rig(), bending(60)))
    plain, shaded = (ps.PSD(normals=kind).fit(kept) for kind in ("none", "shared"))
    assert any(layer.name.endswith(" (clip)") for layer in shaded.layers)
    np.testing.assert_allclose(shaded.pose(left_out.motion[0])[0], plain.pose(left_out.motion[0])[0], atol=1e-12)
    assert carried_degrees(shaded, left_out).mean() < 0.5 * carried_degrees(plain, left_out).mean()


def test_an_edited_session_has_the_normals_of_a_fresh_fit() -> None:
    few = ARM[:8]
    session = ps.Sculpts(few.rig, ps.PSD(normals="shared"))
    for name, (pose, shape) in zip(few.motion.names, few, strict=True):
        session.add(name, pose, shape)
    session.skin()
    session.replace(few.motion.names[3], few.shapes[3] * 1.1)
    session.remove(few.motion.names[5])
    skin, fresh = session.skin(), ps.PSD(normals="shared").fit(session.examples())
    for pose in UNSEEN.motion[:4]:
        np.testing.assert_allclose(skin.pose(pose)[1], fresh.pose(pose)[1], atol=1e-9)


def test_vertices_that_turn_without_moving_are_corrected() -> None:
    grid = np.array([[x, y, 0.0] for x in range(5) for y in range(5)])
    corners = [(5 * x + y, 5 * x + 5 + y, 5 * x + 6 + y, 5 * x + 1 + y) for x in range(4) for y in range(4)]
    rig = ps.Rig.from_mesh(ps.Mesh.from_polygons(grid, np.ravel(corners), np.full(16, 4)))
    raised = grid.copy()
    raised[12, 2] = 0.5
    session = ps.Sculpts(rig, ps.PSD(normals="shared"))
    session.add("bump", ps.Pose(rig.rest.rotations, controls={"bump": 1.0}), raised)
    skin = session.skin()
    (layer,) = skin.layers
    assert 12 in layer.support
    assert len(layer.support) > 1
    shaded = skin.pose(ps.Pose(rig.rest.rotations, controls={"bump": 1.0}))[1]
    np.testing.assert_allclose(shaded, rig.mesh.normals(raised), atol=2 * LEAST)


def test_other_kinds_of_normals_are_refused() -> None:
    with pytest.raises(InputError, match="normals: expected one of none, shared"):
        ps.PSD(normals="separate")
