"""`posespace examples`: a rig, poses and shapes gathered into an example store, and checked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from posespace.cli.options import FILE, Command, argument, choice_options, json_option, out_option, resume_option
from posespace.cli.printing import markdown_table, print_json, print_one, warn
from posespace.cli.typed import as_typed, options
from posespace.errors import InputError
from posespace.formats.registry import CLIPS, format_names

if TYPE_CHECKING:
    from posespace.formats.pose_choice import PoseChoice
    from posespace.gathering.gather import Gathered
    from posespace.gathering.outliers import Finding

EXAMPLE = "Example: posespace examples hand.glb --poses poses.json --shapes 'sculpts/*.obj' -o hand.examples"

_MOST_ROWS = 40


@click.command(cls=Command, epilog=EXAMPLE)
@argument("rig", "The rig, or a skin of it. A mesh without joints becomes a rig driven by controls.")
@click.option(
    "--poses",
    type=FILE,
    help=f"Poses (JSON) or a motion ({format_names(CLIPS)}). "
    "Default: the pose file that `posespace pose` wrote next to the shapes.",
)
@click.option(
    "--shapes",
    help="A folder that `posespace pose` wrote, a quoted pattern of shape files, a .npy file of (poses, vertices, 3), "
    "or a .npz file with that array or with one (vertices, 3) array per pose.",
)
@choice_options
@click.option("--morphs", is_flag=True, help="Use the morph targets of the rig's file as examples, driven by controls.")
@out_option("The example store to write.")
@click.option("--rest/--no-rest", default=True, help="Add the rest shape if no pose is at rest.")
@click.option(
    "--unit",
    multiple=True,
    metavar="[POSE=]FACTOR",
    help="Scale the shapes by this factor, e.g. 0.01 for centimetres if the rig has metres; for one pose: 'fist=0.01'. "
    "May be repeated.",
)
@click.option(
    "--up",
    multiple=True,
    metavar="[POSE=]AXES",
    help="Axes of the shapes: z if they have z up and the rig y up, y for the reverse, or the axes that become the "
    "rig's x, y and z, e.g. x,z,-y. May be repeated.",
)
@click.option(
    "--match",
    type=click.Choice(["order", "positions"]),
    default="order",
    show_default=True,
    help="How vertices are matched: by order, or by position, if their order differs from the rig's. Shapes with "
    "merged seams, or another number of vertices, are always matched by position.",
)
@resume_option
@json_option
def examples(
    rig: Path,
    poses: Path | None,
    shapes: str | None,
    choice: PoseChoice,
    morphs: bool,
    out: Path,
    rest: bool,
    unit: tuple[str, ...],
    up: tuple[str, ...],
    match: str,
    resume: bool,
    as_json: bool,
) -> None:
    """Gather a rig, poses and shapes into an example store.

    There is one shape per pose. Shapes are matched to poses by name, or else in order. The distance of each
    shape from plain skinning is shown. Suspicious shapes are reported with the option that fixes them.
    """
    from posespace.gathering.gather import Gathering, gather
    from posespace.report.figures import with_identifiers
    from posespace.report.info import describe

    units = {pose: _number(value) for pose, value in _by_pose(unit).items()}
    settings = Gathering(units, _by_pose(up), match, choice, rest, morphs, resume)
    gathered = gather(rig, shapes, out, poses, settings)
    figures = describe(out) | {
        "shapes_matched": gathered.matched,
        "vertices_matched": with_identifiers(dict(gathered.vertices)),
    }
    if as_json:
        pairs = zip(gathered.findings, gathered.sources, strict=True)
        rows = [_row(finding) | {"file": str(file)} for finding, file in pairs]
        notes = [as_typed(note) for note in gathered.notes]
        print_json(figures | ({"notes": notes} if notes else {}) | {"shapes": rows})
        return
    print_one(figures, as_json)
    _print_table(gathered)
    for note in gathered.notes:
        warn(note)


def _by_pose(values: tuple[str, ...]) -> dict[str, str]:
    """Values by the pattern of poses they are for: "fist=0.01", or "0.01" for all."""
    return {pose or "*": value for pose, _, value in (entry.rpartition("=") for entry in values)}


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--unit: expected a number such as 0.01, or POSE=0.01, got {text[:40]!r}") from None


def _row(finding: Finding) -> dict[str, Any]:
    cause = finding.cause
    return {
        "pose": finding.pose,
        "rms": finding.rms,
        "largest": finding.largest,
        "vertex": finding.vertex,
        "near": finding.near,
        "stands_out": finding.stands_out,
        "torn": finding.torn,
        "cause": "" if cause is None else str(cause),
        "mended_by": "" if cause is None else options(cause.remedy_for([finding.pose])),
    }


def _doubt(finding: Finding) -> str:
    """What someone should look at in an example; nothing where all is well."""
    stands_out = "stands out" if finding.stands_out and finding.cause is None else ""
    words = (str(finding.cause or ""), stands_out, "torn seam" if finding.is_torn else "")
    return "; ".join(word for word in words if word)


def _print_table(gathered: Gathered) -> None:
    """Print how far shapes are from plain skinning; of very many, those in doubt and the farthest."""
    findings = list(zip(gathered.findings, gathered.sources, strict=True))
    chosen = findings
    if len(findings) > _MOST_ROWS:
        chosen = sorted(findings, key=lambda pair: (not pair[0].is_doubtful, -pair[0].rms))[:_MOST_ROWS]
    rows = [
        {
            "pose": finding.pose,
            "file": file.name,
            "RMS": f"{finding.rms:.2%}",
            "largest": f"{finding.largest:.2%}",
            "at vertex": finding.vertex,
            "near": finding.near,
            "in doubt": _doubt(finding),
        }
        for finding, file in chosen
    ]
    click.echo("\nDistance from plain skinning, as a share of the box's diagonal")
    click.echo(markdown_table(rows))
    if len(chosen) < len(findings):
        click.echo(f"... and {len(findings) - len(chosen)} nearer ones; --json lists all")
