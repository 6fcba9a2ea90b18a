"""`posespace register`: scans become examples of a template."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from posespace.cli.checks import require_folder, require_page
from posespace.cli.options import (
    FILE,
    Command,
    argument,
    force_option,
    json_option,
    machine_options,
    out_option,
    resume_option,
)
from posespace.cli.printing import complain, markdown_table, print_json, warn

if TYPE_CHECKING:
    from posespace.register.run import Row

EXAMPLE = "Example: posespace register hand.obj scans/*.ply --landmarks marks.json -o hand.examples --report page.html"


@click.command(cls=Command, epilog=EXAMPLE)
@argument("template", "The mesh or rig whose vertices all examples will have.")
@argument("scans", "Meshes to fit the template to.", nargs=-1, required=True, metavar="SCAN...")
@click.option(
    "--landmarks", type=FILE, required=True, help="JSON file of named points on the template and on each scan."
)
@out_option("The example store to write.")
@click.option(
    "--levels",
    type=int,
    help="Store the scans' detail as height maps on this many levels of subdivision. Default: none.",
)
@click.option("--reach", default=0.02, help="The greatest height of detail, as a fraction of the diagonal.")
@click.option(
    "--smoothing", default=3, help="Laplacian smoothing passes over a scan before the template is fitted to it."
)
@click.option("--coarse", default=5_000, help="Triangles of the coarse template that is fitted first.")
@click.option(
    "--stretch",
    is_flag=True,
    help="Let parts grow or shrink: for a body with different proportions in roughly the same pose.",
)
@click.option(
    "--start",
    type=FILE,
    help="Example store of the same template; each scan starts from the shape in the store that is nearest to it.",
)
@click.option("--report", type=FILE, help="Also write a web page with a picture of each scan.")
@force_option
@machine_options
@resume_option
@json_option
def register(
    template: Path,
    scans: tuple[Path, ...],
    landmarks: Path,
    out: Path,
    levels: int | None,
    reach: float,
    smoothing: int,
    coarse: int,
    stretch: bool,
    start: Path | None,
    report: Path | None,
    force: bool,
    machines: dict[str, Any],
    resume: bool,
    as_json: bool,
) -> None:
    """Fit a template to scans, so that all scans share its vertices.

    Needs landmarks: a few for a simple shape, a few dozen for a hand. Each scan is stored as soon as it is registered;
    a scan that fails is reported and skipped.
    """
    from posespace.cluster.machines import Machines
    from posespace.progress import status
    from posespace.register.registration import Registration
    from posespace.register.run import ScanFiles, register_files

    require_folder(out)
    if report is not None:
        require_page(report)
    settings = Registration(coarse, smoothing, levels, reach, stretch, force)
    files = ScanFiles(template, scans, landmarks, start)
    rows = register_files(files, out, settings, Machines(**machines), resume, warn)
    if report is not None:
        from posespace.report.registration_page import write_registered

        with status("drawing"):
            write_registered(report, out, rows)
    _print(rows, out, report, as_json)
    failed = [row for row in rows if row.reason]
    for row in failed:
        complain(f"{row.file}: {row.reason}")
    if failed:
        complain(f"{out}: {len(failed)} of {len(rows)} scans are left out; fix them and continue with --resume")
        raise click.exceptions.Exit(1)


def _print(rows: list[Row], out: Path, report: Path | None, as_json: bool) -> None:
    if as_json:
        print_json({"file": str(out), "scans": [vars(row) for row in rows]})
        return
    click.echo("Distance from the scan, as a fraction of the template's diagonal")
    click.echo(markdown_table([_cells(row) for row in rows]))
    for row in rows:
        for line in row.notes:
            warn(f"{row.file}: {line}")
    for path in (out, *([report] if report else [])):
        click.echo(f"written: {path}")


def _cells(row: Row) -> dict[str, Any]:
    if not row.figures:
        return {"scan": row.name, "mean": "fails" if row.reason else "stored before"}
    figures = row.figures
    cells = {
        "scan": row.name,
        "mean": f"{figures['mean_distance']:.3%}",
        "95 % within": f"{figures['p95_distance']:.3%}",
        "largest": f"{figures['largest']:.2%}",
        "covered": f"{figures['covered']:.1%}",
        "landmarks": figures["landmarks"],
    }
    return cells | ({"detail": f"{figures['detail']:.3%}"} if "detail" in figures else {})
