"""Many processes and many machines, by Dask."""
