"""Tests of helpers.chunks and helpers.data.spans."""
