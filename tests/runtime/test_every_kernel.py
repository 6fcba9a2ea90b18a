"""The compiled player with every kernel, tail and kind of pose space; unknown ones are refused by their names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.strategies import random_drivers_skin

import posespace as ps
from posespace.interpolate import kernels
from posespace.interpolate.fitted import RBFInterpolant, ShepardInterpolant
from posespace.poses.spaces import KINDS, PoseSpace

ONE = np.ones((1, 1))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kernel_gives_what_the_reference_gives(kind: str) -> None:
    skin, motion = random_drivers_skin(np.random.default_rng(KINDS.index(kind)), kind)
    # A few layers at a time: the displacements of all together would hide those of one.
    for start in range(0, len(skin.layers), 4):
        some = replace(skin, layers=skin.layers[start : start + 4])
        play = some.compile()
        for pose in motion:
            wanted = some.pose(pose)[0]
            assert np.abs(play(pose)[0] - wanted).max() < 1e-5 * np.abs(wanted).max()


def test_what_is_unknown_is_refused_by_its_name() -> None:
    for kernel, metric, tail in (
        ("quintic", "euclidean", "none"),
        ("cubic", "taxicab", "none"),
        ("cubic", "euclidean", "quadratic"),
    ):
        (unknown,) = {kernel, metric, tail} & {"quintic", "taxicab", "quadratic"}
        with pytest.raises(ps.InputError, match=rf"expected one of .*, got '{unknown}'"):
            RBFInterpolant(kernel, metric, tail, ONE[0], ONE, ONE)
    with pytest.raises(ps.InputError, match=r"expected one of .*, got 'taxicab'"):
        ShepardInterpolant("taxicab", 1.0, 0.0, ONE, ONE)
    with pytest.raises(ps.InputError, match=r"expected one of .*, got 'moods'"):
        PoseSpace("moods", ("smile",))


def test_a_skin_file_with_an_unknown_kernel_or_tail_is_refused(tmp_path: Path) -> None:
    skin, _ = random_drivers_skin(np.random.default_rng(3), "controls")
    for path in (tmp_path / "a.skin", tmp_path / "a.glb"):
        skin.save(path) if path.suffix == ".skin" else ps.export(skin, path)
        content = path.read_bytes()
        for known, unknown in ((b"cubic", b"qubic"), (b"constant", b"constent")):
            assert known in content
            path.write_bytes(content.replace(known, unknown))
            with pytest.raises(ps.FileError, match=rf"expected one of .*, got '{unknown.decode()}'"):
                ps.Skin.load(path)


def test_a_kernel_without_a_compiled_loop_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    skin, motion = random_drivers_skin(np.random.default_rng(3), "controls")
    monkeypatch.setitem(kernels.KERNELS, "quintic", kernels.KERNELS["cubic"])
    layer = skin.layers[0]
    other = replace(layer.driver, interpolant=replace(layer.driver.interpolant, kernel="quintic"))
    new = replace(skin, layers=(replace(layer, driver=other),))
    assert np.isfinite(new.pose(motion[0])[0]).all()
    with pytest.raises(ps.InputError, match=r"player: kernel: expected one of gaussian, .* got .quintic."):
        new.compile()
