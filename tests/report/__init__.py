"""Tests of the report command, part by part."""
