"""Tests of the recorded lessons."""
