"""The example scripts run as a user runs them, from another folder, and print the figures that they should."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def printed(name: str, folder: Path) -> str:
    """What an example prints, run in `folder`."""
    command = [sys.executable, str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def figure(text: str, before: str) -> float:
    """The number that follows `before`."""
    found = re.search(re.escape(before) + r"\s*(-?[\d.]+(?:e[-+]\d+)?)", text)
    assert found, f"{before!r} is not in {text!r}"
    return float(found[1])


def test_fit_sculpts(tmp_path: Path) -> None:
    text = printed("fit_sculpts", tmp_path)
    assert figure(text, "plain skinning being 1:") == pytest.approx(0.0242, abs=0.0005)
    assert (tmp_path / "elbow.skin").is_file()


@pytest.mark.slow
def test_compress_hand(tmp_path: Path) -> None:
    text = printed("compress_hand", tmp_path)
    rows = {
        "5 components, 32 bits": (0.0446, 446.0),
        "5 components, 16 bits": (0.0446, 275.4),
        "5 components, 8 bits": (0.0489, 183.7),
        "2 components, 16 bits": (0.0730, 214.1),
        "1 component, 16 bits": (0.2423, 134.2),
    }
    for name, (error, stored) in rows.items():
        assert figure(text, name) == pytest.approx(error, abs=0.0005)
        assert float(re.search(f"{name} +\\S+ +(\\S+)", text)[1]) == pytest.approx(stored, abs=0.2)  # type: ignore[index]


def test_play_in_real_time(tmp_path: Path) -> None:
    text = printed("play_in_real_time", tmp_path)
    assert figure(text, "as a fraction of the box diagonal:") < 1e-5
    assert text.count("microseconds") == 2


def test_clip_to_muscles(tmp_path: Path) -> None:
    text = printed("clip_to_muscles", tmp_path)
    assert figure(text, "plain skinning being 1:") == pytest.approx(0.0061, abs=0.0005)
    assert figure(text, "largest error:") == pytest.approx(0.176, abs=0.01)
    assert figure(text, "by up to") == pytest.approx(4.6, abs=0.2)


def test_export_for_engines(tmp_path: Path) -> None:
    text = printed("export_for_engines", tmp_path)
    assert "722 vertices, 30 morph targets, 25 key frames" in text
    assert figure(text, "as a fraction of the box diagonal:") < 1e-6
    assert (tmp_path / "arm.glb").is_file()


def test_every_example_is_short_tested_and_named_in_the_docs() -> None:
    paths = sorted(EXAMPLES.glob("*.py"))
    assert len(paths) == 6
    for path in paths:
        assert len(path.read_text().splitlines()) < 60
        assert f"test_{path.stem}" in globals()
        for page in ("README.md", "docs/index.md"):
            assert path.name in (EXAMPLES.parent / page).read_text(), f"{page} does not mention {path.name}"


def test_drag_points(tmp_path: Path) -> None:
    text = printed("drag_points", tmp_path)
    error, heights = (float(found) for found in re.findall(r"RMS (\S+) of .* off by (\S+) mm", text)[0])
    assert error < 0.01
    assert heights < 0.2
    assert "vertices follow" in text
