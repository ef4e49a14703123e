"""Benchmarks: `python -m tests.bench` measures and writes docs/benchmarks/. A bench gives PACKAGES, ROUNDS, report."""
