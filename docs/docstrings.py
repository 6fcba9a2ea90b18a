"""Turns the library's docstrings into Markdown for its reference: sections of `name : meaning` become lists.

Types are not repeated there: they stand in the signature above.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import griffe

SECTION = re.compile(r"^(Parameters|Attributes|Returns|Yields)\n-+\n(.*?)(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)
ENTRY = re.compile(r"^(\**\w+(?:, \w+)*) : ", re.MULTILINE)


def markdown(text: str) -> str:
    """Return a docstring as Markdown."""
    return _outside_code(SECTION.sub(_listed, text))


def _listed(section: re.Match[str]) -> str:
    lines = re.sub(r"\n +", " ", section[2])
    entries = ENTRY.sub(lambda entry: f"- `{entry[1]}`: ", lines)
    return f"<span class='doc-section'>{section[1]}</span>\n\n{entries}\n"


def _outside_code(text: str) -> str:
    """Keep an asterisk an asterisk, where it is not in code."""
    return "`".join(part.replace("*", "\\*") if k % 2 == 0 else part for k, part in enumerate(text.split("`")))


class Docstrings(griffe.Extension):
    """Rewrites every docstring that griffe collects; a class without one has that of its base."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Fill in docstrings of classes, now that their bases are known; they are rewritten after this."""
        for module in _modules(pkg):
            for found in module.classes.values():
                if not found.is_alias and found.docstring is None:
                    texts = [base.docstring.value for base in found.mro() if base.docstring]
                    found.docstring = griffe.Docstring(texts[0], parent=found) if texts else None


def _modules(package: griffe.Module) -> Iterator[griffe.Module]:
    yield package
    for module in package.modules.values():
        if not module.is_alias:
            yield from _modules(module)
