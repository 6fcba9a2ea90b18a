"""Timings of this machine: what playing a skin costs, against plain skinning and against what people use today."""
