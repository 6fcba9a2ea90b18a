"""Timings on this machine: the cost of playing a skin, against plain skinning and against what people use today."""
