"""Runs the USD library in a child process (`child`) and holds what it found: plain arrays and their description."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace import check
from posespace.budget import ARRAY
from posespace.check import Floats
from posespace.errors import FileError, InputError
from posespace.formats import files

_SECONDS, _SECONDS_PER_BYTE = 60.0, 1e-5
"""How long the child may live; it bounds its own computing time far below that."""

Record = dict[str, Any]


@dataclass(eq=False)
class Extracted:
    """The contents of a USD file, as the child process extracts them.

    Parameters
    ----------
    description : the records of its prims, as `child` writes them; matrices are for row vectors
    arrays : by the keys that records use
    notes : one line each, for the user
    """

    description: Record
    arrays: dict[str, NDArray[Any]]
    notes: list[str] = field(default_factory=list)

    def array(self, key: str | None) -> NDArray[Any] | None:
        """Return the array of that key; None where the file has none."""
        return None if key is None else self.arrays[key]

    def note(self, count: int, what: str) -> None:
        """Note what happened `count` times, if it did."""
        if count:
            self.notes.append(f"{count} {what}")


def extract(path: Path) -> Extracted:
    """Read a file in a child process; a crash there, or the problem it reports, raises one line."""
    with files.opened(path) as (handle, size):
        if size > files.MOST_BYTES:
            raise FileError(path, f"is {size} bytes; at most {files.MOST_BYTES} are read")
        _refuse_marks(path, handle.read(4))
    code, output = run_child(path, _SECONDS + _SECONDS_PER_BYTE * size)
    if code:
        reason = f"exit code {code}" if code > 0 else signal.Signals(-code).name
        raise FileError(path, f"is damaged or too large (the USD library stopped: {reason})")
    with np.load(io.BytesIO(output), allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    description = json.loads(arrays.pop("description").tobytes())
    if "error" in description:
        raise FileError(path, description["error"])
    return Extracted(description, arrays)


def run_child(path: Path, seconds: float) -> tuple[int, bytes]:
    """Run `child` on a file for at most that long: its exit code and what it wrote."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry),
        "PXR_AR_DEFAULT_SEARCH_PATH": "",  # no other folders
        "PXR_WORK_THREAD_LIMIT": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    # As a script, so that it loads nothing but itself; -P keeps Python from looking for modules next to it.
    command = [sys.executable, "-P", str(Path(__file__).with_name("child.py")), os.path.abspath(path)]
    quiet = subprocess.DEVNULL
    try:
        done = subprocess.run(
            command, env=environment, stdin=quiet, stdout=subprocess.PIPE, stderr=quiet, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise FileError(path, f"is damaged or too large (the USD library takes more than {seconds:.0f} s)") from None
    except OSError as error:
        raise FileError(path, f"cannot be read: Python for the USD library does not start ({error})") from error
    return done.returncode, done.stdout


def _refuse_marks(path: Path, head: bytes) -> None:
    """The library takes text as UTF-8 without a byte-order mark, and says of others only that they are not USD."""
    if files.unmarked(path, head) != head:
        raise FileError(path, "starts with a byte-order mark, which USD has not; save it as plain UTF-8")


def affine(name: str, rows: Any, count: int) -> Floats:
    """Return `count` transforms (count, 4, 4) for column vectors from the file's, which are for row vectors."""
    return check.affine(name, np.swapaxes(check.floats(name, rows, (count, 4, 4)), 1, 2), (count, 4, 4))


def afford(count: int, what: str) -> None:
    """Raise if something in a file asks for absurdly many numbers."""
    if count > ARRAY.any_file:
        raise InputError(f"{what}: asks for {count} numbers; at most {ARRAY.any_file} are read")
