"""Messages of the library: parameters in Python become the options of the command that runs."""

from __future__ import annotations

import click
import pytest

from posespace.cli.typed import as_typed, options


@click.command()
@click.option("--clip", "clips", multiple=True)
@click.option("--rate")
@click.option("--unit", multiple=True)
@click.option("--up")
@click.option("--resume", is_flag=True)
def command() -> None:
    pass


@pytest.mark.parametrize(
    ("message", "typed"),
    [
        ("rate: expected a number", "--rate: expected a number"),
        ("choose another with `clip`", "choose another with --clip"),
        ("take the keys with `rate='keys'`", "take the keys with --rate keys"),
        ("continue it with `resume=True`", "continue it with --resume"),
        ("give `unit=0.01, up='z'`", "give --unit 0.01 --up z"),
        ("give `unit={'a b': 0.01}`", "give --unit 'a b=0.01'"),
        ("as `posespace pose` writes; omit `other`", "as `posespace pose` writes; omit `other`"),
        ("a name `rate=__import__('os')`", "a name `rate=__import__('os')`"),
    ],
)
def test_parameters_become_options(message: str, typed: str) -> None:
    assert as_typed(message, click.Context(command)) == typed
    assert as_typed(message) == message


def test_settings_become_options() -> None:
    assert options({"unit": {"fist": 0.01}, "match": "positions"}) == "--unit 'fist=0.01' --match positions"
