"""check_order.py SOURCE: no program of a chapter, and no list "Useful" of an exercise, has a name before a page introduces it.

A page introduces a name where its prose, above "## Exercises", has the name alone in backticks: `randn`, `nn::Linear` or
`randn(shape)`. Quoted code and longer expressions do not count. The names are the classes, functions and other
declarations of the public headers at namespace scope; members of classes are not checked in programs. An exercise's list
"Useful" (stub.h) may name methods of Tensor, too, which a page introduces as `item()` or `x.item()`.

Every Greek letter of a chapter's formulas is in docs/notation.md.
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


def methods(root):
    """The names of Tensor's methods."""
    return set(re.findall(r"(?<![\w.:])(\w+)\(", headers.blanked((root / "core/tensor.h").read_text(encoding="utf-8"))[0]))


def introduced(page, prefix=""):
    prose = re.sub(r"^ *```.*?^ *```", "", page.split("\n## Exercises\n")[0], flags=re.M | re.S)
    spans = re.findall(r"`([^`]+)`", prose)
    return {match[1] for span in spans if (match := re.fullmatch(prefix + r"(?:\w+::)*(\w+)(?:\([^()]*\)|<\w+>)?", span))}


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


def useful(stub):
    """The names that an exercise's list "Useful" gives: functions, methods, and words that are an item of the list."""
    comment = re.search(r"Useful:(.*?)(?:\n(?!//)|\n//\n|$)", stub, re.S)
    text = re.sub(r"\n//", " ", comment[1]) if comment else ""
    found = [name for scope, name in re.findall(r"(std::)?\b(\w+)(?=\(|<)", text) if not scope]
    while (plain := re.sub(r"\([^()]*\)|\{[^{}]*\}|<[^<>]*>", "", text)) != text:
        text = plain
    return found + [item for item in re.split(r"[,;.]\s*|\s(?:and|for)\s", text) if re.fullmatch(r"\s*\w+\s*", item)]


def useful_problems(names, chapters):
    """Of chapters (name, page, stub) in their order; names: of functions and methods."""
    known = set()
    for chapter, page, stub in chapters:
        known |= introduced(page, r"(?:\w+(?:\[\w+\])?\.)?")
        for name in dict.fromkeys(name.strip() for name in useful(stub)):
            if name in names and name not in known:
                yield (f"examples/course/{chapter}/stub.h calls {name} useful, which no page up to this chapter introduces: say in "
                       f"docs/course/{chapter}/README.md what `{name}` does, with an example")
            known.add(name)


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


GREEK = ("alpha beta gamma delta epsilon varepsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi varphi chi psi "
         "omega Gamma Delta Theta Lambda Xi Pi Phi Psi Omega").split()


def letters(page):
    """The Greek letters of a page's formulas."""
    formulas = re.findall(r"\$[^$]+\$", re.sub(r"^ *```.*?^ *```|`[^`\n]*`", "", page, flags=re.M | re.S).replace("$$", "$"))
    return {name for formula in formulas for name in re.findall(r"\\([A-Za-z]+)", formula)} & set(GREEK)


def letter_problems(notation, chapters):
    known = letters(notation)
    for chapter, page, _ in chapters:
        for name in sorted(letters(page) - known):
            yield f"docs/course/{chapter}/README.md: $\\{name}$ is not in docs/notation.md: add what it stands for"


def self_test(names, chapters):
    """A copy in which a page does not introduce a name must fail, and so must one whose program uses a later name."""
    mute = [(chapter, page.replace("`nn::Embedding`", "an embedding"), program) for chapter, page, program in chapters]
    early = [(chapter, page, program + "nn::GPT gpt({});\n" * (at == 0)) for at, (chapter, page, program) in enumerate(chapters)]
    for copy, chapter, name in ((mute, "15_embeddings", "Embedding"), (early, "01_start", "GPT")):
        found = list(problems(names, copy))
        if len(found) != 1 or f"/{chapter}/main.cpp:" not in found[0] or f" uses {name}," not in found[0]:
            sys.exit(f"self-test: a copy with {name} missing from the page of {chapter} should give one problem, but gave {found}")


def letter_self_test(notation, chapters):
    """A copy of the notation without eta must fail."""
    if len(list(letter_problems(notation.replace("\\eta", "e"), chapters))) != 1:
        sys.exit("self-test: a notation without eta should give one problem")


def useful_self_test(names, chapters):
    """A copy in which a page does not introduce a useful name must fail."""
    mute = [(chapter, page.replace("`gather(x, axis, index)`", "gather"), stub) for chapter, page, stub in chapters]
    found = list(useful_problems(names, mute))
    if len(found) != 1 or "/07_cross_entropy/" not in found[0] or " gather " not in found[0]:
        sys.exit(f"self-test: a copy whose pages do not introduce gather should give one problem, but gave {found}")


def main(root):
    chapters, stubs = [], []
    for page in sorted((root / "docs/course").glob("[0-9][0-9]_*/README.md")):
        program = root / "examples/course" / page.parent.name / "main.cpp"
        text = page.read_text(encoding="utf-8")
        chapters.append((page.parent.name, text, program.read_text(encoding="utf-8")))
        stubs.append((page.parent.name, text, (program.parent / "stub.h").read_text(encoding="utf-8")))
    names, notation = public_names(root), (root / "docs/notation.md").read_text(encoding="utf-8")
    if found := [*problems(names, chapters), *useful_problems(names | methods(root), stubs), *letter_problems(notation, chapters)]:
        sys.exit("\n".join([*found, f"{len(found)} problems"]))
    self_test(names, chapters)
    useful_self_test(names | methods(root), stubs)
    letter_self_test(notation, chapters)
    print(f"{len(chapters)} chapters and their exercises use no name before it is introduced")


if len(sys.argv) != 2:
    sys.exit("usage: check_order.py SOURCE")
main(Path(sys.argv[1]))
