"""Reads bad copies of one sample file after the other, in a process whose memory and time are limited.

Called by fuzz.py: python -m helpers.fuzz_worker SAMPLE COUNT FOLDER HOW. Prints what happened as JSON.
"""

from __future__ import annotations

import importlib
import os
import random
import resource
import sys
from pathlib import Path

from helpers.limited import MEMORY, limit_memory, limited, refusal, use_all
from helpers.use_file import use

from posespace.formats.usd import process
from posespace.skeleton import Skeleton
from posespace.skin.skin import Skin


def run_forked(path: Path, seconds: float) -> tuple[int, bytes]:
    """Run the USD child in a process that has its library already: loading it takes longer than 20 small files."""
    from posespace.formats.usd import child

    ending, starting = os.pipe()
    number = os.fork()
    if not number:
        os.close(ending)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with os.fdopen(starting, "wb") as stream:
            child.main(path.absolute(), stream)
        os._exit(0)
    os.close(starting)
    with os.fdopen(ending, "rb") as stream:
        output = stream.read()
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]), output


def attempt(path: Path, skeleton: Skeleton | None) -> str | None:
    """Return None if the file was read, else the one line that names it; anything else raises."""
    with limited():
        line = refusal(lambda: use(path, skeleton))
    took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    assert took <= MEMORY, f"a child process took {took} bytes"
    assert line is None or path.name in line, f"does not name the file: {line!r}"
    return line


def main() -> None:
    sample, count, folder, how = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
    write = importlib.import_module(f"helpers.{how}").write
    rigged = folder / "rig.skin"
    skeleton = Skin.load(rigged).rig.skeleton if rigged.exists() else None
    use(sample, skeleton)
    if sample.suffix == ".usda":
        # A child process would inherit limits; the one that reads USD limits itself.
        process.run_child = run_forked
    else:
        limit_memory()
    target = folder / f"mutant{sample.suffix}"
    use_all(
        target,
        count,
        lambda number: write(random.Random(f"2002 {number}"), sample, target),
        lambda _: attempt(target, skeleton),
    )


main()
