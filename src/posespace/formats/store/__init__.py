"""The example store: a Zarr folder of examples, its state, and the journal of changes to its sculpts."""
