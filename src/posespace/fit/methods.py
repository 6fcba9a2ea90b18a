"""The methods by name, and their settings as data: what the command line and the studio make options of."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, Field, dataclass, fields
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

METHODS = {"psd": "PSD", "eigenskin": "EigenSkin", "muscles": "Muscles", "points": "ControlPoints"}
"""The name of each method and its class in `posespace`; help and options come from the class."""

_PLAIN = (bool, int, float, str, Path)


@dataclass(frozen=True)
class Setting:
    """A setting of a method that takes a plain value.

    Parameters
    ----------
    name : of the field
    kind : bool, int, float, str or Path, the first plain type it takes
    optional : whether it may be None
    default : its value where none is given
    choices : all that it takes, or () where any value of its kind may do
    text : what the docstring says of it
    """

    name: str
    kind: type
    optional: bool
    default: Any
    choices: tuple[str, ...]
    text: str


def method_of(name: str) -> Any:
    """Return the class of a method, one of `METHODS`."""
    import posespace

    return getattr(posespace, METHODS[name])


def settings_of(method: type) -> tuple[Setting, ...]:
    """Return the settings of a method's class that take plain values."""
    hints, texts = get_type_hints(method), described(method)
    every = (_setting(field, hints[field.name], texts.get(field.name, "")) for field in fields(method))
    return tuple(setting for setting in every if setting is not None)


def summary(method: type) -> str:
    """Return the first line of a method's docstring."""
    return (inspect.getdoc(method) or "").partition("\n")[0]


def _setting(field: Field[Any], hint: Any, text: str) -> Setting | None:
    types = get_args(hint) or (hint,)
    kinds = [kind for kind in types if kind in _PLAIN]
    default = field.default if field.default_factory is MISSING else field.default_factory()
    if not field.init or not kinds or not isinstance(default, (*_PLAIN, NoneType)):
        return None
    return Setting(field.name, kinds[0], NoneType in types, default, tuple(field.metadata.get("choices", ())), text)


def described(settings: type) -> dict[str, str]:
    """Return the text of each parameter or attribute in a class's docstring."""
    texts: dict[str, str] = {}
    names: list[str] = []
    for line in (inspect.getdoc(settings) or "").splitlines():
        match = re.match(r"(\w+(?:, \w+)*) : (.*)", line)
        if match:
            names = match[1].split(", ")
            texts.update(dict.fromkeys(names, match[2]))
        elif line.startswith("    ") and names:
            texts.update({name: f"{texts[name]} {line.strip()}" for name in names})
        else:
            names = []
    return texts
