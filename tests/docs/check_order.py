"""check_order.py SOURCE: a chapter's program uses no name of the library before a page introduces it.

A page introduces a name where its prose, above "## Exercises", has the name alone in backticks: `randn`, `nn::Linear` or
`randn(shape)`. Quoted code and longer expressions do not count. The names are the classes, functions and other
declarations of the public headers at namespace scope; members of classes are not checked.
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs/site"))
sys.dont_write_bytecode = True
import headers  # noqa: E402

LIBRARY = ("gradus", "nn", "optim", "data", "kit", "text", "distributed")  # namespaces


def public_names(root):
    items = [item for path in headers.public_headers(root) for item in headers.read_header(root, path)[1]]
    return {item.name for item in items if item.kind != "section" and re.fullmatch(r"\w+", item.name)}


def introduced(page):
    prose = re.sub(r"^ *```.*?^ *```", "", page.split("\n## Exercises\n")[0], flags=re.M | re.S)
    spans = re.findall(r"`([^`]+)`", prose)
    return {match[1] for span in spans if (match := re.fullmatch(r"(?:\w+::)*(\w+)(?:\([^()]*\)|<\w+>)?", span))}


def declares(code, name):
    """Whether a program has something of its own by this name: `Tensor name(`, `struct name`, `auto& [key, name]`."""
    word = r"\b(?!(?:return|throw|else|case|new|using)\b)\w+(?:<[\w:, ]*>)?[&*]*\s+"
    return re.search(word + name + r"\s*[({=;,):\[]|, " + name + r" = |auto&* \[[^\]]*\b" + name + r"\b|"
                     r"enum [^;]*[{,]\s*" + name + r"\b", code)


def used(program, names):
    """The public names that a program uses, each with the line of its first use."""
    code, first = headers.blanked(program)[0], {}
    for match in re.finditer(r"(?<![\w.:])((?:\w+::)*)(\w+)", code.replace("->", "..")):
        scope, name = match.groups()
        ours = scope.split("::")[0] in LIBRARY if scope else not declares(code, name)
        if name in names and ours:
            first.setdefault(name, code.count("\n", 0, match.start()) + 1)
    return first


def problems(names, chapters):
    """Of chapters (name, page, program) in their order."""
    known = set()
    for chapter, page, program in chapters:
        known |= introduced(page)
        for name, line in used(program, names).items():
            if name not in known:
                yield (f"examples/course/{chapter}/main.cpp:{line} uses {name}, which no page up to this chapter introduces: "
                       f"say in docs/course/{chapter}/README.md what `{name}` does, for example in a paragraph **Names.** "
                       'below "## In code", with the name alone in backticks; or do without it')
            known.add(name)  # one message for each name


def self_test(names, chapters):
    """A copy in which a page does not introduce a name must fail, and so must one whose program uses a later name."""
    mute = [(chapter, page.replace("`nn::Embedding`", "an embedding"), program) for chapter, page, program in chapters]
    early = [(chapter, page, program + "nn::GPT gpt({});\n" * (at == 0)) for at, (chapter, page, program) in enumerate(chapters)]
    for copy, chapter, name in ((mute, "15_embeddings", "Embedding"), (early, "01_start", "GPT")):
        found = list(problems(names, copy))
        if len(found) != 1 or f"/{chapter}/main.cpp:" not in found[0] or f" uses {name}," not in found[0]:
            sys.exit(f"self-test: a copy with {name} missing from the page of {chapter} should give one problem, but gave {found}")


def main(root):
    chapters = []
    for page in sorted((root / "docs/course").glob("[0-9][0-9]_*/README.md")):
        program = root / "examples/course" / page.parent.name / "main.cpp"
        chapters.append((page.parent.name, page.read_text(encoding="utf-8"), program.read_text(encoding="utf-8")))
    names = public_names(root)
    if found := list(problems(names, chapters)):
        sys.exit("\n".join([*found, f"{len(found)} problems"]))
    self_test(names, chapters)
    print(f"{len(chapters)} chapters use no name before it is introduced")


if len(sys.argv) != 2:
    sys.exit("usage: check_order.py SOURCE")
main(Path(sys.argv[1]))
