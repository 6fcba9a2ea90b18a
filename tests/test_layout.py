"""The architecture holds: dependencies point one way, and playing a skin loads nothing of what made it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "posespace"

PLAYING = """
import sys
import numpy as np
import posespace as ps
skin = ps.Skin.load({path!r})
skin.pose(skin.rig.rest)
heavy = {{"scipy", "numba", "click", "rich", "PIL", "safetensors"}} & set(sys.modules)
rooms = ("fit", "rivals", "simulation", "register", "gathering", "evaluation", "report", "datasets", "interpolate.rbf")
offline = tuple("posespace." + room for room in rooms)
print(sorted(heavy) + [name for name in sys.modules if name.startswith(offline)])
"""


def test_playing_a_skin_loads_no_fit_and_no_heavy_library(tmp_path: Path) -> None:
    import numpy as np
    from helpers.strategies import random_skin

    random_skin(np.random.default_rng(0)).save(tmp_path / "a.skin")
    code = PLAYING.format(path=str(tmp_path / "a.skin"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


RANKS = (
    ("errors", "budget", "check", "progress", "jit", "late", "__version__"),
    ("geometry",),
    ("look", "mesh", "skeleton", "pose", "motion", "markers", "rig", "examples", "sculpt"),
    ("interpolate",),
    ("poses",),
    ("skin",),
    ("formats", "runtime", "cluster"),
    ("gathering", "fit", "rivals", "simulation", "register"),
    ("evaluation", "datasets"),
    ("report",),
    ("bench", "demo", "studio"),
    ("cli",),
)
"""What may import what: a module or room uses those of its own rank and of the ranks before it."""

NEVER = {
    "fit": {"formats", "runtime", "rivals", "simulation", "gathering"},
    "rivals": {"fit", "formats", "runtime", "simulation", "gathering"},
    "simulation": {"fit", "rivals", "runtime", "register", "gathering"},
    "register": {"fit", "rivals", "runtime", "simulation"},
    "gathering": {"fit", "rivals", "runtime", "simulation", "register"},
    "formats": {"runtime", "cluster"},
    "runtime": {"formats", "cluster"},
    "report": {"datasets"},
    "evaluation": {"datasets"},
    "datasets": {"evaluation"},
}
"""Rooms of one rank, or of a rank before, that do not import each other all the same."""

RANK_OF = {name: rank for rank, names in enumerate(RANKS) for name in names}


def imports_of(path: Path) -> set[str]:
    """Modules and rooms of the library that a file imports, inside functions too, but not for types alone."""
    tree = ast.parse(path.read_text())
    typing = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]
    skipped = {id(inner) for node in typing for inner in ast.walk(node)}
    imported: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in skipped or not isinstance(node, ast.ImportFrom) or not node.module:
            continue
        if node.module.split(".")[0] == "posespace":
            imported |= {f"{node.module}.{entry.name}".split(".")[1] for entry in node.names}
    return imported


def test_imports_point_one_way() -> None:
    wrong = []
    for path in sorted(SOURCE.rglob("*.py")):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        for other in imports_of(path) - {room}:
            if RANK_OF[other] > RANK_OF[room] or other in NEVER.get(room, set()):
                wrong.append(f"{path.relative_to(SOURCE)} imports {other}")
    assert not wrong


def test_no_caller_asks_which_kind_of_bones_a_skin_has() -> None:
    asked = re.compile(r"bones is (not )?None|isinstance\(.*(SkeletonBones|LearnedBones|BoneStage)")
    rooms = (SOURCE / "skin" / "bones", SOURCE / "runtime" / "bones")
    callers = [path for path in SOURCE.rglob("*.py") if path.parent not in rooms]
    assert [path for path in callers if asked.search(path.read_text())] == []


def test_work_that_nouns_ask_for_is_there() -> None:
    from posespace.late import WORK, late

    assert all(callable(late(work)) for work in WORK)


def test_no_test_imports_another() -> None:
    for path in SOURCE.parents[1].joinpath("tests").rglob("test_*.py"):
        imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
        assert not [node.module for node in imports if (node.module or "").split(".")[-1].startswith("test_")], path


def test_tests_mirror_the_source() -> None:
    tests = SOURCE.parents[1] / "tests"
    rooms = {path.relative_to(SOURCE) for path in SOURCE.rglob("*") if path.is_dir() and path.name != "__pycache__"}
    for folder in tests.rglob("*"):
        if folder.is_dir() and not {"__pycache__", "helpers"} & set(folder.relative_to(tests).parts):
            # What is in `player/` and `blender/` lies outside of the library, but its tests are here.
            assert folder.relative_to(tests) in rooms | {Path("player"), Path("blender")}, folder


def test_every_public_name_can_be_imported() -> None:
    import posespace

    for name in posespace.__all__:
        assert getattr(posespace, name) is not None
        # A module of that name would take its place as soon as anything imported it.
        assert name == "datasets" or not (SOURCE / f"{name}.py").exists()
    with pytest.raises(AttributeError):
        posespace.nothing  # noqa: B018


def test_files_and_functions_stay_small() -> None:
    for path in [*SOURCE.rglob("*.py"), *SOURCE.parents[1].joinpath("tests").rglob("*.py")]:
        text = path.read_text()
        assert len(text.splitlines()) <= 400, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                assert (node.end_lineno or 0) - node.lineno <= 60, f"{path}: {node.name}"


def test_a_missing_extra_is_named_when_it_is_needed() -> None:
    from posespace.errors import InputError, require

    with pytest.raises(
        InputError, match=r"reading Alembic needs the extra 'alembic': pip install 'posespace\[alembic\]', or uv"
    ):
        require("no_such_module_at_all", "alembic", "reading Alembic")
