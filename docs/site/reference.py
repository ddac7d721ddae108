"""The reference: pages from the installed headers' comments (parsed by headers.py), and the check that every name has one.

reference.py --check ROOT lists the public names without a comment, and fails if there are any.
"""
import re
import sys
import textwrap
from pathlib import Path

import headers

# Names with the meaning they have in the standard library need no comment.
STANDARD = {"begin", "end", "size", "empty", "data", "get", "what", "swap"}
TITLES = {"core": "Tensor and its constructors", "ops": "the catalogue", "nn/module": "Module"}


def read(root):
    return {path: headers.read_header(root, path) for path in headers.public_headers(root)}


def folder_of(path):
    return path.rsplit("/", 1)[0]


# ---- names without a comment

def undocumented(read_headers):
    """(path, line, name) of each public name without documentation.

    The following count: a comment above or next to any declaration of that name, one above a group of declarations without
    empty lines, a comment of its class that names it, the header's opening comment if it begins with the name, and for
    options the comment of the function or class that takes them.
    Methods of Tensor are explained as the ops of the same name.
    """
    declared, documented = {}, set()
    text = "\n".join(item.code for opening, items in read_headers.values() for _, item in headers.walk(items))

    def visit(path, items, owner, of_owner=""):
        above = False
        for item in items:
            if item.kind == "section":
                above = False
                continue
            name = owner + item.name
            declared.setdefault(name, (path, item.line))
            above = bool(item.comment) or (item.joined and above)
            if above or item.side or re.search(rf"\b{re.escape(item.name)}\b", of_owner):
                documented.add(name)
            visit(path, item.items, name + "::", item.comment)

    for path, (opening, items) in read_headers.items():
        visit(path, items, "")
        if first := re.match(r"(\w+): ", opening):
            documented.add(first[1])
    for name, (path, line) in declared.items():
        owner, _, last = name.rpartition("::")
        special = owner and (last == owner.split("::")[-1] or last[0] == "~" or last.startswith("operator") or last in STANDARD)
        as_op = owner == "Tensor" and last in documented
        options = last.endswith("Options") and re.search(rf"\b{last}&? ", text)
        if name not in documented and not special and not as_op and not options:
            yield path, line, name


# ---- pages

def words(comment):
    """A comment as Markdown: indented lines are code, and the only markup is `...`."""
    out = []
    # Blocks of code, with the empty lines inside them, and the text between these blocks.
    for block in re.findall(r"(?:^ {2,}(?![-*] ).*\n(?:\n(?=  ))?)+|(?:^(?! {2,}(?![-*] )).*\n)+", comment + "\n", re.M):
        if block.startswith("  ") and not (out and out[-1].lstrip().startswith("- ")):
            language = "cpp" if ";" in block or "//" in block else "text"
            block = textwrap.dedent(block).rstrip()
            if block[0] == block[-1] == "`":  # a program's message
                language, block = "text", block.strip("`")
            out.append(f"```{language}\n{block}\n```\n")
        else:
            out.append(prose(block))
    return "\n".join(out).strip("\n")


def prose(block):
    parts = re.split(r"(`[^`]*`)", block)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"([*_<>\\|\[\]])", r"\\\1", parts[i])
        parts[i] = re.sub(r"\bdocs/(?:\w|\\_)+\.md", lambda match: f"[{match[0]}](../{match[0]})".replace("\\_", "_"), parts[i])
    return re.sub(r"^([+#%]|\d+[.)])", r"\\\1", "".join(parts), flags=re.M)


def section(comment):
    """A section's comment: a heading if it begins with dashes, otherwise text."""
    if not comment.startswith("--"):
        return words(comment)
    return "**" + prose(re.sub(r"^-+ *", "", comment)).strip().replace("\n", " ") + "**"


def dotted(owner, name):
    return (owner + "." + name if owner else name).replace("::", ".")


def show(items, owner, namespace=""):
    out, i = [], 0
    while i < len(items):
        item = items[i]
        if item.kind == "section":
            out.append(section(item.comment) + "\n")
            i += 1
            continue
        group = [item]
        if item.kind not in ("class",):
            while i + len(group) < len(items) and items[i + len(group)].joined and items[i + len(group)].kind != "class":
                group.append(items[i + len(group)])
        i += len(group)
        comment, opening = item.comment, item.code
        code = "\n".join(with_side(part) for part in group if part.code)
        if item.kind == "class":
            out.append(f"#### {item.name}\n" if not owner else f"**{owner}::{item.name}**\n")
        names = [dotted(owner, part.name) for part in group]
        for part in group:
            if part.kind in ("struct", "enum"):
                names += [dotted(owner, part.name + "." + field.name) for field in part.items if field.kind != "section"]
        names = list(dict.fromkeys(name.replace(" ", "") for name in names if "," not in name and "~" not in name)) or [item.name]
        out.append(f"`````{{declarations}} {item.kind} {','.join(names) or item.name}\n{code}\n`````\n")
        if comment:
            out.append(words(comment) + "\n")
        if item.kind == "class" and item.items:
            out.append("".join(line + "\n" for line in show(item.items, dotted(owner, item.name))))
    return out


def with_side(item):
    """An item's code with the comment on its right, unless the code contains it."""
    if item.kind in ("struct", "enum") or not item.side or "//" in item.code:
        return item.code
    lines = item.side.split("\n")
    if len(lines) == 1 and len(item.code.split("\n")[-1]) + len(lines[0]) < 100:
        return f"{item.code}  // {lines[0]}"
    return "\n".join([*(f"// {line}" for line in lines), item.code])


def pages(root):
    read_headers = read(root)
    folders = {}
    for path, content in read_headers.items():
        folders.setdefault(folder_of(path), []).append((path, *content))
    out = {}
    for folder, parts in folders.items():
        text = [f"# {TITLES.get(folder, folder)}\n" if folder not in TITLES else f"# {folder}: {TITLES[folder]}\n"]
        for path, opening, items in parts:
            text.append(f"## {path}\n")
            text.append(f"[The header](../{path})\n")
            if opening:
                text.append(words(opening) + "\n")
            text += show(items, "")
        out[folder.replace("/", "-")] = "\n".join(text)
    out["index"] = index(folders)
    return out


def index(folders):
    text = ["# Reference\n", "Every public name, from the comments of the installed headers, in their order. "
            "`#include <gradus/gradus.h>` includes all of core, ops, nn, optim and data; "
            "`<gradus/distributed/distributed.h>`, `<gradus/kit/kit.h>` and `<gradus/text/text.h>` are their own. Names are in the "
            "namespace `gradus`; those of nn, optim, data, distributed, kit and text in "
            "`gradus::nn` and so on. The [index](../genindex) has all names from A to Z.\n"]
    for folder, parts in folders.items():
        text.append(f"| [{folder}]({folder.replace('/', '-')}.md) | |\n|---|---|")
        for path, opening, items in parts:
            names = dict.fromkeys(item.name for item in items if item.kind != "section" and not item.name.startswith(("operator", "~")))
            page = folder.replace("/", "-") + ".md"
            links = ", ".join(f"[`{name}`]({page}#{dotted('', name)})" for name in names)
            text.append(f"| [{path.rsplit('/', 1)[1]}]({page}#{slug(path)}) | {links} |")
        text.append("")
    listed = "\n".join(folder.replace("/", "-") for folder in folders)
    text.append(f"```{{toctree}}\n:hidden:\n\n{listed}\n```\n")
    return "\n".join(text)


def slug(title):
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def main():
    if len(sys.argv) != 3 or sys.argv[1] != "--check":
        sys.exit(__doc__)
    read_headers = read(Path(sys.argv[2]))
    missing = list(undocumented(read_headers))
    for path, line, name in missing:
        print(f"{path}:{line}: {name} has no comment")
    count = len({owner.name + "::" + item.name if owner else item.name
                 for _, items in read_headers.values() for owner, item in headers.walk(items)})
    print(f"{count} public names in {len(read_headers)} headers, {len(missing)} without a comment")
    sys.exit(bool(missing) or count < 1000)


if __name__ == "__main__":
    main()
