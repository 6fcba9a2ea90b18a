"""All commands in one group, and how errors end a run: one line and an exit code."""

from __future__ import annotations

import io
import os
import sys
import warnings

import click

from posespace.cli.bench import bench
from posespace.cli.bones import bones
from posespace.cli.completion import completion_options
from posespace.cli.demo import demo
from posespace.cli.edit import edit
from posespace.cli.evaluate import evaluate
from posespace.cli.examples import examples
from posespace.cli.export import export
from posespace.cli.fit import fit
from posespace.cli.info import info
from posespace.cli.limits import limits
from posespace.cli.options import Group
from posespace.cli.pose import pose
from posespace.cli.printing import complain, warn
from posespace.cli.register import register
from posespace.cli.retarget import retarget
from posespace.cli.scans import scans
from posespace.cli.sculpts import sculpts
from posespace.cli.simulate import simulate
from posespace.cli.studio import studio
from posespace.cli.transfer import transfer
from posespace.errors import InputError


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from posespace import __version__

        print(f"posespace {__version__}")
        ctx.exit()


@click.group(
    cls=Group,
    epilog="Start with: posespace demo",
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Print the version and exit."
)
@completion_options
def app() -> None:
    """Learn how a character's skin bends from a few example shapes, and play it back in real time."""


# In the order of work.
for _command in (
    demo,
    info,
    limits,
    pose,
    examples,
    sculpts,
    studio,
    bones,
    simulate,
    scans,
    register,
    transfer,
    fit,
    evaluate,
    edit,
    retarget,
    export,
    bench,
):
    app.add_command(_command)


def run() -> int:
    """Run the command line and return the exit code: 2 and one line on standard error where the input is at fault."""
    _open_streams()
    warnings.showwarning = lambda message, *_, **__: warn(str(message))
    try:
        # Without its standalone mode Click raises usage errors, and returns the code where a command asked to stop.
        code = app(prog_name="posespace", standalone_mode=False)
        sys.stdout.flush()
        return code or 0
    except click.Abort as error:
        raise KeyboardInterrupt from error
    except (InputError, click.ClickException) as error:
        message = error.format_message() if isinstance(error, click.ClickException) else str(error)
        if "extra argument" in message and ("--shapes" in sys.argv or sys.argv[1:2] == ["bones"]):
            message = (
                "shapes: expected one pattern; put it in quotes, so that the shell leaves it alone: 'shapes/*.obj'"
            )
        if message:
            complain(message)
        return 2
    except BrokenPipeError:
        # The reader of our output has ended, as in `| head`.
        _silence()
        return 1
    except OSError as error:
        _silence()
        what = f"{os.fsdecode(error.filename)}: cannot be used" if error.filename else "cannot write the output"
        complain(f"{what} ({(error.strerror or str(error)).lower()})")
        return 1


def _open_streams() -> None:
    """Make standard output and error take whatever is printed: closed ones swallow it, names of any bytes are escaped.

    Python has no stream at all for one that is closed, and raises where its encoding lacks a character.
    """
    for number, name in ((1, "stdout"), (2, "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            # The file descriptor too, or the next file that is opened would be written to by what prints below Python.
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
            setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _silence() -> None:
    """Let nothing more be written to standard output, not even when Python flushes it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
