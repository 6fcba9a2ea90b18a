"""What a pose is, for fits and players: pose spaces, parts of joints, links, measures, mirroring, other skeletons."""
