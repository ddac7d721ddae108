"""Support for pages in other languages: language and direction, navigation, and left-to-right parts within right-to-left text."""
import html
import posixpath
import re
from pathlib import Path

from bs4 import BeautifulSoup
from docutils import nodes
from furo.navigation import get_navigation_tree
from sphinx.builders.epub3 import Epub3Builder
from sphinx.transforms import SphinxTransform

import languages

SHORT = 25  # characters; shorter parts are not broken over two lines: they fit on a phone


def of_page(name):
    """Language and direction of a page."""
    language = languages.of_name(name)[0] or "en"
    return language, "rtl" if language in languages.RIGHT_TO_LEFT else "ltr"


class island(nodes.inline):
    """An island that runs from left to right: a name, a number, a formula."""


def visit_island(self, node):
    self.body.append('<bdi dir="ltr" class="short">' if len(node.astext()) < SHORT else '<bdi dir="ltr">')


def depart_island(self, node):
    self.body.append("</bdi>")


class Directions(SphinxTransform):
    """Marks islands in right-to-left prose. Code in a formula belongs to the formula: `dy` = 1 is one island."""
    default_priority = 404
    # While a paragraph is processed, each piece of code is a character of the first range, each other node one of the
    # second.
    CODE, OTHER = range(0xe000, 0xe800), range(0xe800, 0xf000)
    run = re.compile(r"[^\s\u0600-\u06ff\u200c«»\ue800-\uefff]+(?: +[^\s\u0600-\u06ff\u200c«»\ue800-\uefff]+)*")

    def apply(self):
        if of_page(self.env.docname)[1] == "ltr":
            return
        for code in self.document.findall(nodes.literal):
            if len(code.astext()) < SHORT:
                code["classes"].append("short")
        closed = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw, nodes.comment)
        for parent in dict.fromkeys(text.parent for text in self.document.findall(nodes.Text)):
            if not isinstance(parent, closed):
                self.arrange(parent)

    def arrange(self, parent):
        held, text = {}, ""
        for child in parent.children:
            if isinstance(child, nodes.Text):
                text += child.astext()
            else:
                sign = chr((self.CODE if isinstance(child, nodes.literal) else self.OTHER)[len(held)])
                held[sign] = child
                text += sign

        def back(words):
            return [held.get(part) or nodes.Text(part) for part in re.split(r"([\ue000-\uefff])", words) if part]

        children, end = [], 0
        for found in self.run.finditer(text):
            before, words, after = self.cut(found[0])
            if re.search(r"[\w\ue000-\ue7ff]", words) and words not in held:
                begin = found.start() + len(before)
                children += back(text[end:begin]) + [island("", "", *back(words))]
                end = begin + len(words)
        parent.children = []
        parent.extend(children + back(text[end:]))

    @staticmethod
    def cut(found):
        """The punctuation before, which belongs to the sentence, the island, and the punctuation after."""
        before, words, after = re.fullmatch(
            r"((?:[\s\"',;:.·—–)]|^\d+\. |[\ue000-\ue7ff][,;:.] |[=≈≤≥×+] )*)(.*?)((?:[\s\"',;:.!?·—–]| [=≈≤≥×+](?= *$))*)", found, re.S).groups()
        while words and words[0] == "(" and words.count("(") > words.count(")"):
            before, words = before + "(", words[1:]
        while words and words[-1] == ")" and words.count(")") > words.count("("):
            words, after = words[:-1], ")" + after
        if opened := re.search(r"\s*\($", words):
            words, after = words[:opened.start()], opened[0] + after
        return before, words, after


def navigation(app, name, say):
    """The navigation of a translated page: that of the English page, but links lead to translated pages where there are some."""
    language, page = languages.of_name(name)
    tree = BeautifulSoup(app.builder._get_local_toctree(page, collapse=False, titles_only=True, maxdepth=-1, includehidden=True), "html.parser")
    for caption in tree.select("span.caption-text"):
        caption.string = say(caption.get_text())
    for link in tree.find_all("a"):
        target = link["href"].split("#")[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))[:-len(".html")] if target else page
        other = languages.of_name(target)[0]
        if f"{language}/{target}" in app.env.found_docs:  # at the same place relative to this page
            link.string = app.env.titles[f"{language}/{target}"].astext()
            continue
        link["href"] = posixpath.relpath(target, posixpath.dirname(name)) + ".html"
        link["hreflang"] = of_page(target)[0]
        if (spoken := say(link.get_text())) != link.get_text():  # a page in English, under a heading's name
            link.string = spoken
        else:
            link["lang"], link["dir"] = of_page(target)
        if other and (pages := link.parent.find("ul")):
            pages.extract()
    return f'<div lang="{language}" dir="{of_page(name)[1]}">{get_navigation_tree(str(tree))}</div>'


def tell_language(app, name, template, context, doctree):
    """Sets the page's language and direction, and adds links to its other languages above it."""
    if "body" not in context:
        return
    language, direction = of_page(name)
    if app.builder.name == "epub":
        context["html_tag"] = context["html_tag"].replace(">", f' lang="{language}" xml:lang="{language}" dir="{direction}">')
    if direction == "rtl":
        context["body"] = re.sub(r"<(pre|code)\b", r'<\1 dir="ltr"', context["body"])
    if language != "en":
        context["body"] = f'<div lang="{language}" dir="{direction}">\n{context["body"]}</div>\n'
        if app.builder.name == "html":
            context["furo_navigation_tree"] = navigation(app, name, words_of(app, language))
    if app.builder.name == "html":
        address = lambda other: app.builder.get_relative_uri(name, other)
        context["body"] = languages.switch(app.env.found_docs, name, address) + context["body"]


def words_of(app, language):
    """What the theme's words are called in a language."""
    return languages.catalogue(Path(app.config.gradus_root), language, "docs/translations.md").say


def mark(app, error):
    """The theme declares every page English. Only hidden labels around a translated page are; it is laid out from left to right."""
    if error or app.builder.name != "html":
        return
    for name in app.env.found_docs:
        language, direction = of_page(name)
        path = Path(app.builder.get_outfilename(name))
        text = path.read_text(encoding="utf-8")
        if language != "en" and ' lang="en">' in text:
            text = text.replace(' lang="en">', f' lang="{language}" dir="{direction}">', 1)
            say = words_of(app, language)
            for before, word, after in (('placeholder="', "Search", '"'), ('aria-label="', "Search", '"'), ("<span>", "Back to top", "</span>"),
                                        ('<span class="toc-title">', "On this page", "</span>")):
                spoken = f"{before}\\g<1>{html.escape(say(word))}\\g<2>{after}"
                text = re.sub(rf"{re.escape(before)}(\s*){word}(\s*){re.escape(after)}", spoken, text)
            text = text.replace('<div class="toc-tree">', f'<div class="toc-tree" lang="{language}" dir="{direction}">', 1)
            text = text.replace('<input type="hidden" name="area" value="default">', f'<input type="hidden" name="lang" value="{language}">', 1)
            path.write_text(text.replace("<body>", '<body lang="en" dir="ltr">', 1), encoding="utf-8")


class Book(Epub3Builder):
    """Lists all languages of the book, of which Sphinx lists only one, and the pages that contain MathML."""

    def build_content(self):
        super().build_content()
        path = Path(self.outdir, "content.opf")
        first, text = "<dc:language>en</dc:language>", path.read_text(encoding="utf-8")
        others = "".join(f"<dc:language>{language}</dc:language>" for language in languages.LANGUAGES
                         if f"{language}/index" in self.env.found_docs)

        def tell(item):
            if "properties=" in item[0] or b"<math" not in Path(self.outdir, item[1]).read_bytes():  # the contents have one
                return item[0]
            return item[0].replace("/>", ' properties="mathml"/>')
        text = re.sub(r'<item [^>]*\bhref="([^"]*\.xhtml)"[^>]*/>', tell, text)
        path.write_text(text.replace(first, first + others), encoding="utf-8")


def setup(app):
    app.add_node(island, html=(visit_island, depart_island), epub=(visit_island, depart_island))
    app.add_transform(Directions)
    app.add_builder(Book, override=True)
    app.connect("html-page-context", tell_language, priority=900)  # after the theme
    app.connect("build-finished", mark)
    return {"version": "1", "parallel_read_safe": False}
