"""Tests of indexes and search."""
