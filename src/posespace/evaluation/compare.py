"""Several skins evaluated on the same examples, plain skinning first, and how their metrics read in a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from posespace.errors import InputError
from posespace.evaluation.score import Score, evaluate_all
from posespace.examples import Examples
from posespace.poses.control_points import are_unposed
from posespace.skin.provenance import notes_of
from posespace.skin.skin import Posable, Skin

PLAIN = "plain skinning"


@dataclass(frozen=True, eq=False)
class Entry:
    """One row: a skin and its score, or why there is none.

    Parameters
    ----------
    name : what the row is called
    skin, score : None where it failed
    reason : why it failed, or ""
    rival : whether it is there to compare with
    """

    name: str
    skin: Posable | None = None
    score: Score | None = None
    reason: str = ""
    rival: bool = False

    def figures(self) -> dict[str, Any]:
        """Return the row as plain values, for JSON."""
        return {"name": self.name, **(self.score.figures() if self.score else {"failed": self.reason})}


@dataclass(frozen=True)
class Column:
    """A metric: its key in `Score`, its heading in the terminal and on the page, and how its numbers are written."""

    key: str
    short: str
    title: str
    form: str = ".4g"
    is_error: bool = True
    """Whether less is better, so that the report marks the least."""

    def text(self, score: Score) -> str:
        """Return the metric as it stands in the table."""
        value = getattr(score, self.key)
        mark = " worse" if self.key == "rel_err" and score.is_worse_than_plain else ""
        return "?" if value is None else format(value, self.form) + mark


COLUMNS = (
    Column("rel_err", "rel_err", "relative error", ".4f"),
    Column("rms", "rms", "RMS, largest box side = 1"),
    Column("e_rms", "e_rms", "E_RMS"),
    Column("max_error", "largest", "largest error"),
    Column("p95_error", "95 %", "95th percentile"),
    Column("normal_degrees", "normals°", "normals: mean °", ".2f"),
    Column("p95_normal_degrees", "95 %°", "normals: 95th percentile °", ".2f"),
    Column("bytes_per_vertex", "bytes/vertex", "bytes per vertex", ".1f", is_error=False),
    Column("numbers", "numbers", "numbers stored", ",d", is_error=False),
    Column("seen", "seen", "poses seen by the fit", is_error=False),
)


def compare(
    skins: Mapping[str, Posable],
    examples: Examples,
    rivals: Mapping[str, Posable | InputError] | None = None,
    advance: Callable[[int, int], None] | None = None,
) -> list[Entry]:
    """Evaluate plain skinning, then the skins, then the rivals.

    What cannot be fitted or evaluated keeps its row, with the reason: a rival may be given as the error of its fit.
    `advance` is called with how many of how many poses are done.
    """
    # A list, since a skin may have the name of a rival.
    rows: list[tuple[str, Posable | InputError, bool]] = [(PLAIN, Skin(examples.rig), False)]
    rows += [(name, skin, False) for name, skin in skins.items()]
    rows += [(name, skin, True) for name, skin in (rivals or {}).items()]
    ready = [skin for _, skin, _ in rows if not isinstance(skin, InputError)]
    scores = iter(evaluate_all(ready, examples, advance))
    entries = []
    for name, skin, rival in rows:
        score = skin if isinstance(skin, InputError) else next(scores)
        if isinstance(skin, InputError) or isinstance(score, InputError):
            entries.append(Entry(name, reason=str(score), rival=rival))
        else:
            entries.append(Entry(name, skin, score, rival=rival))
    return entries


def worse_notes(entries: list[Entry]) -> list[str]:
    """Return a line on each skin that plain skinning beats on these poses."""
    return [
        f"{entry.name} is worse than plain skinning on these poses: {entry.score.rel_err:.3g} times its error"
        for entry in entries
        if entry.score is not None and not entry.rival and entry.score.is_worse_than_plain
    ]


def fit_notes(entries: list[Entry]) -> list[str]:
    """Return the notes of the skins' fits, a line each."""
    return [
        f"{entry.name}: {line}"
        for entry in entries
        if isinstance(entry.skin, Skin)
        for line in notes_of(entry.skin.about)
    ]


def height_notes(entries: list[Entry]) -> list[str]:
    """Return a line on each entry with detail where the examples have heights too: the error of its heights."""
    return [
        f"{entry.name}: the heights of its detail have an error of {entry.score.height_rms:.4g} (root mean square, in "
        "the mesh's unit)"
        for entry in entries
        if entry.score and entry.score.height_rms is not None
    ]


def control_point_notes(entries: list[Entry], examples: Examples) -> list[str]:
    """Return a line on each skin whose control points the examples lack: what poses it instead."""
    rig = examples.rig
    notes = []
    for entry in entries:
        skin = entry.skin
        if entry.rival or skin is None or not are_unposed(examples, skin.rig, skin.points):
            continue
        notes.append(
            f"{entry.name}: the examples have no poses of its control points, so their positions are taken from "
            f"{len(skin.points)} of the {len(rig.mesh.points)} vertices of each shape; {PLAIN} uses the "
            f"{len(rig.skeleton)} joints of the examples, in their poses"
        )
    return notes


def seen_note(entries: list[Entry]) -> str:
    """Return a line that says on which poses the entries were evaluated, and which of them a fit had seen."""
    scores = {entry.name: entry.score for entry in entries if entry.score is not None}
    count = len(next(iter(scores.values())).names)
    note = f"evaluated on {count} poses"
    seen = [f"{name} saw {score.seen}" for name, score in scores.items() if score.seen]
    unknown = [name for name, score in scores.items() if score.seen is None]
    note += f"; of these, {', '.join(seen)} in its fit" if seen else ", none of them seen by a fit"
    return note + (f"; {', '.join(unknown)} has no record of what it was fitted on" if unknown else "")
