"""Scans in, Examples out: a template is brought onto each scan; and deformation transfer, which shares its energy."""
