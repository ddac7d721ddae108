"""The pages in other languages (docs/translations.md): their catalogues, docs/languages/LANGUAGE/*.po.

languages.py --check ROOT    lists missing and stale paragraphs; fails if a translation lost a link, code, a number or a character
languages.py --update ROOT   updates the catalogues to the current paragraphs
"""
import os
import re
import sys
from pathlib import Path

from catalogue import Catalogue, problems
from paragraphs import of_exercise, of_markdown, of_program, units

LANGUAGES = {"fa": "فارسی", "pt": "Português", "zh": "中文", "tr": "Türkçe"}
RIGHT_TO_LEFT = {"fa"}
PAGES = ["README.md", "docs/translations.md", "docs/notation.md", "docs/glossary.md",
         "docs/course/09_residual/README.md", "docs/course/11_layer_norm/README.md",
         "docs/course/12_norms/README.md", "docs/course/19_block/README.md", "docs/course/24_pre_and_post/README.md",
         "docs/course/25_theory/README.md", "docs/course/26_adam_and_warmup/README.md",
         "docs/course/28_update_size/README.md", "docs/course/30_lab/README.md", "docs/course/31_deep/README.md",
         "docs/course/33_hybrids/README.md"]
NOTICE = ("This page has been translated from English and awaits a native reviewer: a sentence may be wrong, or sound wrong. "
          "[How to send corrections](translations.md). Code, output and numbers are those of the English page. A paragraph in "
          "English has not been translated yet.")
# What the theme says around a page: the headings of the navigation (GROUPS in build.py), and words of its templates.
WORDS = ["The course", "How to", "Models", "The lab", "Reference", "Background", "Languages", "Search", "On this page", "Back to top"]


def catalogue(root, language, page):
    """The catalogue of a page, of an exercise (learn/11_layer_norm), or of the other texts of ./run learn (learn/program)."""
    name = page if page.startswith("learn/") else re.sub(r"^docs/|(?<=.)/README\.md$|\.md$", "", page)
    return Catalogue(root / "docs/languages" / language / (name + ".po"))


def paragraphs(root):
    """The paragraphs of every page and exercise, by name, and the phrases of ./run learn."""
    found = {page: units((root / page).read_text(encoding="utf-8")) for page in PAGES if (root / page).exists()}
    found["docs/translations.md"] += [NOTICE, *WORDS]
    for path in sorted(root.glob("examples/course/[0-9]*/exercise.json")):
        found["learn/" + path.parent.name] = of_exercise(path.parent)
    found["learn/program"] = of_program(root / "examples/learn")
    return found


def of_name(name):
    """Splits the name of a page of the site into language and page: fa/docs/notation is (fa, docs/notation)."""
    language, _, page = name.partition("/")
    return (language, page) if language in LANGUAGES else ("", name)


def pages(root):
    """Sphinx's input: for each language the pages that are translated, at least in part, by name."""
    found = {}
    for language in LANGUAGES:
        notice = catalogue(root, language, "docs/translations.md").say(NOTICE)
        for page in PAGES:
            words = catalogue(root, language, page)
            if not (root / page).exists() or not any(words.entries.values()):
                continue
            name = "index" if page == "README.md" else page[:-3]
            up = "../" * page.count("/")
            text = of_markdown((root / page).read_text(encoding="utf-8"), words.say)
            if not words.header.get("X-Reviewed-By"):
                links = notice.replace("(translations.md)", f"({up}docs/translations.md)")
                text = text.replace("\n\n", f"\n\n```{{admonition}} {LANGUAGES[language]}\n{links}\n```\n\n", 1)
            found[f"{language}/{name}"] = text
        rest = [name for name in found if name.startswith(language + "/") and name != f"{language}/index"]
        if f"{language}/index" in found:
            found[f"{language}/index"] += "\n```{toctree}\n:hidden:\n\n" + "\n".join("/" + name for name in rest) + "\n```\n"
    return found


def switch(names, name, address):
    """The links from a page to its other languages; names: all pages; address(NAME): a page's address."""
    here, page = of_name(name)
    links = []
    for language, words in {"": "English", **LANGUAGES}.items():
        other = f"{language}/{page}" if language else page
        if language == here:
            links.append(f'<strong lang="{language or "en"}">{words}</strong>')
        elif other in names:
            links.append(f'<a lang="{language or "en"}" hreflang="{language or "en"}" href="{address(other)}">{words}</a>')
    return f'<p class="languages" dir="ltr">{" · ".join(links)}</p>\n' if len(links) > 1 else ""


def check(root):
    bad = 0
    for language in LANGUAGES:
        done = total = 0
        for page, wanted in paragraphs(root).items():
            words = catalogue(root, language, page)
            here = [source for source in wanted if words.entries.get(source)]
            done, total = done + len(here), total + len(wanted)
            stale = [source for source in [*words.fuzzy, *words.entries] if words.fuzzy.get(source) or (words.entries.get(source) and source not in wanted)]
            if len(here) < len(wanted) or stale:
                print(f"{language} {page}: {len(wanted) - len(here)} of {len(wanted)} paragraphs missing, of these {len(stale)} stale")
                if here:
                    for source in [*stale, *[source for source in wanted if source not in here and source not in stale]]:
                        print(f"    {'stale' if source in stale else 'missing'}: {source[:90]}")
            for source in here:
                for problem in problems(language, source, words.entries[source]):
                    bad += 1
                    print(f"{words.path.relative_to(root)}: {problem}\n    {source[:90]}\n    {words.entries[source][:90]}")
        print(f"{language}: {done} of {total} paragraphs")
    bad += check_walk(root) + check_glossary(root)
    print(f"{bad} problems")
    return bad == 0


def check_walk(root):
    """Checks that without a translation no word of a page is lost or moved."""
    bad = [page for page in sorted((root / "docs").rglob("*.md")) if (text := page.read_text(encoding="utf-8")).split()
           != of_markdown(text, lambda words: words).split()]
    for page in bad:
        print(f"{page.relative_to(root)}: words are lost when it is split into paragraphs")
    return len(bad)


def check_glossary(root):
    rows = [line for line in (root / "docs/glossary.md").read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    bad = [row for row in rows if row.count("|") != 6 or any(not cell.strip() for cell in row.strip("|").split("|"))]
    for row in bad:
        print(f"docs/glossary.md: expected five columns: {row}")
    return len(bad) + (len(rows) < 40)


def update(root):
    for language in LANGUAGES:
        for page, wanted in paragraphs(root).items():
            words = catalogue(root, language, page)
            words.update(wanted)
            if words.path.exists() or not page.startswith("learn/"):
                words.write(language, page)


def main():
    sys.dont_write_bytecode = True
    os.environ["PYTHONUTF8"] = "1"
    sys.stdout.reconfigure(encoding="utf-8")
    if len(sys.argv) != 3 or sys.argv[1] not in ("--check", "--update"):
        sys.exit(__doc__)
    root = Path(sys.argv[2]).resolve()
    if sys.argv[1] == "--update":
        update(root)
    elif not check(root):
        sys.exit(1)


if __name__ == "__main__":
    main()
