"""The bench: peers give the same points, what is measured is what it says, and its command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.commands import run_forked

import posespace as ps
from posespace.bench import peers, subjects
from posespace.bench.tables import TABLES, start
from posespace.bench.timing import alternate

TRAIN, UNSEEN = ps.datasets.bending_arm()


@pytest.mark.parametrize("peer", [peers.einsum, peers.usd, peers.igl])
def test_peers_skin_as_the_reference_does(peer: object) -> None:
    pose = UNSEEN.motion[2]
    call = peer(TRAIN.rig, pose)  # type: ignore[operator]
    if call is None:
        pytest.skip("not installed")
    for _ in range(2):
        np.testing.assert_allclose(np.asarray(call()), TRAIN.rig.skin(pose), atol=1e-5 * TRAIN.rig.mesh.diagonal)


def test_hands_side_by_side_move_as_one_does() -> None:
    skin = ps.EigenSkin(bits=16).fit(TRAIN)
    many, pose = subjects.side_by_side(skin, 3), TRAIN.rig.rest
    count = len(TRAIN.rig.mesh.points)
    assert len(many.rig.mesh.points) == 3 * count
    moved = many.displacements(UNSEEN.motion[2]).reshape(3, count, 3)
    for copy in moved:
        np.testing.assert_allclose(copy, skin.displacements(UNSEEN.motion[2]), atol=1e-9)
    apart = many.pose(pose)[0].reshape(3, count, 3)
    assert apart[1, :, 0].min() >= apart[0, :, 0].max() - 1e-6


def test_full_and_chained_skins_have_the_size_asked_for() -> None:
    full = subjects.full(TRAIN.rig, 10)
    assert len(full.layers[0].basis.values) == 10 * len(TRAIN.rig.mesh.points)  # type: ignore[union-attr]
    chain = subjects.chain(4, 5, 7)
    assert [layer.driver.interpolant.weights.shape for layer in chain.layers] == [(7, 5)] * 4  # type: ignore[union-attr]
    found = peers.scipy_drive(chain, subjects.bent(chain))()
    assert [values.shape for values in found] == [(1, 5)] * 4


def test_rivals_are_timed_alternately() -> None:
    calls: list[str] = []
    times = alternate({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, rounds=2, calls=2)
    assert calls == ["a", "b", "a", "a", "b", "b", "a", "a", "b", "b"]
    assert times["a"].low <= times["a"].median <= times["a"].high
    assert times["a"].of_one(2).median == times["a"].median / 2


def test_the_command_names_its_tables(tmp_path: Path) -> None:
    wrong = run_forked(["bench", "speed"], tmp_path)
    assert wrong.returncode == 2
    assert all(name in wrong.stderr for name in TABLES)
    assert len(wrong.stderr.strip().splitlines()) == 1


def test_a_start_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subjects, "fitted_hand", lambda: (ps.EigenSkin(bits=16).fit(TRAIN), UNSEEN.motion))
    (row,) = start(2)
    assert 0 < row["first"] < 600
