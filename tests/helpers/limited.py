"""Bad files used one after the other in a process whose memory and computing time are limited: what workers share."""

from __future__ import annotations

import json
import resource
import shutil
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from posespace.errors import InputError

MEMORY = 500_000_000
SECONDS = 2.0


class TooLongError(BaseException):
    """Not an Exception, so that nothing that the library catches can hide it."""


def limit_memory() -> None:
    """Let this process have `MEMORY` bytes more than it has now."""
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, held + MEMORY))


def computed() -> float:
    """Seconds of processor time that this process has taken, its children that ended included."""
    all_use = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in all_use)


@contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """Raise if the block computes for longer, by itself or in children that it waits for: other work does not count."""
    before = computed()
    signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    took = computed() - before
    if took > seconds:
        raise TooLongError(f"took {took:.1f} s")


def _too_long(*_: object) -> None:
    raise TooLongError


def refusal(work: Callable[[], object]) -> str | None:
    """Return None if the work was done, else the one line that it raised; anything else raises."""
    try:
        work()
    except InputError as error:
        line = str(error)
        line.encode()
        assert "\n" not in line, f"not one line: {line!r}"
        return line
    return None


def use_all(target: Path, count: int, write: Callable[[int], None], use: Callable[[int], str | None]) -> None:
    """Write `count` bad files to `target` and use each; print what happened as JSON.

    The number of the file at work is the last line on stderr, for one that ends the process.

    Parameters
    ----------
    target : where each bad file goes
    count : how many
    write : writes the one of a number
    use : does with it what a user would; returns None, or the line with which it was refused
    """
    warnings.simplefilter("ignore")
    used, lines, failures = 0, list[str](), list[str]()
    for number in range(count):
        print(number, file=sys.stderr, flush=True)
        _remove(target)
        write(number)
        try:
            line = use(number)
        except BaseException:
            failures.append(f"{target.name} {number}: {traceback.format_exc()}")
            continue
        used += line is None
        lines += [line] if line is not None else []
    _remove(target)
    print(json.dumps({"used": used, "lines": lines, "failures": failures}))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
