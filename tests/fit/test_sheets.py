"""Sheets with two sides in one place, such as hair: a sculpt may move the sides apart, and every fit follows."""

from __future__ import annotations

import numpy as np
import pytest

import posespace as ps

TURN = np.radians(60.0)


@pytest.fixture(scope="module")
def opened() -> ps.Examples:
    """A strip of two sides on two joints; at a bent pose the sculpt moves the sides apart."""
    x, y = np.meshgrid(np.linspace(0.0, 2.0, 9), np.linspace(-0.2, 0.2, 3))
    flat = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    corner = np.arange(x.size).reshape(x.shape)
    a, b, c, d = corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:], corner[1:, :-1]
    front = np.concatenate([np.stack([a, b, c], axis=-1), np.stack([a, c, d], axis=-1)]).reshape(-1, 3)
    bent = np.clip(x.ravel() - 0.5, 0.0, 1.0)
    weights = np.tile(np.stack([1 - bent, bent], axis=1), (2, 1))
    rest = np.tile(np.eye(4), (2, 1, 1))
    rest[1, 0, 3] = 1.0
    triangles = np.concatenate([front, front[:, ::-1] + len(flat)])
    rig = ps.Rig.from_arrays(np.concatenate([flat, flat]), triangles, weights, [-1, 0], rest, ["root", "tip"])
    turn = [0.0, 0.0, np.sin(TURN / 2), np.cos(TURN / 2)]
    pose = ps.Pose(np.array([[0.0, 0.0, 0.0, 1.0], turn]))
    swell = np.concatenate([bent, -bent])[:, None] * [0.0, 0.0, 0.05]
    motion = ps.Motion.from_poses([rig.rest, pose], ["rest", "bent"])
    return ps.Examples.from_shapes(rig, motion, [rig.mesh.points, rig.skin(pose) + swell])


@pytest.mark.parametrize("method", [ps.PSD(), ps.EigenSkin()], ids=["psd", "eigenskin"])
def test_a_sculpt_that_moves_the_sides_of_a_sheet_apart_is_reproduced(opened: ps.Examples, method: ps.PSD) -> None:
    skin = method.fit(opened)
    assert ps.evaluate(skin, opened).rel_err < 0.1
    assert skin.about["own examples, fraction of plain skinning's error"] < 0.1
