"""Runs the command line in processes forked from one that has imported it already, so that many runs take little."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

WAIT = 3600
"""Seconds after which a command hangs: far more than one takes on a loaded machine."""

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(
    [
        "helpers.commands",
        "posespace.cli",
        "posespace.simulation.run",
        "posespace.fit.eigenskin.eigenskin",
        "distributed",
    ]
)


def run_forked(words: list[str], folder: Path, without: str = "", first: str = "") -> subprocess.CompletedProcess[str]:
    """Run `posespace` with these words in a folder, after the statements `first`; importing `without` fails there."""
    with tempfile.TemporaryDirectory() as kept:
        process = _SERVER.Process(target=_command, args=(words, str(folder), without, first, kept))
        process.start()
        process.join(WAIT)
        if process.is_alive():
            process.kill()
        out, err = ((Path(kept) / name).read_text() for name in ("out", "err"))
    return subprocess.CompletedProcess(words, -1 if process.exitcode is None else process.exitcode, out, err)


def _command(words: list[str], folder: str, without: str, first: str, kept: str) -> None:
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(os.path.join(kept, name), os.O_WRONLY | os.O_CREAT), number)
    os.chdir(folder)
    if without:
        sys.modules[without] = None  # type: ignore[assignment]
    exec(first, {})
    sys.argv = ["posespace", *words]
    from posespace.cli import main

    main()


def run(*arguments: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run `posespace` with these arguments in a folder, by default the present one."""
    return run_forked([str(each) for each in arguments], folder or Path.cwd())


def assert_one_line(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("posespace: ")
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr
