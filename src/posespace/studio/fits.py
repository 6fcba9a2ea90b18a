"""Fits: those of a project so far, and the one that is running; pages are told how far it is and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from posespace.errors import InputError, one_line
from posespace.fit.psd.sculpts import Sculpts
from posespace.skin.skin import Skin
from posespace.studio.fitting import Fitted, Fitting

FOLDER = "fits"
"""Where a project keeps the skins of its fits."""

Tell = Callable[[str, Mapping[str, Any]], None]
"""Called with an event and what it says, from any thread."""


def _unheard(*_: object) -> None:
    """Nobody listens yet."""


class Fits:
    """The fits of a project.

    Parameters
    ----------
    store : the project's folder; None where there is nothing to fit
    """

    def __init__(self, store: Path | None) -> None:
        self._store = store
        self._fitting: Fitting | None = None
        self.current: int | None = None
        self.tell: Tell = _unheard
        self.fitted: Callable[[Skin], None] = _unheard

    def start(self, sculpts: Sculpts, method: str, settings: Mapping[str, Any]) -> None:
        """Start a fit of the sculpts that are saved."""
        if self._store is None:
            raise InputError("fit: there are no examples to fit")
        if all(sculpt.muted for sculpt in sculpts.sculpts.values()):
            raise InputError("fit: expected at least one sculpt that is not muted")
        if self._fitting is None:
            folder = self._store / FOLDER
            folder.mkdir(exist_ok=True)
            self._fitting = Fitting(folder)
        self._fitting.start(self._store, method, settings, self._done, self._progress)

    def cancel(self) -> bool:
        """End the fit that is running, at once; return whether one was."""
        was_running = self._fitting is not None and self._fitting.cancel()
        if was_running:
            self.tell("cancelled", {})
        return was_running

    def figures(self) -> dict[str, Any]:
        """Return the fits so far, the number of the one that is shown, and whether one is running, as plain JSON."""
        results = [] if self._fitting is None else [result.figures() for result in self._fitting.results]
        running = self._fitting is not None and self._fitting.running
        return {"fits": results, "current": self.current, "running": running}

    def skin(self, number: int) -> Skin:
        """Return the skin of a fit."""
        results = [] if self._fitting is None else self._fitting.results
        for result in results:
            if result.number == number:
                self.current = number
                return Skin.load(result.path)
        raise InputError(f"fit {number}: there is none of that number")

    def _progress(self, what: str, done: int, count: int | None) -> None:
        self.tell("progress", {"what": what, "done": done, "count": count})

    def _done(self, outcome: Fitted | InputError) -> None:
        if isinstance(outcome, InputError):
            self.tell("failed", {"error": one_line(str(outcome))})
            return
        self.fitted(Skin.load(outcome.path))
        self.current = outcome.number
        self.tell("fitted", outcome.figures())
