"""Bodies to simulate: the built-in hands and arm, and bodies made from a rig.

To add a built-in body, write a module with a function ``body(settings) -> Body`` and give it a line in `BUILT_IN`.
"""

BUILT_IN = {
    "hand": "posespace.simulation.bodies.hand",
    "slender-hand": "posespace.simulation.bodies.slender_hand",
    "arm": "posespace.simulation.bodies.arm",
}
"""The bodies that need no file, by name: the module whose function `body` makes each. Imported only when used."""
