"""What is installed: no package's script runs, and a source distribution brings its page along."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from conftest import ROOT, Runner

EXPORT = """
import posespace as ps
ps.export(ps.Skin(ps.datasets.bending_arm(rings=8, sides=6)[0].rig), "arm.html")
print(ps.__file__)
"""


@pytest.mark.parametrize("name", ["hatch_build.py", ".ci/run"])
def test_packages_for_node_run_no_scripts_of_their_own(name: str) -> None:
    lines = [line for line in (ROOT / name).read_text().splitlines() if re.search(r"\bnpm\b.*\bci\b", line)]
    assert lines
    assert all("--ignore-scripts" in line for line in lines)


def test_the_licence_of_every_requirement_is_listed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = [
        *project["dependencies"],
        *(name for extra in project["optional-dependencies"].values() for name in extra),
    ]
    rows = re.findall(r"^\|[^|]*\|([^|]*)\|([^|]*)\|$", (ROOT / "docs" / "licences.md").read_text(), re.MULTILINE)
    for name in (re.split(r"[\[<>=]", each)[0] for each in needed):
        licences = [licence for packages, licence in rows if f"`{name}`" in packages]
        assert len(licences) == 1, f"docs/licences.md: expected one row with `{name}`, got {len(licences)}"
        said = metadata.metadata(name)
        words = " ".join([said.get("License-Expression", ""), *(said.get_all("Classifier") or [])])
        for family in ("LGPL", "MIT", "BSD", "Apache", "TOST", "MPL", "AGPL"):
            if family in words:
                assert family in licences[0], f"{name}: {words}"


@pytest.mark.slow
def test_a_source_distribution_installs_a_page_without_node(node: Runner, tmp_path: Path) -> None:
    if not shutil.which("uv") or not (ROOT / ".git").exists():
        pytest.skip("no uv on the path, or no checkout to make a source distribution of")
    # A copy: npm empties the folder of packages, which other tests are using.
    copy_checkout(tmp_path / "checkout")
    run_uv(tmp_path, "build", "--sdist", "--out-dir", "dist", "checkout")
    (archive,) = (tmp_path / "dist").glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        for carried in ("posespace/formats/viewer.html", "posespace/report/heat.json"):
            assert [name for name in packed.getnames() if name.endswith(carried)]
    (tmp_path / "empty").mkdir()
    install = ("pip", "install", "-v", "--python", sys.executable, "--no-deps", "--target", "site", str(archive))
    said = run_uv(tmp_path, *install, path=tmp_path / "empty")
    assert "nodejs" not in said
    assert (tmp_path / "site" / "posespace" / "report" / "heat.json").is_file()
    installed = os.environ | {"PYTHONPATH": str(tmp_path / "site"), "PATH": str(tmp_path / "empty")}
    command = [sys.executable, "-c", EXPORT]
    done = subprocess.run(command, cwd=tmp_path, env=installed, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path / "site"))
    assert "sha256-" in (tmp_path / "arm.html").read_text()


def run_uv(folder: Path, *words: str, path: Path | None = None) -> str:
    """Run uv in a folder, with programs from `path` alone if given; returns what it said on standard error."""
    environment = os.environ | ({"PATH": str(path)} if path else {})
    command = [str(shutil.which("uv")), *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stderr


def copy_checkout(to: Path) -> None:
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    for name in names:
        if not name.startswith(("docs/", "tests/", "benchmarks/")) and (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, to / name)
