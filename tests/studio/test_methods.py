"""What a page may choose of a fit is what the methods take, and nothing else is taken."""

from __future__ import annotations

import json
from typing import Any

import pytest

from posespace.errors import InputError
from posespace.fit.methods import METHODS
from posespace.studio.methods import checked_settings, methods_figures


def test_every_method_is_offered_with_defaults_that_it_takes() -> None:
    methods = methods_figures()
    json.dumps(methods, allow_nan=False)
    assert [method["name"] for method in methods] == list(METHODS)
    for method in methods:
        assert method["summary"].endswith(".")
        settings = {setting["name"]: setting["default"] for setting in method["settings"]}
        assert checked_settings(method["name"], settings) == settings
        assert all(setting["text"] and "In Python" not in setting["text"] for setting in method["settings"])
        assert {setting["kind"] for setting in method["settings"]} <= {"bool", "int", "float", "str"}


def test_radii_may_differ_by_joint() -> None:
    assert checked_settings("psd", {"radius": {"elbow": 0.5}}) == {"radius": {"elbow": 0.5}}


@pytest.mark.parametrize(
    ("method", "settings", "said"),
    [
        ("magic", {}, "method: expected one of psd, eigenskin, muscles, points, got 'magic'"),
        ("eigenskin", {"colour": 1}, "settings: eigenskin expects any of components"),
        ("eigenskin", {"components": True}, "components: expected a value of type int or none, got True"),
        ("eigenskin", {"bits": None}, "bits: expected a value of type int, got None"),
        ("eigenskin", {"bits": 7}, "bits"),
        ("eigenskin", {"allotment": "fair"}, "allotment"),
        ("points", {"points": "many"}, "points: expected a value of type int, got 'many'"),
        ("psd", {"radius": {"elbow": "far"}}, "radius of 'elbow'"),
    ],
)
def test_wrong_settings_are_refused(method: str, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as raised:
        checked_settings(method, settings)
    assert said in str(raised.value)
