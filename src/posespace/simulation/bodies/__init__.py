"""What is simulated: the built-in hand and arm, and bodies made from a rig."""
