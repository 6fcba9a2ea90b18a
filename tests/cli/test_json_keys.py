"""The keys of every `--json` output are identifiers, and the documentation lists them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.commands import run
from helpers.json_keys import wrong_keys

import posespace as ps
from posespace.bench import tables
from posespace.report.figures import BY_NAME, LABELS, label, with_identifiers

TRAIN, UNSEEN = ps.datasets.bending_arm(rings=12, sides=8)
PAGE = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
LISTED = set(re.findall(r"`([a-z][a-z0-9_]*)`", PAGE.partition("## JSON")[2].partition("\n## ")[0]))

COMMANDS = (
    "fit psd arm.examples -o psd.skin",
    "fit eigenskin arm.examples -o eigenskin.skin",
    "fit muscles arm.examples -o muscles.skin",
    "fit points arm.examples -o points.skin --points 6 --bones 6 --near-points 3",
    "export psd.skin -o arm.glb --motion arm.examples",
    "info psd.skin eigenskin.skin muscles.skin points.skin arm.glb arm.examples none.glb",
    "limits arm.glb --set hand.x=0:90 -o limits.json",
    "info limits.json",
    "pose arm.glb --poses unseen.examples -o sculpts",
    "examples arm.glb --shapes sculpts -o sculpts.examples",
    "sculpts sculpts.examples control-radius forearm 0.5",
    "sculpts sculpts.examples list",
    "sculpts sculpts.examples mute rest",
    "sculpts sculpts.examples undo",
    "sculpts sculpts.examples redo",
    "bones unseen.examples --count 3 -o bones.examples",
    "transfer arm.examples --onto arm.glb -o transferred.examples",
    "edit psd.skin --exaggerate 0.5 -o edited.skin",
    "info edited.skin",
    "evaluate psd.skin unseen.examples",
    "retarget muscles.skin muscles.skin muscles.skin -o other.skin --motion arm.examples",
)


def keys_of(value: Any, by_name: bool = False) -> set[str]:
    """All keys of a value but names."""
    if isinstance(value, list):
        return set().union(*(keys_of(entry) for entry in value))
    if not isinstance(value, dict):
        return set()
    below = (keys_of(entry, key in BY_NAME) for key, entry in value.items())
    return set().union(() if by_name else value, *below)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What each command prints as JSON."""
    folder = tmp_path_factory.mktemp("json")
    TRAIN.save(folder / "arm.examples")
    UNSEEN[:4].save(folder / "unseen.examples")
    printed = {}
    for command in COMMANDS:
        done = run(*command.split(), "--json", folder=folder)
        assert done.stdout, f"{command}: {done.stderr}"
        printed[command] = json.loads(done.stdout)
    return printed


def test_every_key_is_an_identifier(outputs: dict[str, Any]) -> None:
    assert {command: wrong_keys(value) for command, value in outputs.items() if wrong_keys(value)} == {}


def test_every_key_is_in_the_documentation(outputs: dict[str, Any]) -> None:
    every = set().union(*map(keys_of, outputs.values()))
    assert every - LISTED == set()


def test_every_row_of_the_benchmark_has_identifiers_for_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    skin = ps.EigenSkin(bits=16).fit(TRAIN)
    monkeypatch.setattr(tables.subjects, "fitted_hand", lambda normals="none": (skin, UNSEEN.motion))
    rows = [*tables.corrections(), *tables.batches(10)]
    assert wrong_keys(rows) == set()
    assert keys_of(rows) - LISTED == set()


def test_phrases_of_files_become_identifiers_and_names_stay() -> None:
    about = {
        "left out": [{"signals": 1}],
        "damped vertices": 2,
        "shrunk to": {"Bip01 L Hand": 0.5},
        "95 % within": {"other key": np.pi},
        "?": 1,
    }
    assert with_identifiers(about) == {
        "cross_validation": [{"signals": 1}],
        "damped_vertices": 2,
        "shrunk_to": {"Bip01 L Hand": 0.5},
        "other_95_within": {"other_key": np.pi},
        "other": 1,
    }


def test_labels_are_for_identifiers() -> None:
    assert wrong_keys(LABELS) == set()
    assert wrong_keys(dict.fromkeys(BY_NAME)) == set()
    assert (label("e_rms"), label("bytes_per_vertex")) == ("E_RMS", "bytes per vertex")
