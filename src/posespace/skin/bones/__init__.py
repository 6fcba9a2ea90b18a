"""The bones of a skin: one stage, of which a skeleton and learned bones are the two kinds."""
