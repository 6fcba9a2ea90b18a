"""Shape files into Examples: find them, conform them to the rig, check and explain them; posed meshes to sculpt on.

`gather` does all of it. `shape_files` finds the files, `conformed_shapes` reads them by the `conventions` of their
files in the rig's `vertex_order` (`vertex_matching`, `seams`), `outliers` checks them and `causes` explains what is
wrong. `posed_meshes` writes what artists sculpt on, `sculpt_file` reads one sculpt and `mesh_sequence` reads shapes
without a rig.
"""
