"""`posespace info`: what is in a file."""

from __future__ import annotations

from pathlib import Path

import click

from posespace.cli.options import Command, argument, json_option
from posespace.cli.printing import complain, print_figures, print_json
from posespace.cli.shortening import folded
from posespace.errors import InputError


@click.command(cls=Command, epilog="Example: posespace info hand.glb clip.bvh hand.examples")
@argument("files", "Rigs, meshes, motions, poses, skins or example stores.", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--all", "is_whole", is_flag=True, help="Show all rigs, meshes, motions and names, not only the first few."
)
@json_option
def info(files: tuple[Path, ...], is_whole: bool, as_json: bool) -> None:
    """Show what is in a rig, mesh, motion, skin or other file."""
    from posespace.progress import track
    from posespace.report.info import describe

    described, problems = [], []
    for file in track(files, "reading") if len(files) > 4 else files:
        try:
            described.append(describe(file))
        except InputError as error:
            described.append({"file": str(file), "error": str(error)})
            problems.append(str(error))
    if as_json:
        print_json(described)
    else:
        for figures in described:
            if "error" not in figures:
                print_figures(figures.pop("file"), figures if is_whole else folded(figures), is_whole)
    for problem in problems:
        complain(problem)
    if problems:
        raise click.exceptions.Exit(2)
