"""Requests on fits by any method: to start and cancel one, its figures, and edits of its skin."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from posespace.formats.checked_json import Fields, plain
from posespace.studio.figures import figures as figures_of
from posespace.studio.methods import methods_figures
from posespace.studio.project import Project

Answer = tuple[dict[str, Any], dict[str, NDArray[Any]]]
Arrays = dict[str, NDArray[Any]]


def fit(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001 - all requests take these
    """Start a fit of what is saved; events say how far it is."""
    settings = plain(fields.part("settings", {}).values, "settings")
    assert isinstance(settings, dict)
    opened.fits.start(opened.sculpts, fields.text("method"), settings)
    return {"did": "started the fit"}, {}


def cancel(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001
    """End the fit that is running, at once."""
    return {"did": "cancelled the fit" if opened.fits.cancel() else "no fit is running"}, {}


def take_fit(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001
    """Show the skin of a fit by its number; 0: the sculpts, solved."""
    number = fields.integer("number")
    if number:
        opened.show(opened.fits.skin(number))
    else:
        opened.solve()
    return {"did": f"showing fit {number}" if number else "showing the sculpts as they are solved"}, {}


def figures(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001
    """Answer with what a panel asks for: the methods, the fits so far, or figures of the current skin."""
    what = fields.text("what")
    if what == "methods":
        return {"methods": methods_figures()}, {}
    if what == "fits":
        return {**opened.fits.figures(), "method": opened.skin.about.get("method")}, {}
    asked = {key: fields.integer(key) for key in ("layer", "component") if key in fields}
    return figures_of(what, opened.fitted, opened.motion, asked, opened.scales)


def edit_skin(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001
    """Show the skin as it was fitted with signals or layers scaled, and with another beta."""
    scales = fields.part("scales", {})
    beta = fields.number("beta") if "beta" in fields else None
    opened.edit({name: scales.number(name) for name in scales}, beta)
    return {"did": "edited the skin"}, {}
