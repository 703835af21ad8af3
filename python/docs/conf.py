# SPDX-License-Identifier: Apache-2.0
"""The documentation of the Python package: `./run python-docs` builds it and executes the tutorial."""

import grapnel

project = "Grapnel"
copyright = "the Grapnel authors"
release = version = grapnel.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = -1  # the machine may be busy
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_mock_imports = ["torch", "torch_geometric"]
html_theme = "alabaster"
html_theme_options = {"description": "Arrays that are larger than the memory of the GPU that reads them"}
# docs/slots.md and docs/python.md point to these pages, which are not about Python; any other dead link is a failure
nitpick_ignore = [("myst", "choosing.md"), ("myst", "several-stores.md")]
exclude_patterns = ["_build"]
