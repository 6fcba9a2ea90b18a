"""`posespace bones`: a rig of virtual bones from shapes alone."""

from __future__ import annotations

from pathlib import Path

import click

from posespace.cli.checks import require_folder
from posespace.cli.options import FILE, Command, argument, clip_option, json_option, out_option
from posespace.cli.printing import print_one
from posespace.errors import FileError
from posespace.formats.registry import RIG, format_names

SHAPES = (
    "A quoted pattern of mesh files, a folder of them, a .npy file (needs --rest), an example store, or a clip "
    f"({format_names(RIG)})."
)


@click.command(cls=Command, epilog="Example: posespace bones 'scans/*.obj' --count 20 -o hand.examples")
@argument("shapes", SHAPES, type=str)
@out_option("The example store to write.")
@click.option(
    "--count", type=int, help="Number of bones. Default: one per cluster of triangles with similar rotations."
)
@click.option("--influences", default=4, help="Maximum number of bones per vertex, 1 to 8.")
@click.option(
    "--affine",
    is_flag=True,
    help="Let bones stretch and shear. Each bone becomes four joints that only translate.",
)
@click.option("--rest", type=FILE, help="The mesh of the rest shape. Default: the first shape, or the store's.")
@click.option(
    "--bandwidth",
    default=0.1,
    help="Mean-shift bandwidth relative to the spread of triangle rotations; not used with --count.",
)
@clip_option
@json_option
def bones(
    shapes: str,
    out: Path,
    count: int | None,
    influences: int,
    affine: bool,
    rest: Path | None,
    bandwidth: float,
    clip: str | None,
    as_json: bool,
) -> None:
    """Find bones, weights and poses for shapes that have no rig.

    The shapes are a mesh animation, or a handful of shapes, with the same vertices. The result is an example
    store for any method; `posespace export` writes the store as a skinned animation.
    """
    from posespace.fit.bones.bones import bones
    from posespace.gathering.mesh_sequence import load_shapes
    from posespace.progress import status
    from posespace.report.info import describe, describe_bones

    require_folder(out)
    if out.exists():
        raise FileError(out, "exists already; remove it, or choose another name")
    sequence = load_shapes(shapes, rest, clip)
    with status("finding bones"):
        examples = bones(sequence, count, influences=influences, affine=affine, bandwidth=bandwidth)
    examples.save(out)
    print_one(describe(out) | describe_bones(examples, affine), as_json)
