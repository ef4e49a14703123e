"""Helpers the lessons import: load, embed, index, search and score, one module a step."""
