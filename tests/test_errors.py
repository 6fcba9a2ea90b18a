"""Messages: one line whatever they name, and the closest name by the part that differs."""

from __future__ import annotations

import pickle
from copy import copy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posespace import check
from posespace.errors import FileError, InputError, MissingExtraError, closest_name, one_line, quoted, suggestion
from posespace.simulation.bodies.capsules import CrowdedError

MIXAMO = [f"mixamorig:{name}" for name in ("Hips", "Spine", "LeftArm", "LeftHand", "LeftHandIndex1", "RightHand")]
BIPED = [f"Bip01 {side} {name}" for side in "LR" for name in ("Finger0", "Finger01", "Finger1", "Hand", "UpperArm")]


@pytest.mark.parametrize(
    ("wrong", "known", "closest"),
    [
        ("LeftHnd", MIXAMO, "mixamorig:LeftHand"),
        ("hips", MIXAMO, "mixamorig:Hips"),
        ("other:RightHand", MIXAMO, "mixamorig:RightHand"),
        ("Bip01 R Fingr01", BIPED, "Bip01 R Finger01"),
        ("Bip02 L Hand", BIPED, "Bip01 L Hand"),
        ("Bip01 L Fingre0", BIPED, "Bip01 L Finger0"),
        ("R Finger1", BIPED, "Bip01 R Finger1"),
        ("LeftHand", ["RightHand", "LeftHandIndex1"], "LeftHandIndex1"),
        ("gauss", ["thin_plate", "cubic", "gaussian"], "gaussian"),
    ],
)
def test_the_closest_name_is_found_by_the_part_that_differs(wrong: str, known: list[str], closest: str) -> None:
    assert closest_name(wrong, known) == repr(closest)


def test_no_name_is_close_where_none_is_known() -> None:
    assert closest_name("a", []) == ""


@pytest.mark.parametrize(
    ("wrong", "known"),
    [
        ("mirror", ["demo", "info", "pose", "examples", "bones", "fit", "register", "export"]),
        ("smile", ["elbow", "wrist"]),
        ("x", ["y", "z"]),
    ],
)
def test_a_name_that_is_like_no_other_gets_no_suggestion(wrong: str, known: list[str]) -> None:
    assert suggestion(wrong, known, listed=True) == ""
    listed = ", ".join(map(repr, known[:4]))
    assert suggestion(wrong, known) == f"; known are {listed}{' and 4 more' if len(known) > 4 else ''}"
    assert suggestion(wrong, []) == ""


@pytest.mark.parametrize(
    ("wrong", "known", "closest"),
    [
        ("evalute", ["fit", "evaluate"], "evaluate"),
        ("Forearm", ["Bip01 L Forearm", "Bip01 L Hand"], "Bip01 L Forearm"),
        ("o'brian", ["o'brien", "smith"], "o'brien"),
        ("pds", ["psd", "eigenskin"], "psd"),
    ],
)
def test_a_name_that_is_meant_is_suggested(wrong: str, known: list[str], closest: str) -> None:
    assert suggestion(wrong, known) == f"; the closest is {closest!r}"


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=40, unique_by=str.casefold))
def test_a_known_name_is_closest_to_itself(known: list[str]) -> None:
    assert closest_name(known[-1], known) == repr(known[-1])


@given(st.text())
def test_every_message_is_one_printable_line(name: str) -> None:
    for message in (str(InputError(name)), str(FileError(name, "is odd"))):
        assert message.isprintable()
    assert one_line(one_line(name)) == one_line(name)


def test_line_ends_and_escapes_in_names_are_shown_as_such() -> None:
    assert str(FileError("a\nb.glb", "joint \x1b[31m")) == "a\\nb.glb: joint \\x1b[31m"
    assert one_line("°é \udcff") == "°é \\udcff"


def test_a_wrong_choice_names_them_all_and_the_closest() -> None:
    with pytest.raises(InputError, match="side: expected one of right, left, got 'lft'; the closest is 'left'"):
        check.choice("side", "lft", ("right", "left"))


ERRORS = [
    InputError("a\nb"),
    FileError(Path("a.obj"), "holds\nno vertices"),
    MissingExtraError(["usd", "gpu"], "reading USD"),
    CrowdedError("thumb", "is too thick"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_an_error_of_another_process_arrives_as_it_was_raised(error: InputError, protocol: int) -> None:
    for other in (pickle.loads(pickle.dumps(error, protocol)), copy(error)):
        assert type(other) is type(error)
        assert str(other) == str(error)
        assert vars(other) == vars(error)


def test_a_long_name_shows_both_its_ends() -> None:
    name = "Armature|" + "x" * 100 + "|LeftForeArm"
    assert quoted(name) == repr(name)
    long = "first" + "x" * 10_000 + "last"
    assert quoted(long).startswith("'firstx")
    assert quoted(long).endswith("xlast' (10009 letters)")
    assert len(quoted(long)) < 250
