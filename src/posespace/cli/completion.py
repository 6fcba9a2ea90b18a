"""`posespace --install-completion` and `--show-completion`: the Tab key for bash, zsh and fish."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from posespace.errors import FileError, InputError

SHELLS = {
    "bash": (".bash_completions/posespace.sh", ".bashrc", "source ~/.bash_completions/posespace.sh"),
    "zsh": (".zfunc/_posespace", ".zshrc", "fpath+=~/.zfunc; autoload -Uz compinit; compinit"),
    "fish": (".config/fish/completions/posespace.fish", "", ""),
}
"""For each shell, below the home folder: the file of its script, and the start-up file and the line that loads it."""


def completion_options(function: Any) -> Any:
    """Give a command the two options."""
    settings: dict[str, Any] = {"is_flag": True, "expose_value": False, "is_eager": True}
    show = click.option(
        "--show-completion", callback=_show, help="Print the completion script of the current shell.", **settings
    )
    install = click.option(
        "--install-completion", callback=_install, help="Install Tab completion for the current shell.", **settings
    )
    return install(show(function))


def _show(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(_script(ctx, _shell()))
        ctx.exit()


def _install(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
    shell = _shell()
    name, startup, line = SHELLS[shell]
    path = Path.home() / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_script(ctx, shell))
        if startup:
            _add_line(Path.home() / startup, line)
    except OSError as error:
        raise FileError(path, f"cannot be written ({error.strerror})") from error
    click.echo(f"Completion for {shell} is installed in {path}. It works from the next terminal on.")
    ctx.exit()


def _shell() -> str:
    name = Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        raise InputError(f"completion: expected bash, zsh or fish in the variable SHELL, got {name!r}")
    return name


def _script(ctx: click.Context, shell: str) -> str:
    from click.shell_completion import get_completion_class

    completion = get_completion_class(shell)
    assert completion is not None
    return completion(ctx.command, {}, "posespace", "_POSESPACE_COMPLETE").source()


def _add_line(startup: Path, line: str) -> None:
    """Add the line to a start-up file that lacks it."""
    text = startup.read_text() if startup.exists() else ""
    if line not in text:
        with startup.open("a") as file:
            file.write(f"\n{line}\n")
