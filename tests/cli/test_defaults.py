"""Defaults of options are those of the library, and the library's None is an option that is left out."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import pytest

import posespace as ps
from posespace.cli import app as commands
from posespace.cli.fit import _help, _option
from posespace.cluster.machines import Machines
from posespace.datasets import Scanner, scanned_hand
from posespace.fit.methods import METHODS, settings_of
from posespace.gathering.gather import Gathering
from posespace.poses.mirror import mirror_examples
from posespace.register.registration import Registration
from posespace.simulation.settings import Settings, Tissue

HOMES: dict[str, tuple[Callable[..., Any], ...]] = {
    "simulate": (Settings, Tissue, Machines),
    "register": (Registration, Machines),
    "scans": (Scanner, scanned_hand),
    "examples": (Gathering,),
    "bones": (ps.bones,),
    "retarget": (ps.retarget,),
    "export": (ps.export,),
    "mirror": (mirror_examples,),
}


def option_defaults(command: str) -> dict[str, Any]:
    found = commands.app.commands.get(command) or commands.sculpts.commands[command]
    return {str(param.name): param.default for param in found.params if isinstance(param, click.Option)}


@pytest.mark.parametrize("command", HOMES)
def test_options_have_the_defaults_of_the_library(command: str) -> None:
    options = option_defaults(command)
    compared = 0
    for home in HOMES[command]:
        for name, parameter in inspect.signature(home).parameters.items():
            plain = isinstance(parameter.default, bool | int | float | str)
            if plain and isinstance(options.get(name), bool | int | float | str):
                assert options[name] == parameter.default, f"{command} --{name}"
                compared += 1
    assert compared


@dataclass
class Method:
    """A method.

    Parameters
    ----------
    count : how many; None: chosen by cross-validation
    size : at most this; None: no limit
    name : what it is called; None: as the file
    width : of the kernel. In Python also an array
    """

    count: int | None = None
    size: float | None = 2.5
    name: str | None = None
    width: float = field(default=1.0)


def parsed(*words: str) -> dict[str, Any]:
    options: list[click.Parameter] = [_option(setting, {}) for setting in settings_of(Method)]
    command = click.Command("method", params=options, callback=lambda **given: given)
    result: dict[str, Any] = command.main(list(words), standalone_mode=False)
    return result


def test_an_option_that_is_left_out_is_none_where_the_setting_is() -> None:
    assert parsed() == {"count": None, "size": 2.5, "name": None, "width": 1.0}


def test_none_can_be_typed_where_the_default_is_another_value() -> None:
    assert parsed("--size", "none", "--count", "3") == {"count": 3, "size": None, "name": None, "width": 1.0}
    with pytest.raises(click.BadParameter, match="'much' is not a valid float"):
        parsed("--size", "much")


def test_help_tells_what_none_means() -> None:
    text = "how many; None: chosen by cross-validation"
    assert _help(text, None) == "How many. Default: chosen by cross-validation."
    assert _help("at most this; None: no limit", 2.5) == "At most this. none: no limit."
    assert _help("of the kernel. In Python also an array", 1.0) == "Of the kernel."


def test_every_method_is_a_public_class_with_a_summary(tmp_path: Path) -> None:
    from helpers.commands import run

    overview = " ".join(run("fit", "--help", folder=tmp_path).stdout.split())
    for name, method in METHODS.items():
        summary = (inspect.getdoc(getattr(ps, method)) or "").splitlines()[0]
        assert f"{name} {summary}" in overview
