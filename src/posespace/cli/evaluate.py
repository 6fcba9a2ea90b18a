"""`posespace evaluate`: skins and rivals compared on examples."""

from __future__ import annotations

from dataclasses import replace
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
    from posespace.rig import Rig
    from posespace.skin.skin import Skin


@click.command(cls=Command, epilog="Example: posespace evaluate hand.skin unseen.examples --report report.html")
@argument("files", "The skins, then the example store.", nargs=-1, required=True, metavar="SKIN... EXAMPLES")
@click.option("--report", type=FILE, help="Also write a web page with plots and pictures.")
@click.option("--rivals", type=FILE, help="Examples to fit rival methods on; each adds a row.")
@only_option
@json_option
def evaluate(
    files: tuple[Path, ...], report: Path | None, rivals: Path | None, only: tuple[str, ...], as_json: bool
) -> None:
    """Score skins on examples, next to plain skinning.

    Use unseen examples: poses that the fit was not given.
    """
    from posespace.evaluation.compare import compare, followed_notes
    from posespace.progress import counter, status

    *skins, store = files
    if not store.is_dir():
        problem = "is not an example store" if store.exists() else "does not exist"
        raise FileError(store, f"{problem}; the last argument is the example store, the skins come first")
    if report is not None:
        require_page(report)
    examples = open_examples(store, only)
    loaded, others = _load(skins), {}
    for file, skin in zip(skins, loaded.values(), strict=True):
        # Of a skin with detail the surface below it is compared, where the examples have that.
        fine = len(skin.mesh.points) == len(examples.rig.mesh.points)
        vertices = len(skin.mesh.points if fine else skin.rig.mesh.points)
        _require_same(file, vertices, skin.rig if skin.bones is None else examples.rig, examples)
    if rivals is not None:
        from posespace.rivals import fit_all

        fitted = open_examples(rivals)
        _require_same(rivals, len(fitted.rig.mesh.points), fitted.rig, examples)
        fitted = _unseen(rivals, fitted, examples) if only else fitted
        with status("fitting the rivals"):
            others = fit_all(_rivals(), fitted) | _fit_by_points(loaded, fitted)
    with counter("evaluating") as advance:
        entries = compare(loaded, examples, others, advance)
    for file, entry in zip(skins, entries[1:], strict=False):
        if entry.score is None:
            raise FileError(file, entry.reason)
    if report is not None:
        from posespace.report.accuracy import write_report

        with status("drawing"):
            write_report(report, entries, examples)
    for line in followed_notes(entries, examples):
        note(line)
    if as_json:
        print_json([entry.figures() for entry in entries])
        return
    _print_table(entries)
    if report is not None:
        print(f"written: {report}")


def _load(files: list[Path]) -> dict[str, Skin]:
    from posespace.skin.skin import Skin

    stems = [file.stem for file in files]
    names = [stem if stems.count(stem) == 1 else str(file) for stem, file in zip(stems, files, strict=True)]
    if len(set(names)) < len(names):
        raise InputError("evaluate: the same skin is given twice")
    return {name: Skin.load(file) for name, file in zip(names, files, strict=True)}


def _require_same(file: Path, vertices: int, rig: Rig, truth: Examples) -> None:
    """Raise where a file has another mesh than the examples, before the long work."""
    from posespace.evaluation.score import check_same
    from posespace.formats.files import naming

    with naming(file):
        check_same("its", vertices, rig, truth.rig)


def _unseen(file: Path, fitted: Examples, truth: Examples) -> Examples:
    """The examples to fit the rivals on, without the poses that were chosen to evaluate on."""
    from posespace.poses.digests import pose_digests

    evaluated = set(pose_digests(truth.motion, truth.rig.skeleton))
    kept = [k for k, pose in enumerate(pose_digests(fitted.motion, fitted.rig.skeleton)) if pose not in evaluated]
    if not kept:
        raise FileError(file, "all its poses are evaluated on, so none is left to fit the rivals on; choose fewer")
    if len(kept) < len(fitted):
        warn(
            f"{file}: {len(fitted) - len(kept)} of its {len(fitted)} poses are evaluated on; no rival is fitted to them"
        )
    return fitted.subset(kept)


def _rivals() -> Any:
    from posespace.rivals import rivals

    # Plain skinning is the first row already.
    return {name: method for name, method in rivals().items() if name != "plain skinning"}


def _fit_by_points(skins: dict[str, Skin], fitted: Examples) -> Any:
    """The rivals that control points move, at the points of the first skin that has any, and other ways to detail."""
    from posespace.fit.points.points import ControlPoints
    from posespace.poses.control_points import examples_from_shapes
    from posespace.rivals import fit_all, height_rivals, point_rivals
    from posespace.skin.skin import Skin

    for skin in skins.values():
        if skin.bones is None:
            continue
        settings: Any = {"picked": tuple(skin.bones.points.tolist()), "bones": len(skin.bones)}
        examples = examples_from_shapes(fitted, skin.rig, skin.bones.points)
        found = fit_all({"FKY08": ControlPoints(**settings, local="none"), **point_rivals()}, examples)
        if fitted.heights is not None:
            near = min(ControlPoints.near_points, len(skin.bones.points))
            below = fit_all({"": ControlPoints(**settings, near_points=near)}, replace(examples, heights=None))[""]
            found |= fit_all(height_rivals(below), examples) if isinstance(below, Skin) else {"detail": below}
        return found
    return {}


def _print_table(entries: list[Entry]) -> None:
    from rich.console import Console
    from rich.table import Table

    from posespace.evaluation.compare import COLUMNS, fit_notes, relief_notes, seen_note, worse_notes

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
    for line in (*worse_notes(entries), *fit_notes(entries), *relief_notes(entries)):
        console.print(line, soft_wrap=True)
    for entry in entries:
        if entry.reason:
            complain(f"{entry.name}: {entry.reason}")
