"""What names a body: a built-in one, a Body, a Rig or a file."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from posespace.errors import InputError
from posespace.formats.pose_choice import PoseChoice
from posespace.simulation.bodies import BUILT_IN
from posespace.simulation.bodies.prepare import prepare
from posespace.simulation.settings import Settings

pytest.importorskip("skimage")

FEW = Settings(random=0, choice=PoseChoice(only=("rest",)))


def test_every_built_in_body_is_made_by_its_module() -> None:
    assert all(callable(import_module(module).body) for module in BUILT_IN.values())


def test_a_body_and_a_rig_can_be_given_as_they_are() -> None:
    from posespace.simulation.bodies.arm import arm

    body = arm(400)
    given = prepare(body, FEW)
    assert (given.body, given.poses.names, given.origin, given.file) == (body, ("rest",), "given", None)
    from_rig = prepare(body.rig, FEW)
    assert from_rig.body.rig is body.rig
    assert from_rig.body.bones


def test_an_unknown_body_is_told_the_known_ones() -> None:
    with pytest.raises(InputError, match="body 'foot': expected hand, slender-hand, arm, or the file of a rig"):
        prepare("foot", FEW)
    with pytest.raises(InputError, match=r"none\.glb: does not exist"):
        prepare(Path("none.glb"), FEW)
