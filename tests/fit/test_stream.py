"""Passing over data: the same skin with little memory, on several processes, and when one of them dies."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from helpers.clips import bending, bulging, tube_rig
from helpers.dying import dying

import posespace as ps
from posespace.errors import InputError
from posespace.fit.residuals import point_residuals
from posespace.fit.stream import Mix, Resources, Source

CLIP = bulging(tube_rig(), bending(40))
METHODS = {"eigenskin": ps.EigenSkin(bits=32), "muscles": ps.Muscles(bits=32)}


def apart(one: ps.Skin, other: ps.Skin) -> float:
    """The largest distance between two skins at the poses of the clip, as a fraction of the box."""
    gaps = (np.abs(one.pose(pose)[0] - other.pose(pose)[0]).max() for pose in CLIP.motion[::5])
    return float(max(gaps)) / CLIP.rig.mesh.diagonal


@pytest.mark.parametrize("name", METHODS)
def test_a_skin_is_the_same_however_little_memory_there_is(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    CLIP.save(tmp_path / "clip.examples")
    stored = ps.Examples.open(tmp_path / "clip.examples")
    kept = METHODS[name].fit(stored)
    monkeypatch.setattr(Resources, "bytes", 1000)
    assert apart(kept, METHODS[name].fit(stored)) < 1e-6


def test_sums_and_products_over_poses_are_those_of_all_data() -> None:
    every = point_residuals(CLIP).values
    source = Source(CLIP)
    weights = np.random.default_rng(0).normal(size=(3, len(CLIP))).astype(np.float32)
    support = np.arange(0, every.shape[1], 2)
    mask = np.linspace(0, 1, len(support), dtype=np.float32)
    (found,) = source.combined([Mix(support, mask, weights)])
    wanted = np.tensordot(weights, every[:, support] * mask[:, None], axes=1)
    np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(wanted).max())
    np.testing.assert_allclose(
        source.products(every[:2]), np.tensordot(every, every[:2], axes=([1, 2], [1, 2])), rtol=1e-4, atol=1e-6
    )


@pytest.mark.slow
def test_two_processes_give_the_same_sums_even_if_one_dies(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    CLIP.save(tmp_path / "clip.examples")
    stored = ps.Examples.open(tmp_path / "clip.examples")
    weights = np.random.default_rng(0).normal(size=(3, len(CLIP))).astype(np.float32)
    support = np.arange(len(CLIP.rig.mesh.points))
    mix = Mix(support, np.ones(len(support), dtype=np.float32), weights)
    (alone,) = Source(stored).combined([mix])
    both = Source(stored, Resources(workers=2))
    (found,) = both.combined([mix])
    np.testing.assert_allclose(found, alone, atol=1e-6 * np.abs(alone).max())
    mark = tmp_path / "died"

    parts = [sums[0] for sums, _ in both._passes(partial(dying, str(mark), [mix]))]
    assert mark.exists()
    np.testing.assert_array_equal(np.sum(parts, axis=0, dtype=np.float64).astype(np.float32), found)


@pytest.mark.parametrize("memory", ["", "much", "2", "10KB", "-1GB"])
def test_a_wrong_size_of_memory_is_named(memory: str) -> None:
    with pytest.raises(InputError, match="memory: expected a size of at least 1MB"):
        Resources(memory)


def test_one_process_needs_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("dask", "distributed"):
        monkeypatch.setitem(sys.modules, name, None)
    train, _ = ps.datasets.bending_arm(rings=12, sides=8)
    assert ps.EigenSkin().fit(train, Resources("1GB")).layers
