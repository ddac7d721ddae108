"""furo as Debian 12 packs it lacks two things, which are put back here: the colours of a system that is set to dark, lost by
its compiler of style sheets, and a script that browsers can run, as its parts were not joined."""
import re


def mend(static):
    style, script = static / "styles/furo.css", static / "scripts/furo.js"
    text = style.read_text()
    dark = re.search(r'body\[data-theme="dark"\] \{([^}]*)\}', text)
    if dark and "prefers-color-scheme" not in text:
        style.write_text(text + f'@media not print and (prefers-color-scheme: dark) {{ body:not([data-theme="light"]) {{{dark[1]}}} }}\n')
    text = script.read_text()
    if text.startswith("import Gumshoe"):
        parts = (static / "scripts/gumshoe-patched.js").read_text()
        script.write_text(parts + "(() => {\n" + text.split("\n", 1)[1] + "\n})();\n")
