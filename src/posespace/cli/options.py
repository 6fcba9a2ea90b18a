"""What the commands share: how their help reads, and the options and arguments that several of them take."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from posespace.errors import InputError, suggestion

Function = TypeVar("Function", bound=Callable[..., Any])
FILE = click.Path(path_type=Path)


class Argument(click.Argument):
    """An argument that says what it is for."""

    def __init__(self, names: list[str], purpose: str, **settings: Any) -> None:
        super().__init__(names, **settings)
        self.purpose = purpose


class Choice(click.Choice[str]):
    """One of several words, refused in the library's own words."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002
        """Return the word if it is one of them."""
        from posespace import check

        return check.choice((param and param.name) or "value", value, tuple(self.choices))


class OrNone(click.ParamType[Any]):
    """Values of another type, or the word none, for a setting that may be None but is not by default."""

    def __init__(self, kind: click.ParamType[Any]) -> None:
        self.kind, self.name = kind, kind.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value, or None for the word."""
        return None if value == "none" else self.kind.convert(value, param, ctx)


class Command(click.Command):
    """A command whose help lists its arguments, and ends with a line that can be copied."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return what is left of the words once the options are taken.

        An unknown option raises, with the closest one; so does one given twice of which the last alone would count.
        """
        try:
            _require_once(self.make_parser(ctx).parse_args(list(args))[2])
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise InputError(_unknown_option(error.option_name, self, ctx)) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what the library says of a parameter names the option, or the file, that was given."""
        try:
            return super().invoke(ctx)
        except InputError as error:
            error.args = (self._as_typed(ctx, str(error)),)
            raise

    def _as_typed(self, ctx: click.Context, message: str) -> str:
        """Return a message with parameters, at its start or between backquotes, as they are typed."""
        for param in self.get_params(ctx):
            if isinstance(param, click.Option):
                typed = max(param.opts, key=len)
                message = re.sub(rf"^{param.name}(?=: )", typed, message).replace(f"`{param.name}`", typed)
        return message

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments, then the options."""
        arguments = [param for param in self.get_params(ctx) if isinstance(param, Argument)]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl([(argument.make_metavar(ctx), argument.purpose) for argument in arguments])
        super().format_options(ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the last line as it is: a command that is broken up cannot be copied."""
        if self.epilog:
            formatter.write(f"\n{self.epilog}\n")


def _require_once(given: list[click.Parameter]) -> None:
    """Raise if an option that takes one value is among those given more than once."""
    for param, times in Counter(given).items():
        if times > 1 and isinstance(param, click.Option) and not (param.multiple or param.is_flag or param.count):
            raise InputError(f"option {max(param.opts, key=len)}: expected once, got it {times} times")


def _unknown_option(name: str, command: click.Command, ctx: click.Context) -> str:
    """The message about an option that a command does not have, with the closest one that it has."""
    named = [entry for param in command.get_params(ctx) for entry in (*param.opts, *param.secondary_opts)]
    known = [entry.removeprefix("--") for entry in named if entry.startswith("--")]
    # The dashes that all share would make any two options alike.
    close = suggestion(name.lstrip("-"), known, listed=True).replace("'", "'--", 1)
    return f"option {name}: {ctx.command_path} has none of that name{close or '; --help lists them'}"


class Group(Command, click.Group):
    """Commands in the order in which they were added; on its own it shows its help."""

    command_class = Command
    kind = "command"

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands."""
        return list(self.commands)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return what is left of the words once the group's own options are taken."""
        return super().parse_args(ctx, args or ["--help"])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the command that the words begin with; raise where there is no such command, with the closest."""
        known = self.list_commands(ctx)
        if args[0] not in known:
            close = suggestion(args[0], known, listed=True)
            raise InputError(f"{self.kind} {args[0]!r}: expected one of {', '.join(known)}{close}")
        return super().resolve_command(ctx, args)


def argument(name: str, purpose: str, **settings: Any) -> Callable[[Function], Function]:
    """Return a decorator that gives a command an argument: a path, unless `settings` has another type."""
    return click.argument(name, purpose=purpose, cls=Argument, **{"type": FILE, **settings})


def out_option(purpose: str, **settings: Any) -> Callable[[Function], Function]:
    """Return a decorator that gives a command ``-o``: where to write."""
    return click.option("-o", "--out", type=FILE, help=purpose, **{"required": True, **settings})


only_option = click.option(
    "--only",
    multiple=True,
    metavar="PATTERN",
    help="Use only poses whose names match, e.g. 'wrist.*'; with '!' in front, all but these. May be repeated.",
)


clip_option = click.option("--clip", metavar="NAME", help="Which clip of the file. Default: the first.")
clips_option = click.option(
    "--clip",
    "clips",
    multiple=True,
    metavar="NAME",
    help="Which clip of the motion's file; several become clips of these names. May be repeated. Default: the first.",
)


def choice_options(function: Function) -> Function:
    """Give a command that takes poses or a motion ``--clip``, ``--rate``, ``--only`` and ``--partial``, as `choice`."""

    @wraps(function)
    def chosen(*, clip: str | None, choice: Any, **given: Any) -> Any:
        return function(choice=replace(choice, clip=clip), **given)

    return clip_option(frame_options(chosen))  # type: ignore[return-value]


def frame_options(function: Function) -> Function:
    """Give a command that takes clips of a motion ``--rate``, ``--only`` and ``--partial``, as `choice`."""

    @wraps(function)
    def chosen(*, rate: Any, only: tuple[str, ...], partial: bool, **given: Any) -> Any:
        from posespace.formats.pose_choice import PoseChoice

        return function(choice=PoseChoice(None, rate, only, partial), **given)

    rate = click.option(
        "--rate",
        callback=_rate,
        metavar="NUMBER|keys|markers",
        help="Frames per second of the motion, keys for its own keys alone, or markers for the poses that it names. "
        "Default: its keys where they are dense, else 30, or another usual rate at which every key is a frame.",
    )
    return rate(only_option(partial_option(chosen)))  # type: ignore[return-value]


def _rate(context: click.Context, option: click.Parameter, value: str | None) -> Any:  # noqa: ARG001
    """Return the number, or the word as it is: loading says what is wrong with any but keys."""
    with suppress(TypeError, ValueError):
        return float(value)  # type: ignore[arg-type]
    return value


def machine_options(function: Function) -> Function:
    """Give a command ``--workers``, ``--scheduler``, ``--memory`` and ``--retries``, as `machines`: see `Machines`."""

    @wraps(function)
    def on_machines(*, workers: int, scheduler: str | None, memory: str | None, retries: int, **given: Any) -> Any:
        # Only gathered here: a command may have to say first which extras it needs.
        machines = {"workers": workers, "scheduler": scheduler, "memory": memory, "retries": retries}
        return function(machines=machines, **given)

    made: Any = on_machines
    for option in (
        click.option("--retries", default=3, help="How often work is tried again when its process dies."),
        click.option(
            "--memory", metavar="SIZE", help="Memory limit of each local process, e.g. 2GB. Default: its share of RAM."
        ),
        click.option("--scheduler", metavar="ADDRESS", help="Address of a running Dask scheduler, to use a cluster."),
        click.option("--workers", default=1, help="Number of local processes, with one thread each."),
    ):
        made = option(made)
    return made  # type: ignore[no-any-return]


partial_option = click.option(
    "--partial", is_flag=True, help="Skip poses that name joints which the rig lacks, instead of refusing the file."
)
force_option = click.option(
    "--force", is_flag=True, help="Use landmarks that seem to be wrong: swapped, misplaced, mirrored, in another order."
)
resume_option = click.option("--resume", is_flag=True, help="Continue a store that exists already.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
