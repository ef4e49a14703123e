"""The documentation site: Sphinx configuration, local extensions and the build (`python -m docs.site`)."""

import notebooks.kit  # noqa: F401  (before nbformat, which it makes quick to import)
