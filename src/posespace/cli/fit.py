"""`posespace fit METHOD`: a command a method, its options made from the method's settings when it is asked for."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperGroup

from posespace.cli.printing import AsJson, print_one, with_short_layers
from posespace.errors import FileError, InputError, closest_name

if TYPE_CHECKING:
    from posespace.examples import Examples

METHODS = {"psd": "PSD", "eigenskin": "EigenSkin", "muscles": "Muscles"}
"""The name on the command line and the class, as `posespace` exports it."""

Poses = Annotated[
    list[str], typer.Option(help="Only poses whose names fit, as 'wrist.*'; after '!': not these. Repeat.")
]
_PLAIN = (bool, int, float, str, Path)


class Methods(TyperGroup):
    """The methods as subcommands, each loaded when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return the names of the methods."""
        return list(METHODS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of the method that the words begin with; another word is refused with the methods."""
        if args[0] not in METHODS:
            close = closest_name(args[0], list(METHODS))
            raise InputError(f"method {args[0]!r}: expected one of {', '.join(METHODS)}; the closest is {close}")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Return the command of a method."""
        return _command(cmd_name) if cmd_name in METHODS else None


def _command(name: str) -> Any:
    import posespace

    settings = getattr(posespace, METHODS[name])
    one = typer.Typer(add_completion=False, context_settings={"help_option_names": ["-h", "--help"]})
    first = (inspect.getdoc(settings) or "").partition("\n")[0]
    one.command(name, help=first, epilog=f"Example: posespace fit {name} hand.examples -o hand.skin")(_runner(settings))
    return typer.main.get_command(one)


def _runner(settings: Any) -> Callable[..., None]:
    """A function with the usual parameters and one an option of `settings`, for Typer to read."""

    def run(examples: Path, out: Path, poses: list[str], as_json: bool, **options: Any) -> None:
        _fit(settings(**options), examples, out, poses, as_json)

    hints, help_of = get_type_hints(settings), described(settings)
    own = [_option(field, hints[field.name], help_of.get(field.name, "")) for field in fields(settings)]
    usual = [
        _parameter("examples", Annotated[Path, typer.Argument(help="The example store.")]),
        _parameter("out", Annotated[Path, typer.Option("-o", "--out", help="The skin to write.")]),
        _parameter("poses", Poses, []),
        _parameter("as_json", AsJson, False),
    ]
    parameters = [*usual, *(option for option in own if option is not None)]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _option(field: Field[Any], hint: Any, text: str) -> inspect.Parameter | None:
    """The option of a setting, of the first plain type it takes; None where it has none.

    What its text says from "In Python" on is left out.
    """
    kinds = [kind for kind in (get_args(hint) or (hint,)) if kind in _PLAIN]
    default = field.default if field.default_factory is MISSING else field.default_factory()
    if not field.init or not kinds or not isinstance(default, (*_PLAIN, NoneType)):
        return None
    kind = kinds[0] if default is not None else kinds[0] | None
    said = text.partition(" In Python ")[0].rstrip(".")
    sentence = f"{said[:1].upper()}{said[1:]}." if said else None
    return _parameter(field.name, Annotated[kind, typer.Option(help=sentence)], default)


def described(settings: type) -> dict[str, str]:
    """Return what a class's docstring says of each of its parameters or attributes."""
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


def open_examples(path: Path, poses: list[str]) -> Examples:
    """Return the finished examples of a store whose names fit the patterns; none at all is an error."""
    from posespace.examples import Examples
    from posespace.formats.files import naming

    examples = Examples.open(path)
    if not len(examples):
        raise FileError(path, "holds no finished pose; finish it with --resume")
    with naming(path):
        return examples.named(*poses) if poses else examples


def require_folder(out: Path) -> None:
    """Refuse a file that could not be written, before the work that would be lost."""
    if not out.absolute().parent.is_dir():
        raise FileError(out, "its folder does not exist; make it first")


def require_skin_file(out: Path) -> None:
    """Refuse a skin's file that has another ending, or could not be written, before the work that would be lost."""
    if out.suffix.lower() != ".skin":
        raise InputError(f"out: expected a name that ends in .skin, got {out}")
    require_folder(out)


def _fit(method: Any, store: Path, out: Path, poses: list[str], as_json: bool) -> None:
    from posespace.formats.files import naming
    from posespace.progress import status
    from posespace.report.stored import stored_bytes, stored_numbers

    require_skin_file(out)
    examples = open_examples(store, poses)
    with status("fitting"), naming(store):
        skin = method.fit(examples)
    skin.save(out)
    figures = {
        "file": str(out),
        "poses fitted on": len(examples),
        "layers": len(skin.layers),
        "bytes per vertex beside the rig": round(stored_bytes(skin) / len(skin.rig.mesh.points), 2),
        "numbers beside the rig": stored_numbers(skin),
        "about": {key: value for key, value in skin.about.items() if key != "poses"},
    }
    print_one(figures if as_json else with_short_layers(figures), as_json)
