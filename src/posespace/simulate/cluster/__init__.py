"""Many poses on many processes, by Dask."""
