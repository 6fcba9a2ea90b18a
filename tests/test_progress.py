"""Progress reaches whoever listens, and a terminal shows all bars at once."""

from __future__ import annotations

import io
import sys
import time
from typing import Any

import pytest

from posespace import progress

Told = list[tuple[str, int, int | None]]


def test_a_listener_is_told_of_each_step() -> None:
    told: Told = []
    with progress.shown_by(lambda *step: told.append(step)), progress.status("all"):
        assert list(progress.track("ab", "letters")) == ["a", "b"]
        with progress.counter("numbers") as advance:
            advance(3, 4)
    assert told == [("all", 0, None), ("letters", 0, 2), ("letters", 1, 2), ("letters", 2, 2), ("numbers", 3, 4)]


def test_nobody_is_told_after_the_block_even_if_it_fails() -> None:
    told: Told = []
    with pytest.raises(ValueError, match="no"), progress.shown_by(lambda *step: told.append(step)):
        raise ValueError("no")
    assert list(progress.track("ab", "letters")) == ["a", "b"]
    assert told == []


def test_a_listener_within_another_takes_its_place() -> None:
    outer: Told = []
    inner: Told = []
    with progress.shown_by(lambda *step: outer.append(step)):
        with progress.shown_by(lambda *step: inner.append(step)), progress.status("inner"):
            pass
        with progress.status("outer"):
            pass
    assert (outer, inner) == ([("outer", 0, None)], [("inner", 0, None)])


class Screen(io.StringIO):
    """A terminal that keeps what is written to it."""

    def isatty(self) -> bool:
        return True


def test_bars_within_one_another_share_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen: Any = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")

    def wait_for(*words: str) -> None:
        while not all(word in screen.getvalue() for word in words):
            time.sleep(0.01)

    with progress.status("fitting"):
        for _ in progress.track(range(3), "residuals"):
            # A loop that is left early ends its bar later than those around it.
            left = progress.track(range(2), "poses")
            next(left)
            wait_for("fitting", "residuals", "poses", "0/3", "0/2")
    del left
    with progress.counter("passes") as advance:
        advance(1, 2)
        wait_for("passes", "1/2")
