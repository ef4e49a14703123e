"""Tests of the maintainers' tool."""
