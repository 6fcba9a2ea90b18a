"""Several skins judged on the same examples, plain skinning first, and how their metrics read in a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from posespace.errors import InputError
from posespace.examples import Examples
from posespace.score import Score, evaluate
from posespace.skin import Skin
from posespace.storage import Posable

PLAIN = "plain skinning"


@dataclass(frozen=True, eq=False)
class Entry:
    """One row: a skin and its score, or why there is none.

    Parameters
    ----------
    name : what the row is called
    skin, score : None where it failed
    reason : why it failed, or ""
    """

    name: str
    skin: Posable | None = None
    score: Score | None = None
    reason: str = ""

    def figures(self) -> dict[str, Any]:
        """Return the row as plain values, for JSON."""
        return {"name": self.name, **(self.score.figures() if self.score else {"failed": self.reason})}


@dataclass(frozen=True)
class Column:
    """A metric: its key in `Score`, how the terminal and the page head it, and how its numbers are written."""

    key: str
    short: str
    title: str
    form: str = ".4g"

    def text(self, score: Score) -> str:
        """Return the metric as it stands in the table."""
        value = getattr(score, self.key)
        return "?" if value is None else format(value, self.form)


COLUMNS = (
    Column("rel_err", "rel_err", "relative error", ".4f"),
    Column("rms", "rms", "RMS, largest box side 1"),
    Column("e_rms", "e_rms", "E_RMS"),
    Column("max_error", "largest", "largest error"),
    Column("p95_error", "95 %", "95 % below"),
    Column("normal_degrees", "normals°", "normals, mean °", ".2f"),
    Column("p95_normal_degrees", "95 %°", "normals, 95 % below °", ".2f"),
    Column("bytes_per_vertex", "bytes/vertex", "bytes a vertex", ".1f"),
    Column("numbers", "numbers", "numbers stored", ",d"),
    Column("seen", "seen", "poses seen by the fit"),
)


def compare(
    skins: Mapping[str, Posable | InputError],
    examples: Examples,
    advance: Callable[[int, int], None] | None = None,
) -> list[Entry]:
    """Judge each skin, after plain skinning; one that failed to fit, or fails here, keeps its row and its reason."""
    every: dict[str, Posable | InputError] = {PLAIN: Skin(examples.rig), **skins}
    entries = []
    for done, (name, skin) in enumerate(every.items()):
        if isinstance(skin, InputError):
            entries.append(Entry(name, reason=str(skin)))
            continue
        try:
            entries.append(Entry(name, skin, evaluate(skin, examples)))
        except InputError as error:
            entries.append(Entry(name, reason=str(error)))
        if advance is not None:
            advance(done + 1, len(every))
    return entries


def seen_note(entries: list[Entry]) -> str:
    """Return a line that says on which poses the entries were judged, and which of them a fit had seen."""
    scores = {entry.name: entry.score for entry in entries if entry.score is not None}
    count = len(next(iter(scores.values())).names)
    note = f"judged on {count} poses"
    seen = [f"{name} saw {score.seen}" for name, score in scores.items() if score.seen]
    unknown = [name for name, score in scores.items() if score.seen is None]
    note += f"; of these {', '.join(seen)} in its fit" if seen else ", none known to a fit"
    return note + (f"; {', '.join(unknown)} does not say what it was fitted on" if unknown else "")
