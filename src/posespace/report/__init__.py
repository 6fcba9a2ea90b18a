"""Pictures, plots and the accuracy report of a Skin.
Nothing here is needed to fit, play or export one."""
