"""Virtual muscles: a clip as a few independent signals that the joints drive."""
