"""Sphinx's settings for the site (docs/site.md); build.py prepares its input."""
import hashlib
import os
import sys
from pathlib import Path

root = Path(os.environ["GRADUS_ROOT"])
sys.path.insert(0, str(root / "docs/site"))

project = "gradus"
author = "the authors of gradus"
project_copyright = "the authors of gradus"
version = release = os.environ["GRADUS_VERSION"]
language = "en"
extensions = ["myst_parser", "pages", "search", "formulas", "tongues"]
myst_enable_extensions = ["dollarmath"]
html_math_renderer = "katex"
exclude_patterns = ["**/data/**", "**/draw/**", "docs/course/template/**"]
smartquotes = False
highlight_language = "text"
suppress_warnings = ["myst.header"]  # pages that begin with a second-level heading

gradus_root = str(root)
gradus_maker = hashlib.md5(b"".join(path.read_bytes() for path in sorted(root.glob("docs/site/*.py")))).hexdigest()
gradus_live = sorted(path.stem for path in (root / "build/wasm/browser").glob("*.html"))

html_theme = "furo"
html_title = f"gradus {version}"
html_static_path = [str(root / "docs/site" / name) for name in ("site.css", "live.js", "print.js", "search.js", "edges.js")]
templates_path = [str(root / "docs/site/templates")]
html_css_files = ["site.css"]
html_js_files = [("edges.js", {"defer": "defer"})]
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}

epub_basename = "gradus"
epub_title = "gradus"
epub_show_urls = "no"
epub_tocdepth = 2
epub_exclude_files = [".nojekyll"]
suppress_warnings += ["epub.unknown_project_files"]
