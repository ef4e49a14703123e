"""Tests of helpers.distributed."""
