"""Control points: virtual bones, corrections and detail that follow a few points of the surface.

`point_selection` and `control_rig` make the points, `alignment` removes the rigid motion of the whole, `bone_rotations`
observes the bones in the examples, `kernel_models` learns to predict them from the points. `corrections` and `detail`
add components whose coordinates `amounts` learns in the same way.
"""
