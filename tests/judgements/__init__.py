"""Tests of helpers.judgements."""
