"""The page about the protocol: it names every request, and its program drives a studio."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from helpers.studio_client import studio

from posespace.fit.psd.sculpts import Sculpts
from posespace.studio.requests import REQUESTS

PAGE = (Path(__file__).parents[2] / "docs" / "studio-protocol.md").read_text()


def requests_in(text: str) -> list[str]:
    return re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)


def test_the_page_has_every_request_and_no_other() -> None:
    looking, changing = re.findall(r"\| `do` \|.*?\n\n", PAGE, re.DOTALL)
    listed = [name for name in requests_in(looking + changing) if name != "do"]
    assert sorted(listed) == sorted(REQUESTS)
    changes = {name for name in requests_in(changing) if name != "do"}
    assert changes == {name for name, request in REQUESTS.items() if request.changes}


def test_the_program_of_the_page_drives_a_studio(store: Path, tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    program = tmp_path / "program.py"
    program.write_text(code)
    before = Sculpts.open(store).names
    with studio(store) as process:
        done = subprocess.run([sys.executable, program, process.address], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, scores, last = done.stdout.splitlines()
    assert "program" in first
    assert "program" in scores
    assert last.startswith("undone: ")
    assert Sculpts.open(store).names == before
