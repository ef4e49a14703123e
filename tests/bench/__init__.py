"""Benchmarks: `python -m tests.bench` runs them all and writes docs/benchmarks/."""
