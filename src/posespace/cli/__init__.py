"""The command line: parses, calls, prints. Each command has the file of its name; `app` gathers them."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Run the command line; Ctrl-C is answered in one line, from the first import on."""
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
