"""The first stage of a player, compiled: joint transforms and the coordinates of all layers."""
