"""`posespace evaluate`: skins and rivals compared on examples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from posespace.cli.checks import open_examples, require_page
from posespace.cli.options import FILE, Command, argument, json_option, only_option
from posespace.cli.printing import complain, note, print_json, warn
from posespace.errors import FileError, InputError

if TYPE_CHECKING:
    from posespace.evaluation.compare import Entry
    from posespace.examples import Examples
    from posespace.skin.skin import Skin


@click.command(cls=Command, epilog="Example: posespace evaluate hand.skin unseen.examples --report report.html")
@argument("files", "The skins, then the example store.", nargs=-1, required=True, metavar="SKIN... EXAMPLES")
@click.option("--report", type=FILE, help="Also write a web page with plots and pictures.")
@click.option("--rivals", type=FILE, help="Training examples: rival methods are fitted to them, and each adds a row.")
@only_option
@json_option
def evaluate(
    files: tuple[Path, ...], report: Path | None, rivals: Path | None, only: tuple[str, ...], as_json: bool
) -> None:
    """Score skins on examples, compared with plain skinning.

    Use unseen examples: poses that the fit was not given.
    """
    from posespace.evaluation.compare import compare, control_point_notes
    from posespace.progress import counter, status

    *skin_files, store = files
    if not store.is_dir():
        problem = "is not an example store" if store.exists() else "does not exist"
        raise FileError(store, f"{problem}; the last argument is the example store, the skins come first")
    if report is not None:
        require_page(report)
    examples = open_examples(store, only)
    skins = _load(skin_files, examples)
    fitted = {} if rivals is None else _fit_rivals(rivals, skins, examples, unseen=bool(only))
    with counter("evaluating") as advance:
        entries = compare(skins, examples, fitted, advance)
    for file, entry in zip(skin_files, entries[1:], strict=False):
        if entry.score is None:
            raise FileError(file, entry.reason)
    if report is not None:
        from posespace.report.accuracy import write_report

        with status("drawing"):
            write_report(entries, examples, report)
    for line in control_point_notes(entries, examples):
        note(line)
    if as_json:
        print_json([entry.figures() for entry in entries])
        return
    _print_table(entries)
    if report is not None:
        print(f"written: {report}")


def _load(files: list[Path], examples: Examples) -> dict[str, Skin]:
    """The skins by name; raise where one has another mesh or other joints than the examples, before the long work."""
    from posespace.evaluation.score import check_comparable
    from posespace.formats.files import naming
    from posespace.skin.skin import Skin

    stems = [file.stem for file in files]
    names = [stem if stems.count(stem) == 1 else str(file) for stem, file in zip(stems, files, strict=True)]
    if len(set(names)) < len(names):
        raise InputError("evaluate: the same skin is given twice")
    skins = {name: Skin.load(file) for name, file in zip(names, files, strict=True)}
    for file, skin in zip(files, skins.values(), strict=True):
        with naming(file):
            check_comparable(skin, examples)
    return skins


def _fit_rivals(file: Path, skins: dict[str, Skin], examples: Examples, unseen: bool) -> dict[str, Any]:
    """The rivals, fitted on the examples of a file; where `unseen`, without the poses that are evaluated on."""
    from posespace.evaluation.rivals import fit_rivals, without_poses_of
    from posespace.evaluation.score import check_same
    from posespace.formats.files import naming
    from posespace.progress import status

    stored = open_examples(file)
    with naming(file):
        check_same(len(stored.rig.mesh.points), stored.rig, examples.rig)
        fitted = without_poses_of(stored, examples) if unseen else stored
    if len(fitted) < len(stored):
        left_out = f"{len(stored) - len(fitted)} of its {len(stored)} poses are evaluated on"
        warn(f"{file}: {left_out}; no rival is fitted to them")
    with status("fitting the rivals"):
        return dict(fit_rivals(skins.values(), fitted))


def _print_table(entries: list[Entry]) -> None:
    from rich.console import Console
    from rich.table import Table

    from posespace.evaluation.compare import COLUMNS, fit_notes, height_notes, seen_note, worse_notes

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for column in COLUMNS:
        table.add_column(column.short, justify="right", no_wrap=True)
    for entry in entries:
        cells = [column.text(entry.score) for column in COLUMNS] if entry.score else ["fails"]
        table.add_row(entry.name, *cells)
    # Better lines that the terminal wraps than numbers cut short.
    console = Console(
        highlight=False, markup=False, width=max(Console().width, Console(width=999).measure(table).maximum)
    )
    console.print(table)
    console.print(seen_note(entries), soft_wrap=True)
    for line in (*worse_notes(entries), *fit_notes(entries), *height_notes(entries)):
        console.print(line, soft_wrap=True)
    for entry in entries:
        if entry.reason:
            complain(f"{entry.name}: {entry.reason}")
