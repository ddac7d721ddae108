"""Changes the library in small ways, one at a time, and looks whether the tests notice: mutation testing.

    mutate.py BUILD [N] [--seed S] [--folder F] [--seconds T] [--resume DIR] [--again DIR]

BUILD is a build folder with test programs, such as build/release. N random mutants (mutants.py) of core, ops, nn, optim
and the lab's statistics, or of the folders and files F, are compiled with -O1 and linked with the rest of BUILD, and the
tests run: those of the same folder first, the fast ones first, until one fails, or for T seconds of CPU time. Each
mutant is a line of DIR/mutants.jsonl (build/mutation/seed-S); --resume goes on there. --again runs all tests for the
mutants that survived there. --summary DIR prints the results alone.

A mutant that does not compile, or whose object files equal those of the source, is not counted. A test that fails is run
again with the unchanged source, compiled the same way; if it fails there too, it says nothing and is left out.
"""

import argparse
import json
import pathlib
import random
import sys

sys.dont_write_bytecode = True
from building import Build  # noqa: E402
from mutants import Mutant, mutants  # noqa: E402
from running import Tests  # noqa: E402

FOLDERS = ["core", "ops", "nn", "optim", "examples/lab/statistics"]
# Which programs test a folder, the closest first; of several names of folders the longest counts.
PROGRAMS = {
    "core": ["core", "ops", "nn", "optim"],
    "ops/kernels": ["kernels", "ops"],
    "ops": ["ops", "core", "nn", "optim"],
    "nn": ["nn", "golden", "text", "docs", "optim"],
    "optim": ["optim", "golden", "core"],
    "data": ["data"],
    "text": ["text"],
    "kit": ["kit"],
    "examples": ["examples"],
}
COUNTED = ("killed", "timeout", "survived")


def programs_for(file):
    fitting = [folder for folder in PROGRAMS if file.startswith(folder + "/")]
    return PROGRAMS[max(fitting, key=len)]


def candidates(source, folders, build):
    """All mutants of the sources that this machine compiles and runs."""
    found = []
    for folder in folders:
        top = source / folder
        files = [top] if top.is_file() else sorted(top.rglob("*"))
        if not files:
            sys.exit(f"mutate: there is no {top}")
        for path in files:
            name = str(path.relative_to(source))
            if path.suffix in (".cpp", ".h") and build.objects_of(name):
                found += mutants(name, path.read_text())
    return found


def explained():
    """The survivors that were read and change nothing that a test could see, with the reason of each."""
    path = pathlib.Path(__file__).with_name("survivors.json")
    return {(one["file"], one["before"], one["after"]): one["reason"] for one in json.loads(path.read_text())}


def summary(lines):
    """A table of folders: how many mutants, how many the tests noticed; and the survivors."""
    reasons = explained()
    for line in lines:
        if line["outcome"] == "survived":
            reason = reasons.get((line["file"], line["before"], line["after"]))
            print(f"{line['file']}:{line['line']}:{line['column']}: {line['before']}  ->  {line['after']}"
                  + (f"  ({reason})" if reason else ""))
    folders = {}
    for line in lines:
        parts = pathlib.PurePath(line["file"]).parts
        for key in ("all", parts[0] if parts[0] != "examples" else "/".join(parts[:3])):
            counts = folders.setdefault(key, dict.fromkeys(("killed", "timeout", "survived", "equal", "does not compile", "unsure"), 0))
            counts[line["outcome"]] += 1
    print(f"{'':26}{'mutants':>8}{'failed':>8}{'too long':>9}{'survived':>9}{'detected':>9}   not counted")
    for key in sorted(folders, key=lambda key: (key == "all", key)):
        counts = folders[key]
        whole = sum(counts[outcome] for outcome in COUNTED)
        share = f"{100 * (whole - counts['survived']) / whole:.1f}%" if whole else "-"
        print(f"{key:26}{whole:8}{counts['killed']:8}{counts['timeout']:9}{counts['survived']:9}{share:>9}   "
              f"{counts['equal']} equal, {counts['does not compile']} do not compile"
              + (f", {counts['unsure']} unsure" if counts["unsure"] else ""))


def identity(line):
    return line["file"], line["line"], line["column"], line["after"]


def read_lines(folder):
    """The last line of each mutant."""
    path = folder / "mutants.jsonl"
    lines = {}
    for text in path.read_text().splitlines() if path.exists() else []:
        try:
            line = json.loads(text)
        except ValueError:  # of a run that was killed
            continue
        lines[identity(line)] = line
    return list(lines.values())


class Trial:
    """Builds a mutant and runs the tests."""

    def __init__(self, source, build, tests):
        self.source, self.build, self.tests = source, build, tests

    def __call__(self, mutant, seconds):
        text = (self.source / mutant.file).read_text()
        line, column, before, after = mutant.lines(text)
        record = {"file": mutant.file, "line": line, "column": column, "kind": mutant.kind, "before": before, "after": after}
        objects = self.build.compile(mutant.file, mutant.apply(text))
        if objects is None:
            return record | {"outcome": "does not compile"}
        if self.build.equal(mutant.file, text, objects):
            return record | {"outcome": "equal"}
        environment = self.build.environment_of(mutant.file)
        spent = 0.0
        for name in programs_for(mutant.file):
            if spent >= seconds or not self.build.has(name):
                break
            program = self.build.link(name, objects)
            if program is None:  # such as a function that is defined no more
                return record | {"outcome": "does not compile"}
            for group in self.tests.groups(name, mutant.file):
                if spent >= seconds:
                    break
                while True:
                    outcome, test, used = self.tests.run(program, group, environment)
                    spent += used
                    if outcome == "passed":
                        break
                    originals = self.build.originals(mutant.file, text)
                    original = self.build.link(name, originals, "original")
                    if self.tests.passes(original, originals, group, test, environment):
                        return record | {"outcome": outcome, "program": name, "test": test, "seconds": round(spent, 1)}
                    if test is None or not self.tests.leave_out(group, test):
                        return record | {"outcome": "unsure", "program": name, "test": test}
        return record | {"outcome": "survived", "seconds": round(spent, 1)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("count", type=int, nargs="?", default=50, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--folder", action="append", metavar="F", help="a folder or a file; may be given several times")
    parser.add_argument("--seconds", type=float, default=float("inf"), metavar="T", help="of CPU time for the tests of one mutant")
    parser.add_argument("--resume", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--again", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--summary", type=pathlib.Path, metavar="DIR")
    options = parser.parse_args()
    if options.summary:
        summary(read_lines(options.summary))
        return
    source = pathlib.Path(__file__).resolve().parents[2]
    folder = options.resume or options.again or source / f"build/mutation/seed-{options.seed}"
    settings = folder / "settings.json"
    if options.resume or options.again:
        if not settings.exists():
            sys.exit(f"mutate: {folder} has no settings.json: it is not a folder of mutate")
        kept = json.loads(settings.read_text())
        options.seed, options.folder = kept["seed"], kept["folder"]
    elif settings.exists():
        sys.exit(f"mutate: {folder} has results: go on with --resume {folder}, or take another --seed")
    folder.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"seed": options.seed, "folder": options.folder}) + "\n")

    build = Build(source, options.build.resolve(), folder.resolve() / "scratch")
    trial = Trial(source, build, Tests(source, build, folder.resolve()))
    lines = read_lines(folder)
    if options.again:
        again = {identity(line) for line in lines if line["outcome"] == "survived"}
        lines = [line for line in lines if line["outcome"] != "survived"]
        options.count = len(again) + sum(line["outcome"] in COUNTED for line in lines)
    done = {identity(line) for line in lines}
    chosen = candidates(source, options.folder or FOLDERS, build)
    random.Random(options.seed).shuffle(chosen)
    counted = sum(line["outcome"] in COUNTED for line in lines)
    print(f"{len(chosen)} mutants; {counted} of {options.count} were tried before", flush=True)
    with open(folder / "mutants.jsonl", "a", encoding="utf-8") as results:
        for mutant in chosen:
            if counted >= options.count:
                break
            line, column, _, after = mutant.lines((source / mutant.file).read_text())
            key = mutant.file, line, column, after
            if key in done or (options.again and key not in again):
                continue
            record = trial(mutant, options.seconds)
            lines.append(record)
            results.write(json.dumps(record, ensure_ascii=False) + "\n")
            results.flush()
            counted += record["outcome"] in COUNTED
            print(f"{counted}: {record['file']}:{record['line']}: {record['outcome']}: {record['after']}"
                  + (f"  [{record['test']}]" if record.get("test") else ""), flush=True)
    summary(lines)


if __name__ == "__main__":
    main()
