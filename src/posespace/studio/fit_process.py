"""The process that a fit runs in: it reads one job, writes progress and a result as lines of JSON, and ends.

It ends at once, with its own workers, when the program that started it is gone.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from posespace.errors import InputError, one_line

SKIN = "fitted.skin"
"""The file in the job's folder that the skin is written to."""

_PAUSE = 0.05
"""Seconds between two messages on the same step."""

_NICE = 5
"""The page's server comes first."""

Say = Callable[[dict[str, Any]], None]


def main() -> None:
    """Do the job that the first line of standard input describes."""
    with open(0, "rb", buffering=0, closefd=False) as source:
        job = json.loads(source.readline())
    # What libraries print must not come between the messages.
    messages = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    os.nice(_NICE)
    threading.Thread(target=_end_with_starter, args=(Path(job["folder"]),), daemon=True).start()

    def say(message: dict[str, Any]) -> None:
        print(json.dumps(message), file=messages, flush=True)

    try:
        say({"fitted": _fitted(job, say)})
    except InputError as error:
        say({"error": str(error)})
    except MemoryError:
        say({"error": "fit: not enough memory; fit fewer poses, or a coarser mesh"})
    except Exception as error:
        traceback.print_exc()
        say({"error": one_line(f"fit: {type(error).__name__}: {error}")})


def _end_with_starter(folder: Path) -> None:
    """Wait until whoever started this process is gone; then remove what is half-written and end, workers included."""
    while os.read(0, 1):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _fitted(job: dict[str, Any], say: Say) -> dict[str, Any]:
    """Fit and evaluate; return the figures of the skin, which is in the job's folder."""
    from posespace import progress
    from posespace.evaluation.score import evaluate
    from posespace.evaluation.storage import stored_bytes
    from posespace.examples import Examples
    from posespace.fit.methods import method_of
    from posespace.formats.files import naming
    from posespace.skin.provenance import CROSS_VALIDATED_ERROR

    with progress.shown_by(_Listener(say)), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        store = Path(job["store"])
        examples = Examples.open(store)
        if not len(examples):
            raise InputError("examples: expected at least one finished pose that is not muted, got none")
        with naming(Path(store.name)):
            skin = method_of(job["method"])(**job["settings"]).fit(examples)
        with progress.counter("errors at the examples") as advance:
            score = evaluate(skin, examples, advance)
        with progress.status("writing"):
            skin.save(Path(job["folder"]) / SKIN)
    lines = [one_line(str(warning.message)) for warning in warned if issubclass(warning.category, UserWarning)]
    return {
        "error": score.rel_err,
        "cross_validated": skin.about.get(CROSS_VALIDATED_ERROR),
        "bytes": stored_bytes(skin),
        "bytes_per_vertex": score.bytes_per_vertex,
        "layers": len(skin.layers),
        "components": sum(layer.driver.components for layer in skin.layers),
        "notes": list(dict.fromkeys(lines)),
    }


class _Listener:
    """Says progress: each step's beginning and end, and between them as often as one can read."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._what, self._next = "", 0.0

    def __call__(self, what: str, done: int, count: int | None) -> None:
        now = time.monotonic()
        if what == self._what and done != count and now < self._next:
            return
        self._what, self._next = what, now + _PAUSE
        self._say({"what": what, "done": done, "count": count})


if __name__ == "__main__":
    main()
