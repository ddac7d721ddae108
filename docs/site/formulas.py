"""Typesets $...$ and $$...$$ with KaTeX while the site is built, so that pages need no script for it. The book has MathML."""
import json
import re
import subprocess
from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.fileutil import copy_asset_file

logger = logging.getLogger(__name__)


class Katex:
    """A node process that is asked for one formula at a time."""
    def __init__(self):
        script = Path(__file__).with_name("katex.js")
        self.process = subprocess.Popen(["node", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        self.known = {}
        self.folder = Path(self.answer()["folder"])

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("node docs/site/katex.js has ended: the packages nodejs and katex are needed")
        return json.loads(line)

    def typeset(self, tex, display, output):
        wish = json.dumps({"tex": tex, "display": display, "output": output})
        if wish not in self.known:
            self.process.stdin.write(wish + "\n")
            self.process.stdin.flush()
            self.known[wish] = self.answer()
        return self.known[wish]


def katex(app):
    if not hasattr(app, "gradus_katex"):
        app.gradus_katex = Katex()
    return app.gradus_katex


class Punctuation(SphinxTransform):
    """Keeps a comma or a bracket on the line of the formula before it."""
    default_priority = 404

    def apply(self):
        for formula in list(self.document.findall(nodes.math)):
            after = formula.next_node(siblings=True, descend=False, ascend=False)
            mark = re.match(r"[,.;:?!)\]،؛؟»，。；：？！）、]+", after) if isinstance(after, nodes.Text) else None
            if mark:
                formula["mark"] = mark[0]
                after.parent.replace(after, nodes.Text(after[mark.end():]))


def visit(display):
    def write(self, node):
        output = "mathml" if self.builder.name == "epub" else "htmlAndMathml"
        made = katex(self.builder.app).typeset(node.astext().strip(), display, output)
        if "error" in made:
            logger.warning("%s", made["error"], location=node)
        text = made.get("html", self.encode(node.astext()))
        if display:
            self.body.append(f'<div class="formula" dir="ltr">{text}</div>\n')
        else:
            seen = re.sub(r"\\[a-z]+|[{}^_ ]", "", node.astext())
            kind = "short formula" if len(seen) <= 20 else "formula"  # short ones are not broken over two lines
            self.body.append(f'<span class="{kind}"><bdi dir="ltr">{text}</bdi>{self.encode(node.get("mark", ""))}</span>')
        raise nodes.SkipNode
    return write


def add_fonts(app, error):
    """KaTeX's style sheet, and of its fonts the one format that every browser reads."""
    if error or app.builder.name != "html":
        return
    folder, out = katex(app).folder, Path(app.outdir, "_static/katex")
    (out / "fonts").mkdir(parents=True, exist_ok=True)
    style = (folder / "katex.min.css").read_text()
    style = re.sub(r",url\([^)]*\.(?:woff|ttf)\) format\([^)]*\)", "", style)
    (out / "katex.min.css").write_text(style)
    for name in re.findall(r"url\(fonts/([^)]*)\)", style):
        copy_asset_file(str(folder / "fonts" / name), str(out / "fonts"))


def add_style(app, page, template, context, doctree):
    if app.builder.name == "html" and 'class="katex' in context.get("body", ""):
        context["css_files"] = [*context["css_files"], "_static/katex/katex.min.css"]


def setup(app):
    app.add_html_math_renderer("katex", (visit(False), None), (visit(True), None))
    app.connect("html-page-context", add_style)
    app.connect("build-finished", add_fonts)
    return {"version": "1", "parallel_read_safe": True}
