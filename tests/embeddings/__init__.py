"""Tests of encoding."""
