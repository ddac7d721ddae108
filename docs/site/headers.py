"""Parses the installed headers: their names and the comments on them.

It supports the C++ that these headers use: namespaces, classes, enums, functions, variables, using, concepts. A comment
belongs to the declaration directly below it, without an empty line between, or to the one on its left.
"""
import re
from dataclasses import dataclass, field
from pathlib import Path

UMBRELLAS = ("gradus.h", "distributed/distributed.h", "kit/kit.h", "text/text.h")


@dataclass
class Item:
    """A declaration, a section (a comment alone) or, of kind "class", a class with its parts in `items`."""
    kind: str  # function, variable, type, enum, concept, class, section
    name: str
    code: str  # as written, without a function's body
    comment: str
    line: int
    joined: bool = False  # directly below another declaration, without a comment above it
    items: list = field(default_factory=list)
    side: str = ""  # the comment on its right


def public_headers(root):
    """The headers that the umbrella headers include, in their order, without those in detail/."""
    found = {}

    def visit(path):
        if path in found or "/detail/" in path:
            return
        found[path] = None
        for name in re.findall(r'^#include "gradus/(.+)"', (root / path).read_text(), re.M):
            visit(name)

    for umbrella in UMBRELLAS:
        visit(umbrella)
    return [path for path in found if path not in (*UMBRELLAS, "nn/nn.h", "data/data.h")]


def blanked(text):
    """The text with comments, strings and preprocessor lines replaced by spaces, and the comments: (begin, end, text)."""
    comments = []
    parts = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z])\'(?:\\.|[^\'\\\n])*\'|^#(?:[^\n]*\\\n)*[^\n]*', re.M | re.S)

    def blank(match):
        if match[0].startswith("//"):
            comments.append((match.start(), match.end(), re.sub(r"^///?<? ?", "", match[0])))
        return re.sub(r"[^\n]", " ", match[0])

    return parts.sub(blank, text), comments


OPEN, CLOSE = "([{", ")]}"


def closing(code, at):
    depth = 0
    for i in range(at, len(code)):
        if code[i] in OPEN:
            depth += 1
        elif code[i] in CLOSE:
            depth -= 1
            if depth == 0:
                return i
    raise ValueError("a bracket is not closed")


def asks(code):
    """Whether it ends like a `requires` before its braces: `requires (T x)`."""
    if code.endswith(")"):
        depth, at = 1, len(code) - 1
        while depth:
            at -= 1
            depth += (code[at] in CLOSE) - (code[at] in OPEN)
        code = code[:at].rstrip()
    return bool(re.search(r"\brequires$", code))


def statement_end(code, at):
    """(end of the statement, position of its body's brace or None)."""
    body = None
    i = at
    while i < len(code):
        c = code[i]
        if c == ";":
            return i + 1, body
        if c in "([":
            i = closing(code, i)
        elif c == "{":
            before = code[at:i].rstrip()
            end = closing(code, i)
            after = code[end + 1:].lstrip()[:1]
            wish = asks(before) or ("concept" in before and "=" in before)
            if after == ";":
                return code.index(";", end) + 1, i
            if not wish and after not in ("{", ",", "&", "|", ")"):
                return end + 1, i
            i = end
        i += 1
    return len(code), body


class Reader:
    def __init__(self, path, text):
        self.path, self.text = path, text
        self.code, self.comments = blanked(text)

    def line(self, at):
        return self.text.count("\n", 0, at) + 1

    def read(self):
        items = self.scope(0, len(self.code), "", "public")
        first = re.match(r"(?:#pragma once\s*)?((?://[^\n]*\n)+)", self.text)
        opening = "\n".join(re.sub(r"^// ?", "", part) for part in first[1].split("\n")) if first else ""
        return opening.strip("\n"), items

    def above(self, begin, low):
        """The comment that ends on the line before `begin`, as (its begin, text)."""
        start, words = begin, []
        for first, last, text in reversed(self.comments):
            if last > start or first < low:
                continue
            between = self.text[last:start]
            if between.strip(" \t\n") or between.count("\n") > 1:
                break
            if self.text[self.text.rfind("\n", 0, first) + 1:first].strip():
                break  # to the right of something else
            start = first
            words.insert(0, text)
        return start, "\n".join(words)

    def beside(self, begin, end):
        """Comments to the right of a declaration's lines, and their continuation below in the same column."""
        line_end = self.text.find("\n", end)
        words, column = [], None
        for first, last, text in self.comments:
            where = first - self.text.rfind("\n", 0, first)
            if begin <= first <= line_end:
                words.append(text)
                column, line_end = where, self.text.find("\n", last)
            elif column is not None and first > line_end and where == column > 20 and \
                    not self.text[line_end:first].strip() and self.text[line_end:first].count("\n") == 1:
                words.append(text)
                line_end = self.text.find("\n", last)
        return "\n".join(words)

    def scope(self, begin, end, owner, access):
        items, i, low = [], begin, begin
        while i < end:
            if self.code[i].isspace():
                i += 1
                continue
            label = re.match(r"(public|protected|private)\s*:(?!:)", self.code[i:end])
            if label:
                access = label[1]
                i += label.end()
                low = i
                continue
            if self.code[i] == ";":
                i += 1
                continue
            inside = re.match(r"(inline )?namespace\s+([\w:]*)\s*\{", self.code[i:end])
            stop, brace = statement_end(self.code, i)
            if inside:
                last = closing(self.code, i + inside.end() - 1)
                if "detail" not in inside[2]:
                    items += self.scope(i + inside.end(), last, owner, "public")
                i = low = last + 1
                continue
            if access == "public":
                self.declaration(items, i, stop, brace, owner, low)
            i = low = stop
        return items

    def declaration(self, items, begin, end, brace, owner, low):
        code = self.code[begin:end]
        flat = re.sub(r"\s+", " ", code)
        start, comment = self.above(begin, low)
        # Comments that belong to no declaration are sections.
        for words in self.sections(low, start):
            items.append(Item("section", "", "", words, self.line(start)))
        bare = re.sub(r"^(template ?<)", r"\1", flat)
        while bare.startswith("template"):
            bare = bare[angle(bare, bare.index("<")) + 1:].lstrip()
            bare = re.sub(r"^requires\s*\(", "(", bare)
            if bare.startswith("("):
                bare = bare[closing(bare, 0) + 1:].lstrip()
        bare = re.sub(r"\[\[.*?\]\] ?", "", bare)
        if re.match(r"(friend (class|struct)|static_assert|extern template|using namespace)\b", bare) or re.search(r"= delete\s*;$", flat):
            return
        kind, name = classify(bare, owner)
        if not name or (kind == "class" and brace is None and not comment) or name.endswith("_detail"):
            return
        shown_end = end
        if brace is not None and kind in ("function", "class"):
            shown_end = brace
        shown = self.text[begin:shown_end].rstrip()
        if kind == "function":
            shown = without_initialisers(shown, self.code[begin:shown_end].rstrip())
            shown += "" if shown.endswith(";") else ";"
        side = self.beside(begin, end if kind != "class" else brace or end)
        indent = " " * (begin - self.text.rfind("\n", 0, begin) - 1)
        shown = "\n".join(l[len(indent):] if l.startswith(indent) else l for l in shown.split("\n"))
        between = self.text[low:start]
        if flat.endswith("= default;") and not comment and not side:
            return
        item = Item(kind, name, shown, comment, self.line(begin), side=side,
                    joined=not comment and between.count("\n") <= 1 and bool(items) and items[-1].kind != "section")
        if kind == "class" and brace is not None:
            default = "private" if bare.startswith("class") else "public"
            item.items = self.scope(brace + 1, closing(self.code, brace), name, default)
            rest = self.code[closing(self.code, brace) + 1:end].strip(" ;\n")
            plain = all(part.kind in ("variable", "section") for part in item.items)
            if plain and default == "public":
                item.kind = "struct"
                item.code = self.text[begin:end].rstrip() if not rest else item.code
                item.code = "\n".join(l[len(indent):] if l.startswith(indent) else l for l in item.code.split("\n"))
        items.append(item)
        if kind == "variable":  # a, b: the code is that of all, the name that of the last
            for other in declared_names(bare)[:-1]:
                items.insert(-1, Item(kind, other, "", comment, item.line, item.joined, side=side))

    def sections(self, low, high):
        group, last_end = [], None
        for first, last, text in self.comments:
            if not low <= first < high or self.text[self.text.rfind("\n", 0, first) + 1:first].strip():
                continue
            if last_end is not None and self.text[last_end:first].count("\n") > 1:
                yield "\n".join(group)
                group = []
            group.append(text)
            last_end = last
        if group:
            yield "\n".join(group)


def declared_names(code):
    """The names of variables that are declared together: of `T a = {}, b{}, c`, all three."""
    head = strip_angles(code)
    while (flat := re.sub(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}", "", head)) != head:
        head = flat
    names = [re.sub(r"\s*(=.*)?;?\s*$", "", part) for part in head.split(",")]
    return [name.split()[-1] for name in names if re.search(r"\w$", name)]


def angle(code, at):
    depth = 0
    for i in range(at, len(code)):
        if code[i] == "<":
            depth += 1
        elif code[i] == ">" and code[i - 1] != "-":
            depth -= 1
            if depth == 0:
                return i
    raise ValueError("template brackets: " + code)


def without_initialisers(shown, code):
    """A constructor's text up to its initializer list."""
    depth = 0
    for i, c in enumerate(code):
        if c in OPEN:
            depth += 1
        elif c in CLOSE:
            depth -= 1
        elif c == ":" and depth == 0 and code[i - 1] != ":" and code[i + 1:i + 2] != ":" and ")" in code[:i]:
            return shown[:i].rstrip()
    return shown


def classify(code, owner):
    if match := re.match(r"enum (?:class |struct )?(\w+)", code):
        return "enum", match[1]
    if match := re.match(r"concept (\w+)", code):
        return "concept", match[1]
    if match := re.match(r"using (\w+) =", code):
        return "type", match[1]
    if match := re.match(r"using [\w:]+::(\w+);", code):
        return "type", match[1]
    if match := re.match(r"(?:class|struct|union) (?:alignas\([^)]*\) )?(\w+)(?: final)?(<[^{]*>)?\s*(?::[^:]|\{|;|$)", code):
        return "class", match[1]
    code = re.sub(r"^(friend |inline |constexpr |static |explicit |virtual |extern )+", "", code)
    if match := re.search(r"\boperator\s*(\(\)|\[\]|[^\s(\w]+|[\w:<> ]+?)\s*\(", code):
        return "function", "operator" + match[1].strip() if not match[1][:1].isalpha() else "operator " + match[1].strip()
    head = re.split(r"=(?!=)", code, maxsplit=1)[0]
    if match := re.search(r"(~?\w+)\s*\(", strip_angles(head)):
        if match[1] not in ("requires", "decltype", "alignas", "noexcept"):
            return "function", match[1]
        if match := re.search(r"\)\s.*?(\w+)\s*\(", strip_angles(head)):
            return "function", match[1]
    names = declared_names(code)
    return ("variable", names[-1]) if names else ("", "")


def strip_angles(code):
    out, depth = [], 0
    for i, c in enumerate(code):
        if c == "<":
            depth += 1
        elif c == ">" and code[i - 1] != "-" and depth:
            depth -= 1
        elif not depth:
            out.append(c)
    return "".join(out)


def read_header(root, path):
    return Reader(path, (root / path).read_text()).read()


def walk(items, owner=None):
    for item in items:
        if item.kind != "section":
            yield owner, item
        yield from walk(item.items, item)
