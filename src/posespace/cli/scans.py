"""`posespace scans`: scans of the built-in hands, whose truth is known."""

from __future__ import annotations

from pathlib import Path

import click

from posespace.cli.checks import require_folder
from posespace.cli.options import Choice, Command, json_option, out_option
from posespace.cli.printing import print_one


@click.command(cls=Command, epilog="Example: posespace scans -o scans --vertices 3000")
@out_option("The folder to write; it must be new, or empty.")
@click.option("--hand", "which", default=1, help="1: the built-in hand; 2: a slender one with longer fingers.")
@click.option(
    "--poses", type=Choice(["spanning", "random", "grasps"]), default="spanning", help="Which set of fourteen poses."
)
@click.option(
    "--vertices",
    default=49_000,
    help="Approximate number of vertices of the template; scans have about four times as many.",
)
@click.option("--noise", default=0.04, help="Standard deviation of the noise along the normals, in millimetres.")
@click.option("--holes", default=6, help="Number of holes in each scan, besides those where skin faces skin.")
@click.option("--picking", default=0.4, help="Standard deviation of the error of the landmarks, in millimetres.")
@click.option("--seed", default=1, help="Random seed.")
@json_option
def scans(
    out: Path,
    which: int,
    poses: str,
    vertices: int,
    noise: float,
    holes: int,
    picking: float,
    seed: int,
    as_json: bool,
) -> None:
    """Make synthetic scans of a built-in hand, with true shapes.

    For trying registration, and measuring it by comparison with the true shapes. Each scan has its own triangles, its
    own position, noise, holes, an open wrist, and landmarks.
    """
    from posespace.datasets import Scanner, scanned_hand, write_scans
    from posespace.progress import counter, status

    require_folder(out)
    scanner = Scanner(noise, holes, picking)
    with status("making the hand"):
        hand = scanned_hand(which, poses, vertices)
    with counter("scanning") as advance:
        figures = write_scans(out, hand, scanner, seed, advance)
    print_one(figures, as_json)
