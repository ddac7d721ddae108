"""Prints how many lines and branches of each folder the tests ran: coverage.py SOURCE PROFILES PROGRAM...

Builds with the preset coverage write PROFILES, a folder of .profraw files. A line counts as run if any of its regions
ran; a branch is one outcome, true or false, of a condition in the source, in any instance of a template. What no test
can run has a comment on its line, or on the line above, and is not counted: "// never run: REASON"; where that line
begins a block, all of the block. Fails where a figure is below its limit in limits.txt, and with --limits LIMITS where
it is below that file's; --missing F lists the lines and branches of a file or folder that no test ran.
"""

import argparse
import bisect
import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile


def tool(name):
    """llvm-cov, or llvm-cov-14 where only that is installed."""
    for candidate in (name, name + "-14"):
        if shutil.which(candidate):
            return candidate
    sys.exit(f"coverage: {name} is missing; on Debian and Ubuntu: apt install llvm")


def exported(profiles, programs):
    """What llvm-cov knows of each file, from each program: in what it says of several at once, functions are missing of which
    two programs have different versions."""
    raw = sorted(profiles.glob("*.profraw"))
    if not raw:
        sys.exit(f"coverage: {profiles} has no .profraw files: run the tests of a build with the preset coverage first")
    with tempfile.TemporaryDirectory() as scratch:
        merged = pathlib.Path(scratch) / "merged"
        names = pathlib.Path(scratch) / "names"
        names.write_text("\n".join(map(str, raw)))
        # A program that was killed leaves a profile that is cut short.
        subprocess.run([tool("llvm-profdata"), "merge", "--sparse", "--failure-mode=all", f"--input-files={names}",
                        f"--output={merged}"], check=True)
        for program in programs:
            text = subprocess.run([tool("llvm-cov"), "export", "--skip-functions", "--skip-expansions",
                                   f"--instr-profile={merged}", program], check=True, stdout=subprocess.PIPE).stdout
            yield from json.loads(text)["data"][0]["files"]


class File:
    """The lines of a file and the outcomes of its conditions: {line: ran}, {(line, column, outcome): ran}."""

    def __init__(self, text, segments, branches):
        never = lines_left_out(text.splitlines())
        self.lines = {line: ran for line, ran in lines_of(segments).items() if ran or line not in never}
        outcomes = collections.Counter()
        for line, column, _, _, true, false, *_ in branches:
            outcomes[line, column, True] += true
            outcomes[line, column, False] += false
        starts = [(line, column) for line, column, *_ in segments]
        self.branches = {}
        for (line, column, outcome), count in outcomes.items():
            other = outcomes[line, column, not outcome]
            at = bisect.bisect_right(starts, (line, column)) - 1
            reached = at >= 0 and segments[at][2] > 0
            if count == 0 and (line in never or (other == 0 and reached)):  # reached and neither: a constant
                continue
            self.branches[line, column, outcome] = count > 0

    def add(self, other):
        """What ran in another program, too."""
        for mine, theirs in ((self.lines, other.lines), (self.branches, other.branches)):
            for place, ran in theirs.items():
                mine[place] = mine.get(place, False) or ran

    def counts(self):
        return [len(self.lines), sum(self.lines.values()), len(self.branches), sum(self.branches.values())]

    def missing(self):
        found = {line: [] for line, ran in self.lines.items() if not ran}
        for (line, column, outcome), ran in sorted(self.branches.items()):
            if not ran and line not in found:
                found[line] = []
            if not ran:
                found[line].append(f"column {column} never {str(outcome).lower()}")
        return [(line, ", ".join(found[line]) or "not run") for line in sorted(found)]


def lines_left_out(lines):
    """The numbers of the lines that a comment excepts."""
    never = set()
    for at, line in enumerate(lines):
        code, mark, _ = line.partition("// never run: ")
        if not mark:
            continue
        if not code.strip():
            at += 1
            code = lines[at]
        never.add(at + 1)
        if code.rstrip().endswith("{"):
            indent = len(code) - len(code.lstrip())
            while at + 1 < len(lines) and not lines[at].startswith(" " * indent + "}"):
                at += 1
                never.add(at + 1)
    return never


def lines_of(segments):
    """Whether each line with code ran: the most of its regions and of the one that it begins in."""
    by_line = collections.defaultdict(list)
    for line, _, count, has_count, entry, gap in segments:
        by_line[line].append((count, has_count, entry, gap))
    lines, current = {}, None
    for line in range(min(by_line), max(by_line) + 1) if by_line else ():
        here = by_line.get(line, [])
        begun = [count for count, has_count, entry, gap in here if has_count and entry and not gap]
        skipped = bool(here) and not here[0][1] and here[0][2]
        if not skipped and ((current and current[1]) or begun):
            lines[line] = max([current[0] if current else 0, *begun]) > 0
        if here:
            current = here[-1]
    return lines


def files_of(source, profiles, programs):
    files = {}
    for one in exported(profiles, programs):
        path = pathlib.Path(one["filename"])
        if path.is_relative_to(source) and path.relative_to(source).parts[0] not in ("build", "docs", "tests"):
            name, file = str(path.relative_to(source)), File(path.read_text(), one["segments"], one.get("branches", []))
            files.setdefault(name, file).add(file)
    return files


def percent(part, whole):
    return 100.0 if whole == 0 else 100.0 * part / whole


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--limits", default=str(pathlib.Path(__file__).with_name("limits.txt")))
    parser.add_argument("--files", action="store_true", help="also print every file")
    parser.add_argument("--missing", action="append", default=[], metavar="F", help="list what no test ran of this file or folder")
    parser.add_argument("source", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("profiles", type=pathlib.Path)
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    files = files_of(options.source, options.profiles, options.programs)

    folders = collections.defaultdict(lambda: [0, 0, 0, 0])
    for name, file in files.items():
        parts = pathlib.PurePath(name).parts
        for key in {parts[0], "/".join(parts[:2]) if len(parts) > 2 else parts[0]}:
            folders[key] = [a + b for a, b in zip(folders[key], file.counts())]
    print(f"{'':34}{'lines':>8}{'run':>8}{'branches':>10}{'run':>8}")
    for key in sorted(folders):
        lines, run, branches, taken = folders[key]
        print(f"{key:34}{lines:8}{percent(run, lines):7.1f}%{branches:10}{percent(taken, branches):7.1f}%")
    if options.files:
        for name in sorted(files):
            lines, run, branches, taken = files[name].counts()
            print(f"{name:50}{lines:6}{percent(run, lines):7.1f}%{branches:6}{percent(taken, branches):7.1f}%")
    for wanted in options.missing:
        for name in sorted(files):
            if name == wanted or name.startswith(wanted + "/"):
                for line, what in files[name].missing():
                    print(f"{name}:{line}: {what}")

    bad = False
    for line in pathlib.Path(options.limits).read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        key, least_lines, least_branches = line.split()
        counts = folders.get(key) or (files[key].counts() if key in files else None)
        if counts is None:
            print(f"coverage: no test ran {key}, which {options.limits} lists")
            bad = True
            continue
        lines, run, branches, taken = counts
        for what, value, least in (("lines", percent(run, lines), float(least_lines)),
                                   ("branches", percent(taken, branches), float(least_branches))):
            if value < least:
                print(f"coverage: {key}: {value:.1f}% of its {what} were run; the limit is {least:g}%")
                bad = True
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
