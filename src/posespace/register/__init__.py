"""Registration: a template fitted to scans gives Examples; and deformation transfer, which shares its energy."""
