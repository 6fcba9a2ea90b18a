"""USD files that draw on other files, are damaged or set out to do harm: each is read or refused with one line."""

from __future__ import annotations

import os
import random
import sys

import numpy as np
import pytest
from conftest import absent
from helpers.limited import computed
from helpers.usd_files import BOUND, EYE, SQUARE, WAVE, arm

from posespace.errors import FileError, MissingExtraError
from posespace.formats import usd
from posespace.formats.usd import process

try:
    from pxr import Sdf
except ImportError:
    absent("usd", "usd-core is not installed")


def test_files_in_the_same_folder_are_drawn_on(parse, tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.usda").write_text(arm())
    contents = parse('#usda 1.0\ndef "Hero" (references = @parts/arm.usda@</Arm>) {}\n')
    assert list(contents.rigs) == ["Hero"]
    contents = parse('#usda 1.0\ndef "Hero" (references = @parts/leg.usda@</Arm>) {}\n')
    assert contents.notes == ("1 files it refers to are missing: parts/leg.usda",)
    (tmp_path / "parts" / "arm.usda").write_text("#usda 1.0\ndef {")
    with pytest.raises(FileError, match=r"scene\.usda: refers to 'arm\.usda', which is not valid USD text \(line 2\)"):
        parse('#usda 1.0\ndef "Hero" (references = @parts/arm.usda@</Arm>) {}\n')


@pytest.mark.parametrize(
    "text",
    [
        '#usda 1.0\ndef "A" (references = @../outside.usda@</Arm>) {}',
        '#usda 1.0\ndef "A" (payload = @/etc/outside.usda@) {}',
        '#usda 1.0\ndef "A" (references = @https://example.org/a.usda@) {}',
        "#usda 1.0\n(\n subLayers = [@./../outside.usda@]\n)",
        '#usda 1.0\n(\n expressionVariables = {\n string X = "/etc/a"\n }\n subLayers = [@`"${X}.usda"`@]\n)',
        "#usda 1.0\n(\n subLayers = [@link.usda@]\n)",
        '#usda 1.0\ndef "A" (\n clips = {\n dictionary d = {\n asset[] assetPaths = [@/etc/a.usda@]\n }\n }\n) {}',
        '#usda 1.0\ndef "A" (\n variantSets = "v"\n) {\n variantSet "v" = {\n "x" (references = @../a.usda@) {}\n }\n}',
    ],
    ids=["parent", "absolute", "web", "sublayer", "expression", "link", "clips", "variant"],
)
def test_files_elsewhere_are_refused(tmp_path, text):
    folder = tmp_path / "own"
    folder.mkdir()
    (tmp_path / "outside.usda").write_text(arm())
    (folder / "link.usda").symlink_to(tmp_path / "outside.usda")
    (folder / "scene.usda").write_text(text)
    with pytest.raises(FileError, match=r"scene\.usda: refers to"):
        usd.read(folder / "scene.usda")


def test_prims_may_draw_on_others_of_the_same_file(parse):
    contents = parse(arm(more='def "Twin" (references = </Arm>) {}'))
    assert list(contents.rigs) == ["Arm", "Twin"]
    assert np.array_equal(contents.rigs["Twin"].mesh.points, contents.rigs["Arm"].mesh.points)
    assert "1 animations that do not move the first rig are left out" in contents.notes


def test_modules_beside_the_caller_are_not_run(parse, tmp_path, monkeypatch):
    (tmp_path / "numpy.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    assert parse(arm()).rigs


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (arm(mesh=SQUARE.replace("[4]", "[5]") + BOUND), "its faces have 5 corners, got 4 indices"),
        (arm(mesh=SQUARE.replace("2, 3]", "2, 9]") + BOUND), "faceVertexIndices: expected indices from 0 to 3, got 9"),
        (arm(mesh=SQUARE.replace("(1, 2, 0)", "(1, nan, 0)") + BOUND), "expected finite numbers, got nan"),
        (arm(mesh=SQUARE + BOUND.replace("0.75]", "0.75, 1]")), "expected 4 x 2 joint indices and weights, got 8"),
        (arm(mesh=SQUARE + BOUND.replace("0, 1] (", "0, 7] (")), "joint indices: expected indices from 0 to 1, got 7"),
        (arm(mesh=SQUARE + BOUND.replace("elementSize = 2", "elementSize = 3", 1)), "do not fit each other"),
        (arm(mesh=SQUARE + BOUND.replace(" = [1, 0, 1, 0, 0.25, 0.75, 0.25, 0.75]", "")), "do not fit|have no value"),
        (arm(mesh=SQUARE + BOUND + '\n uniform token[] skel:joints = ["a", "z"]'), "joint 'z' is not in its skeleton"),
        (arm(rest=f"[{EYE}]"), r"restTransforms: expected shape \(2, 4, 4\), got \(1, 4, 4\)"),
        (arm(rest=f"[{EYE}, {EYE.replace('0, 1) )', '0, 3) )')}]"), "expected 0 0 0 1 as last row"),
        (arm(joints='["a", "a"]'), "expected each joint once, got 'a' twice"),
        (arm(wave=WAVE.replace("(0, 0, 0, 1)", "(0, 0, 0, 0)")), "expected finite quaternions of nonzero length"),
        (arm(wave=WAVE.replace("30: [(1, 2, 0)]", "30: []")), "expected the same number of values at each time"),
        (arm(head="timeCodesPerSecond = 0"), "timeCodesPerSecond: expected a number above 0, got 0"),
        (arm()[:900], r"is not valid USD text \(line \d+\)"),
        ("", "is damaged or not USD"),
        ("#usda 1.0\n" + 'def "x" {' * 100_000, "is damaged|is not valid|holds more than"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(parse, capfd, wrong, message):
    with pytest.raises(FileError, match=message) as error:
        parse(wrong)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400
    assert capfd.readouterr() == ("", "")


def test_floods_of_prims_are_refused_before_the_library_reads_them(parse):
    with pytest.raises(FileError, match=r"holds more than \d+ prims and properties; export the character alone"):
        parse("#usda 1.0\n" + "".join(f'def "P{k}" {{}}\n' for k in range(100_000)))


def test_byte_order_marks_and_pipes_are_refused_by_name(tmp_path):
    path = tmp_path / "scene.usda"
    for encoding in ("utf-8-sig", "utf-16"):
        path.write_bytes("#usda 1.0\n".encode(encoding))
        with pytest.raises(FileError, match="byte-order mark, which USD has not"):
            usd.read(path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(FileError, match="expected an ordinary file"):
        usd.read(path)


def test_prims_that_multiply_without_end_are_refused_in_time(parse):
    pair = 'def "P{}" {{\n def "a" (references = </P{}>) {{}}\n def "b" (references = </P{}>) {{}}\n}}'
    double = [pair.format(k, k - 1, k - 1) for k in range(1, 40)]
    began = computed()
    with pytest.raises(FileError, match="is damaged"):
        parse('#usda 1.0\ndef "P0" {}\n' + "\n".join(double))
    assert computed() - began < 60


def test_damaged_crates_give_a_file_or_one_line(data, parse, tmp_path):
    Sdf.Layer.FindOrOpen(str(data / "usdskel" / "openusd" / "lbs.usda")).Export(str(tmp_path / "whole.usdc"))
    whole = (tmp_path / "whole.usdc").read_bytes()
    chance = random.Random(5)
    for _ in range(12):
        wrong = bytearray(whole)
        start = chance.randrange(len(wrong))
        wrong[start : start + 4] = chance.choice([b"\xff" * 4, bytes(4), chance.randbytes(4)])
        try:
            parse(bytes(wrong[: chance.choice([len(wrong), start + 4])]), "wrong.usdc")
        except FileError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("script", "message"),
    [("kill -SEGV $$", r"the USD library stopped: SIGSEGV"), ("sleep 60", r"takes more than \d+ s")],
)
def test_a_library_that_dies_or_hangs_gives_one_line(parse, tmp_path, monkeypatch, script, message):
    stand_in = tmp_path / "python"
    stand_in.write_text(f"#!/bin/sh\n{script.replace('sleep', 'exec sleep')}\n")
    stand_in.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(stand_in))
    monkeypatch.setattr(process, "_SECONDS", 1.0)
    with pytest.raises(FileError, match=message):
        parse(arm())


def test_the_missing_extra_is_named(parse, monkeypatch):
    monkeypatch.setitem(sys.modules, "pxr", None)
    with pytest.raises(MissingExtraError, match=r"reading USD needs the extra 'usd': pip install 'posespace\[usd\]'"):
        parse(arm())


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        usd.read(tmp_path / "none.usda")
