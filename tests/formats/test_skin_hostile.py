"""Skin files that are whole but hostile: each wrong thing gets its own one line, when the file is loaded or posed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.strategies import random_skin
from helpers.tamper import SURROGATE, Parts

import posespace as ps


def tampered(folder: Path, change: Callable[[Parts], object]) -> Path:
    """A skin file with one thing changed; its layer 0 is driven by joints, layer 3 by the control `smile`."""
    path = folder / "a.skin"
    random_skin(np.random.default_rng(7)).save(path)
    parts = Parts.of(path.read_bytes())
    change(parts)
    path.write_bytes(parts.written())
    return path


def filled(name: str, value: float) -> Callable[[Parts], object]:
    def change(parts: Parts) -> None:
        parts.arrays[f"skin/{name}"] = np.full_like(parts.arrays[f"skin/{name}"], value, dtype=np.float64)

    return change


def shaped(name: str, how: Callable[[Any], Any]) -> Callable[[Parts], object]:
    return lambda parts: parts.arrays.update({f"skin/{name}": how(parts.arrays[f"skin/{name}"])})


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (filled("layers/0/driver/radius", 1e-310), "radius: expected finite and above 0, from 1e-30 to 1e[+]30, got"),
        (filled("layers/4/driver/centres", 1e36), "interpolant centres: expected numbers from -1e[+]35 to 1e[+]35"),
        (filled("layers/0/driver/weights", 1e300), "interpolant weights: expected numbers from -1e[+]90 to 1e[+]90"),
        (filled("layers/0/basis", 3e38), "layer 'joint' basis: expected numbers from -1e[+]10 to 1e[+]10, got 3e[+]38"),
        (filled("detail/heights", 1e30), "detail heights: expected numbers from -1e[+]10"),
        (filled("rig/points", 1e30), "mesh points: expected numbers from -1e[+]10"),
        (filled("rig/weights", 1e300), "rig weights: expected numbers from -1e[+]10"),
        (filled("rig/points", np.nan), "mesh points: expected finite numbers, got nan"),
        (shaped("layers/0/driver/weights", lambda weights: weights[:, 0]), "interpolant: expected a column of weights"),
        (shaped("layers/3/driver/values", lambda values: values[:, 0]), "interpolant: expected a column of weights"),
        (
            shaped("layers/0/driver/weights", lambda weights: weights[:, :0]),
            "expected at least one component, got none",
        ),
        (shaped("layers/0/support", lambda _: np.array(3)), "support: expected an array with axes, got one number"),
    ],
)
def test_a_wrong_array_is_refused_when_loading(tmp_path: Path, change: Callable[[Parts], object], line: str) -> None:
    path = tampered(tmp_path, change)
    with pytest.raises(ps.FileError, match=line) as caught:
        ps.Skin.load(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_half_characters_in_names_are_replaced(tmp_path: Path) -> None:
    def rename(parts: Parts) -> None:
        skin = parts.description["skin"]
        skin["layers"][0]["name"] = f"arm {SURROGATE}"
        skin["about"] = {SURROGATE: [f"by {SURROGATE}"]}

    skin = ps.Skin.load(tampered(tmp_path, rename))
    assert skin.layers[0].name == "arm ?"
    assert skin.about == {"?": ["by ?"]}
    skin.save(tmp_path / "again.skin")
    assert ps.Skin.load(tmp_path / "again.skin").about == skin.about


def test_what_is_said_of_the_making_may_not_be_nested_deep(tmp_path: Path) -> None:
    deep = json.loads("[" * 100 + "]" * 100)
    path = tampered(tmp_path, lambda parts: parts.description["skin"].update(about={"settings": deep}))
    with pytest.raises(ps.FileError, match="about: expected at most 50 levels, got more"):
        ps.Skin.load(path)


def test_a_pose_of_absurd_size_is_refused() -> None:
    rig = ps.datasets.bending_arm(rings=8, sides=5)[0].rig
    with pytest.raises(ps.InputError, match=r"pose translations: expected numbers from -1e\+10 to 1e\+10, got 1e\+300"):
        ps.Pose(rig.rest.rotations, np.full((3, 3), 1e300))
    with pytest.raises(ps.InputError, match=r"pose control 'smile': expected a finite number from -1e\+10 to 1e\+10"):
        ps.Pose(rig.rest.rotations, controls={"smile": 1e300})


def test_coordinates_of_absurd_size_are_refused_by_the_reference_and_by_players(tmp_path: Path) -> None:
    path = tampered(tmp_path, filled("layers/0/driver/weights", 1e80))
    skin = ps.Skin.load(path)
    with pytest.raises(ps.InputError, match=r"coordinates over .* in this pose"):
        skin.pose(skin.rig.rest)
    with pytest.raises(ps.InputError, match="bone transforms and coordinates from"):
        skin.compile()
