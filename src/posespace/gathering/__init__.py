"""Files of shapes become Examples: found, conformed to the rig, checked and explained; posed meshes to sculpt on."""
