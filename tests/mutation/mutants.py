"""The small changes of C++ that tests should notice: other operators, constants and conditions, deleted statements.

The sources are read as text. What is formatted as this tree is has spaces around binary operators, and none beside
those of types (`Tensor*`, `A&&`, `vector<int>`), so that text tells them apart. A change that does not compile costs time
and nothing else: it is not counted.
"""

import re
from typing import NamedTuple

OTHERS = {
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"], "&": ["|"], "|": ["&"], "^": ["&"], "<<": [">>"], ">>": ["<<"],
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
    "&&": ["||"], "||": ["&&"], "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="],
}
NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<end>\w*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'|^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)
BINARY = re.compile(r"(?<= )(<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|[-+*/%&|^<>])(?=[ \n])")
STEP = re.compile(r"\+\+|--")
INTEGER = re.compile(r"(?<![\w.'])(?<!\de[-+])\d+(?![\w.'])")
REAL = re.compile(r"(?<![\w.'])(?:\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+)f?(?![\w.'])")
TRUTH = re.compile(r"\b(?:true|false)\b")
CHOICE = re.compile(r"\bstd::(?:min|max)\b(?=[(<])")
CONDITION = re.compile(r"\b(?:if|while) \(")
# Where a statement may begin; those of these words are declarations, or change where the program goes on.
BEGINS = re.compile(r"[;{}]\s*|\belse\s+|\bdo\s+")
KEPT = re.compile(
    r"(?:return|throw|break|continue|using|namespace|template|class|struct|enum|typedef|case|default|goto|public|private|"
    r"protected|const|constexpr|consteval|constinit|static|auto|extern|friend|inline|if|for|while|switch|do|else|try|"
    r"catch|operator|explicit|virtual)\b|[\[~#:]")
DECLARES = re.compile(r"[\w:<>,*& ]*[\w>*&]\s+[*&]*\w+\s*(?:=|\{|$)")  # a type, a name
# A file that a wrong name removes, or a process that a wrong number ends, may be anybody's.
DANGEROUS = re.compile(r"\b(?:kill|unlink\w*|remove|remove_all|rename|rmdir|fork|exec\w*)\(")


class Mutant(NamedTuple):
    file: str
    start: int
    end: int
    after: str
    kind: str

    def apply(self, text):
        return text[:self.start] + self.after + text[self.end:]

    def lines(self, text):
        """(number, column, the line before, after the change); a statement of several lines is joined."""
        first = text.rfind("\n", 0, self.start) + 1
        last = text.find("\n", self.end)
        last = len(text) if last < 0 else last
        after = text[first:self.start] + self.after + text[self.end:last]
        return text.count("\n", 0, self.start) + 1, self.start - first + 1, *(
            " ".join(part.split()) for part in (text[first:last], after))


def closing(text, opening):
    """Where the bracket that opens at `opening` closes; -1 if nowhere."""
    depth = 0
    for at in range(opening, len(text)):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
            if depth == 0:
                return at
    return -1


def masked(text):
    """The text with spaces in place of comments, texts, preprocessor lines, static_asserts and the arguments of errors."""
    code = NOT_CODE.sub(lambda match: re.sub(r"[^\n]", "\0" if match[0][0] == '"' else " ", match[0]), text)
    letters = list(code)

    def blank(start, end):
        for at in range(start, end):
            if letters[at] != "\n":
                letters[at] = " "

    for match in re.finditer(r"\b(static_assert|requires|fail\w*|check\w*|expect\w*) ?\(", code):
        end = closing(code, match.end() - 1)
        if end < 0:
            continue
        start = match.end()
        if match[1].startswith(("check", "expect")):  # check(condition, "text {}", values)
            start = code.find("\0", start, end)
            if start < 0:
                continue
        blank(start, end)
    return "".join(letters).replace("\0", "_")


def in_parentheses(code):
    """For each place, whether the innermost bracket around it is a parenthesis."""
    inside, stack = [], []
    for letter in code:
        if letter in ")]}" and stack:
            stack.pop()
        inside.append(bool(stack) and stack[-1] != "{")
        if letter in "([{":
            stack.append(letter)
    return inside + [False]


def statements(code):
    """(start, end) of the expression statements, without their semicolons."""
    inside = in_parentheses(code)
    starts = {match.end() for match in BEGINS.finditer(code) if not inside[match.end()]}
    for match in re.finditer(r"\b(?:if|for|while)(?: constexpr)? \(", code):
        end = closing(code, match.end() - 1)
        if end >= 0:
            starts.add(end + 1 + len(code[end + 1:]) - len(code[end + 1:].lstrip()))
    for start in sorted(starts):
        if KEPT.match(code, start) or not re.match(r"[\w(+*-]", code[start:start + 1]):
            continue
        end = start
        while end < len(code) and code[end] not in ";{}":
            end = closing(code, end) + 1 if code[end] in "([" else end + 1
            if end == 0:
                break
        if 0 < end < len(code) and code[end] == ";" and not DECLARES.match(code[start:end]):
            yield start, end


def mutants(file, text):
    """All mutants of a file, in the order of their places."""
    code = masked(text)
    found = []

    def add(start, end, after, kind):
        line = code[code.rfind("\n", 0, start) + 1:code.find("\n", end)]
        if not DANGEROUS.search(line) and text[start:end] != after:
            found.append(Mutant(file, start, end, after, kind))

    for match in BINARY.finditer(code):
        kind = "comparison" if match[0] in ("<", "<=", ">", ">=", "==", "!=") else "operator"
        for other in OTHERS[match[0]]:
            add(match.start(), match.end(), other, kind)
    for match in STEP.finditer(code):
        add(match.start(), match.end(), "--" if match[0] == "++" else "++", "operator")
    for match in CHOICE.finditer(code):
        add(match.start(), match.end(), "std::max" if match[0].endswith("min") else "std::min", "operator")
    for match in INTEGER.finditer(code):
        add(match.start(), match.end(), str(int(match[0]) + 1), "constant")
        if int(match[0]) > 0:
            add(match.start(), match.end(), str(int(match[0]) - 1), "constant")
    for match in REAL.finditer(code):
        zero = float(match[0].rstrip("f")) == 0
        add(match.start(), match.end(), match[0].replace("0", "1", 1) if zero else f"(2 * {match[0]})", "constant")
    for match in TRUTH.finditer(code):
        add(match.start(), match.end(), "false" if match[0] == "true" else "true", "constant")
    for match in CONDITION.finditer(code):
        end = closing(code, match.end() - 1)
        inside = code[match.end():end]
        if end >= 0 and ";" not in inside and not re.search(r" = ", inside):
            add(match.end(), end, f"!({text[match.end():end]})", "condition")
    for start, end in statements(code):
        add(start, end, "", "statement")
    return sorted(set(found), key=lambda mutant: (mutant.start, mutant.end, mutant.after))
