"""Pages of commands: "From a rig to a skin" and "Sculpts, one at a time", in their order and with their scripts."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.commands import run_forked

import posespace as ps

DOCS = Path(__file__).parents[2] / "docs"
PAGE, SCULPTS = ((DOCS / name).read_text() for name in ("transcript.md", "sculpts.md"))
SMALL = {
    "character.glb": "arm.glb",
    "--poses arm.glb": "--poses poses.json",
    "--motion arm.glb": "--motion character.examples",
    "'*Forearm'": "forearm",
    "0.06": "0.2",
}
"""What the page's commands on a character become for the arm."""


def script(name: str) -> str:
    block = re.search(rf'`{name}`.*\n(?:.+\n)*\n((?=    """)(?:    .*\n|\n)+)', PAGE)
    assert block is not None
    return re.sub(r"^    ", "", block[1], flags=re.MULTILINE)


def commands(word: str, page: str = PAGE) -> list[str]:
    return [line.strip()[2:] for line in page.splitlines() if line.startswith("    $ ") and word in line]


def run_all(lines: list[str], folder: Path) -> None:
    for line in lines:
        words = shlex.split(line)
        if words[0] == "python":
            subprocess.run([sys.executable, *words[1:]], cwd=folder, check=True)
        else:
            done = run_forked(words[1:], folder)
            assert done.returncode == 0, (line, done.stderr)
            assert done.stderr == "" or "do not skin" in done.stderr, line


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    train, _ = ps.datasets.bending_arm(rings=12, sides=8)
    ps.export(ps.Skin(train.rig), tmp_path / "arm.glb")
    poses = {str(k): {"rotations": {"forearm": {"bend": 2 * k, "axis": [0, 0, 1]}}} for k in range(5, 45, 5)}
    (tmp_path / "poses.json").write_text(json.dumps({"posespace": "poses", "version": 1, "poses": poses}))
    (tmp_path / "sculpt.py").write_text(script("sculpt.py"))
    return tmp_path


def test_a_rig_becomes_a_skin_that_is_reported_on_and_exported_by_the_pages_commands(arm: Path) -> None:
    lines = commands("character")
    assert [line.split()[1] for line in lines][:3] == ["info", "pose", "sculpt.py"]
    assert [line.split()[1] for line in lines][3:] == ["examples", "fit", "fit", "evaluate", "export"]
    for old, new in SMALL.items():
        lines = [line.replace(old, new) for line in lines]
    run_all(lines, arm)
    examples = ps.Examples.open(arm / "character.examples")
    for method in ("psd", "eigenskin"):
        score = ps.evaluate(ps.Skin.load(arm / f"character-{method}.skin"), examples.named("*5"))
        assert score.rel_err < 0.3
    assert "character-eigenskin" in (arm / "character.html").read_text()
    # The rest shape that `examples` added is a frame of its own.
    exported = ps.load_motion(arm / "character-corrected.glb")
    assert len(exported) == len(examples) == 9
    assert (np.diff(exported.times) > 0).all()


def test_whoever_forgets_to_sculpt_is_told_and_gets_plain_skinning(arm: Path) -> None:
    run_all(["posespace pose arm.glb --poses poses.json -o left"], arm)
    done = run_forked(["examples", "arm.glb", "--shapes", "left", "-o", "left.examples"], arm)
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert "every shape is that of plain skinning" in done.stderr
    run_all(["posespace fit psd left.examples -o left.skin"], arm)
    assert ps.Skin.load(arm / "left.skin").layers == ()


def test_every_command_of_the_page_is_of_the_same_kind_for_each_rig() -> None:
    steps = ["pose", "sculpt.py", "examples", "fit", "fit", "evaluate", "export"]
    assert [line.split()[1] for line in commands("") if line.split()[1] not in ("info", "makehuman.py")] == 3 * steps


def test_a_hand_that_comes_as_arrays_becomes_a_rig_that_the_commands_take(data: Path, tmp_path: Path) -> None:
    (tmp_path / "hand_left_crop.npz").write_bytes((data / "makehuman-cc0" / "hand_left_crop.npz").read_bytes())
    (tmp_path / "makehuman.py").write_text(script("makehuman.py"))
    run_all(commands("makehuman")[:2], tmp_path)
    rig = ps.load_rig(tmp_path / "makehuman.glb")
    wrist, tip = (rig.skeleton.rest_world[rig.skeleton.index(name), :3, 3] for name in ("wrist.L", "finger3-3.L"))
    assert 0.08 < np.linalg.norm(tip - wrist) < 0.2  # in metres
    assert len(list((tmp_path / "makehuman-sculpts").glob("*.obj"))) == 14


@pytest.mark.slow
def test_a_fifth_sculpt_is_added_mirrored_softened_and_fitted_by_the_pages_commands(data: Path, tmp_path: Path) -> None:
    (tmp_path / "knight.glb").write_bytes((data / "humanoid-kaykit-knight" / "Knight.glb").read_bytes())
    (tmp_path / "sculpt.py").write_text(script("sculpt.py"))
    poses = re.search(r"`knight-poses.json`:\n\n```json\n(.*?)```", SCULPTS, re.DOTALL)
    assert poses is not None
    (tmp_path / "knight-poses.json").write_text(poses[1])
    run_all(commands("knight", SCULPTS), tmp_path)
    sculpts = ps.Sculpts.open(tmp_path / "knight.examples")
    assert sculpts.names == ("raiseL", "kneeL", "nod", "rest", "bentL", "bentR")
    assert sculpts["kneeL"].radius == 0.8
    examples = ps.Examples.open(tmp_path / "knight.examples")
    for method, error in (("psd", 1e-3), ("eigenskin", 0.05)):
        assert ps.evaluate(ps.Skin.load(tmp_path / f"knight-{method}.skin"), examples).rel_err < error
    assert "bentR" in (tmp_path / "knight.html").read_text()
    assert len(ps.load_motion(tmp_path / "knight-corrected.glb")) >= len(examples)
    twisted = ps.check_examples(ps.Examples.open(tmp_path / "twisted.examples"))
    assert max(finding.largest for finding in twisted) < 0.25 * max(row.largest for row in ps.check_examples(examples))
