"""Messages of the library as the command line shows them: its parameters, named in Python, become options.

The library writes a parameter between backquotes, alone or with a value: `rate`, `rate='keys'`, `unit={'fist': 0.01}`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

import click


def as_typed(message: str, context: click.Context | None = None) -> str:
    """Return a message with parameters, at its start or between backquotes, as options of the running command."""
    context = context or click.get_current_context(silent=True)
    if context is None:
        return message
    flags: dict[str, str] = {}
    for param in context.command.get_params(context):
        if isinstance(param, click.Option):
            flag = max(param.opts, key=len)
            flags |= {str(param.name): flag, flag.removeprefix("--"): flag}
    start = re.match(r"(\w+)(?=: )", message)
    if start and start[1] in flags:
        message = flags[start[1]] + message[start.end() :]
    return with_options(message, flags)


def with_options(text: str, flags: Mapping[str, str]) -> str:
    """Return a text with parameters between backquotes as options; `flags` are these by parameter."""

    def typed(quoted: re.Match[str]) -> str:
        settings = _settings(quoted[1])
        return options(settings, flags) if settings and settings.keys() <= flags.keys() else quoted[0]

    return re.sub("`([^`]+)`", typed, text)


def options(settings: Mapping[str, Any], flags: Mapping[str, str] | None = None) -> str:
    """Return settings as options: {"unit": {"fist": 0.01}} is --unit 'fist=0.01'. None stands for any value."""
    words = []
    for name, value in settings.items():
        flag = flags[name] if flags else f"--{name}"
        if value is None or value is True:
            words.append(flag)
        elif isinstance(value, Mapping):
            words += [f"{flag} '{key}={_word(entry)}'" for key, entry in value.items()]
        else:
            words.append(f"{flag} {_word(value)}")
    return " ".join(words)


def _settings(text: str) -> dict[str, Any]:
    """The parameters that a text names, with their values, or None where it gives none; empty if it is no such text."""
    if text.isidentifier():
        return {text: None}
    try:
        call = ast.parse(f"_({text})", mode="eval").body
        assert isinstance(call, ast.Call)
        return {str(word.arg): ast.literal_eval(word.value) for word in call.keywords} if not call.args else {}
    except (SyntaxError, ValueError, AssertionError):
        return {}


def _word(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)
