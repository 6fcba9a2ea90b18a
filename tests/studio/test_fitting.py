"""Fits in a process of their own: progress, results, cancelling, and what is said when they fail."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import posespace as ps
from posespace.errors import InputError
from posespace.studio.fitting import Fitted, Fitting, end_with_workers

PATIENCE = 600
"""Seconds that a test waits before it gives up: a machine under load is slow."""

Step = tuple[str, int, int | None]


class Heard:
    """Hears the progress and the end of a fit."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.started = threading.Event()
        self.outcomes: queue.Queue[Fitted | InputError] = queue.Queue()

    def progress(self, *step: Any) -> None:
        self.steps.append(step)
        self.started.set()

    def outcome(self) -> Fitted | InputError:
        return self.outcomes.get(timeout=PATIENCE)


@pytest.fixture(scope="module")
def hand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("hand") / "hand.examples"
    ps.datasets.hand()[0].save(store)
    return store


@pytest.fixture
def fitting(tmp_path: Path) -> Iterator[Fitting]:
    fitting = Fitting(tmp_path)
    yield fitting
    fitting.cancel()


def start(fitting: Fitting, store: Path, method: str = "eigenskin", **settings: Any) -> Heard:
    heard = Heard()
    fitting.start(store, method, settings, heard.outcomes.put, heard.progress)
    return heard


def test_eigenskin_on_the_hand_reports_its_steps_and_gives_a_skin(fitting: Fitting, hand: Path, tmp_path: Path) -> None:
    heard = start(fitting, hand, components=3)
    assert fitting.running
    fitted = heard.outcome()
    assert isinstance(fitted, Fitted), fitted
    assert not fitting.running
    assert fitting.results == [fitted]
    assert os.listdir(tmp_path) == ["eigenskin-1.skin"]
    skin, examples = ps.Skin.load(fitted.path), ps.datasets.hand()[0]
    assert fitted.error == pytest.approx(ps.evaluate(skin, examples).rel_err, rel=1e-6)
    assert fitted.cross_validated is not None
    assert fitted.error < fitted.cross_validated < 1
    assert fitted.layers == len(skin.layers) > 10
    steps = list(dict.fromkeys(what for what, *_ in heard.steps))
    assert steps == [
        "residuals",
        "cross-validation",
        "principal components",
        "layers",
        "check at the examples",
        "errors at the examples",
        "writing",
    ]
    assert all(0 <= done <= count for _, done, count in heard.steps if count is not None)
    assert ("residuals", len(examples), len(examples)) in heard.steps
    assert fitted.figures()["path"] == "eigenskin-1.skin"


def test_a_fit_is_cancelled_at_once_and_leaves_nothing(fitting: Fitting, hand: Path, tmp_path: Path) -> None:
    heard = start(fitting, hand)
    assert heard.started.wait(PATIENCE)
    process = fitting._process
    assert process is not None
    assert fitting.cancel()
    assert not fitting.running
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
    assert os.listdir(tmp_path) == []
    assert heard.outcomes.empty()
    assert not fitting.cancel()


def test_a_second_fit_is_refused_while_one_runs_and_allowed_after(fitting: Fitting, hand: Path, tmp_path: Path) -> None:
    (tmp_path / "muscles-7.skin").touch()
    start(fitting, hand)
    with pytest.raises(InputError, match="fit: one is running; wait for it, or cancel it"):
        start(fitting, hand)
    with pytest.raises(InputError, match="components: expected"):
        start(fitting, hand, components=-1)
    fitting.cancel()
    fitted = start(fitting, hand, "psd").outcome()
    assert isinstance(fitted, Fitted)
    assert (fitted.number, fitted.path.name) == (8, "psd-8.skin")


def test_an_error_arrives_as_its_one_line(fitting: Fitting, hand: Path, tmp_path: Path) -> None:
    error = start(fitting, hand, "muscles", signals=5000).outcome()
    assert isinstance(error, InputError)
    assert str(error).startswith("hand.examples: signals: expected at most")
    assert "\n" not in str(error)
    assert not fitting.running
    assert os.listdir(tmp_path) == []


def test_a_killed_process_is_said(fitting: Fitting, hand: Path, tmp_path: Path) -> None:
    heard = start(fitting, hand)
    assert heard.started.wait(PATIENCE)
    assert fitting._process is not None
    os.kill(fitting._process.pid, signal.SIGKILL)
    assert "its process was killed (SIGKILL)" in str(heard.outcome())
    assert os.listdir(tmp_path) == []


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not yet waited for does not."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def wait_until_gone(pid: int) -> None:
    end = time.monotonic() + PATIENCE
    while is_alive(pid):
        assert time.monotonic() < end
        time.sleep(0.05)


PARENT = """
import subprocess, sys, time
print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"]).pid, flush=True)
time.sleep(3600)
"""


def test_workers_end_with_their_process() -> None:
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        worker = int(process.stdout.readline())
        assert is_alive(worker)
        end_with_workers(process)
    wait_until_gone(worker)


SERVER = """
import sys, time
from posespace.studio.fitting import Fitting
fitting = Fitting(sys.argv[2])
fitting.start(sys.argv[1], "eigenskin", {}, print, lambda *_: print(fitting._process.pid, flush=True))
time.sleep(3600)
"""


def test_a_fit_ends_when_its_server_is_killed_and_leaves_nothing(hand: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", SERVER, str(hand), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        fit = int(server.stdout.readline())
        server.kill()
    wait_until_gone(fit)
    assert os.listdir(tmp_path) == []
