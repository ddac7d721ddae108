"""Builds the site and the book: build.py ROOT OUT [--strict]. Needs Sphinx, MyST and furo; no network.
--strict: all pages are read again, and a warning is an error.

OUT/source is Sphinx's input: links to the project's Markdown, and generated files, which are the front page's table of
contents and the pages of the reference. OUT/html is the site, OUT/gradus.epub the book.
"""
import os
import re
import shutil
import sys
from pathlib import Path

import languages
import reference

# The headings of the navigation and the pages under each; pages not named here come under the last.
GROUPS = {
    "The course": ["docs/README", "docs/course/README", "docs/course/[0-9]*/README", "docs/course/cpp", "docs/exercises", "docs/figures", "docs/notation"],
    "How to": ["docs/recipes", "docs/from_pytorch", "docs/your_own_op", "docs/your_own_placement", "docs/kit", "docs/tokenizers",
               "docs/pretrained", "docs/generation", "docs/many_machines", "docs/many_machines_speed", "docs/profiling", "docs/browser", "docs/site", "examples/README"],
    "Models": ["docs/models", "docs/placements", "docs/original_transformer", "docs/translate", "docs/gpt", "docs/llama",
               "docs/t5", "docs/bert"],
    "The lab": ["docs/lab", "docs/studies", "docs/claims", "docs/published", "docs/results", "docs/browser_lab"],
    "Reference": ["api/index"],
    "Background": ["docs/tape", "docs/architecture", "docs/performance", "docs/platforms", "CONTRIBUTING", "CHANGELOG", "docs/*"],
}
LANGUAGES = ["docs/glossary", "docs/translations"]
COPIED = ("docs", "examples/README.md", "CONTRIBUTING.md", "CHANGELOG.md")


def write(path, text):
    """Leaves unchanged files alone: Sphinx rebuilds pages by their modification times."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def front_page(root):
    pages = {str(path.relative_to(root).with_suffix("")) for path in [*root.glob("docs/*.md"), *root.glob("docs/course/**/*.md")]}
    pages |= {name for name in ("CONTRIBUTING", "CHANGELOG", "examples/README") if (root / (name + ".md")).exists()} | {"api/index"}
    text, used = (root / "README.md").read_text(), set(LANGUAGES)
    for caption, patterns in GROUPS.items():
        entries = []
        for pattern in patterns:
            wish = re.compile(re.escape(pattern).replace(r"\[0\-9\]\*", r"\d[^/]*").replace(r"\*", "[^/]*") + "$")
            entries += [page for page in sorted(pages - used - set(entries)) if wish.match(page)]
        used |= set(entries)
        text += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(entries) + "\n```\n"
    words = [f"{name} <{language}/index>" for language, name in languages.LANGUAGES.items() if f"{language}/index" in languages.pages(root)]
    return text + "\n```{toctree}\n:hidden:\n:caption: Languages\n\n" + "\n".join([*words, *LANGUAGES]) + "\n```\n"


def lay_out(root, source):
    source.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        link = source / name
        if (root / name).exists() and not link.is_symlink():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(root / name)
    write(source / "index.md", front_page(root))
    pages = reference.pages(root)
    for name, text in pages.items():
        write(source / "api" / (name + ".md"), text)
    translated = languages.pages(root)
    for name, text in translated.items():
        write(source / (name + ".md"), text)
    for language in languages.LANGUAGES:
        for path in (source / language).rglob("*.md"):
            if str(path.relative_to(source).with_suffix("")) not in translated:
                path.unlink()
    for path in (source / "api").glob("*.md"):
        if path.stem not in pages:
            path.unlink()


def sphinx(kind, root, out, *arguments):
    from sphinx.cmd.build import build_main
    arguments = ["-q", "-b", kind, "-c", str(root / "docs/site"), "-d", str(out / "doctrees"), *arguments]
    return build_main([*arguments, str(out / "source"), str(out / kind)]) == 0


def main():
    root, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    strict = ["-W", "--keep-going"] if "--strict" in sys.argv else []
    os.environ["GRADUS_ROOT"] = str(root)
    os.environ["GRADUS_VERSION"] = ".".join(re.findall(r"#define GRADUS_VERSION_\w+ (\d+)", (root / "core/version.h").read_text()))
    sys.dont_write_bytecode = True
    lay_out(root, out / "source")
    good = sphinx("html", root, out, *strict, *(["-E"] if strict else []))
    # All pages: those already read again for the site would not count as changed for the book.
    good = sphinx("epub", root, out, *strict, "-a") and good
    shutil.copy(out / "epub/gradus.epub", out / "gradus.epub")
    if not good:
        sys.exit("the site was not built correctly")


if __name__ == "__main__":
    main()
