"""The page of the bending arm: its joints and poses have names that would be elements if a page took them for HTML."""

from __future__ import annotations

import base64
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import posespace as ps

HTML = "<img src=x onerror='window.hacked = 1'></script><script>window.hacked = 1</script>"
NAME = "arm <img src=x onerror=alert(1)>.html"


def arm() -> tuple[ps.Examples, ps.Examples]:
    """Return the examples to fit to and those that are not seen."""
    train, unseen = ps.datasets.bending_arm(rings=14, sides=9)
    return _renamed(train), _renamed(unseen)


def _renamed(examples: ps.Examples) -> ps.Examples:
    skeleton = examples.rig.skeleton
    named = replace(skeleton, names=tuple(f"{name}.l {HTML}" for name in skeleton.names))
    motion = replace(examples.motion, names=tuple(f"{name} {HTML}" for name in examples.motion.names))
    return replace(examples, rig=replace(examples.rig, skeleton=named), motion=motion)


def fitted() -> ps.Skin:
    """Return the skin of the page."""
    return ps.EigenSkin(normals="shared").fit(arm()[0])


def exported(skin: ps.Skin, folder: Path) -> Path:
    """Write the page of a skin, with the poses and the clip that it has not seen."""
    unseen = arm()[1]
    ps.export(skin, folder / NAME, unseen.motion, examples=unseen)
    return folder / NAME


def opened(chromium: Any, file: Path) -> Any:
    """Open the page at rest; what it says is in `said`, what it asks for in `asked`."""
    page = chromium.new_page(viewport={"width": 900, "height": 600})
    page.said, page.asked = [], []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_selector("body[data-ready=yes]")
    page.evaluate("posespace.stage.posing.rest()")
    return page


def picture(page: Any) -> Any:
    """What the stage draws, (H, W, 3), without what lies over it."""
    # At once: the next frame has what lies over it, such as the bone below the pointer.
    drawn = page.evaluate("(posespace.stage.draw(), posespace.stage.renderer.domElement.toDataURL().split(',')[1])")
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(drawn))).convert("RGB")).astype(int)
