"""Adapts the project's Markdown for the site: links to files, anchors as on GitHub, live figures, the reference."""
import html
import re
import shutil
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.domains import Domain, ObjType
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import languages
import sources
import theme

logger = logging.getLogger(__name__)


def slug(title):
    """A heading's anchor as GitHub makes it: "## The tape" gives "the-tape"."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


class Anchors(SphinxTransform):
    default_priority = 400

    def apply(self):
        seen = {}
        for section in self.document.findall(nodes.section):
            title = section.next_node(nodes.title)
            after = title.next_node(siblings=True, descend=False, ascend=False)
            source = re.fullmatch(r"\s*<!-- title: (.*) -->\s*", after.astext()) if isinstance(after, nodes.raw) else None
            name = slug(re.sub(r"[`*]", "", source[1]) if source else title.astext())  # in all languages the English heading's
            count = seen[name] = seen.get(name, -1) + 1
            name += f"-{count}" if count else ""
            if self.document.ids.get(name, section) is not section:  # a function's, in the reference
                name += "-heading"
            self.document.ids[name] = section
            section["ids"] = [name]


class Cells(SphinxTransform):
    """Marks cells that contain sentences, so that a small screen does not squeeze them into one word per line."""
    default_priority = 403

    def apply(self):
        for cell in self.document.findall(nodes.entry):
            if len(cell.astext()) > 60:
                cell["classes"].append("long")
        for words in self.document.findall(nodes.emphasis):
            if len(words.parent) == 1:  # a whole paragraph: a caption
                words["classes"].append("whole")


class Verdicts(SphinxTransform):
    """Marks the lab's verdicts, which site.css colours. Their signs and words say the same without colour."""
    default_priority = 406
    PAGES = ("docs/claims", "docs/results")
    KINDS = {"✓": "holds", "✗": "false", "◐": "places", "⇄": "disputed", "?": "unclear", "○": "open", "–": "open"}
    verdict = re.compile(r"(✓ \w+|✗ \w+|◐ holds(?: only in places)?|⇄ disputed|\? unclear|○ not decided|– not measured)")

    def apply(self):
        if self.env.docname not in self.PAGES:
            return
        for text in list(self.document.findall(nodes.Text)):
            parts = self.verdict.split(text.astext())
            if len(parts) == 1 or isinstance(text.parent, (nodes.literal, nodes.literal_block, nodes.raw, nodes.comment)):
                continue
            text.parent.replace(text, [nodes.inline("", part, classes=["verdict", self.KINDS[part[0]]]) if i % 2 else nodes.Text(part)
                                       for i, part in enumerate(parts) if part])


class Links(SphinxTransform):
    """Turns each link to a file into a reference to its path in the project, and records the linked files."""
    default_priority = 401

    def apply(self):
        language, page = languages.of_name(self.env.docname)
        here = Path(page)
        linked = self.env.gradus_linked[self.env.docname] = set()
        for node in [*self.document.findall(addnodes.pending_xref), *self.document.findall(addnodes.download_reference)]:
            if node.get("reftype") != "myst":
                continue
            path, _, anchor = node["reftarget"].partition("#")
            path = normal(here.parent / path) if path else str(here) + ".md"
            new = addnodes.pending_xref("", *node.children, refdomain="", reftype="file", reftarget=path, refanchor=anchor,
                                        refdoc=self.env.docname, refwarn=True, refexplicit=True)
            new.source, new.line = node.source, node.line
            node.replace_self(new)
            if not page_of(self.env, path, language):
                linked.add(path)


def normal(path):
    parts = []
    for part in path.parts:
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def page_of(env, path, language=""):
    """The page generated from a file, in this language if it is translated."""
    name = {"README.md": "index"}.get(path, path[:-3] if path.endswith(".md") else path + "/README")
    found = next((page for page in (f"{language}/{name}", name) if page in env.found_docs), None)
    return found or (path if path == "genindex" else None)


def resolve(app, env, node, content):
    if node["reftype"] != "file":
        return None
    path, anchor = node["reftarget"], node["refanchor"]
    page = page_of(env, path, languages.of_name(node["refdoc"])[0])
    if page:
        uri = app.builder.get_relative_uri(node["refdoc"], page)
    else:
        if not (env.config.gradus_root / Path(path)).exists():
            logger.warning("there is no %s", path, location=node)  # the link stays, for the test to find
        if app.builder.name != "html":
            return content
        uri = "../" * node["refdoc"].count("/") + sources.address(Path(env.config.gradus_root), path)
    if anchor:
        uri = uri.split("#")[0] + "#" + anchor
    reference = nodes.reference("", "", internal=True, refuri=uri)
    reference += node.children
    return reference


class live(nodes.General, nodes.Element):
    """A picture that a page made by ./run browser may replace: <!-- live: NAME HEIGHT --> is above it."""


class wide(nodes.General, nodes.Element):
    """A picture whose words a phone would make too small: it keeps a width and scrolls."""


def least_width(path, shown):
    """The width in pixels at which the smallest words of an SVG file are 10 pixels high, if a phone is narrower than that."""
    text = path.read_text(encoding="utf-8") if path.suffix == ".svg" and path.exists() else ""
    box = re.search(r'viewBox="0 0 ([\d.]+) ', text)
    sizes = [float(size) for size in re.findall(r"font(?:-size)?: ?(?:\d00 )?([\d.]+)px", text)]
    least = round(10 * float(box[1]) / min(sizes)) if box and sizes else 0
    return min(least, shown) if least > 325 else 0


class Pictures(SphinxTransform):
    """Turns <img> into Sphinx's images, which are copied, or live figures, and removes comments."""
    default_priority = 402

    def apply(self):
        for node in list(self.document.findall(nodes.raw)):
            tags = node.astext().strip()
            if re.fullmatch(r"(<img\s[^>]*>\s*)+", tags):
                node.replace_self([self.image(node, tag) for tag in re.findall(r"<img\s([^>]*)>", tags)])
        for node in list(self.document.findall(nodes.raw)):
            comment = re.fullmatch(r"\s*<!--(.*?)-->\s*", node.astext(), re.S)
            if not comment:
                continue
            wish = re.fullmatch(r"\s*live: (\w+)(?: (\d+))?\s*", comment[1])
            after = node.next_node(siblings=True, descend=False, ascend=False)
            image = after if isinstance(after, nodes.image) else after and after.next_node(nodes.image)
            if wish and image and wish[1] in self.config.gradus_live:
                figure = live(name=wish[1], height=wish[2] or "520", alt=image.get("alt", ""))
                after.replace_self(figure)
                figure += after
            node.parent.remove(node)

    def image(self, node, tag):
        given = {name: html.unescape(value) for name, value in re.findall(r'(\w+)="([^"]*)"', tag)}
        here = Path(languages.of_name(self.env.docname)[1])
        image = nodes.image("", uri="/" + normal(here.parent / given.pop("src")), **given)
        image.source, image.line = node.source, node.line
        least = least_width(Path(self.config.gradus_root + image["uri"]), float(given.get("width", 1e9)))
        return wide("", image, least=least) if least and not isinstance(node.parent, nodes.TextElement) else image


def visit_wide(self, node):
    self.body.append(f'<div class="wide" dir="ltr" style="--least: {node["least"]:.0f}px">')


def depart_wide(self, node):
    self.body.append("</div>\n")


def visit_live(self, node):
    address = "../" * self.builder.current_docname.count("/") + f"live/{node['name']}.html"
    self.body.append(f'<iframe class="live" loading="lazy" src="{address}" height="{node["height"]}" '
                     f'title="{self.attval(node["alt"])}"></iframe>\n<p class="live"><a href="{address}">This figure alone</a></p>\n')
    raise nodes.SkipNode


def visit_live_elsewhere(self, node):
    pass


class Names(Domain):
    """The public names, for search and index."""
    name, label = "gradus", "gradus"
    object_types = {kind: ObjType(kind) for kind in ("function", "variable", "type", "enum", "concept", "class", "struct")}
    initial_data = {"objects": {}}

    def clear_doc(self, docname):
        self.data["objects"] = {key: value for key, value in self.data["objects"].items() if value[0] != docname}

    def get_objects(self):
        for (name, kind), (page, anchor) in self.data["objects"].items():
            yield name, name, kind, page, anchor, 1

    def merge_domaindata(self, docnames, other):
        self.data["objects"] |= {key: value for key, value in other["objects"].items() if value[0] in docnames}


class Declarations(SphinxDirective):
    """```{declarations} function Tensor.sum,Tensor.mean  and the code of these declarations."""
    required_arguments = 2
    has_content = True
    option_spec = {"level": directives.unchanged}

    def run(self):
        kind, names = self.arguments[0], self.arguments[1].split(",")
        box = nodes.container(classes=["declarations"], names_shown=names)
        index = addnodes.index(entries=[])
        for name in names:
            anchor = re.sub(r"[^\w.~\-]", lambda match: f"-{ord(match[0]):x}", name)
            ids = self.state.document.ids
            if not isinstance(ids.get(anchor), nodes.container):  # headings get others: Anchors
                ids[anchor] = box
                box["ids"].append(anchor)
                owner, _, last = name.rpartition(".")
                index["entries"].append(("single", f"{last} ({owner})" if owner else last, anchor, "", None))
                self.env.get_domain("gradus").data["objects"][name, kind] = (self.env.docname, anchor)
        code = "\n".join(self.content)
        box += nodes.literal_block(code, code, language="cpp", force=True)
        return [index, box]


def add_scripts(app, name, template, context, doctree):
    for script, wanted in (("live.js", '<iframe class="live"'), ("print.js", "<details")):
        if app.builder.name == "html" and wanted in context.get("body", ""):
            context["body"] += f'<script src="{context["pathto"]("_static/" + script, 1)}"></script>\n'


def finish(app, error):
    if error or app.builder.name != "html":
        return
    theme.mend(Path(app.outdir, "_static"))
    linked = set().union(*app.env.gradus_linked.values())
    root, out = Path(app.config.gradus_root), Path(app.outdir)
    written = sources.write_pages(root, out, linked)
    written |= {out / (name + ".html") for name in app.env.found_docs | {"genindex", "search"}}
    for name in app.config.gradus_live:
        (out / "live").mkdir(exist_ok=True)
        written.add(Path(shutil.copy(root / "build/wasm/browser" / (name + ".html"), out / "live")))
    for path in set(out.rglob("*.html")) - written:  # of pages that no longer exist
        path.unlink()


def begin(app, env, names):
    if not hasattr(env, "gradus_linked"):
        env.gradus_linked = {}


def setup(app):
    app.add_config_value("gradus_root", "", "env")
    app.add_config_value("gradus_maker", "", "env")  # all pages are read again if the site's own code changes
    app.add_config_value("gradus_live", [], "env")
    app.add_domain(Names)
    app.add_directive("declarations", Declarations)
    app.add_node(wide, html=(visit_wide, depart_wide), epub=(visit_live_elsewhere, visit_live_elsewhere))
    app.add_node(live, html=(visit_live, None), epub=(visit_live_elsewhere, visit_live_elsewhere))
    for transform in (Anchors, Links, Pictures, Cells, Verdicts):
        app.add_transform(transform)
    app.connect("env-before-read-docs", begin)
    app.connect("env-purge-doc", lambda app, env, page: getattr(env, "gradus_linked", {}).pop(page, None))
    app.connect("missing-reference", resolve)
    app.connect("html-page-context", add_scripts)
    app.connect("build-finished", finish)
    return {"version": "1", "env_version": 1, "parallel_read_safe": False}
