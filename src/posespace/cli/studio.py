"""`posespace studio`: the interactive page, served on this machine alone."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from posespace.cli.options import FILE, Command, argument
from posespace.cli.printing import note
from posespace.errors import InputError, require


@click.command(cls=Command, epilog="Example: posespace studio --new hand.glb")
@argument("file", "An example store, a folder that holds one, a skin or a rig.", required=False)
@click.option("--new", "rig", type=FILE, help="Begin a new project with this rig, in the folder RIG.examples.")
@click.option("-o", "--out", type=FILE, help="The folder of the new project; only with --new.")
@click.option("--port", default=0, show_default="a free one", help="Port to listen at, on 127.0.0.1.")
@click.option("--no-browser", is_flag=True, help="Do not open the page in a browser.")
def studio(file: Path | None, rig: Path | None, out: Path | None, port: int, no_browser: bool) -> None:
    """Pose, sculpt, solve and look in a page of your browser.

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

    from posespace.studio.opening import made, opened
    from posespace.studio.server import bound_socket, serve

    listener = bound_socket(port)
    project = opened(file) if file is not None else made(Path(str(rig)), out)

    def ready(address: str) -> None:
        click.echo(address)
        note(f"{project.path}: open the address in a browser; Ctrl-C ends the studio")
        if not no_browser:
            webbrowser.open(address)

    asyncio.run(serve(project, listener, ready))
