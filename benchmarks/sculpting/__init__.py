"""A few scripted sculpts on any rig, and what a fit makes of them at other poses."""
