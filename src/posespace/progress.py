"""The progress of long work: bars on a terminal, or numbers for a program that listens; silent anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

T = TypeVar("T")
Listener = Callable[[str, int, int | None], None]
"""Told of each step: what is done, how many of it, and of how many; None where that is not known."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def shown_by(listener: Listener) -> Iterator[None]:
    """Tell `listener` of all progress within the block, instead of a terminal."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def track(items: Sequence[T], label: str) -> Iterator[T]:
    """Iterate over `items` and show how many are done."""
    with counter(label) as advance:
        advance(0, len(items))
        for done, item in enumerate(items, 1):
            yield item
            advance(done, len(items))


@contextmanager
def counter(label: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that shows how many of how many are done, on a terminal with the time left."""
    listener = _listener.get()
    if listener is not None:
        yield lambda done, count: listener(label, done, count)
    elif sys.stderr.isatty():
        with _terminal.bar(label) as advance:
            yield advance
    else:
        yield lambda *_: None


@contextmanager
def status(label: str) -> Iterator[None]:
    """Show that work of unknown length is running."""
    listener = _listener.get()
    if listener is not None:
        listener(label, 0, None)
        yield
    elif sys.stderr.isatty():
        with _terminal.bar(label):
            yield
    else:
        yield


class _Terminal:
    """One display on standard error for all bars; one that begins within another is below it."""

    def __init__(self) -> None:
        self._display: Progress | None = None

    @contextmanager
    def bar(self, label: str) -> Iterator[Callable[[int, int], None]]:
        """Yield a function that advances a new bar."""
        display = self._display or self._started()
        task = display.add_task(label, total=None, amount="")
        try:
            yield lambda done, count: display.update(task, completed=done, total=count, amount=f"{done}/{count}")
        finally:
            self._end(display, task)

    def _started(self) -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

        texts = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[amount]}"))
        self._display = Progress(
            SpinnerColumn(), *texts, TimeRemainingColumn(), console=Console(stderr=True), transient=True
        )
        self._display.start()
        return self._display

    def _end(self, display: Progress, task: TaskID) -> None:
        display.remove_task(task)
        if not display.tasks:
            display.stop()
            self._display = None


_terminal = _Terminal()
