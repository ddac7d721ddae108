"""Pages for the files that the Markdown links to, highlighted, and for folders, with a list of their contents."""
import html
import re
from functools import lru_cache

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from pygments.lexers.special import TextLexer
from pygments.util import ClassNotFound

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - gradus</title>
<link rel="stylesheet" href="{top}_static/pygments.css"><link rel="stylesheet" href="{top}_static/site.css">
<script src="{top}_static/edges.js" defer></script>
</head><body class="source">
<script>document.body.dataset.theme = localStorage.getItem("theme") || "auto";</script>
<header><a href="{top}index.html">gradus</a> / {path}</header>
<main>{body}</main>
</body></html>
"""
SHOWN = (".cpp", ".h", ".py", ".sh", ".mjs", ".js", ".css", ".html", ".cmake", ".txt", ".json", ".md", "")


def address(root, path):
    return f"{path}/index.html" if (root / path).is_dir() else f"{path}.html"


def shown(path):
    return path.is_file() and path.suffix in SHOWN and not path.name.startswith(".") and path.stat().st_size < 400_000


@lru_cache(None)
def opening(path):
    """The first sentence of a file's first comment."""
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        return ""
    comment = re.search(r"^(?://|#(?!!|pragma|include)|\"\"\") ?(.+(?:\n(?://|#) \S.*)*)", text, re.M)
    if not comment or text[:comment.start()].count("\n") > 3:
        return ""
    words = re.sub(r"\n(//|#) ?", " ", comment[1]).replace('"""', "")
    words = re.split(r"(?<=\.) ", words + " ")[0].strip()
    return words if len(words) < 160 else words[:150].rsplit(" ", 1)[0] + " ..."


def write_pages(root, out, linked):
    folders = {path for path in linked if (root / path).is_dir()}
    files = {path for path in linked if shown(root / path)}
    files |= {str(path.relative_to(root)) for folder in folders for path in (root / folder).iterdir() if shown(path)}
    written = {write(root, out, path, code(root / path)) for path in sorted(files) if not path.endswith(".md")}
    return written | {write(root, out, folder, listing(root, folder, folders)) for folder in sorted(folders)}


def write(root, out, path, body):
    target = out / address(root, path)
    top = "../" * (address(root, path).count("/"))
    target.parent.mkdir(parents=True, exist_ok=True)
    text = PAGE.format(title=html.escape(path), top=top, path=html.escape(path.replace("/", " / ")), body=body)
    if not target.exists() or target.read_text() != text:
        target.write_text(text)
    return target


def code(path):
    text = path.read_text()
    try:
        lexer = get_lexer_for_filename("x.cpp" if path.suffix == ".h" else path.name, stripnl=False)
    except ClassNotFound:
        lexer = TextLexer(stripnl=False)
    lines = HtmlFormatter(linenos="inline", lineanchors="L", anchorlinenos=True)
    return highlight(text, lexer, lines).replace('name="L-', 'id="L-')


def listing(root, folder, folders):
    rows = []
    for path in sorted((root / folder).iterdir(), key=lambda path: (path.is_file(), path.name)):
        name = path.name + ("/" if path.is_dir() else "")
        label = html.escape(name)
        if path.is_dir():
            if path.name.startswith((".", "__")):
                continue
            if str(path.relative_to(root)) in folders:
                label = f'<a href="{path.name}/index.html">{label}</a>'
        elif shown(path) and path.suffix != ".md":
            label = f'<a href="{path.name}.html">{label}</a>'
        elif path.suffix == ".md" or path.name.startswith("."):
            continue
        rows.append(f"<dt>{label}</dt><dd>{html.escape(opening(path)) if path.is_file() else ''}</dd>")
    return f'<h1>{html.escape(folder)}/</h1><dl class="files">{"".join(rows)}</dl>'
