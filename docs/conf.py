"""Sphinx configuration; built with `sphinx-build -n -W docs build/docs`."""

from importlib.metadata import version as _version

project = "ScaleBox"
author = "The ScaleBox authors"
copyright = "2026, The ScaleBox authors"
release = version = _version("scalebox")

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 4
exclude_patterns = ["_build"]
nitpicky = True

html_theme = "furo"
html_title = f"ScaleBox {release}"
html_copy_source = False
