"""Tests of models and pooling."""
