"""The search: the words of every section, in a script that search.js reads, so that a site opened from disk can be searched, too."""
import json
import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.transforms import SphinxTransform

import languages

SKIPPED = (nodes.comment, nodes.raw, nodes.math_block, nodes.image, nodes.title, addnodes.index, addnodes.toctree)


def words(node):
    """A node's text as an excerpt shows it: no headings, displayed formulas or TeX commands."""
    if isinstance(node, SKIPPED):
        return ""
    if isinstance(node, nodes.Text):
        return node.astext()
    if isinstance(node, nodes.math):
        return re.sub(r"\\[a-zA-Z]+|[\\{}]", "", node.astext())
    apart = isinstance(node, nodes.TextElement) and not isinstance(node, nodes.Inline)
    text = "".join(map(words, node.children))
    return text.strip() + " · " if isinstance(node, nodes.entry) and text.strip() else text + (" " if apart else "")


def leads_on(node):
    """Whether a paragraph is a chapter's last line: contents · before · next."""
    return isinstance(node, nodes.paragraph) and node.astext().count(" · ") > 0 and isinstance(node[0], (nodes.reference, addnodes.pending_xref)) \
        and not isinstance(node.parent, nodes.list_item) and node is node.parent[-1]


def sections(document):
    """The [anchor, title, text] of every section and, in the reference, of every declaration."""
    found = [["", "", ""]]

    def visit(node):
        if isinstance(node, nodes.section):
            found.append([node["ids"][0], node.next_node(nodes.title).astext(), ""])
        elif isinstance(node, nodes.container) and "declarations" in node["classes"] and node["ids"]:
            found.append([node["ids"][0], ", ".join(node["names_shown"]), ""])
        elif leads_on(node):
            return
        elif not isinstance(node, nodes.document):
            found[-1][2] += words(node)
            return
        for child in node.children:
            visit(child)

    visit(document)
    texts = [" ".join(re.sub(r"[-=]{4,}", " ", text).split()) for _, _, text in found]  # without drawn lines
    return [[anchor, title, text] for (anchor, title, _), text in zip(found, texts) if title or text]


class Sections(SphinxTransform):
    """Runs when a page's anchors are known."""
    default_priority = 405

    def apply(self):
        self.env.gradus_sections[self.env.docname] = sections(self.document)


class Site(StandaloneHTMLBuilder):
    """Without Sphinx's own index, which leads to pages only and cannot show excerpts from disk."""
    search = False

    def gen_additional_pages(self):
        super().gen_additional_pages()
        self.handle_page("search", {}, "search.html")


def write(app, error):
    if error or app.builder.name != "html":
        return
    found = [[name, languages.of_name(name)[0] or "en", app.env.gradus_sections[name]] for name in sorted(app.env.found_docs)]
    text = "const sections = " + json.dumps(found, ensure_ascii=False, separators=(",", ":")) + ";\n"
    Path(app.outdir, "_static/sections.js").write_text(text, encoding="utf-8")


def begin(app, env, names):
    if not hasattr(env, "gradus_sections"):
        env.gradus_sections = {}


def setup(app):
    app.add_builder(Site, override=True)
    app.add_transform(Sections)
    app.connect("env-before-read-docs", begin)
    app.connect("env-purge-doc", lambda app, env, page: getattr(env, "gradus_sections", {}).pop(page, None))
    app.connect("build-finished", write)
    return {"version": "1", "env_version": 1, "parallel_read_safe": False}
