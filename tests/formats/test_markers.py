"""C3D, TSV and TRC: what is read is what was captured, what is missing is missing, and bad files are refused."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from helpers import marker_files

import posespace as ps
from posespace.formats import marker_map
from posespace.report.info import describe


def same(found: ps.Markers, wanted: ps.Markers, within: float = 1e-5) -> None:
    assert found.names == wanted.names
    assert found.rate == pytest.approx(wanted.rate)
    assert np.array_equal(found.seen, wanted.seen)
    np.testing.assert_allclose(found.positions, wanted.positions, atol=within)


@pytest.mark.parametrize("processor", marker_files.PROCESSORS)
@pytest.mark.parametrize(("scale", "analogue"), [(-0.1, 0), (-1.0, 6), (0.01, 4)])
def test_c3d_of_every_processor(tmp_path: Path, processor: str, scale: float, analogue: int) -> None:
    wanted = marker_files.take()
    path = marker_files.c3d(tmp_path / "a.c3d", wanted, processor, scale, analogue)
    same(ps.load_markers(path), wanted, abs(scale) if scale > 0 else 0.0)


def test_c3d_as_ezc3d_reads_it(data: Path, tmp_path: Path) -> None:
    ezc3d = pytest.importorskip("ezc3d")
    wanted = marker_files.take()
    written = ezc3d.c3d()
    written["parameters"]["POINT"]["RATE"]["value"] = [wanted.rate]
    written["parameters"]["POINT"]["LABELS"]["value"] = list(wanted.names)
    gapped = np.where(wanted.seen[..., None], wanted.positions, np.nan)
    written["data"]["points"] = np.concatenate([gapped, np.ones((*gapped.shape[:2], 1))], axis=2).transpose(2, 1, 0)
    written.write(str(tmp_path / "made.c3d"))
    same(ps.load_markers(tmp_path / "made.c3d"), wanted)
    for path in (data / "c3d-cmu" / "02_01.c3d", tmp_path / "made.c3d"):
        found, other = ps.load_markers(path), ezc3d.c3d(str(path))
        points = other["data"]["points"][:3].transpose(2, 1, 0)
        assert list(found.names) == other["parameters"]["POINT"]["LABELS"]["value"]
        assert found.rate == other["header"]["points"]["frame_rate"]
        assert np.array_equal(found.seen, ~np.isnan(points).any(axis=2))
        np.testing.assert_array_equal(found.positions[found.seen], points[found.seen])


def test_c3d_of_more_frames_than_its_header_can_say(tmp_path: Path) -> None:
    long = ps.Markers(("a",), np.arange(3 * 70_000).reshape(-1, 1, 3) / 8.0)
    assert len(ps.load_markers(marker_files.c3d(tmp_path / "a.c3d", long))) == 70_000
    late = marker_files.take()
    same(ps.load_markers(marker_files.c3d(tmp_path / "b.c3d", late, first=65_530)), late)


def test_c3d_labels_units_and_lengths(tmp_path: Path) -> None:
    wanted = marker_files.take()
    path = marker_files.c3d(tmp_path / "a.c3d", wanted, labels=["tip", "tip"], unit="m")
    found = ps.load_markers(path)
    assert found.names == ("tip", "tip#2", "marker 2", "marker 3")
    assert found.unit == 1.0
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    with pytest.raises(ps.FileError, match=r"a\.c3d: is cut short"):
        ps.load_markers(path)
    path.write_bytes(b"x" * 600)
    with pytest.raises(ps.FileError, match="is not a C3D file"):
        ps.load_markers(path)


@pytest.mark.parametrize(("zeros", "columns"), [(False, True), (True, True), (True, False)])
def test_tsv(tmp_path: Path, zeros: bool, columns: bool) -> None:
    wanted = marker_files.take()
    same(ps.load_markers(marker_files.tsv(tmp_path / "a.tsv", wanted, zeros, columns)), wanted)


def test_trc(tmp_path: Path) -> None:
    wanted = marker_files.take()
    found = ps.load_markers(marker_files.trc(tmp_path / "a.trc", wanted, "cm"))
    same(found, wanted)
    assert found.unit == 0.01


def test_the_real_takes(data: Path) -> None:
    found = ps.load_markers(data / "hand-markers-dfki" / "recording_train.tsv")
    assert (len(found), len(found.names), found.rate) == (4000, 21, 100.0)
    assert found.names[3] == "thumb_tip"
    assert 1 - found.seen.mean() == pytest.approx(0.0046, abs=2e-4)
    assert found.positions[0, 0].tolist() == [110.406, 135.075, 460.584]
    figures = describe(data / "hand-markers-dfki" / "recording_train.tsv")["markers"]
    assert figures["gaps"] == 13
    assert figures["longest_gap_seconds"] == pytest.approx(0.49)


BAD_TSV = {
    "NO_OF_MARKERS\t4": ("NO_OF_MARKERS\t5", "says it has 5 markers and names 4"),
    "FREQUENCY\t100": ("FREQUENCY\tEXT", "expected a number for FREQUENCY, got 'EXT'"),
    "MARKER_NAMES": ("NAMES", "it has no line MARKER_NAMES"),
    "1\t0.00000\t": ("1\t0.00000\tx\t", "expected 14 numbers"),
}


@pytest.mark.parametrize("word", BAD_TSV)
def test_bad_tsv(tmp_path: Path, word: str) -> None:
    path = marker_files.tsv(tmp_path / "a.tsv", marker_files.take())
    wrong, said = BAD_TSV[word]
    path.write_text(path.read_text().replace(word, wrong, 1))
    with pytest.raises(ps.FileError, match=said):
        ps.load_markers(path)


def test_other_files_hold_no_markers(tmp_path: Path) -> None:
    path = marker_files.trc(tmp_path / "a.trc", marker_files.take(), "furlongs")
    with pytest.raises(ps.FileError, match="expected Units of mm, cm, m, in, ft, got 'furlongs'"):
        ps.load_markers(path)
    (tmp_path / "a.obj").write_text("v 0 0 0\n")
    with pytest.raises(ps.FileError, match=r"holds no markers; known endings are \.c3d \.tsv \.trc"):
        ps.load_markers(tmp_path / "a.obj")
    with pytest.raises(ps.FileError, match="holds markers only; load it with the skeleton"):
        ps.load_motion(marker_files.tsv(tmp_path / "a.tsv", marker_files.take()))


def test_a_map_says_which_marker_moves_which_point(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    given = {"posespace": "markers", "version": 1, "points": {"a": "b"}, "place_by": ["x", "y", "z"], "hold": 1}
    path.write_text(json.dumps(given))
    found = marker_map.read(path)
    assert found == dataclasses.replace(ps.MarkerMapping(), points={"a": "b"}, place_by=("x", "y", "z"), hold=1.0)
    path.write_text(json.dumps(given | {"holt": 1}))
    with pytest.raises(ps.FileError, match=r"map\.json: 'holt': expected one of .*; the closest is 'hold'"):
        marker_map.read(path)
    path.write_text(json.dumps(given | {"place_by": ["x"]}))
    with pytest.raises(ps.FileError, match="place_by: expected at least three markers, got 1"):
        marker_map.read(path)
    path.write_text(json.dumps({"poses": {}}))
    with pytest.raises(ps.FileError, match='begins with "posespace": "markers"'):
        marker_map.read(path)
