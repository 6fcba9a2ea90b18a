"""The player's core in Node: blocks of learned bones and detail made by a grammar play, or are refused in one line."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
from conftest import Runner
from helpers.driver_grammar import tampered
from helpers.fuzz import counts
from helpers.played import poses_of
from helpers.strategies import random_points_skin

import posespace as ps


@counts(2_000)
def test_blocks_of_a_grammar_play_or_are_refused_in_one_line(node: Runner, tmp_path: Path, count: int) -> None:
    skin, rng = random_points_skin(np.random.default_rng(1)), np.random.default_rng(0)
    ps.export(skin, tmp_path / "sample.glb", warn=lambda _: None)
    joints = len(skin.rig.skeleton)
    poses = [ps.Pose(rng.normal(size=(joints, 4)), size * rng.normal(size=(joints, 3))) for size in (0.1, 1e4, 1e9)]
    sample, jobs = (tmp_path / "sample.glb").read_bytes(), []
    for seed in range(count):
        (tmp_path / f"{seed}.glb").write_bytes(tampered(random.Random(seed), sample))
        played = poses_of(ps.Motion.from_poses([skin.rig.rest, *poses]), 1.0)
        jobs.append({"file": str(tmp_path / f"{seed}.glb"), "poses": played})
    (tmp_path / "jobs.json").write_text(json.dumps(jobs))
    results = json.loads(node("survive.mjs", tmp_path / "jobs.json"))
    lines = [result["refused"] for result in results if "refused" in result]
    # An error of another kind would be one of the player itself.
    assert {result["kind"] for result in results if "refused" in result} <= {"Error"}
    assert not [line for line in lines if "\n" in line]
    assert all(result.get("finite", True) for result in results)
    assert count / 20 < len(results) - len(lines) < count / 2
