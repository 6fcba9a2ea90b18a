"""`posespace studio`: the interactive page, served on this machine alone."""

from __future__ import annotations

import tempfile
import webbrowser
from pathlib import Path

import click

from posespace.cli.checks import require_motion
from posespace.cli.options import FILE, Command, argument, clips_option, markers_option, motions_option
from posespace.cli.printing import note
from posespace.errors import InputError, require


@click.command(cls=Command, epilog="Example: posespace studio --new hand.glb")
@argument("file", "An example store, a folder that holds one, a skin or a rig.", required=False)
@click.option("--new", "rig", type=FILE, help="Begin a new project with this rig, in the folder RIG.examples.")
@click.option("-o", "--out", type=FILE, help="The folder of the new project; only with --new.")
@motions_option
@markers_option
@clips_option
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default="a free one",
    help="Port to listen at, on 127.0.0.1.",
)
@click.option("--no-browser", is_flag=True, help="Do not open the page in a browser.")
def studio(
    file: Path | None,
    rig: Path | None,
    out: Path | None,
    motions: tuple[Path, ...],
    markers: Path | None,
    clips: tuple[str, ...],
    port: int,
    no_browser: bool,
) -> None:
    """Pose, sculpt, fit and view a character in your browser.

    The page's address is printed first. Only this machine can open it, and only with the token that it ends with.
    Every change is saved at once. Ctrl-C ends the studio.
    """
    if (file is None) == (rig is None):
        raise InputError("studio: expected a file to open, or a rig with --new")
    if out is not None and rig is None:
        raise InputError("studio: -o names the folder of a new project; give the rig with --new")
    require("starlette", "studio", "the studio")
    require("uvicorn", "studio", "the studio")
    require("websockets", "studio", "the studio")
    import asyncio

    from posespace.formats.pose_choice import PoseChoice
    from posespace.studio.clips import ClipFiles
    from posespace.studio.opening import made, opened
    from posespace.studio.server import bound_socket, serve

    require_motion(motions[0] if motions else None, PoseChoice(markers=markers), clips)
    listener = bound_socket(port)
    played = ClipFiles(motions, markers, clips)
    project = opened(made(Path(str(rig)), out) if file is None else file, played, note)

    def ready(address: str) -> None:
        click.echo(address)
        note(f"{project.path}: open the address in a browser; Ctrl-C ends the studio")
        if not no_browser:
            webbrowser.open(_opener(Path(private), address).as_uri())

    with tempfile.TemporaryDirectory() as private:
        asyncio.run(serve(project, listener, ready))


def _opener(folder: Path, address: str) -> Path:
    """A page that leads to the address: other users of the machine could read the token on a browser's command line."""
    page = folder / "studio.html"
    page.touch(mode=0o600)
    page.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">', encoding="utf-8")
    return page
