"""Walks through a file's paragraphs and replaces each by the result of say(paragraph).

A paragraph is a unit of translation: a heading, a paragraph joined to one line, a table cell, a picture's description.
Code, output, formulas ($$ ... $$, or indented) and comments are copied unchanged.
"""
import json
import re

CELL = re.compile(r"(?<!\\)\|")
ITEM = re.compile(r"(\s*)([-*]|\d+\.)(\s+)")


def has_words(text):
    """Whether there is anything to translate: `x [B, T, C]` is the same in every language."""
    rest = re.sub(r"`[^`]*`|\$[^$]*\$|\]\([^)]*\)|https?://\S+", " ", text)
    return re.search(r"[A-Za-z]{3}", rest) is not None or re.fullmatch(r"\W*(no|is|in|at)\W*", rest) is not None


def of_line(line, say):
    """A line that is a paragraph by itself."""
    if line.lstrip().startswith("<img"):
        return re.sub(r'(\balt=")([^"]*)(")', lambda alt: alt[1] + say(alt[2]).replace('"', "&quot;") + alt[3], line)
    return re.sub(r"(<summary>)(.*?)(</summary>)", lambda words: words[1] + say(words[2]) + words[3], line)


def of_row(line, say):
    cells = CELL.split(line.strip())[1:-1]
    return "|" + "|".join(f" {say(cell.strip()) if has_words(cell) else cell.strip()} " for cell in cells) + "|"


def is_row(line):
    """Whether the line is a table row; a line of prose may begin with |x|, too."""
    return re.fullmatch(r"\|.*\|", line.strip()) is not None


def alone(line):
    return not line.strip() or is_row(line) or re.match(r"\s*(<!--|<img|</?details|```|\$\$|#+ )", line)


def of_markdown(text, say):
    lines, out, i, item, before_blank = text.split("\n"), [], 0, 0, True
    while i < len(lines):
        line, start = lines[i], len(out)
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent < item and not ITEM.match(line):
            item = 0
        if line.lstrip().startswith(("```", "$$")):
            fence = re.match(r"\s*(`+|\$\$)", line)[1]
            out.append(line)
            i += 1
            while i < len(lines) and lines[i].strip() != fence:
                out.append(lines[i])
                i += 1
            out += lines[i:i + 1]
        elif not line.strip() or (before_blank and indent >= item + 4 and not ITEM.match(line)):
            out.append(line)
        elif line.lstrip().startswith("<!--"):
            while "-->" not in lines[i]:
                out.append(lines[i])
                i += 1
            out.append(lines[i])
        elif re.match(r"\s*(<img|</?details)", line):
            while "<img" in lines[i] and ">" not in lines[i] and i + 1 < len(lines):  # over several lines
                i += 1
                lines[i] = line = line + " " + lines[i].strip()
            out.append(of_line(line, say))
        elif is_row(line):
            out.append(line if re.fullmatch(r"[\s|:-]+", line) else of_row(line, say))
        elif line.startswith("#"):
            marks, title = line.split(" ", 1)
            out.append(f"{marks} {say(title)}")
            if out[-1] != line:
                out.append(f"<!-- title: {title} -->")  # its anchor is the source's: pages.py
        else:
            mark = ITEM.match(line)
            if mark:
                item = len(mark[0])
            mark = mark[0] if mark else line[:indent]
            words = [line[len(mark):].strip()]
            while i + 1 < len(lines) and not alone(lines[i + 1]) and not ITEM.match(lines[i + 1]):
                i += 1
                words.append(lines[i].strip())
            words = " ".join(words)
            out.append(mark + (say(words) if has_words(words) else words))
        before_blank = not out[-1].strip() or (before_blank and len(out) == start + 1 and indent >= item + 4)
        i += 1
    return "\n".join(out)


def explanation(stub):
    """The paragraphs of a stub's opening comment, without formulas, which are indented."""
    comment = re.search(r"^//.*(?:\n//.*)*", stub, re.M)
    lines = [line[2:] for line in comment[0].split("\n")] if comment else []
    found = [[]]
    for line in lines:
        if line.strip() and not line.startswith("  "):
            found[-1].append(line.strip())
        elif found[-1]:
            found.append([])
    return [" ".join(words) for words in found if words]


def of_exercise(folder):
    """All texts of ./run learn for one exercise."""
    exercise = json.loads((folder / "exercise.json").read_text(encoding="utf-8"))
    found = [exercise["title"], *explanation((folder / "stub.h").read_text(encoding="utf-8")), exercise["note"], *exercise["hints"]]
    questions = json.loads((folder / "questions.json").read_text(encoding="utf-8")) if (folder / "questions.json").exists() else {}
    for one in questions.get("predictions", []):
        found += [one["ask"], one.get("unit", ""), one["note"]]
    for one in questions.get("choices", []):
        found += [one["ask"]] + [words for option in one["options"] for words in (option["text"], option["why"])]
    found += literals(r"\bCASE\(", folder / "cases.h")
    found = [words for words in found if has_words(words)]
    # What a case says of a wrong answer, and the answers to the page's exercises: many are formulas, such as sum_to(dy, [2, 3]).
    others = arguments(r"\b(?:near|expect|problem|phrase)\(", folder / "cases.h")
    others += [one.get(key, "") for one in questions.get("answers", []) for key in ("of", "unit", "how")]
    found += [words for words in others if has_words(without_names(words))]
    return list(dict.fromkeys(found))


def without_names(text):
    """A formula's text without the names of functions and variables."""
    return re.sub(r"\b(\w+(?=\()|\w*_\w*|log(10)?\b)", " ", text)


TEXT = r'"(?:[^"\\]|\\.)*"'


def joined(literal):
    """The text of adjacent C++ literals: of "a" "b"."""
    return "".join(json.loads(part) for part in re.findall(TEXT, literal))


def arguments(call, path):
    """The string literals that are arguments of a call in a C++ file, at any place but not inside another call."""
    source = path.read_text(encoding="utf-8")
    found = []
    for begin in re.finditer(call, source):
        depth, given, at = 1, "", begin.end()
        while depth:
            text = re.compile(TEXT).match(source, at)
            depth += 0 if text else (source[at] in "([{") - (source[at] in ")]}")
            given += (text[0] if text else source[at]) if depth == 1 else " "
            at = text.end() if text else at + 1
        # An argument is a literal, or one of two after a condition.
        found += [joined(one) for one in re.findall(rf"(?<![\w+])(?:(?<=[,?:])|^)\s*({TEXT}(?:\s*{TEXT})*)\s*(?=[,:]|$)", given)]
    return found


def literals(call, path):
    """The string arguments of a call in a C++ file, in order; adjacent literals are joined."""
    source = path.read_text(encoding="utf-8")
    found = []
    for begin in re.finditer(call, source):
        given = re.compile(rf"\s*({TEXT}(?:\s*{TEXT})*(?:\s*,\s*{TEXT}(?:\s*{TEXT})*)*)").match(source, begin.end())
        found += [joined(one) for one in re.findall(rf"{TEXT}(?:\s*{TEXT})*", given[1])] if given else []
    return found


def of_program(folder):
    """The phrases that a program looks up in its catalogue: phrase("...")."""
    return list(dict.fromkeys(words for path in sorted(folder.rglob("*.cpp")) for words in literals(r"\bphrase\(", path)))


def units(text):
    """The paragraphs of a page, in order, without duplicates."""
    found = {}

    def note(words):
        found[words] = True
        return words
    of_markdown(text, note)
    return list(found)
