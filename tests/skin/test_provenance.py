"""Every method says the same about how a skin was made, in plain JSON."""

from __future__ import annotations

import json

import pytest

import posespace as ps
from posespace.rivals import rivals
from posespace.skin.provenance import about_fit
from posespace.skin.skin import Skin

TRAIN, _ = ps.datasets.bending_arm(rings=12, sides=6)
METHODS = {
    "psd": ps.PSD(radius={("hand", "forearm"): 0.8, "*": 1.0}),
    "eigenskin": ps.EigenSkin(components=2),
    "muscles": ps.Muscles(signals=2),
    **{name: rival for name, rival in rivals(1e-3).items() if name not in ("weighted PSD", "linear in R - I")},
}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_says_the_same(name: str) -> None:
    skin = METHODS[name].fit(TRAIN)
    assert isinstance(skin, Skin)
    about = skin.about
    assert list(about)[:4] == ["method", "settings", "poses", "damped vertices"]
    assert about["method"] == name
    # Nothing changes on the way through a file.
    assert json.loads(json.dumps(about)) == about
    assert len(about["poses"]) == (len(TRAIN) if skin.layers else 0)


def test_settings_become_plain_json() -> None:
    space = ps.PoseSpace("joint", ("hand",))
    settings = about_fit("psd", ps.PSD(radius={("hand", "forearm"): 0.8}, space=space))["settings"]
    # The names that span a layer become one key.
    assert settings["radius"] == {"hand + forearm": 0.8}
    assert settings["space"] == {"kind": "joint", "names": ["hand"]}
    assert settings["tolerance"] == ps.PSD().tolerance
