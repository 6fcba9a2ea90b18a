"""Figures for the panels agree with the skin they are of, whatever made it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers.point_skins import point_skin

import posespace as ps
from posespace.errors import InputError
from posespace.evaluation.storage import stored_bytes
from posespace.geometry import rotations
from posespace.skin.provenance import SINGULAR_VALUES
from posespace.skin.skin import Skin
from posespace.studio.figures import edited, figures, singular_values

TRAIN, UNSEEN = ps.datasets.bending_arm(rings=12, sides=8)
MOTION = TRAIN.motion


@pytest.fixture(scope="module")
def skins() -> dict[str, Skin]:
    methods = {"eigenskin": ps.EigenSkin(components=2), "psd": ps.PSD(), "muscles": ps.Muscles(signals=3)}
    return {name: method.fit(TRAIN) for name, method in methods.items()}


def asked(what: str, skin: Skin, **data: Any) -> Any:
    words, arrays = figures(what, skin, MOTION, data)
    json.dumps(words, allow_nan=False)
    assert all(array.dtype == np.float32 and np.isfinite(array).all() for array in arrays.values())
    return words, arrays


@pytest.mark.parametrize("name", ["eigenskin", "psd", "muscles"])
def test_any_skin_has_figures_of_its_layers(name: str, skins: dict[str, Skin]) -> None:
    skin = skins[name]
    said = asked("skin", skin)[0]
    assert (said["method"], said["bytes"], said["beta"]) == (name, stored_bytes(skin), None)
    assert said["bytes_per_vertex"] == stored_bytes(skin) / len(skin.rig.mesh.points)
    assert 0 <= said["error"] < 0.5
    for number, (layer, of_layer) in enumerate(zip(skin.layers, said["layers"], strict=True)):
        assert (of_layer["name"], of_layer["vertices"]) == (layer.name, len(layer.support))
        assert len(of_layer["singular"]) >= of_layer["components"] == layer.driver.components
        assert of_layer["singular"] == sorted(of_layer["singular"], reverse=True)
        weights = asked("support", skin, layer=number)[1]["weights"]
        assert np.array_equal(np.flatnonzero(weights), layer.support)
        assert weights.max() == 1
        words, arrays = asked("component", skin, layer=number, component=0)
        assert words["largest"] == arrays["sizes"].max() > 0
        assert set(np.flatnonzero(arrays["sizes"])) <= set(layer.support.tolist())


def test_a_component_is_as_large_as_the_skin_moves_there(skins: dict[str, Skin]) -> None:
    skin = skins["eigenskin"]
    layer = skin.layers[0]
    alone = replace(skin, layers=(layer,)).edited({f"{layer.name}:{k + 1}": 0.0 for k in range(1, 2)})
    most = np.max([np.linalg.norm(alone.displacements(pose), axis=1) for pose in MOTION], axis=0)
    sizes = asked("component", skin, layer=0, component=0)[1]["sizes"] / skin.rig.mesh.unit
    assert np.abs(sizes - most).max() < 0.05 * most.max()


def test_singular_values_are_those_of_the_data_where_the_fit_records_them() -> None:
    every = ps.EigenSkin(components=99, budget=None, threshold=0.0, taper=0, bits=32).fit(TRAIN)
    few = ps.EigenSkin(components=1).fit(TRAIN)
    computed, unknown = singular_values(replace(every, about={}), every.layers[0])
    recorded, kept = singular_values(every, every.layers[0])
    assert unknown is None
    assert computed[: len(recorded)] == pytest.approx(recorded, rel=0.02)
    assert kept == pytest.approx(1)
    values, share = singular_values(few, few.layers[0])
    assert share is not None
    assert share == pytest.approx(values[0] ** 2 / (values**2).sum())
    assert share < 1


@pytest.mark.parametrize("wrong", ["no", {"x": 1}, {"LAYER": "no"}, {"LAYER": [None, "a", -1, float("nan")]}, []])
def test_what_a_file_says_of_singular_values_need_not_be_numbers(wrong: Any, skins: dict[str, Skin]) -> None:
    skin = skins["eigenskin"]
    name = skin.layers[0].name
    said = (
        {name if key == "LAYER" else key: value for key, value in wrong.items()} if wrong and wrong != "no" else wrong
    )
    values, kept = singular_values(replace(skin, about={SINGULAR_VALUES: said}), skin.layers[0])
    assert len(values) == skin.layers[0].driver.components
    assert kept is None


def test_signals_are_what_drives_the_skin_beside_the_angles(skins: dict[str, Skin]) -> None:
    skin = skins["muscles"]
    words, arrays = asked("signals", skin, layer=0)
    layer = skin.layers[0]
    count, components = len(MOTION), layer.driver.components
    assert words["names"] == [f"{layer.name}:{k + 1}" for k in range(components)]
    assert words["poses"] == list(MOTION.names)
    assert sum(words["shares"]) == pytest.approx(1)
    assert arrays["signals"].shape == (count, components)
    assert arrays["signals"][5] == pytest.approx(skin.drive(MOTION[5]).coordinates[0], rel=1e-5, abs=1e-6)
    assert (np.diff(arrays["times"]) > 0).all()
    assert arrays["values"].shape == (count, len(words["controls"]))
    relative = rotations.multiply(rotations.inverse(skin.rig.rest.rotations)[None], MOTION.rotations)
    angle = np.degrees(2 * np.arctan2(np.linalg.norm(relative[..., :3], axis=-1), np.abs(relative[..., 3])))
    joints = [skin.rig.skeleton.index(name) for name in words["joints"]]
    assert joints
    assert np.abs(arrays["angles"]) == pytest.approx(angle[:, joints], abs=1e-3)


def test_a_signal_that_is_muted_acts_no_more_and_comes_back(skins: dict[str, Skin]) -> None:
    skin, pose = skins["muscles"], MOTION[5]
    name = f"{skin.layers[0].name}:2"
    muted = edited(skin, {name: 0.0})
    assert figures("signals", muted, MOTION, {"layer": 0}, {name: 0.0})[0]["scales"] == [1.0, 0.0, 1.0]
    assert not asked("signals", muted, layer=0)[1]["signals"][:, 1].any()
    half = edited(skin, {name: 0.5}).displacements(pose)
    assert half == pytest.approx((skin.displacements(pose) + muted.displacements(pose)) / 2, abs=1e-6)
    assert np.array_equal(edited(skin, {}).displacements(pose), skin.displacements(pose))


def test_a_skin_of_control_points_has_a_beta_that_can_be_set() -> None:
    skin = point_skin("bones alone")
    said = figures("skin", skin, MOTION, {})[0]
    assert said["layers"] == []
    assert said["control_points"] == len(skin.bones.points) > 0
    softer = edited(skin, {}, beta=0.3)
    assert figures("skin", softer, MOTION, {})[0]["beta"] == 0.3 != said["beta"]


@pytest.mark.parametrize(
    ("what", "data", "said"),
    [
        ("colour", {}, "figures: expected one of skin, support, component, signals, got 'colour'"),
        ("support", {"layer": 99}, r"layer: expected 0 to \d+, got 99"),
        ("support", {}, "layer: expected a whole number"),
        ("component", {"layer": 0, "component": -1}, r"component: expected 0 to \d+, got -1"),
    ],
)
def test_what_is_not_there_is_refused(what: str, data: dict[str, Any], said: str, skins: dict[str, Skin]) -> None:
    with pytest.raises(InputError, match=said):
        figures(what, skins["eigenskin"], MOTION, data)
    with pytest.raises(InputError, match="layer: the skin has none"):
        figures("support", Skin(TRAIN.rig), MOTION, {"layer": 0})
