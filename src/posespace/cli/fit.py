"""`posespace fit METHOD`: one command per method, its options made from the method's settings when it is asked for."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from posespace.cli.checks import open_examples, require_skin_file
from posespace.cli.options import FILE, Choice, Command, Group, OrNone, argument, json_option, only_option, out_option
from posespace.cli.printing import print_one
from posespace.cli.shortening import with_short_layers
from posespace.cli.typed import with_options
from posespace.fit.methods import METHODS, Setting, method_of, settings_of, summary


class Methods(Group):
    """The methods as subcommands, each loaded when it is asked for."""

    kind = "method"

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the methods."""
        return list(METHODS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the summary of each method, without importing any."""
        import posespace

        with formatter.section("Methods"):
            formatter.write_dl(
                [(name, _summary(posespace.home_of(method), method)) for name, method in METHODS.items()]
            )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return the command of a method."""
        return _command(cmd_name) if cmd_name in METHODS else None


@click.group(
    cls=Methods,
    subcommand_metavar="METHOD [ARGS]...",
    epilog="Example: posespace fit psd hand.examples -o hand.skin",
)
def fit() -> None:
    """Learn a skin from examples, by one of several methods."""


def _summary(module: str, name: str) -> str:
    """The first line of a class's docstring, or of its base's, read from the source: imports would take a second."""
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    (node,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    if (docstring := ast.get_docstring(node)) is not None:
        return docstring.partition("\n")[0]
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    homes = {entry.name: node.module or module for node in imports for entry in node.names}
    return next((_summary(homes[base.id], base.id) for base in node.bases if isinstance(base, ast.Name)), "")


def _command(name: str) -> click.Command:
    settings = method_of(name)

    @argument("examples", "The example store.")
    @out_option("The skin to write.")
    @only_option
    @json_option
    def run(examples: Path, out: Path, only: tuple[str, ...], as_json: bool, **options: Any) -> None:
        resources: dict[str, Any] = {
            key: options.pop(key) for key in ("memory", "workers", "scheduler") if key in options
        }
        _fit(settings(**options), examples, out, only, as_json, resources)

    example = f"Example: posespace fit {name} hand.examples -o hand.skin"
    command = click.command(name, cls=Command, help=summary(settings), epilog=example)(run)
    flags = {field.name: f"--{field.name.replace('_', '-')}" for field in fields(settings)}
    command.params += [_option(setting, flags) for setting in settings_of(settings)]
    if "resources" in inspect.signature(settings.fit).parameters:
        command.params += _resource_options()
    return command


def _resource_options() -> list[click.Option]:
    """The options of a fit that reads its data in several passes."""
    return [
        click.Option(["--memory"], metavar="SIZE", help="Memory for the data, e.g. 2GB. Default: a quarter of RAM."),
        click.Option(["--workers"], default=1, help="Number of local processes that read the data."),
        click.Option(["--scheduler"], metavar="ADDRESS", help="Address of a running Dask scheduler, to use a cluster."),
    ]


def _option(setting: Setting, flags: dict[str, str]) -> click.Option:
    """The option of a setting. Where it may be None, that is the default, or the word none where that is another."""
    flag = setting.name.replace("_", "-")
    name = f"--{flag}/--no-{flag}" if setting.kind is bool else f"--{flag}"
    kind: Any = FILE if setting.kind is Path else Choice(setting.choices) if setting.choices else setting.kind
    if setting.optional and setting.default is not None:
        kind = OrNone(click.types.convert_type(kind))
    text = _help(with_options(setting.text, flags), setting.default)
    return click.Option([name, setting.name], type=kind, default=setting.default, help=text)


def _help(text: str, default: Any) -> str | None:
    """The help of a setting: its text in the docstring up to "In Python", where "None: " introduces the default."""
    sentence = text.partition(" In Python ")[0].rstrip(".")
    if not sentence:
        return None
    introduction = "Default: " if default is None else "none: "
    sentence = re.sub(r"[;.,]? (?:None: |if not given, )", f". {introduction}", sentence)
    return f"{sentence[:1].upper()}{sentence[1:]}."


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
