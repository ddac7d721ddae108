"""gettext catalogues (.po), which map paragraphs to their translations, and the check for translations that lost something."""
import difflib
import re
from collections import Counter
from pathlib import Path

ESCAPES = {"\\n": "\n", "\\t": "\t", '\\"': '"', "\\\\": "\\"}


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


class Catalogue:
    """entries: source paragraph -> translation, or "" if there is none; fuzzy: those whose source has changed since."""

    def __init__(self, path):
        self.path, self.header, self.entries, self.fuzzy = Path(path), {}, {}, {}
        if self.path.exists():
            self.read(self.path.read_text(encoding="utf-8"))

    def read(self, text):
        for block in re.split(r"\n\s*\n", text):
            fields, field = {}, None
            for line in block.splitlines():
                found = re.match(r'(msgid|msgstr)? ?"(.*)"$', line)
                if found:
                    field = found[1] or field
                    fields[field] = fields.get(field, "") + re.sub(r"\\.", lambda e: ESCAPES.get(e[0], e[0]), found[2])
            if not fields:
                continue
            source, translation = fields["msgid"], fields["msgstr"]
            if not source:
                self.header = dict(line.split(": ", 1) if ": " in line else (line.rstrip(":"), "") for line in translation.splitlines())
            elif re.search(r"^#,.*\bfuzzy\b", block, re.M):
                self.fuzzy[source] = translation
            else:
                self.entries[source] = translation

    def say(self, source):
        """The translation, or the paragraph itself if it has none or has changed since it was translated."""
        return self.entries.get(source) or source

    def update(self, units):
        """Sets the entries to `units`. A changed paragraph keeps its old translation, marked as fuzzy."""
        old = {source: words for source, words in {**self.fuzzy, **self.entries}.items() if words}
        gone = [source for source in old if source not in units]
        entries, fuzzy = {}, {}
        for source in units:
            if self.entries.get(source):
                entries[source] = self.entries[source]
                continue
            near = [source] if source in self.fuzzy else difflib.get_close_matches(source, gone, 1, 0.6)
            if near and near[0] in old:
                fuzzy[source] = old[near[0]]
            entries[source] = ""
        self.entries, self.fuzzy = entries, fuzzy

    def write(self, language, page):
        self.header = {"Language": language, "MIME-Version": "1.0", "Content-Type": "text/plain; charset=UTF-8",
                       "Content-Transfer-Encoding": "8bit", "X-Reviewed-By": self.header.get("X-Reviewed-By", "")}
        blocks = [f"# {page}\nmsgid \"\"\nmsgstr \"\"\n" + "\n".join(quoted(f"{key}: {value}\n") for key, value in self.header.items())]
        for source, translation in self.entries.items():
            mark = "#, fuzzy\n" if source in self.fuzzy else ""
            blocks.append(f"{mark}msgid {quoted(source)}\nmsgstr {quoted(self.fuzzy.get(source, translation))}")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


def parts(text):
    """The parts that a translation must contain as often as its source."""
    code = re.findall(r"`+[^`]*`+", text)
    rest = re.sub(r"`+[^`]*`+", " ", text)
    formulas = re.findall(r"\$[^$]+\$", rest)
    rest = re.sub(r"\$[^$]+\$", " ", rest)
    links = re.findall(r"\]\(([^()]*)\)", rest)
    rest = re.sub(r"\]\([^()]*\)", "]", rest)
    return {"code": Counter(code), "formulas": Counter(formulas), "links": Counter(links), "pictures": Counter(re.findall(r"<img[^>]*>", rest)),
            "numbers": Counter(re.findall(r"\d+(?:[.,]\d+)*", rest)),
            "signs of equations": Counter(re.findall(r"[√²³=≤≥∂Σᵀ^|≈∈δ]", rest)), "stars": Counter(re.findall(r"\*+", rest)),
            "braces": Counter(re.findall(r"\{[^{}]*\}|[{}]", rest))}


LATIN_1 = re.compile("[ÃÂÄÅÐÑØÙÚÛ][\u0080-\u00bf€‚ƒ„†‡ˆ‰Š‹ŒŽ•˜™š›œžŸ]|â€|ï»¿|[åæçèé][\u0080-\u00bf]{2}")
ARABIC = {"ي": "ی", "ك": "ک", "ى": "ی", "ة": "ه"} | {chr(0x660 + i): str(i) for i in range(10)} | {chr(0x6f0 + i): str(i) for i in range(10)}


def problems(language, source, translation):
    """Describes each fault of a translation."""
    found = []
    ours, theirs = parts(source), parts(translation)
    for kind in ours:
        if ours[kind] != theirs[kind]:
            lost, more = ours[kind] - theirs[kind], theirs[kind] - ours[kind]
            found.append(f"{kind}: " + ", ".join([f"{x} is missing" for x in lost] + [f"{x} is not in the source" for x in more]))
    if "\ufffd" in translation or LATIN_1.search(translation):
        found.append("broken characters: UTF-8 that was read as something else")
    if re.search("[\u200e\u200f\u202a-\u202e\u2066-\u2069]", translation):
        found.append("direction marks: the site adds them itself")
    for place, stars in enumerate(re.finditer(r"\*+", re.sub(r"`[^`]*`", "``", translation))):
        before, after = stars.string[:stars.start()][-1:], stars.string[stars.end():][:1]
        inside, outside = (before, after) if place % 2 else (after, before)
        if outside.isalnum() and not inside.isalnum():
            found.append(f"stars that are not markup, for lack of a space: {stars.string[max(0, stars.start() - 9):stars.end() + 9]}")
    if language == "fa":
        found += [f"{x} (U+{ord(x):04X}) in place of {ARABIC[x]}" for x in sorted(set(translation) & set(ARABIC))]
    if language == "zh" and re.search(r"[\u4e00-\u9fff][,;:?!](?![\w/])", translation):
        found.append("narrow punctuation after a Chinese character")
    return found
