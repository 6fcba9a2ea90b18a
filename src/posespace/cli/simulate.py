"""`posespace simulate`: examples made by finite elements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from posespace.cli.options import (
    FILE,
    Choice,
    Command,
    argument,
    choice_options,
    json_option,
    machine_options,
    out_option,
    resume_option,
)
from posespace.cli.printing import complain, note, print_one, warn
from posespace.errors import InputError
from posespace.simulation.bodies import BUILT_IN

if TYPE_CHECKING:
    from posespace.formats.pose_choice import PoseChoice


STIFFNESS = (
    "Stiffness of the skin: its shear modulus relative to the soft tissue's, times its thickness relative to the "
    "body's diagonal."
)
LAW = (
    "Material law. calculix: neo-Hookean as in the program CalculiX, infinite energy for inverted elements; "
    "stable: stable neo-Hookean."
)


@click.command(cls=Command, epilog="Example: posespace simulate hand -o hand.examples --workers 2")
@argument("body", f"{', '.join(BUILT_IN)}, or the file of a rig.", type=str)
@out_option("The example store to write.")
@click.option("--poses", type=FILE, help="Poses to simulate. Default: the range of every joint that has limits.")
@choice_options
@click.option("--level", default=1, help="Resolution of the hand's skin: 0, 1 or 2 for 3.5k, 14k or 56k triangles.")
@click.option(
    "--side", type=Choice(["right", "left"]), default="right", help="Which hand to simulate; ignored for other bodies."
)
@click.option("--elements", default=11_000, help="Approximate number of tetrahedra.")
@click.option("--order", default=2, help="1 for 4-node, 2 for 10-node tetrahedra.")
@click.option("--step", default=18.0, help="Degrees between the poses of a joint's range.")
@click.option("--random", default=25, help="Number of random poses of all joints to add.")
@click.option("--seed", default=2002, help="Seed of the random poses.")
@click.option("--poisson", default=0.49, help="Poisson's ratio of the soft tissue.")
@click.option("--skin", default=0.1, help=STIFFNESS)
@click.option("--contact/--no-contact", default=True, help="Self-collision of the skin; --no-contact is faster.")
@click.option(
    "--law",
    type=Choice(["stable", "calculix"]),
    default="calculix",
    help=LAW,
)
@machine_options
@resume_option
@json_option
def simulate(
    body: str,
    out: Path,
    poses: Path | None,
    choice: PoseChoice,
    level: int,
    side: str,
    elements: int,
    order: int,
    step: float,
    random: int,
    seed: int,
    poisson: float,
    skin: float,
    contact: bool,
    law: str,
    machines: dict[str, Any],
    resume: bool,
    as_json: bool,
) -> None:
    """Make examples by simulating soft tissue around bones.

    Uses nonlinear finite elements. Each pose is stored as soon as it is finished.
    """
    from posespace.cluster.machines import Machines
    from posespace.simulation.run import simulate
    from posespace.simulation.settings import Settings, Tissue
    from posespace.simulation.solver.contact import Contact

    if poses is None and (choice.clip, choice.rate, choice.partial) != (None, None, False):
        raise InputError("--clip, --rate and --partial choose poses of a file; give it with --poses FILE")
    tissue = Tissue(order, law, poisson, skin, Contact() if contact else None)
    settings = Settings(poses, level, side, elements, step, random, seed, tissue, choice)
    figures = simulate(
        body, out, settings, resume=resume, machines=Machines(**machines), warn=warn, note=note
    ).figures()
    wanted, finished = figures["poses"], figures["finished"]
    print_one(figures, as_json)
    if finished < wanted:
        complain(f"{out}: {wanted - finished} of its {wanted} poses are missing; solve them again with --resume")
        raise click.exceptions.Exit(1)
