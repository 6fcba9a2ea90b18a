"""The command line: parses, calls, prints. Each command has the file of its name; `app` gathers them."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import NoReturn


def main() -> None:
    """Run the command line; Ctrl-C is answered in one line, from the first import on."""
    _remove_what_is_unfinished_when_ended()
    try:
        # Nothing else is imported before: loading the commands takes longer than most of them.
        from posespace.cli.app import run

        code = run()
    except KeyboardInterrupt:
        # Whoever is in a hurry presses it again, and need not wait for the end of Python itself.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if sys.stderr is not None:
            print("posespace: stopped", file=sys.stderr)
        code = 130
    sys.exit(code)


def _remove_what_is_unfinished_when_ended() -> None:
    """Make a request to end, by `kill` or a terminal that closes, an exception: files that are half written go.

    A request that is ignored, as `nohup` wants it, stays ignored.
    """
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, _: FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_DFL)
    raise SystemExit(128 + number)
