"""File formats: readers and writers only, one module or folder per format, all listed in `registry`.

`load`, `motions`, `save`, `export` and `limits` choose the module by a file's ending. Readers return `Contents`. They
read through `files` (bounded reads, atomic writes) and `checked_json`; `joining` makes one mesh of several. The
library's own files are `skin_file` and `store`, both made of `records`.
"""
