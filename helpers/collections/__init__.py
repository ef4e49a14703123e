"""Collections that ship with the package."""
