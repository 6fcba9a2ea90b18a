"""The benchmark of few sculpts: what it prints, and that it measures what a skin adds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "few_sculpts.py"

PROBE = """
import json
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
import posespace as ps
from sculpting.cases import unknown
from sculpting.judge import corrections
from sculpting.scripted import Script
from sculpting.subjects import offers

script = Script(dict(offers(Path(sys.argv[2])))["rocketbox horse"](), 2, 1)
examples = script.examples(script.own)
skin = ps.PSD().fit(examples)
cases = {**unknown(script), "own": examples.motion}
found = [corrections(skin.edited(exaggerate=factor), examples, cases) for factor in (1.0, 10.0)]
print(json.dumps(found))
"""


@pytest.mark.slow
def test_few_sculpts_keep_to_the_bound_on_a_rig(data: Path) -> None:
    words = ["--rig", "rocketbox horse", "--sculpts", "1", "2", "--data", data, "--json"]
    run = subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    every = [(count, joints) for count in (1, 2) for joints in ("1", "2", "1, rough")]
    assert [(row["sculpts"], row["joints"]) for row in rows] == 3 * every
    for row in rows:
        if "refused" in row:
            assert row["method"] == "Muscles"
            assert row["sculpts"] == 1
            continue
        assert row["error own"] < (1e-5 if row["method"] == "PSD" else 0.2)
        assert max(value for key, value in row.items() if key.startswith("largest")) < 1.5


@pytest.mark.slow
def test_exaggerated_corrections_are_measured_as_such(data: Path) -> None:
    words = [sys.executable, "-c", PROBE, SCRIPT.parent, data]
    plain, strong = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    assert plain["largest own"] == pytest.approx(1, abs=1e-5)
    for key, value in plain.items():
        # The largest is over what the skin itself has at the sculpts, which is exaggerated too.
        factor = 10 if key.startswith("rms") else 1
        assert strong[key] == pytest.approx(factor * value, rel=1e-3)


def test_a_rig_that_is_not_there_is_refused_in_one_line(data: Path) -> None:
    words = [sys.executable, SCRIPT, "--rig", "unicorn", "--data", data]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.startswith("--rig unicorn: expected one of CesiumMan, ")
    assert run.stderr.count("\n") == 1
