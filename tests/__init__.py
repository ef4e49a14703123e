"""Tests of the helpers, the lessons and the tools that keep the lessons true."""
