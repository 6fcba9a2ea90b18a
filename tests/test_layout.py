"""The architecture holds: dependencies point one way, and playing a skin loads nothing of what made it."""

from __future__ import annotations

import ast
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
heavy = {{"scipy", "sklearn", "zarr", "matplotlib", "numba", "typer", "safetensors"}} & set(sys.modules)
offline = ("posespace.fit", "posespace.rivals", "posespace.simulate", "posespace.datasets", "posespace.interpolate")
print(sorted(heavy) + [name for name in sys.modules if name.startswith(offline)])
"""


def test_playing_a_skin_loads_no_fit_and_no_heavy_library(tmp_path: Path) -> None:
    import numpy as np
    from strategies import random_skin

    random_skin(np.random.default_rng(0)).save(tmp_path / "a.skin")
    code = PLAYING.format(path=str(tmp_path / "a.skin"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


ABOVE = {
    "nouns": ("spaces", "interpolate", "skin", "fit", "formats", "report", "cli", "datasets", "load", "info"),
    "fit": ("report", "cli", "datasets", "load", "info", "formats"),
    "simulate": ("report", "cli", "datasets", "info"),
    "formats": ("fit", "simulate", "report", "cli", "datasets", "load", "info"),
    "rivals": ("fit", "report", "cli", "datasets", "load", "info", "formats"),
    "report": ("cli", "fit", "rivals", "datasets"),
}
NOUNS = ("mesh", "skeleton", "rig", "pose", "rotations", "skinning", "check", "errors")


def imports_of(path: Path) -> set[str]:
    """Modules of the library that a file imports at its top level."""
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("posespace"):
            found |= {f"{node.module}.{entry.name}".split(".")[1] for entry in node.names}
    return found


@pytest.mark.parametrize("part", ABOVE)
def test_imports_point_one_way(part: str) -> None:
    files = [SOURCE / f"{name}.py" for name in NOUNS] if part == "nouns" else list((SOURCE / part).glob("*.py"))
    for path in files:
        assert not imports_of(path) & set(ABOVE[part]), path


def test_every_public_name_can_be_imported() -> None:
    import posespace

    for name in posespace.__all__:
        assert getattr(posespace, name) is not None
        # A module of that name would take its place as soon as anything imported it.
        assert name == "datasets" or not (SOURCE / f"{name}.py").exists()
    with pytest.raises(AttributeError):
        posespace.nothing  # noqa: B018


def test_files_and_functions_stay_small() -> None:
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        assert len(text.splitlines()) <= 400, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                assert (node.end_lineno or 0) - node.lineno <= 60, f"{path}: {node.name}"


def test_a_missing_extra_is_named_when_it_is_needed() -> None:
    from posespace.errors import InputError, require

    with pytest.raises(
        InputError, match=r"reading Alembic needs the extra 'alembic': pip install 'posespace\[alembic\]', in"
    ):
        require("no_such_module_at_all", "alembic", "reading Alembic")
