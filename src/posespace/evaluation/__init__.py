"""How far skins are from the truth: scores, comparisons, levels of detail, and the bytes they store."""
