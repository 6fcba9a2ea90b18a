"""File formats: one module or folder per format, each with a `read(path)` that returns Contents.

To add a reader, write that module and name its endings in `load.READERS`; to add a writer, `export.WRITERS`. All read
through `files` (bounded reads, atomic writes) and `checked_json`; `joining` makes one mesh of several. The library's
own files are `skin_file` and `example_store` (on `zarr_arrays`), both made of `records`.
"""
