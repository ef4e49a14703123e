"""The documentation site: Sphinx configuration, local extensions and the build (`python -m docs.site`)."""
