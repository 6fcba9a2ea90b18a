"""Progress bars on a terminal; silent anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


def track(items: Sequence[T], label: str) -> Iterator[T]:
    """Iterate over `items` with a progress bar and the time left on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track as rich_track

    yield from rich_track(items, description=label, console=Console(stderr=True), transient=True)


@contextmanager
def counter(label: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that shows how many of how many are done, with the time left."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=None)
        yield lambda done, count: progress.update(task, completed=done, total=count)


@contextmanager
def status(label: str) -> Iterator[None]:
    """Show that work of unknown length is running, on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(label):
        yield
