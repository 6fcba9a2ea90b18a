"""The methods that a page may choose, and what it may set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from posespace import check
from posespace.errors import InputError
from posespace.fit.methods import METHODS, Setting, method_of, settings_of, summary

_OF_KIND: dict[type, tuple[type, ...]] = {bool: (bool,), int: (int,), float: (int, float, Mapping), str: (str,)}
"""What a setting of each kind may be given; radii may differ by joint. Paths are not taken from a page."""


def methods_figures() -> list[dict[str, Any]]:
    """Return each method as plain JSON: "name", "title", "summary" and its "settings".

    A setting has its "name", "kind" (bool, int, float or str), "optional" where it may be null, "default", "choices"
    and "text".
    """
    return [_method(name) for name in METHODS]


def checked_settings(method: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of a method by name if it takes them, as values of JSON; raise if not."""
    check.choice("method", method, tuple(METHODS))
    known = {setting.name: setting for setting in settings_of(method_of(method))}
    for name, value in settings.items():
        if name not in known:
            raise InputError(f"settings: {method} expects any of {', '.join(known)}, got {name!r}")
        _check_kind(known[name], value)
    try:
        method_of(method)(**settings)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"settings: {method} cannot be set so ({error})") from error
    return dict(settings)


def _method(name: str) -> dict[str, Any]:
    method = method_of(name)
    settings = [_figures(setting) for setting in settings_of(method) if setting.kind in _OF_KIND]
    return {"name": name, "title": METHODS[name], "summary": summary(method), "settings": settings}


def _figures(setting: Setting) -> dict[str, Any]:
    return {
        "name": setting.name,
        "kind": setting.kind.__name__,
        "optional": setting.optional,
        "default": setting.default,
        "choices": list(setting.choices),
        # What only Python takes is not for a page.
        "text": setting.text.partition(" In Python ")[0],
    }


def _check_kind(setting: Setting, value: object) -> None:
    taken = _OF_KIND.get(setting.kind, ())
    number_expected = setting.kind is not bool and isinstance(value, bool)
    if (value is None and setting.optional) or (isinstance(value, taken) and not number_expected):
        return
    kind = "a path, which only the command line takes" if not taken else f"a value of type {setting.kind.__name__}"
    raise InputError(f"{setting.name}: expected {kind}{' or none' if setting.optional else ''}, got {value!r}")
