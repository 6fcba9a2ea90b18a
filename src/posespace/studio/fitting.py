"""Fitting: a fit in a process of its own, with progress, that can be cancelled at once."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from posespace.errors import InputError
from posespace.progress import Listener
from posespace.studio.fit_process import SKIN
from posespace.studio.methods import checked_settings


@dataclass(frozen=True)
class Fitted:
    """The result of a fit.

    Parameters
    ----------
    number : of the fit, counted from 1, also in the name of its file
    path : the skin file
    method, settings : what was fitted; settings that are not here have their defaults
    error : relative to plain skinning, over all examples of the fit
    cross_validated : the same for poses left out in turn; None where the method does not measure it
    bytes, bytes_per_vertex : what the skin stores, excluding the rig
    layers, components : how many the skin has
    notes : lines for the user
    """

    number: int
    path: Path
    method: str
    settings: Mapping[str, Any]
    error: float
    cross_validated: float | None
    bytes: int
    bytes_per_vertex: float
    layers: int
    components: int
    notes: tuple[str, ...]

    def figures(self) -> dict[str, Any]:
        """Return all of it as plain JSON; of the path only the file's name."""
        return {**asdict(self), "path": self.path.name, "notes": list(self.notes)}


Done = Callable[[Fitted | InputError], None]
"""Called once with the result, or with what went wrong; not after `cancel`."""


class Fitting:
    """One fit at a time, and the results so far.

    Parameters
    ----------
    folder : where skins are written, named by method and number, e.g. "eigenskin-3.skin"; it must exist
    """

    def __init__(self, folder: str | Path) -> None:
        self.results: list[Fitted] = []
        self._folder = Path(folder)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether a fit is running."""
        return self._process is not None

    def start(
        self, store: str | Path, method: str, settings: Mapping[str, Any], done: Done, progress: Listener
    ) -> None:
        """Start a fit of an example store; `done` and `progress` are called from another thread.

        Parameters
        ----------
        store : the examples
        method : its name, one of `METHODS`
        settings : by name; others have their defaults
        done : called once, unless the fit is cancelled
        progress : called with what is done, how many of it, and of how many, or None
        """
        given = checked_settings(method, settings)
        with self._lock:
            if self._process is not None:
                raise InputError("fit: one is running; wait for it, or cancel it")
            work = Path(tempfile.mkdtemp(prefix=".fit-", dir=self._folder))
            command = [sys.executable, "-P", "-m", "posespace.studio.fit_process"]
            # A session of its own: it and its workers are ended together, and not by Ctrl+C in this one's terminal.
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                start_new_session=True,
            )
            self._process = process
        job = {"store": str(Path(store).absolute()), "method": method, "settings": given, "folder": str(work)}
        follow = (process, job, done, progress)
        self._thread = threading.Thread(target=self._follow, args=follow, name="fit", daemon=True)
        self._thread.start()

    def cancel(self) -> bool:
        """End the fit that is running, at once and with all that it has written; return whether one was."""
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return False
        end_with_workers(process)
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        return True

    def _follow(self, process: subprocess.Popen[str], job: dict[str, Any], done: Done, progress: Listener) -> None:
        """Hand the job to its process, pass on its progress, and its result once it has ended."""
        try:
            with process:
                try:
                    last = self._listen(process, job, progress)
                finally:
                    # It has said all; its workers may be left where it was killed.
                    end_with_workers(process)
            with self._lock:
                if self._process is not process:
                    return
                self._process = None
                outcome = self._outcome(last, job, process.returncode)
        finally:
            shutil.rmtree(job["folder"], ignore_errors=True)
        done(outcome)

    def _listen(self, process: subprocess.Popen[str], job: dict[str, Any], progress: Listener) -> dict[str, Any]:
        """Pass on progress; return the last message, which is the result unless the process was killed."""
        assert process.stdin is not None
        assert process.stdout is not None
        last: dict[str, Any] = {}
        with suppress(BrokenPipeError):
            print(json.dumps(job), file=process.stdin, flush=True)
        for line in process.stdout:
            # A killed process may leave half a line.
            with suppress(json.JSONDecodeError):
                last = json.loads(line)
            if "what" in last and self._process is process:
                progress(last["what"], last["done"], last["count"])
        return last

    def _outcome(self, last: Mapping[str, Any], job: Mapping[str, Any], code: int) -> Fitted | InputError:
        if "error" in last:
            return InputError(last["error"])
        if "fitted" not in last:
            return InputError(_ended(code))
        number = 1 + max((_number(path) for path in self._folder.glob("*.skin")), default=0)
        path = self._folder / f"{job['method']}-{number}.skin"
        try:
            os.replace(Path(job["folder"]) / SKIN, path)
        except OSError as error:
            return InputError(f"fit: {path.name} cannot be written ({error.strerror})")
        figures = {**last["fitted"], "notes": tuple(last["fitted"]["notes"])}
        fitted = Fitted(number=number, path=path, method=job["method"], settings=job["settings"], **figures)
        self.results.append(fitted)
        return fitted


def end_with_workers(process: subprocess.Popen[str]) -> None:
    """Kill a process that began a session, and all that it started in it, and wait until it is gone."""
    if process.returncode is None:
        # Where it has ended, and not yet been waited for, some systems refuse.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _number(path: Path) -> int:
    """The number of a fit's file; 0 for others."""
    match = re.fullmatch(r"[a-z]+-(\d+)", path.stem)
    return int(match[1]) if match else 0


def _ended(code: int) -> str:
    """What is said of a process that ended without a result."""
    if code < 0:
        name = signal.Signals(-code).name
        return f"fit: its process was killed ({name}); where memory is short, fit fewer poses or close other programs"
    return f"fit: its process ended without a result (code {code}); its terminal may say why"
