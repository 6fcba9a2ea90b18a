"""`posespace fit METHOD`: one command per method, its options made from the method's settings when it is asked for."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, Field, fields
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

import click

from posespace.cli.checks import open_examples, require_skin_file
from posespace.cli.options import FILE, Choice, Command, Group, OrNone, argument, json_option, only_option, out_option
from posespace.cli.printing import print_one, with_short_layers

METHODS = {"psd": "PSD", "eigenskin": "EigenSkin", "muscles": "Muscles", "points": "ControlPoints"}
"""The name on the command line and the class, as `posespace` exports it."""

SUMMARIES = {
    "psd": "Pose space deformation: sculpts are reproduced exactly.",
    "eigenskin": "EigenSkin: a few components per joint; small and fast.",
    "muscles": "Virtual muscles: independent signals learnt from a clip.",
    "points": "Control points: the surface follows a few points of it.",
}
_PLAIN = (bool, int, float, str, Path)


class Methods(Group):
    """The methods as subcommands, each loaded when it is asked for."""

    kind = "method"

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the methods."""
        return list(METHODS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write one line per method, without loading any."""
        with formatter.section("Methods"):
            formatter.write_dl(list(SUMMARIES.items()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return the command of a method."""
        return _command(cmd_name) if cmd_name in METHODS else None


@click.group(
    cls=Methods,
    subcommand_metavar="METHOD [ARGS]...",
    epilog="Example: posespace fit psd hand.examples -o hand.skin",
)
def fit() -> None:
    """Learn a skin from examples, by one of four methods."""


def _command(name: str) -> click.Command:
    import posespace

    settings: Any = getattr(posespace, METHODS[name])

    @argument("examples", "The example store.")
    @out_option("The skin to write.")
    @only_option
    @json_option
    def run(examples: Path, out: Path, only: tuple[str, ...], as_json: bool, **options: Any) -> None:
        used: dict[str, Any] = {key: options.pop(key) for key in ("memory", "workers", "scheduler") if key in options}
        _fit(settings(**options), examples, out, only, as_json, used)

    first = (inspect.getdoc(settings) or "").partition("\n")[0]
    example = f"Example: posespace fit {name} hand.examples -o hand.skin"
    command = click.command(name, cls=Command, help=first, epilog=example)(run)
    hints, help_of = get_type_hints(settings), described(settings)
    own = [_option(field, hints[field.name], help_of.get(field.name, "")) for field in fields(settings)]
    command.params += [option for option in own if option is not None]
    if "resources" in inspect.signature(settings.fit).parameters:
        command.params += _resource_options()
    return command


def _resource_options() -> list[click.Option]:
    """What a fit that passes over its data may use."""
    return [
        click.Option(["--memory"], metavar="SIZE", help="Data to hold at once, e.g. 2GB. Default: a quarter of RAM."),
        click.Option(["--workers"], default=1, help="Number of local processes that pass over the data."),
        click.Option(["--scheduler"], metavar="ADDRESS", help="Address of a running Dask scheduler, to use a cluster."),
    ]


def _option(field: Field[Any], hint: Any, text: str) -> click.Option | None:
    """The option of a setting, of the first plain type it takes; None where it has none.

    What its text says from "In Python" on is left out; what it says of None becomes the default, where that is None,
    else the word none is accepted. "choices" among the field's metadata are all that it takes.
    """
    types = get_args(hint) or (hint,)
    kinds = [kind for kind in types if kind in _PLAIN]
    default = field.default if field.default_factory is MISSING else field.default_factory()
    if not field.init or not kinds or not isinstance(default, (*_PLAIN, NoneType)):
        return None
    said = text.partition(" In Python ")[0].rstrip(".")
    said = re.sub(r"[;.] None: ", ". Default: " if default is None else "; none: ", said)
    sentence = f"{said[:1].upper()}{said[1:]}." if said else None
    flag = field.name.replace("_", "-")
    name = f"--{flag}/--no-{flag}" if kinds[0] is bool else f"--{flag}"
    kind = FILE if kinds[0] is Path else Choice(field.metadata["choices"]) if "choices" in field.metadata else kinds[0]
    if default is not None and NoneType in types:
        kind = OrNone(click.types.convert_type(kind))
    return click.Option([name, field.name], type=kind, default=default, help=sentence)


def described(settings: type) -> dict[str, str]:
    """Return what a class's docstring says about each of its parameters or attributes."""
    found: dict[str, str] = {}
    names: list[str] = []
    for line in (inspect.getdoc(settings) or "").splitlines():
        match = re.match(r"(\w+(?:, \w+)*) : (.*)", line)
        if match:
            names = match[1].split(", ")
            found.update(dict.fromkeys(names, match[2]))
        elif line.startswith("    ") and names:
            found.update({name: f"{found[name]} {line.strip()}" for name in names})
        else:
            names = []
    return found


def _fit(method: Any, store: Path, out: Path, only: tuple[str, ...], as_json: bool, resources: dict[str, Any]) -> None:
    from posespace.fit.stream import Resources
    from posespace.formats.files import naming
    from posespace.progress import status
    from posespace.report.info import describe_fit

    require_skin_file(out)
    examples = open_examples(store, only)
    with status("fitting"), naming(store):
        skin = method.fit(examples, Resources(**resources)) if resources else method.fit(examples)
    skin.save(out)
    figures = {"file": str(out), **describe_fit(skin, len(examples))}
    print_one(figures if as_json else with_short_layers(figures), as_json)
