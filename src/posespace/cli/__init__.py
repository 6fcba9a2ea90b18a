"""The command line: parses, calls, prints. Each command has the file of its name."""

from __future__ import annotations

import os
import sys
import warnings

import click

from posespace.cli.bench import bench
from posespace.cli.completion import completion_options
from posespace.cli.demo import demo
from posespace.cli.edit import edit
from posespace.cli.evaluate import evaluate
from posespace.cli.examples import examples
from posespace.cli.export import export
from posespace.cli.fit import fit
from posespace.cli.info import info
from posespace.cli.options import Group
from posespace.cli.pose import pose
from posespace.cli.printing import complain, warn
from posespace.cli.retarget import retarget
from posespace.cli.simulate import simulate
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


# In the order in which one meets them.
for _command in (demo, info, pose, examples, simulate, fit, evaluate, edit, retarget, export, bench):
    app.add_command(_command)


def main() -> None:
    """Run the command line: exit code 2 and one line on standard error where the input is at fault."""
    warnings.showwarning = lambda message, *_, **__: warn(str(message))
    try:
        # Without its standalone mode Click raises usage errors, and returns the code where a command asked to stop.
        code = app(prog_name="posespace", standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code)
    except (InputError, click.ClickException) as error:
        message = error.format_message() if isinstance(error, click.ClickException) else str(error)
        if "extra argument" in message and "--shapes" in sys.argv:
            message = "--shapes takes one pattern; put it in quotes, so that the shell leaves it alone: 'sculpts/*.obj'"
        if message:
            complain(message)
        sys.exit(2)
    except (KeyboardInterrupt, click.Abort):
        print("posespace: stopped", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read our output has gone (`| head`): there is nothing left to say.
        _silence()
        sys.exit(1)
    except OSError as error:
        _silence()
        complain(f"cannot write the output ({error.strerror})")
        sys.exit(1)


def _silence() -> None:
    """Let nothing more be written to standard output, not even when Python flushes it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
