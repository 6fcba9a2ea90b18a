"""How the help of commands reads, and the options and arguments that several of them take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from posespace.cli.typed import as_typed
from posespace.errors import InputError, suggestion
from posespace.formats.registry import CLIPS, MARKERS, format_names

Function = TypeVar("Function", bound=Callable[..., Any])
FILE = click.Path(path_type=Path)


class Argument(click.Argument):
    """An argument with a line of help."""

    def __init__(self, names: list[str], purpose: str, **settings: Any) -> None:
        super().__init__(names, **settings)
        self.purpose = purpose


class Choice(click.Choice[str]):
    """One of several words; the library's own check refuses others."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002
        """Return the word if it is one of them."""
        from posespace import check

        name = max(param.opts, key=len) if param is not None and param.opts else "value"
        return check.choice(name, value, tuple(self.choices))


class OrNone(click.ParamType[Any]):
    """A value of another type, or the word none."""

    def __init__(self, kind: click.ParamType[Any]) -> None:
        self.kind = kind
        self.name = f"{kind.name}|none"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value, or None for the word."""
        return None if value == "none" else self.kind.convert(value, param, ctx)


class Command(click.Command):
    """A command whose help lists its arguments, and ends with a line that can be copied."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the words that are no options.

        Raise for an unknown option, naming the closest one, and for an option of one value that is given twice.
        """
        try:
            _require_once(self.make_parser(ctx).parse_args(list(args))[2])
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise InputError(_unknown_option(error.option_name, self, ctx)) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; where a message of the library names a parameter, show the option that was typed."""
        try:
            return super().invoke(ctx)
        except InputError as error:
            error.args = (as_typed(str(error), ctx),)
            raise

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


def _require_once(params: list[click.Parameter]) -> None:
    """Raise if an option that takes one value is given more than once."""
    for param, times in Counter(params).items():
        if times > 1 and isinstance(param, click.Option) and not (param.multiple or param.is_flag or param.count):
            raise InputError(f"option {max(param.opts, key=len)}: expected once, got it {times} times")


def _unknown_option(name: str, command: click.Command, ctx: click.Context) -> str:
    """The message about an option that a command does not have, with the closest one that it has."""
    named = [entry for param in command.get_params(ctx) for entry in (*param.opts, *param.secondary_opts)]
    known = [entry.removeprefix("--") for entry in named if entry.startswith("--")]
    # Without the dashes, which would make any two options similar.
    close = suggestion(name.lstrip("-"), known, listed=True).replace("'", "'--", 1)
    return f"option {name}: {ctx.command_path} has none of that name{close or '; --help lists them'}"


class Group(Command, click.Group):
    """Commands in the order in which they were added; without a command it shows its help."""

    command_class = Command
    kind = "command"

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands."""
        return list(self.commands)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the words that are no options of the group; without any, show the help."""
        return super().parse_args(ctx, args or ["--help"])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the command that the words begin with; raise for an unknown one, naming the closest."""
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
    help="Use only poses whose names match this pattern, e.g. 'wrist.*'. A leading '!' excludes them instead. "
    "May be repeated.",
)


clip_option = click.option("--clip", metavar="NAME", help="Clip of the file to use. Default: the first.")
motions_option = click.option(
    "--motion",
    "motions",
    multiple=True,
    type=FILE,
    help=f"A motion to play ({format_names(CLIPS)}), poses (JSON), examples, or markers ({format_names(MARKERS)}). "
    "May be repeated; each file becomes a clip.",
)

markers_option = click.option(
    "--markers",
    type=FILE,
    help=f"JSON file that maps the markers of a motion ({format_names(MARKERS)}) to control points.",
)

clips_option = click.option(
    "--clip",
    "clips",
    multiple=True,
    metavar="NAME",
    help="Clip of the motion file to use. May be repeated. Default: the first.",
)


def choice_options(function: Function) -> Function:
    """Give a command that takes poses or a motion ``--clip``, ``--rate``, ``--only`` and ``--partial``, as `choice`."""

    @wraps(function)
    def chosen(*, clip: str | None, choice: Any, **others: Any) -> Any:
        return function(choice=replace(choice, clip=clip), **others)

    return clip_option(frame_options(chosen))  # type: ignore[return-value]


def frame_options(function: Function) -> Function:
    """Give a command that takes clips of a motion ``--rate``, ``--only`` and ``--partial``, as `choice`."""

    @wraps(function)
    def chosen(*, rate: Any, only: tuple[str, ...], partial: bool, **others: Any) -> Any:
        from posespace.formats.pose_choice import PoseChoice

        return function(choice=PoseChoice(None, rate, only, partial), **others)

    rate = click.option(
        "--rate",
        callback=_rate,
        metavar="NUMBER|keys|markers",
        help="Frames per second of the motion; 'keys' uses the motion's keyframes, 'markers' the pose markers of its "
        "timeline. Default: the keyframes if they are closely spaced; otherwise 30, or another common rate that "
        "hits every keyframe.",
    )
    return rate(only_option(partial_option(chosen)))  # type: ignore[return-value]


def _rate(context: click.Context, option: click.Parameter, value: str | None) -> Any:  # noqa: ARG001
    """Return the number, or the word as it is: `load_motion` refuses unknown words."""
    with suppress(TypeError, ValueError):
        return float(value)  # type: ignore[arg-type]
    return value


def machine_options(function: Function) -> Function:
    """Give a command ``--workers``, ``--scheduler``, ``--memory`` and ``--retries``, as `machines`: see `Machines`."""

    @wraps(function)
    def on_machines(*, workers: int, scheduler: str | None, memory: str | None, retries: int, **others: Any) -> Any:
        # Not a `Machines` yet: a command may first have to report which extras it needs.
        machines = {"workers": workers, "scheduler": scheduler, "memory": memory, "retries": retries}
        return function(machines=machines, **others)

    command: Any = on_machines
    for option in (
        click.option("--retries", default=3, help="How many times to retry work whose process died."),
        click.option(
            "--memory", metavar="SIZE", help="Memory limit of each local process, e.g. 2GB. Default: its share of RAM."
        ),
        click.option("--scheduler", metavar="ADDRESS", help="Address of a running Dask scheduler, to use a cluster."),
        click.option("--workers", default=1, help="Number of local processes, with one thread each."),
    ):
        command = option(command)
    return command  # type: ignore[no-any-return]


partial_option = click.option(
    "--partial",
    is_flag=True,
    help="Skip poses that use joints the rig does not have, instead of rejecting the file.",
)
force_option = click.option(
    "--force",
    is_flag=True,
    help="Use landmarks even if they look swapped, misplaced or mirrored.",
)
resume_option = click.option(
    "--resume",
    is_flag=True,
    help="Continue an interrupted run: add what is missing in the existing store.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
