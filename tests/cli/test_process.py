"""The command line as a process: streams that are closed, full or ASCII, names of any bytes, files that cannot be
written, Ctrl-C."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from posespace import datasets, save_mesh
from posespace.skin.skin import Skin

COMMAND = [sys.executable, "-c", "from posespace.cli import main; main()"]
TRAIN, UNSEEN = datasets.bending_arm(rings=12, sides=8)
NOT_UTF8 = os.fsdecode(b"arm\xff.skin")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A skin, and examples to evaluate it on."""
    place = tmp_path_factory.mktemp("arm")
    Skin(TRAIN.rig).save(place / "arm.skin")
    UNSEEN.save(place / "unseen.examples")
    return place


def shell(line: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in which `posespace` is the command."""
    start = f"posespace() {{ '{sys.executable}' -c 'from posespace.cli import main; main()' \"$@\"; }}; {line}"
    environment = os.environ | variables
    return subprocess.run(
        ["bash", "-c", start], capture_output=True, text=True, cwd=folder, env=environment, check=False
    )


@pytest.mark.parametrize(
    "words", ["info arm.skin", "info --json arm.skin", "--help", "evaluate arm.skin unseen.examples"]
)
def test_closed_output_is_no_error(folder: Path, words: str) -> None:
    done = shell(f"posespace {words} >&-", folder)
    assert (done.returncode, done.stderr) == (0, "")


def test_closed_and_full_errors_keep_the_exit_code(folder: Path) -> None:
    assert shell("posespace info none.skin 2>&-", folder).returncode == 2
    assert shell("posespace info none.skin >&- 2>&-", folder).returncode == 2
    if Path("/dev/full").exists():
        assert shell("posespace info none.skin 2>/dev/full", folder).returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_full_output_is_said(folder: Path) -> None:
    done = shell("posespace info arm.skin >/dev/full", folder)
    assert done.returncode == 1
    assert done.stderr == "posespace: cannot write the output (no space left on device)\n"


@pytest.mark.parametrize(
    "variables",
    [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONIOENCODING": "ascii"}],
    ids=["C locale", "ASCII"],
)
def test_output_in_ascii_escapes_what_it_lacks(folder: Path, variables: dict[str, str]) -> None:
    done = shell("posespace evaluate arm.skin unseen.examples", folder, **variables)
    assert done.returncode == 0, done.stderr
    assert "normals\\xb0" in done.stdout
    done = shell("cp arm.skin ä.skin; posespace info --json ä.skin", folder, **variables)
    (found,) = json.loads(done.stdout)
    assert found["file"] in ("ä.skin", os.fsencode("ä.skin").decode("ascii", "surrogateescape"))


def test_names_that_are_not_utf8(folder: Path) -> None:
    (folder / NOT_UTF8).write_bytes((folder / "arm.skin").read_bytes())
    for locale in ("C.UTF-8", "C"):
        done = subprocess.run(
            [*COMMAND, "info", "--json", NOT_UTF8],
            capture_output=True,
            text=True,
            cwd=folder,
            env=os.environ | {"LC_ALL": locale},
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)[0]["file"] == NOT_UTF8
    words = ["evaluate", NOT_UTF8, "unseen.examples", "--report", os.fsdecode(b"page\xff.html")]
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    assert "arm\\udcff" in done.stdout
    assert "arm\\udcff" in (folder / words[-1]).read_text()


def test_a_name_of_several_lines_is_refused_in_one(folder: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "info", "a\nposespace: b  c.skin"], capture_output=True, text=True, cwd=folder, check=False
    )
    assert done.stderr == "posespace: a\\nposespace: b  c.skin: does not exist\n"


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="this system has no /proc, where nothing can be written")
@pytest.mark.parametrize(
    "words",
    ["edit arm.skin -o /proc/x.skin", "export arm.skin -o /proc/x.glb", "demo -o /proc/demo"],
)
def test_a_folder_that_cannot_be_written_is_named(folder: Path, words: str) -> None:
    done = shell(f"posespace {words}", folder)
    assert done.returncode == 2
    assert done.stderr.startswith(f"posespace: {words.rsplit(maxsplit=1)[-1]}: cannot be ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("words", ["edit arm.skin -o x.skin", "export arm.skin -o x.glb"])
def test_a_disk_that_is_full_is_said_with_the_file(folder: Path, words: str) -> None:
    def small_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    done = subprocess.run(
        [*COMMAND, *words.split()], capture_output=True, text=True, cwd=folder, preexec_fn=small_files, check=False
    )
    assert done.returncode == 2
    assert done.stderr == f"posespace: {words.rsplit(maxsplit=1)[-1]}: cannot be written (file too large)\n"
    assert not (folder / words.rsplit(maxsplit=1)[-1]).exists()


def test_control_c_during_the_first_imports_is_one_line() -> None:
    code = (
        "import builtins, signal, sys\nreal = builtins.__import__\n"
        # A process that was started in the background ignores the signal from the start.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def hit(name, *rest):\n"
        "    if name == 'click': builtins.__import__ = real; signal.raise_signal(signal.SIGINT)\n"
        "    return real(name, *rest)\n"
        "from posespace.cli import main\nsys.argv = ['posespace', '--help']\nbuiltins.__import__ = hit\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "posespace: stopped\n")


def ended(words: list[str], signal_name: str, folder: Path) -> int:
    """Run a command that gets a signal while it writes its third shape; return its exit code."""
    code = (
        "import os, signal, sys\nfrom posespace.formats.store.example_store import ExampleStore\n"
        "real = ExampleStore.write\n"
        "def hit(self, index, *rest):\n"
        f"    if index == 2: os.kill(os.getpid(), signal.{signal_name})\n"
        "    return real(self, index, *rest)\n"
        "ExampleStore.write = hit\nfrom posespace.cli import main\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=folder, check=False)
    assert "Traceback" not in done.stderr
    return done.returncode


@pytest.mark.parametrize("command", ["bones", "transfer"])
def test_a_command_that_is_ended_leaves_nothing_and_after_a_kill_the_next_removes_what_is_left(
    tmp_path: Path, command: str
) -> None:
    TRAIN[:6].save(tmp_path / "in.examples")
    save_mesh(TRAIN.rig.mesh, tmp_path / "arm.obj")
    options = {"bones": ["--count", "2"], "transfer": ["--onto", "arm.obj"]}[command]
    words = [command, "in.examples", *options, "-o", "out.examples"]
    before = sorted(os.listdir(tmp_path))
    assert ended(words, "SIGTERM", tmp_path) == 128 + signal.SIGTERM
    assert sorted(os.listdir(tmp_path)) == before
    assert ended(words, "SIGKILL", tmp_path) == -signal.SIGKILL
    (abandoned,) = set(os.listdir(tmp_path)) - set(before)
    assert abandoned.endswith(".part")
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(tmp_path)) == sorted([*before, "out.examples"])
