"""The command line: parses, calls, prints. Each command has the file of its name; `app` gathers them."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import NoReturn


def main() -> None:
    """Run the command line; Ctrl-C ends it with one line, from the first import on."""
    _end_by_exception()
    try:
        # Imported here, since loading the commands takes longer than most of them.
        from posespace.cli.app import run

        code = run()
    except KeyboardInterrupt:
        # A second Ctrl-C ends Python at once.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if sys.stderr is not None:
            print("posespace: stopped", file=sys.stderr)
        code = 130
    sys.exit(code)


def _end_by_exception() -> None:
    """Turn a signal to end, from `kill` or a terminal that closes, into an exception, which removes unfinished files.

    A signal that is ignored, as under `nohup`, stays ignored.
    """
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, _: FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_DFL)
    raise SystemExit(128 + number)
