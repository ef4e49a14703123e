"""Tests of the environment and the repository's files."""
