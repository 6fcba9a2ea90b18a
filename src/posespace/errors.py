"""The errors a user can cause. Each message is one line that says what was expected, what came and the remedy."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType


class InputError(ValueError):
    """Something the user gave is wrong: an array, a setting or a name."""


class FileError(InputError):
    """A file cannot be used; the message starts with its path."""

    def __init__(self, path: str | Path, problem: str) -> None:
        self.path = Path(path)
        self.problem = problem
        super().__init__(f"{path}: {problem}")


class MissingExtraError(InputError):
    """An optional part of posespace is not installed."""

    def __init__(self, extra: str, purpose: str) -> None:
        self.extra = extra
        install = f"pip install 'posespace[{extra}]', in a checkout uv sync --extra {extra}"
        super().__init__(f"{purpose} needs the extra '{extra}': {install}")


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional module at the moment it is needed, or raise one line that names its extra."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(extra, purpose) from error
