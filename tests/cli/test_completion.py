"""Completion in the shell: its script is printed or installed, and it knows the commands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.commands import assert_one_line

COMMAND = [sys.executable, "-c", "from posespace.cli import main; main()"]


def run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | variables
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, env=environment, check=False)


@pytest.mark.parametrize(("shell", "startup"), [("bash", ".bashrc"), ("zsh", ".zshrc"), ("fish", None)])
def test_completion_is_installed_once_for_each_shell(tmp_path: Path, shell: str, startup: str | None) -> None:
    for _ in range(2):
        done = run("--install-completion", HOME=str(tmp_path), SHELL=f"/bin/{shell}")
        assert done.returncode == 0, done.stderr
    script = run("--show-completion", SHELL=f"/bin/{shell}").stdout.strip()
    assert f"_POSESPACE_COMPLETE={shell}_complete" in script
    files = {path for path in tmp_path.rglob("*") if path.is_file()}
    started = {tmp_path / startup} if startup else set()
    assert [path.read_text().strip() for path in files - started] == [script]
    assert str(next(iter(files - started))) in done.stdout
    for path in started:
        assert path.read_text().count("\n\n") == 0
        assert path.read_text().strip()


def test_commands_and_methods_are_completed() -> None:
    def proposed(line: str, word: int) -> str:
        return run(_POSESPACE_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=str(word)).stdout

    assert "evaluate" in proposed("posespace ev", 1)
    assert "eigenskin" in proposed("posespace fit e", 2)
    assert "--kernel" in proposed("posespace fit psd --k", 3)


def test_an_unknown_shell_is_named() -> None:
    assert_one_line(run("--install-completion", SHELL="/bin/tcsh"), "bash, zsh or fish", "tcsh")


def test_values_of_settings_are_completed() -> None:
    line = {"_POSESPACE_COMPLETE": "bash_complete", "COMP_WORDS": "posespace fit psd --kernel ", "COMP_CWORD": "4"}
    proposed = run(**line).stdout
    for kernel in ("gaussian", "exponential", "multiquadric", "thin_plate", "linear", "cubic"):
        assert kernel in proposed
