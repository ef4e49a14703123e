"""The acid test: how its cases are made, and what else is run on them."""
