"""EigenSkin: corrections compressed by principal components.

The correction is an additive model: a sum of terms. The *domain* of a term is what it depends on: the rotation of one
joint, one degree of freedom, one control, a pair of these, or all that moves a region of the skin. A term has a
displacement of each vertex at each *node*, a position in the domain's pose space, and interpolates between its nodes.
It is zero at its *anchors*, such as the rest pose.

`term_domains` makes the domains, `terms` and `region_terms` the displacements at their nodes, `term_components` the
principal components of the terms, and `supports` the vertices where they act.
"""
