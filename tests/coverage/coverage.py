"""Prints how many lines and branches of each folder the tests ran: coverage.py SOURCE PROFILES PROGRAM...

Builds with the preset coverage write PROFILES, a folder of .profraw files. A line counts as run if any of its regions
ran; a branch is one outcome, true or false, of a condition in the source. Fails where a figure is below its limit in
limits.txt, and with --limits LIMITS where it is below that file's.
"""

import argparse
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


def summaries(source, profiles, programs):
    """For each file of SOURCE: (lines, lines run, branches, branches run)."""
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
        objects = [argument for program in programs[1:] for argument in ("-object", program)]
        text = subprocess.run([tool("llvm-cov"), "export", "--summary-only", f"--instr-profile={merged}", programs[0],
                               *objects], check=True, stdout=subprocess.PIPE).stdout
    files = {}
    for one in json.loads(text)["data"][0]["files"]:
        path = pathlib.Path(one["filename"])
        if not path.is_relative_to(source):
            continue
        lines, branches = one["summary"]["lines"], one["summary"]["branches"]
        files[str(path.relative_to(source))] = (lines["count"], lines["covered"], branches["count"], branches["covered"])
    return files


def percent(part, whole):
    return 100.0 if whole == 0 else 100.0 * part / whole


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--limits", default=str(pathlib.Path(__file__).with_name("limits.txt")))
    parser.add_argument("--files", action="store_true", help="also print every file")
    parser.add_argument("source", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("profiles", type=pathlib.Path)
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    files = summaries(options.source, options.profiles, options.programs)

    folders = collections.defaultdict(lambda: [0, 0, 0, 0])
    for name, counts in files.items():
        parts = pathlib.PurePath(name).parts
        if parts[0] in ("tests", "docs"):
            continue
        for key in {parts[0], "/".join(parts[:2]) if len(parts) > 2 else parts[0]}:
            folders[key] = [a + b for a, b in zip(folders[key], counts)]
    print(f"{'':34}{'lines':>8}{'run':>8}{'branches':>10}{'run':>8}")
    for key in sorted(folders):
        lines, run, branches, taken = folders[key]
        print(f"{key:34}{lines:8}{percent(run, lines):7.1f}%{branches:10}{percent(taken, branches):7.1f}%")
    if options.files:
        for name in sorted(files):
            lines, run, branches, taken = files[name]
            print(f"{name:50}{lines:6}{percent(run, lines):7.1f}%{branches:6}{percent(taken, branches):7.1f}%")

    bad = False
    for line in pathlib.Path(options.limits).read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        key, least_lines, least_branches = line.split()
        counts = folders.get(key) or files.get(key)
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
