"""Exercises that answer."""
