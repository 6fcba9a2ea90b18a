"""Virtual bones: a rig, weights and poses from nothing but shapes in correspondence."""
