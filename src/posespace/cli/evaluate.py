"""`posespace evaluate`: skins and rivals side by side on examples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posespace.cli.fit import Poses, open_examples, require_folder
from posespace.cli.printing import AsJson, complain, print_json
from posespace.errors import FileError, InputError

if TYPE_CHECKING:
    from posespace.examples import Examples
    from posespace.report.compare import Entry
    from posespace.rig import Rig
    from posespace.skin import Posable, Skin


def evaluate(
    files: Annotated[list[Path], typer.Argument(metavar="SKIN... EXAMPLES", help="Skins, then the examples.")],
    report: Annotated[Path | None, typer.Option(help="Also write a page with plots and pictures.")] = None,
    rivals: Annotated[Path | None, typer.Option(help="Examples to fit the rivals on; each adds a row.")] = None,
    poses: Poses = [],  # noqa: B006  # Typer copies it
    as_json: AsJson = False,
) -> None:
    """Judge skins by examples, beside plain skinning. Use examples that the fit did not see."""
    from posespace.progress import counter, status
    from posespace.report.compare import compare

    *skins, store = files
    if not store.is_dir():
        problem = "is no example store" if store.exists() else "does not exist"
        raise FileError(store, f"{problem}; the last argument is the store to judge by, the skins come first")
    if report is not None:
        _require_page(report)
    examples = open_examples(store, poses)
    loaded, others = _load(skins), {}
    for file, skin in zip(skins, loaded.values(), strict=True):
        _require_same(file, len(skin.mesh.points), skin.rig, examples)
    if rivals is not None:
        fitted = open_examples(rivals, [])
        _require_same(rivals, len(fitted.rig.mesh.points), fitted.rig, examples)
        with status("fitting the rivals"):
            others = _rivals(fitted)
    with counter("judging") as advance:
        entries = compare(loaded, examples, others, advance)
    for file, entry in zip(skins, entries[1:], strict=False):
        if entry.score is None:
            raise FileError(file, entry.reason)
    if report is not None:
        from posespace.report.accuracy import write_report

        with status("drawing"):
            write_report(report, entries, examples)
    if as_json:
        print_json([entry.figures() for entry in entries])
        return
    _print_table(entries)
    if report is not None:
        print(f"written: {report}")


def _require_page(report: Path) -> None:
    if report.suffix.lower() != ".html":
        raise FileError(report, "a report is a web page; give it the ending .html")
    require_folder(report)


def _load(files: list[Path]) -> dict[str, Skin]:
    from posespace.skin import Skin

    stems = [file.stem for file in files]
    names = [stem if stems.count(stem) == 1 else str(file) for stem, file in zip(stems, files, strict=True)]
    if len(set(names)) < len(names):
        raise InputError("evaluate: the same skin is given twice")
    return {name: Skin.load(file) for name, file in zip(names, files, strict=True)}


def _require_same(file: Path, vertices: int, rig: Rig, truth: Examples) -> None:
    """Refuse a file of another mesh than the one to judge by, before the long work."""
    from posespace.formats.files import naming
    from posespace.report.score import check_same

    with naming(file):
        check_same("its", vertices, rig, truth.rig)


def _rivals(examples: Examples) -> dict[str, Posable | InputError]:
    from posespace.rivals import fit_all, rivals

    # Plain skinning is the first row as it is.
    methods = {name: method for name, method in rivals().items() if name != "plain skinning"}
    return fit_all(methods, examples)


def _print_table(entries: list[Entry]) -> None:
    from rich.console import Console
    from rich.table import Table

    from posespace.report.compare import COLUMNS, seen_note

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for column in COLUMNS:
        table.add_column(column.short, justify="right", no_wrap=True)
    for entry in entries:
        cells = [column.text(entry.score) for column in COLUMNS] if entry.score else ["fails"]
        table.add_row(entry.name, *cells)
    # Rather lines that the terminal wraps than numbers cut short.
    console = Console(
        highlight=False, markup=False, width=max(Console().width, Console(width=999).measure(table).maximum)
    )
    console.print(table)
    console.print(seen_note(entries), soft_wrap=True)
    for entry in entries:
        if entry.reason:
            complain(f"{entry.name}: {entry.reason}")
