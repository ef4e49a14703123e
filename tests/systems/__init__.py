"""Tests of systems: descriptions, checks, combinations, comparisons."""
