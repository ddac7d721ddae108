"""Restores three things that Debian 12's package of furo lacks: the colours for a system in dark mode, which its style-sheet
compiler loses, the base style sheet, and a script that browsers can run, since its parts were not bundled."""
import re
from pathlib import Path


def mend(static):
    style, script = static / "styles/furo.css", static / "scripts/furo.js"
    text = style.read_text()
    wanted = re.match(r'@import url\("?(/javascript/[^")]*)"?\);', text)
    if wanted:
        basis = Path("/usr/share" + wanted[1])
        text = (basis.read_text() if basis.exists() else "") + text[wanted.end():]
    dark = re.search(r'body\[data-theme="dark"\] \{([^}]*)\}', text)
    if dark and "prefers-color-scheme" not in text:
        text += f'@media screen and (prefers-color-scheme: dark) {{ body:not([data-theme="light"]) {{{dark[1]}}} }}\n'
    # The page's own language may have the other direction. Not in site.css, which the book uses, too: books must not contain
    # this.
    text += ".toc-tree li, .sidebar-tree li { unicode-bidi: plaintext; }\n"
    style.write_text(text)
    text = script.read_text()
    if text.startswith("import Gumshoe"):
        parts = (static / "scripts/gumshoe-patched.js").read_text()
        script.write_text(parts + "(() => {\n" + text.split("\n", 1)[1] + "\n})();\n")
